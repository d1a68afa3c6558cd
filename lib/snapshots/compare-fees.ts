import { type Decimal, formatDecimal } from '../base/decimal.ts';
import type { ResultOf } from '../exchange/endpoint.ts';
import type { fees as feesEndpoint } from '../exchange/endpoints/fees.ts';
import type { CurrencyFees, FeeTerms, FeeVersion } from './snapshot-store.ts';

/** A change to write: the stored version, null for a new currency, and the version that follows it. */
export interface FeeChange {
  readonly known: FeeVersion | null;
  readonly version: FeeVersion;
}

type Listed = ResultOf<typeof feesEndpoint>;

/**
 * Compares the transfer fees that the exchange lists with the stored versions. A list from before the stored
 * version began is out of date and changes nothing.
 *
 * @param seenAtMs when the list was requested
 */
export function compareFees(
  known: readonly FeeVersion[],
  listed: Listed,
  seenAtMs: number,
): readonly FeeChange[] {
  const knownByTicker = new Map(known.map((version) => [version.ticker, version]));
  // If a ticker is listed twice, the first record counts, so that the fees do not change with every run.
  const listedByTicker = new Map(listed.toReversed().map((record) => [record.ticker, feesOf(record)]));
  const tickers = new Set([...knownByTicker.keys(), ...listedByTicker.keys()]);
  return [...tickers].sort().flatMap((ticker) => {
    const before = knownByTicker.get(ticker) ?? null;
    const fees = listedByTicker.get(ticker) ?? null;
    if (isSame(before?.fees ?? null, fees)) return [];
    if (before !== null && before.fromMs >= seenAtMs) return [];
    return [{ known: before, version: { ticker, fromMs: seenAtMs, fees } }];
  });
}

function feesOf({ canDeposit, canWithdraw, deposit, withdraw }: Listed[number]): CurrencyFees {
  return { canDeposit, canWithdraw, deposit, withdraw };
}

function isSame(before: CurrencyFees | null, after: CurrencyFees | null): boolean {
  if (before === null || after === null) return before === after;
  return describeDifferences(before, after).length === 0;
}

/** Describes a change in one line, for example `BTC withdraw fixed 0.0004 → 0.0005`. */
export function describeFeeChange({ known, version }: FeeChange): string {
  const { ticker, fees } = version;
  const before = known?.fees ?? null;
  if (fees === null) return `${ticker} is no longer listed`;
  if (before === null) return known === null ? `${ticker} is listed` : `${ticker} is listed again`;
  return `${ticker} ${describeDifferences(before, fees).join(', ')}`;
}

const termNames = ['minFlex', 'maxFlex', 'percentFlex', 'fixed', 'minAmount', 'maxAmount'] as const;

function describeDifferences(before: CurrencyFees, after: CurrencyFees): readonly string[] {
  return [
    ...describeAvailability('deposit', before.canDeposit, after.canDeposit),
    ...describeTerms('deposit', before.deposit, after.deposit),
    ...describeAvailability('withdraw', before.canWithdraw, after.canWithdraw),
    ...describeTerms('withdraw', before.withdraw, after.withdraw),
  ];
}

function describeAvailability(direction: string, before: boolean, after: boolean): readonly string[] {
  if (before === after) return [];
  return [`${direction} ${after ? 'closed → open' : 'open → closed'}`];
}

function describeTerms(direction: string, before: FeeTerms, after: FeeTerms): readonly string[] {
  return termNames
    .filter((name) => !before[name].eq(after[name]))
    .map((name) => `${direction} ${name} ${describeMove(before[name], after[name])}`);
}

function describeMove(before: Decimal, after: Decimal): string {
  return `${formatDecimal(before)} → ${formatDecimal(after)}`;
}
