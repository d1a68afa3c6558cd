import { type Decimal, formatDecimal, zero } from '../lib/base/decimal.ts';
import type { FeeTerms } from '../lib/snapshots/snapshot-store.ts';

/** What moving a currency costs one way, in a few words, and how much of it may be moved. */
export function describeTerms(isOpen: boolean, terms: FeeTerms): readonly [fee: string, limits: string] {
  return isOpen ? [describeFee(terms), describeRange(terms.minAmount, terms.maxAmount)] : ['closed', '–'];
}

/** A fee is fixed, a per cent between bounds, or both; zero stands for "none". */
function describeFee({ fixed, percentFlex, minFlex, maxFlex }: FeeTerms): string {
  const range = describeRange(minFlex, maxFlex);
  const parts = [
    ...(fixed.gt(zero) ? [formatDecimal(fixed)] : []),
    ...(percentFlex.gt(zero) ? [`${formatDecimal(percentFlex)}%${range === '–' ? '' : ` (${range})`}`] : []),
  ];
  return parts.length === 0 ? 'none' : parts.join(' + ');
}

function describeRange(least: Decimal, most: Decimal): string {
  if (most.gt(zero)) return `${formatDecimal(least)} to ${formatDecimal(most)}`;
  return least.gt(zero) ? `from ${formatDecimal(least)}` : '–';
}
