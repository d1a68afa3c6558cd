import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { ResultOf } from '../../lib/exchange/endpoint.ts';
import type { fees } from '../../lib/exchange/endpoints/fees.ts';
import type { FeeTerms } from '../../lib/snapshots/snapshot-store.ts';
import { renderTable } from './table.ts';
import type { Screen } from './terminal.ts';

/** A table of the transfer fees, one row for each currency. */
export function renderFees(records: ResultOf<typeof fees>, screen: Pick<Screen, 'width'>): string {
  return renderTable(
    [
      { title: 'ticker' },
      { title: 'name', wraps: true },
      { title: 'deposit fee', wraps: true },
      { title: 'deposit limits', wraps: true },
      { title: 'withdrawal fee', wraps: true },
      { title: 'withdrawal limits', wraps: true },
    ],
    records.map(({ ticker, name, canDeposit, canWithdraw, deposit, withdraw }) => [
      ticker,
      name,
      ...describeTerms(canDeposit, deposit),
      ...describeTerms(canWithdraw, withdraw),
    ]),
    screen,
  );
}

/** The fee and the limits of a deposit or a withdrawal, as short texts. */
export function describeTerms(isOpen: boolean, terms: FeeTerms): readonly [fee: string, limits: string] {
  return isOpen ? [describeFee(terms), describeRange(terms.minAmount, terms.maxAmount)] : ['closed', '–'];
}

/** A fee is fixed, a per cent with a minimum and a maximum, or both; zero means none. */
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
