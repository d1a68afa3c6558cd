import { type Decimal, maximum, parseDecimal, rateOfPercent, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { PositionWish } from '../../lib/model/step-facts.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { isMarketTold } from './guard-invariants.ts';
import { sentAtMs, shareNewestFirst, type TrueExit, type TruePlace } from './guarded-positions.ts';
import { keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { leastTrade } from './wanted-positions.ts';

/** An alert about a whole position, and what it asked for. */
interface Asked {
  readonly of: Entry;
  readonly wish: PositionWish;
}

/** What an alert protects of a position: also what its take-profits have sold, and nothing that later entries opened. */
function dealsFor(
  { deals, everyExit, account }: TruePlace,
  { of, wish }: Asked,
  entries: readonly Entry[],
  { orders }: Facts['exchange'],
): readonly PaperDeal[] {
  const isLater = (entry: Entry | undefined) =>
    entry !== undefined && entry.signal?.action !== 'protect' && sentAtMs(entry) > wish.atMs;
  const exits = new Map(everyExit.map((exit) => [exit.order.orderId, exit]));
  const byClientId = new Map(
    entries.filter((entry) => entry.account === account).map((entry) => [entry.clientOrderId, entry]),
  );
  return deals.filter(({ orderId, side }) => {
    const exit = exits.get(orderId);
    if (exit !== undefined) return !isLater(exit.of) && !(exit.of === of && exit.role === 'take_profit');
    const entry = byClientId.get(orders.get(orderId)?.clientOrderId ?? '');
    return !isLater(entry) || side !== openingSide(wish);
  });
}

function openingSide({ amount }: PositionWish): 'buy' | 'sell' {
  return parseDecimal(amount).gt(zero) ? 'buy' : 'sell';
}

/** The most that it protected of any position of its side, in base units. */
export function grownTo(
  place: TruePlace,
  asked: Asked,
  entries: readonly Entry[],
  exchange: Facts['exchange'],
): Decimal {
  const own = new Set(dealsFor(place, asked, entries, exchange));
  let [position, whole, most] = [zero, zero, zero];
  for (const deal of place.deals) {
    const change = deal.side === openingSide(asked.wish) ? deal.amount : deal.amount.neg();
    const next = position.plus(change);
    // Another position begins.
    if (next.eq(zero) || next.times(position).lt(zero)) whole = next;
    else if (own.has(deal)) whole = whole.plus(change);
    position = next;
    most = maximum(most, whole);
  }
  return most;
}

/** When something came last to what it protects; undefined: nothing ever did. */
export function grewAtMs(
  place: TruePlace,
  asked: Asked,
  entries: readonly Entry[],
  exchange: Facts['exchange'],
): number | undefined {
  return dealsFor(place, asked, entries, exchange).findLast(({ side }) => side === openingSide(asked.wish))
    ?.atMs;
}

/**
 * As long as none of its take-profits has sold anything, each is in the end its share of all that was to be protected, which is
 * what its stop-loss would be for: both grow with the position.
 */
export function findNotGrown(facts: Facts, place: TruePlace): readonly Violation[] {
  const { account, market, amount, exits, everyExit, changedAtMs } = place;
  if (facts.settings.accounts[account]?.protection !== 'keep') return [];
  if (amount.abs().lt(leastTrade(market)) || isMarketTold(facts, place, changedAtMs)) return [];
  return exits.flatMap((target) => {
    const { of, order } = target;
    const asked = askedIn(target);
    const hasSold = everyExit.some(
      (exit) => exit.of === of && exit.role === 'take_profit' && exit.order.filled.gt(zero),
    );
    if (asked === null || hasSold || order.side === (amount.gt(zero) ? 'buy' : 'sell')) return [];
    const newer = shareNewestFirst(place).filter(({ entry }) => sentAtMs(entry) > asked.atMs);
    const left = newer.reduce((rest, { share }) => rest.minus(share), amount.abs());
    const least = left.times(rateOfPercent(asked.share)).minus(marketNamed(market).amountStep);
    if (order.remaining.gte(least)) return [];
    const text = `${keyText(of)} has a take-profit of ${order.remaining.toFixed()} for ${asked.share} of ${left.toFixed()}`;
    return [{ invariant: 'I41', harm: 'other', text }];
  });
}

/** Null for any other order than a take-profit that an alert asked for the whole position. */
function askedIn({ of, role, placedBy }: TrueExit): { readonly share: string; readonly atMs: number } | null {
  const signal = placedBy?.signal;
  const wish = of.steps.at(-1)?.facts?.wish;
  if (role !== 'take_profit' || signal?.action !== 'protect' || signal.part === undefined) return null;
  const share = wish?.takeProfits?.[signal.part - 1]?.share;
  return wish === undefined || share === undefined ? null : { share, atMs: wish.atMs };
}
