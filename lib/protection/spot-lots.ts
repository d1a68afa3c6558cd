import {
  type Decimal,
  floorToStep,
  formatDecimal,
  maximum,
  minimum,
  parseDecimal,
  zero,
} from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { mayStillBeOpen, type SoldOf } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import { ofOneStrategy, strategyOf } from '../model/one-strategy.ts';
import { orderNamedBy } from '../model/protect-id.ts';
import type { SpotFact } from '../model/step-facts.ts';
import { leftOf } from './left-of.ts';

/**
 * What is left of the spot buys of a market that asked for a stop-loss, by id of their signals, in base units: what they
 * bought without its fee, without what their stop-losses sold, and without what other sales of this relay sold. A sale
 * reduces the buys of its own strategy first, and none of another one: it sells what the owner holds instead. Of these it
 * reduces those first that had been filled before it, the oldest first, and then what had been filled of those that were still
 * open. A stop-loss whose buy an earlier sale has sold sells what that sale would have sold next.
 *
 * The balance has no part in it: it also holds what the owner has besides.
 *
 * @param records oldest first, with the sales
 */
export function spotLots(records: readonly OrderRecord[], market: string): ReadonlyMap<string, Decimal> {
  const { lots } = replay(records, market);
  const bySignal = new Map(records.map((record) => [record.signalId, record]));
  return new Map(
    [...lots].map(([signalId, left]) => [signalId, sellable(left, bySignal.get(signalId)?.spot ?? null)]),
  );
}

/**
 * Takes from lots what a sale sells, as far as they go.
 *
 * @param buys in the order in which it sells them
 * @param amount in base units
 */
export function takeFrom(
  lots: Map<string, Decimal>,
  buys: readonly Pick<OrderRecord, 'signalId'>[],
  amount: Decimal,
): void {
  let rest = amount;
  for (const { signalId } of buys) {
    const left = lots.get(signalId) ?? zero;
    const part = minimum(left, rest);
    if (!part.gt(zero)) continue;
    lots.set(signalId, left.minus(part));
    rest = rest.minus(part);
  }
}

/** What a sale that rests has still to sell, in base units; zero of every other order. */
export function restOfSale(record: OrderRecord): Decimal {
  const { status, state } = record;
  return isSale(record) && status === 'placed' && mayStillBeOpen(state) ? (restOf(record) ?? zero) : zero;
}

/**
 * What an order that may be open can fill beyond what is known, in base units: of a cancelled one, what its cancellation says;
 * null when nobody knows.
 */
export function restOf(record: OrderRecord): Decimal | null {
  const most = record.cancelled?.filled ?? record.amount;
  return most === null ? null : maximum(most.minus(filledBy(record)), zero);
}

/** What a sale or a stop-loss sold of a buy. */
export interface SoldPart {
  /** In base units; zero only of a buy that was open. */
  readonly amount: Decimal;
  /** Whether the buy was still open when the sale ended: what it filled later does not belong to the sale. */
  readonly wasOpen: boolean;
}

/** How much of a buy had been filled before a sale, which ended at this time on the exchange's clock; in base units. */
export type FilledBefore = (buy: OrderRecord, sale: OrderRecord, endedAtMs: number) => Decimal;

/**
 * What each sale of a market, and each stop-loss that has ended, sold of each buy with a stop-loss, by the ids of their signals.
 *
 * @param records oldest first
 * @param filledBefore absent: what the ledger alone tells
 */
export function soldOfBuys(
  records: readonly OrderRecord[],
  market: string,
  filledBefore?: FilledBefore,
): ReadonlyMap<string, ReadonlyMap<string, SoldPart>> {
  return replay(records, market, filledBefore).sold;
}

function replay(
  records: readonly OrderRecord[],
  market: string,
  filledBefore: FilledBefore = filledWhileOpen,
) {
  const lots = new Map<string, Decimal>();
  const sold = new Map<string, ReadonlyMap<string, SoldPart>>();
  const placed = records
    .filter((record) => record.market === market && record.status === 'placed' && record.spot !== null)
    // Of what ended in one millisecond the sale may have been first: what was bought by then is looked at.
    .toSorted((one, other) => endOf(one) - endOf(other) || rankOf(one) - rankOf(other));
  const buys = placed.filter(isGuardedBuy);
  const stops = new Set(placed.filter(hasStopped));
  const others = records.filter((record) => !stops.has(record));
  for (const buy of buys) lots.set(buy.signalId, leftOf(buy, others).minus(feeOf(buy)));
  for (const [place, sale] of placed.entries()) {
    const of = stops.has(sale) ? (sale.protects?.of ?? null) : null;
    if (!isSale(sale) && of === null) continue;
    // What it sold of a buy that is not read any more was noted, unless it sold of no other one.
    if (of !== null && !lots.has(of) && sale.soldOf[of] === undefined) continue;
    const endedAtMs = endOf(sale);
    const after = new Set(placed.slice(place));
    const there = buys.flatMap((buy): readonly HeldBuy[] => {
      const { signalId, strategy, reported, sentAtMs } = buy;
      if (!after.has(buy)) return [{ signalId, strategy, boughtLater: null }];
      // The exchange's clock where it is known: the one here may be ahead of it.
      const placedAtMs = reported?.createdAtMs ?? sentAtMs;
      if (placedAtMs === null || placedAtMs > endedAtMs) return [];
      // A stop-loss was placed for what its own buy had filled by then, whichever of them ends first.
      const isOwn = signalId === of;
      const boughtLater = isOwn ? zero : boughtAfter(buy, filledBefore(buy, sale, endedAtMs));
      return [{ signalId, strategy, boughtLater }];
    });
    const own = ofOneStrategy(there, sale.strategy, strategyOf);
    // A stop-loss sells its own buy first.
    const inOrder = own.toSorted((one, other) => Number(other.signalId === of) - Number(one.signalId === of));
    sold.set(
      sale.signalId,
      sell(lots, inOrder, { ...sale, soldOf: { ...ofNamed(sale, buys), ...sale.soldOf } }),
    );
  }
  return { lots, sold };
}

