import { type Decimal, one, parseDecimal, rateOfPercent, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { PositionSignal, PositionTarget } from '../../lib/model/signal.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import type { History } from './history.ts';
import type { Decided } from './position-view.ts';

/** What a target asks for, in base units, signed; a range where it depends on prices or on the equity. */
export interface WantedRange {
  readonly least: Decimal;
  readonly most: Decimal;
}

/** Prices move by 0.2 % around their first values, and an order may be priced up to 0.9 % beyond. */
const priceTolerance = parseDecimal('0.015');

/** @returns null when the equity that it is a share of was not read */
export function wantedRange(
  target: PositionTarget,
  market: string,
  equities: readonly Decimal[],
): WantedRange | null {
  switch (target.unit) {
    case 'flat':
      return { least: zero, most: zero };
    case 'base':
      return { least: parseDecimal(target.quantity), most: parseDecimal(target.quantity) };
    case 'quote':
      return around([parseDecimal(target.quoteQuantity)], market);
    case 'percent': {
      const rate = signedRate(target.percentOfEquity);
      return equities.length === 0
        ? null
        : around(
            equities.map((equity) => equity.times(rate)),
            market,
          );
    }
  }
}

function signedRate(text: string): Decimal {
  return text.startsWith('-') ? rateOfPercent(text.slice(1)).neg() : rateOfPercent(text);
}

function around(notionals: readonly Decimal[], market: string): WantedRange {
  const { startPrice } = marketNamed(market);
  const bases = notionals
    .flatMap((notional) =>
      [one.minus(priceTolerance), one.plus(priceTolerance)].map((rate) => notional.times(rate)),
    )
    .map((notional) => notional.div(startPrice))
    .sort((a, b) => a.cmp(b));
  return { least: bases[0] ?? zero, most: bases.at(-1) ?? zero };
}

/** The equities that an invocation has read before it decided. */
export function equitiesRead(
  { sends }: History,
  account: string,
  { atMs, invocation }: Decided,
): readonly Decimal[] {
  return sends
    .filter((send) => send.invocation === invocation && send.signer === account && send.atMs <= atMs)
    .flatMap(({ outcome }) => (outcome?.kind === 'answered' && outcome.status === 200 ? [outcome.body] : []))
    .flatMap((body) => equityIn(body));
}

function equityIn(body: string): readonly Decimal[] {
  try {
    const { equity } = JSON.parse(body) as { readonly equity?: string };
    return typeof equity === 'string' ? [parseDecimal(equity)] : [];
  } catch {
    return [];
  }
}

/** A smaller difference cannot be traded. */
export function leastTrade(market: string): Decimal {
  const { amountStep, minAmount, minTotal, startPrice } = marketNamed(market);
  const ofTotal = minTotal.div(startPrice).times('1.1');
  return [amountStep, minAmount, ofTotal].reduce((most, least) => (least.gt(most) ? least : most));
}

/** Whether the signal only reduces a position. */
export function isReducing(signal: PositionSignal): boolean {
  return signal.action === 'close' || signal.leg === 'reduce';
}

const reduceSuffix = ':reduce';

/** The leg that reduces the position before this one opens one. */
export function reduceLegOf(open: Entry, entries: readonly Entry[]): Entry | undefined {
  return entries.find(
    ({ account, signalId }) => account === open.account && signalId === `${open.signalId}${reduceSuffix}`,
  );
}
