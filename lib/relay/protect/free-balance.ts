import { mostClockAheadMs } from '../../account/account-deals.ts';
import { listRecent } from '../../account/read-position.ts';
import { relistPauseMs } from '../../account/read-remains.ts';
import { type Decimal, formatDecimal, maximum, sumOf, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import { replacedIn } from '../../ledger/cancel-reports.ts';
import type { Entry } from '../../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { mayStillBeOpen } from '../../model/execution.ts';
import type { Market } from '../../model/market.ts';
import { mayBeOneStrategy, ofOneStrategy } from '../../model/one-strategy.ts';
import type { Order } from '../../model/order.ts';
import { orderNamedBy } from '../../model/protect-id.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { mustNotRest } from '../../orders/order-kinds.ts';
import { type HoldingStop, holdingOf, holdingStops } from '../../protection/guards.ts';
import { keptExit } from '../../protection/known-exits.ts';
import { asListed } from '../../protection/left-of.ts';
import { isSpotStop, spotLots } from '../../protection/spot-lots.ts';
import {
  countStopped,
  partsWithin,
  type StoppedSale,
  type StopSale,
  stoppedBy,
  unansweredSales,
} from '../../protection/stop-sales.ts';
import type { ExitOutcome } from '../cancel/cancel-exits.ts';
import type { Outcome, PreparedAction } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { noteAnswered, readAnswered, type SaleName } from './answered-stops.ts';
import { readStopEnd } from './read-stop-end.ts';
import { cancelReplaced, type Replaced, withReplacedOnSpot } from './replace-exits.ts';
import { noteLeft, noteTaken, readTaken, type TakenView } from './taken-stops.ts';

/** What the relay's own stop-losses have to do with a spot sale. */
export interface StopsOfSale {
  /** Those that hold a part of the balance which it sells, the oldest first. */
  readonly holding: readonly HoldingStop[];
  /** What others have sold, and no alert has asked to sell since, the oldest first. */
  readonly sold: readonly StopSale[];
  /** What others had sold before a sale which is a share of what was left. */
  readonly before: readonly StopSale[];
  /** One that may have sold; null: how each ended is known. */
  readonly doubt: string | null;
  /** Of the market, oldest first. */
  readonly records: readonly OrderRecord[];
}

export const noStops: StopsOfSale = { holding: [], sold: [], before: [], doubt: null, records: [] };

/**
 * Reads what the relay's own stop-losses hold and have sold. Without any, nothing is asked of the exchange.
 *
 * @throws ExchangeError when the open orders cannot be read; RelayError `store_unavailable`
 */
export async function readStopsOfSale(
  services: ExecuteServices,
  { name, markets }: Account,
  client: ExchangeClient,
  { market, side, size, strategy }: OrderSignal,
  clientOrderId: string,
  limits: SendOptions,
): Promise<StopsOfSale> {
  const isSpotSale = side === 'sell' && markets[market]?.tradesOn === 'spot';
  // Also with `protection: 'alarm'`: a stop-loss from before that was set still stands.
  if (!isSpotSale || client.dialect !== 'live') return noStops;
  const recent = await listRecent(services, name, market);
  const entries = recent.entries.filter(({ signal }) => signal?.market === market);
  const taken = await readTaken(services.facts, name, market);
  // As the ledger knows them: those that are not listed yet count with what was sent.
  if (!entries.some(isPlacedStop)) return { ...noStops, records: listRecords(entries) };
  const { orders: open } = await listOpenOrders(client, market, limits);
  const known = asListed(listRecords(entries), open);
  const holding = [...holdingStops({ entries, open, taken }), ...alertStops(known, open)];
  const unlisted = unlistedStops(known, { entries, open, taken });
  // A share of what is held now asks for nothing that was sold before. What others have left is no part of it.
  if (size.unit === 'percent') {
    const others = unlisted.filter((stop) => !mayBeOneStrategy(stop.strategy, strategy));
    const looked = await lookUpStops(client, known, others, limits);
    const before = soldBefore(known, market, strategy, services.clock.nowMs());
    return { ...noStops, holding, before, ...looked };
  }
  const { records, doubt } = await lookUpStops(client, known, unlisted, limits);
  const answered = await readAnswered(services.facts, name, market, clientOrderId);
  const sold = unansweredSales(records, market, answered, strategy);
  return { ...noStops, holding, sold, doubt, records };
}

/** Without those that ended well before the sale, as their times tell. */
function soldBefore(
  records: readonly OrderRecord[],
  market: string,
  strategy: string | undefined,
  nowMs: number,
): readonly StopSale[] {
  const ended = new Map(records.map(({ orderId, endedAtMs }) => [orderId, endedAtMs]));
  return unansweredSales(records, market, new Map(), strategy).filter(
    ({ orderId }) => (ended.get(orderId) ?? nowMs) > nowMs - mostClockAheadMs,
  );
}

function isPlacedStop({ signal, signalId, status }: Entry): boolean {
  return status === 'placed' && (signal?.action === 'protect' || orderNamedBy(signalId) !== null);
}

/** Those from the command of an alarm. Nobody else cancels them for a sale. */
function alertStops(records: readonly OrderRecord[], open: readonly Order[]): readonly HoldingStop[] {
  return records.flatMap((record) => {
    const of = isSpotStop(record) ? null : stoppedBy(record, records);
    return of === null ? [] : (holdingOf(record, of, open) ?? []);
  });
}

/**
 * Stop-losses that no list shows, and of which nothing says how they ended. What no list need show yet counts as standing, unless
 * the relay was about to cancel it.
 */
function unlistedStops(
  records: readonly OrderRecord[],
  { entries, open, taken }: TakenView,
): readonly OrderRecord[] {
  const confirmed = replacedIn(entries);
  return records.filter((record) => {
    const kept = stoppedBy(record, records) === null ? null : keptExit(record);
    if (kept === null || !mayStillBeOpen(kept.state)) return false;
    if (kept.fresh !== null && !taken.has(kept.orderId)) return false;
    return !confirmed.has(kept.orderId) && !open.some(({ orderId }) => orderId === kept.orderId);
  });
}

/** Asks for the stop-losses of which no list tells how they ended: a sale could sell another buy, or the owner's, instead. */
async function lookUpStops(
  client: ExchangeClient,
  records: readonly OrderRecord[],
  unlisted: readonly OrderRecord[],
  limits: SendOptions,
): Promise<Pick<StopsOfSale, 'records' | 'doubt'>> {
  const known = new Map<string, OrderRecord>();
  for (const stop of unlisted) {
    const { signalId, orderId, amount } = stop;
    const ended = amount === null ? null : await readStopEnd(client, stop, amount, limits);
    if (ended === null) {
      const doubt = `the stop-loss order ${orderId} of "${stoppedBy(stop, records)}" is not listed any more, and how it ended is not known yet`;
      return { records, doubt };
    }
    known.set(signalId, { ...stop, proved: ended.filled, endedAtMs: ended.endedAtMs });
  }
  return { records: records.map((record) => known.get(record.signalId) ?? record), doubt: null };
}

/** The sum of what these hold, in base units. */
export function heldBy(stops: readonly HoldingStop[]): Decimal {
  return sumOf(stops.map(({ amount }) => amount));
}

/**
 * Those that must be cancelled before a sale, those of its own strategy and the oldest first: they hold what it sells, or
 * protect what it sells at once and could sell the same. Those of other strategies stay. None when all of them together would
 * not do.
 *
 * @param free what no order holds, in base units
 */
export function stopsToFree(
  { signal, amount, market, records }: Pick<HeldSale, 'signal' | 'amount' | 'market' | 'records'>,
  free: Decimal,
  stops: readonly HoldingStop[],
): readonly HoldingStop[] {
  let missing = amount.minus(free);
  const strategyOf = (of: string) => records.find(({ signalId }) => signalId === of)?.strategy;
  const own = ofOneStrategy(stops, signal.strategy, ({ of }) => strategyOf(of));
  if (own.length === 0 || heldBy(own).lt(missing)) return [];
  // One that rests is protected until it fills.
  const lots = ofOneStrategy([...spotLots(records, market.name)], signal.strategy, ([of]) => strategyOf(of));
  const sold = mustNotRest(signal) ? firstLots(amount, lots) : new Set<string>();
  const ofSold = own.filter(({ of }) => sold.has(of));
  missing = missing.minus(heldBy(ofSold));
  return own.filter((stop) => {
    if (ofSold.includes(stop)) return true;
    if (!missing.gt(zero)) return false;
    missing = missing.minus(stop.amount);
    return true;
  });
}

/** The buys that a sale of this amount reduces. */
function firstLots(amount: Decimal, lots: readonly (readonly [string, Decimal])[]): ReadonlySet<string> {
  let rest = amount;
  const reduced = lots.filter(([, left]) => {
    const isReduced = rest.gt(zero) && left.gt(zero);
    if (isReduced) rest = rest.minus(left);
    return isReduced;
  });
  return new Set(reduced.map(([signalId]) => signalId));
}

/** A sale that stop-losses hold something of. */
export interface HeldSale extends Omit<SaleName, 'market'> {
  readonly signal: OrderSignal;
  readonly market: Market;
  /** What it sells, in base units. */
  readonly amount: Decimal;
  /** What stop-losses had sold of it before it was sized. */
  readonly counted: readonly StopSale[];
  /** Of the market, oldest first. */
  readonly records: readonly OrderRecord[];
  /** Sells less than that. */
  sendLess(amount: Decimal, options: SendOptions): Promise<Outcome>;
}

function nameOf({ account, market, clientOrderId }: HeldSale): SaleName {
  return { account, market: market.name, clientOrderId };
}

/**
 * The sale, with the cancellation of the stop-losses that hold what it sells. What they sell before they are cancelled is taken
 * off it. What is left is protected anew after it.
 */
export function withStopsFreed(
  services: ExecuteServices,
  client: ExchangeClient,
  sale: HeldSale,
  stops: readonly HoldingStop[],
  action: PreparedAction,
): PreparedAction {
  if (stops.length === 0) return action;
  const { account, amount, counted, records } = sale;
  const market = sale.market.name;
  const cancels = stops.map(({ orderId }) => orderId);
  const names = stops.map(({ of, orderId }) => `order ${orderId} of "${of}"`).join(', ');
  const told = `what it sells is held by the stop-loss ${names}, which is cancelled first`;
  const note = (parts: readonly StopSale[]) =>
    noteAnswered(services.facts, nameOf(sale), [...counted, ...partsWithin(amount, parts)], records);
  return {
    ...action,
    requests: [...cancels.map((orderId) => ({ cancel: orderId })), ...action.requests],
    note: action.note === undefined ? told : `${told}; ${action.note}`,
    async send(options) {
      await noteTaken(services.facts, account, market, cancels);
      const answered = await cancelReplaced(services, client, { market, cancels }, options);
      const left = cancels.filter((orderId) => surelyStands(answered, orderId));
      if (left.length > 0) {
        await noteLeft(services, account, market, left);
        return withReplacedOnSpot(perhapsOpen, answered);
      }
      const sold = await readSold(services, client, { market, stops, done: answered }, options);
      const done = sold === null ? answered : withEnds(answered, stops, sold);
      if (sold === null) {
        if (answered.exits.some(({ result }) => result === 'unknown'))
          return withReplacedOnSpot(perhapsOpen, done);
        // The alert has asked for what they may have sold.
        await note(stops.filter(({ orderId }) => resultOf(done, orderId) === 'gone'));
        return withReplacedOnSpot(soldUnknown, done);
      }
      const stopped = countStopped({ signal: sale.signal, amount }, sold, records, sale.market);
      if (stopped !== null) await note(stopped.parts);
      const outcome = await sendRest(sale, stopped, action, options);
      return withReplacedOnSpot(withSold(outcome, sale, sold), done);
    },
  };
}

async function sendRest(
  { amount, sendLess }: HeldSale,
  stopped: StoppedSale | null,
  action: PreparedAction,
  options: SendOptions,
): Promise<Outcome> {
  if (stopped === null) return await action.send(options);
  if (stopped.rest === null) return nothingLeft(stopped);
  const rest = stopped.parts.reduce((left, part) => left.minus(part.amount), amount);
  const outcome = await sendLess(rest, options);
  return { ...outcome, note: `${outcome.note}; ${stopped.note}` };
}

/** What is left has a stop-loss again at once: until the follower has seen what the old ones sold, nothing else would tell it. */
function withSold(outcome: Outcome, { market, records }: HeldSale, since: readonly StopSale[]): Outcome {
  const stopsSold = records.flatMap((record): readonly (readonly [number, string])[] => {
    const { orderId } = record;
    if (record.market !== market.name || orderId === null || stoppedBy(record, records) === null) return [];
    const sold = filledBy(record).plus(since.find((one) => one.orderId === orderId)?.amount ?? zero);
    return record.followed?.filled === formatDecimal(sold) || sold.eq(zero)
      ? []
      : [[orderId, formatDecimal(sold)]];
  });
  if (stopsSold.length === 0) return outcome;
  return { ...outcome, facts: { ...outcome.facts, stopsSold: Object.fromEntries(stopsSold) } };
}

function resultOf({ exits }: Replaced, orderId: number): ExitOutcome['result'] | undefined {
  return exits.find(({ orderIds }) => orderIds.includes(orderId))?.result;
}

/** Whether nothing says that it has ended: the request was refused, or never sent. A lost answer may have ended it. */
function surelyStands(done: Replaced, orderId: number): boolean {
  const result = resultOf(done, orderId);
  return result === undefined || result === 'failed';
}

/** What a lost answer left open is known once a list has told what those stop-losses sold: only of one that has ended it does. */
function withEnds(done: Replaced, stops: readonly HoldingStop[], sold: readonly StopSale[]): Replaced {
  const hasSoldAll = ({ orderIds }: ExitOutcome) =>
    stops.some(
      ({ orderId, amount }) =>
        orderIds.includes(orderId) &&
        sold.some((sale) => sale.orderId === orderId && sale.amount.gte(amount)),
    );
  const exits = done.exits.map(
    (exit): ExitOutcome =>
      exit.result === 'unknown'
        ? {
            ...exit,
            result: hasSoldAll(exit) ? 'gone' : 'cancelled',
            note: `${exit.note}; a list shows that it has ended`,
          }
        : exit,
  );
  return { ...done, exits };
}

/** Stop-losses that were to be cancelled, and what became of that. */
interface EndedStops {
  readonly market: string;
  readonly stops: readonly HoldingStop[];
  readonly done: Replaced;
}

/**
 * What stop-losses have sold since the open orders were read, and before they were cancelled. The response to a cancellation
 * shows it. Of one that had ended before, or of which that response was lost, the lists are read until one shows it, or the
 * time is up.
 *
 * @returns null when it is not known of all of them
 */
async function readSold(
  { clock, exchangeTimeoutMs }: Pick<ExecuteServices, 'clock' | 'exchangeTimeoutMs'>,
  client: ExchangeClient,
  { market, stops, done }: EndedStops,
  { endByMs, notAfterMs = Number.POSITIVE_INFINITY }: SendOptions,
): Promise<readonly StopSale[] | null> {
  // The sale itself needs half a timeout, and is not sent when it has become too old.
  const lastMs = Math.min((endByMs ?? clock.nowMs() + exchangeTimeoutMs) - exchangeTimeoutMs / 2, notAfterMs);
  const limits = { timeoutMs: exchangeTimeoutMs / 2, endByMs: lastMs };
  const sales: StopSale[] = [];
  for (const { of, orderId, clientOrderId, amount, sold } of stops) {
    const { order } = done.exits.find(({ orderIds }) => orderIds.includes(orderId)) ?? {};
    const readFilled = async () =>
      (await readStopEnd(client, { market, clientOrderId }, sold.plus(amount), limits))?.filled ?? null;
    let filled = order?.filled ?? (await readFilled());
    while (filled === null && clock.nowMs() + relistPauseMs < lastMs) {
      await clock.sleep(relistPauseMs);
      filled = await readFilled();
    }
    if (filled === null) return null;
    sales.push({ of, orderId, amount: maximum(filled.minus(sold), zero) });
  }
  return sales;
}

/** The sale of what stop-losses have not sold already. */
export function withStopped(
  { facts }: Pick<ExecuteServices, 'facts'>,
  sale: HeldSale,
  { note, parts }: StoppedSale,
  action: PreparedAction,
): PreparedAction {
  return {
    ...action,
    note: action.note === undefined ? note : `${note}; ${action.note}`,
    async send(options) {
      await noteAnswered(facts, nameOf(sale), parts, sale.records);
      return await action.send(options);
    },
  };
}

/** The sale of a share of what is left, which asks for nothing that was sold before. */
export function withBefore(
  { facts }: Pick<ExecuteServices, 'facts'>,
  sale: HeldSale,
  before: readonly StopSale[],
  action: PreparedAction,
): PreparedAction {
  if (before.length === 0) return action;
  return {
    ...action,
    async send(options) {
      await noteAnswered(facts, nameOf(sale), before, sale.records, { isBefore: true });
      return await action.send(options);
    },
  };
}

const perhapsOpen: Outcome = {
  status: 'not_sent',
  note: 'nothing was sold: a stop-loss that holds what it sells could not be cancelled, and may still be open',
  evidence: null,
};

const soldUnknown: Outcome = {
  status: 'not_sent',
  note: 'nothing was sold: a stop-loss that held what it sells had ended meanwhile, and how much it has sold is not known; look at what is left, and sell that again',
  evidence: null,
};

/** A sale that is on its way cannot end as `satisfied` any more. */
function nothingLeft({ note }: StoppedSale): Outcome {
  return { status: 'not_sent', note: `nothing was left to sell: ${note}`, evidence: null };
}