function rankOf(record: OrderRecord): number {
  return isSpotStop(record) ? 0 : isSale(record) ? 1 : 2;
}

/** Whether it is a stop-loss that has sold, and ended. One that is open sells its buy alone: it is made smaller in time. */
function hasStopped(record: OrderRecord): boolean {
  return isSpotStop(record) && !mayStillBeOpen(record.state) && filledBy(record).gt(zero);
}

/** A stop-loss from the command of an alarm sells the buy that it is for. */
function ofNamed(sale: OrderRecord, buys: readonly OrderRecord[]): SoldOf {
  const orderId = orderNamedBy(sale.signalId);
  const buy = orderId === null ? undefined : buys.find((one) => one.orderId === orderId);
  return buy === undefined ? {} : { [buy.signalId]: formatDecimal(filledBy(sale)) };
}

/** What the ledger alone tells: the fills of an open buy so far. Those of one that ended since may all be later. */
function filledWhileOpen(buy: OrderRecord): Decimal {
  return mayStillBeOpen(buy.state) ? filledBy(buy) : zero;
}

/** What a buy bought, without its fee, beyond what had been filled of it before. */
function boughtAfter(buy: OrderRecord, before: Decimal): Decimal {
  const filled = filledBy(buy);
  return filled.gt(before) ? filled.minus(feeOf(buy)).times(filled.minus(before)).div(filled) : zero;
}

/** Whether an order is a spot buy that asked for a stop-loss, and what it bought may be held. */
export function isGuardedBuy({ spot, asked, exits, isFollowed }: OrderRecord): boolean {
  return spot !== null && asked?.side === 'buy' && exits.length > 0 && isFollowed !== false;
}

/** Whether an order is a stop-loss on spot, or what was sold at market in its place. */
export function isSpotStop({ protects, spot, status }: OrderRecord): boolean {
  return protects?.role === 'stop_loss' && spot !== null && status === 'placed';
}

/** Whether an order sells on spot what no stop-loss sells. */
export function isSale({ spot, asked, protects }: OrderRecord): boolean {
  return spot !== null && asked?.side === 'sell' && protects === null;
}

/** What of an amount can be sold: whole steps of it, and nothing when that is too little for an order. */
export function sellable(amount: Decimal, spot: SpotFact | null): Decimal {
  if (spot === null || !amount.gt(zero)) return zero;
  const whole = floorToStep(amount, parseDecimal(spot.amountStep));
  return whole.lt(parseDecimal(spot.least)) ? zero : whole;
}

/** What would be open may still fill, so it comes last. */
function endOf({ endedAtMs, state, reported, sentAtMs }: OrderRecord): number {
  const hasEnded = !mayStillBeOpen(state);
  const toldAtMs = endedAtMs ?? (hasEnded ? (reported?.createdAtMs ?? sentAtMs) : null);
  return toldAtMs ?? Number.MAX_SAFE_INTEGER;
}

/** A buy of which a sale may have sold something. */
interface HeldBuy {
  readonly signalId: string;
  readonly strategy: string | undefined;
  /** What it bought after the sale, without its fee, in base units; null: it had ended before. */
  readonly boughtLater: Decimal | null;
}

/** What is noted of a sale is known already: the rest is taken from the other buys. */
function sell(
  lots: Map<string, Decimal>,
  there: readonly HeldBuy[],
  sale: OrderRecord,
): ReadonlyMap<string, SoldPart> {
  const noted = new Map(Object.entries(sale.soldOf).map(([name, amount]) => [name, parseDecimal(amount)]));
  const sold = new Map([...noted].map(([name, amount]) => [name, { amount, wasOpen: false }]));
  let rest = [...noted.values()].reduce((left, amount) => left.minus(amount), filledBy(sale));
  // An older release may have noted a buy of another strategy.
  for (const [name, amount] of noted)
    if (lots.has(name) && !there.some(({ signalId }) => signalId === name)) {
      const left = lots.get(name) ?? zero;
      lots.set(name, left.minus(minimum(left, amount)));
    }
  for (const { signalId, boughtLater } of there) {
    const left = lots.get(signalId) ?? zero;
    const known = noted.get(signalId);
    const part = known === undefined ? minimum(left.minus(boughtLater ?? zero), rest) : minimum(left, known);
    const amount = maximum(part, zero);
    lots.set(signalId, left.minus(amount));
    if (known !== undefined) continue;
    const wasOpen = boughtLater !== null;
    if (wasOpen || amount.gt(zero)) sold.set(signalId, { amount, wasOpen });
    rest = rest.minus(amount);
  }
  return sold;
}

/**
 * What of a spot buy its fee has taken, in base units: the exchange takes it from what is bought, unless it says that it has taken
 * another currency. The fills tell that for certain.
 */
export function feeOf({ market, followed, reported, spot }: OrderRecord): Decimal {
  const { base } = currenciesInName(market);
  const ofFills = decimalIn(followed?.fees[base]) ?? zero;
  const isQuoteSized = spot?.isQuoteSized === true;
  const areFillsKnown = decimalIn(followed?.filled)?.gte(reported?.filled ?? '0') === true;
  if (isQuoteSized || areFillsKnown || (reported?.feeAsset ?? base) !== base) return ofFills;
  return maximum(ofFills, decimalIn(reported?.fee) ?? zero);
}
