import { listRecent } from '../../account/read-position.ts';
import { type Decimal, maximum, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { findOrder } from '../../exchange/find-order.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import { filledBy, listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import type { Order } from '../../model/order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { type HoldingStop, holdingStops, unlistedStops } from '../../protection/guards.ts';
import { isSpotStop, spotLots } from '../../protection/spot-lots.ts';
import {
  partsWithin,
  type StoppedSale,
  type StopSale,
  unansweredSales,
} from '../../protection/stop-sales.ts';
import type { Outcome, PreparedAction } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { noteAnswered, readAnswered, type SaleName } from './answered-stops.ts';
import { cancelReplaced, type Replaced, withReplaced } from './replace-exits.ts';
import { noteTaken, readTaken } from './taken-stops.ts';

/** What the relay's own stop-losses have to do with a spot sale. */
export interface StopsOfSale {
  /** Those that hold a part of the balance which it sells, the oldest first. */
  readonly holding: readonly HoldingStop[];
  /** What others have sold, and no alert has asked to sell since, the oldest first. */
  readonly sold: readonly StopSale[];
  /** One that may have sold, while another buy is held; null: how each ended is known. */
  readonly doubt: string | null;
  /** Of the account, oldest first. */
  readonly records: readonly OrderRecord[];
}

export const noStops: StopsOfSale = { holding: [], sold: [], doubt: null, records: [] };

/**
 * Reads what the relay's own stop-losses hold and have sold. Without any, nothing is asked of the exchange.
 *
 * @throws ExchangeError when the open orders cannot be read; RelayError `store_unavailable`
 */
export async function readStopsOfSale(
  services: ExecuteServices,
  { name, protection, markets }: Account,
  client: ExchangeClient,
  { market, side, size }: OrderSignal,
  clientOrderId: string,
  limits: SendOptions,
): Promise<StopsOfSale> {
  const isSpotSale = side === 'sell' && markets[market]?.tradesOn === 'spot';
  if (!isSpotSale || protection !== 'keep' || client.dialect !== 'live') return noStops;
  const recent = await listRecent(services, name, market);
  const entries = recent.entries.filter(({ signal }) => signal?.market === market);
  const taken = await readTaken(services.facts, name, market);
  // As the ledger knows them: those that are not listed yet count with what was sent.
  if (!entries.some(({ signal, status }) => signal?.action === 'protect' && status === 'placed'))
    return noStops;
  const { orders: open } = await listOpenOrders(client, market, limits);
  const holding = holdingStops({ entries, open, taken });
  const known = asListed(listRecords(entries), open);
  // A share of what is held now asks for nothing that was sold before.
  if (size.unit === 'percent') return { ...noStops, holding, records: known };
  const { records, doubt } = await lookUpStops(client, known, unlistedStops({ entries, open }), limits);
  const answered = await readAnswered(services.facts, name, market, clientOrderId);
  return { holding, sold: unansweredSales(records, market, answered), doubt, records };
}

/** The list of open orders was just read: a stop-loss may have sold more by it than the follower has seen. */
function asListed(records: readonly OrderRecord[], open: readonly Order[]): readonly OrderRecord[] {
  return records.map((record) => {
    const listed = isSpotStop(record) ? open.find(({ orderId }) => orderId === record.orderId) : undefined;
    if (listed === undefined) return record;
    return { ...record, proved: maximum(listed.amount.minus(listed.remaining), filledBy(record)) };
  });
}

/** Asks for the stop-losses of which no list tells how they ended, where a sale could sell another buy instead. */
async function lookUpStops(
  client: ExchangeClient,
  records: readonly OrderRecord[],
  unlisted: readonly OrderRecord[],
  limits: SendOptions,
): Promise<Pick<StopsOfSale, 'records' | 'doubt'>> {
  const [first] = unlisted;
  const doubted = new Set(unlisted.map(({ protects }) => protects?.of));
  const lots = first === undefined ? [] : [...spotLots(records, first.market)];
  if (!lots.some(([of, left]) => left.gt(zero) && !doubted.has(of))) return { records, doubt: null };
  const known = new Map<string, OrderRecord>();
  for (const stop of unlisted) {
    const { market, clientOrderId, signalId, orderId, protects } = stop;
    const place = await findOrder(client, { market, clientOrderId: clientOrderId ?? '' }, limits);
    const seen = place.kind === 'found' && !place.isOpen ? place.order : place;
    if (!('filled' in seen)) {
      const doubt = `the stop-loss order ${orderId} of "${protects?.of}" is not listed any more, and how it ended is not known yet`;
      return { records, doubt };
    }
    known.set(signalId, { ...stop, proved: seen.filled });
  }
  return { records: records.map((record) => known.get(record.signalId) ?? record), doubt: null };
}

/** The sum of what these hold, in base units. */
export function heldBy(stops: readonly HoldingStop[]): Decimal {
  return stops.reduce((sum, { amount }) => sum.plus(amount), zero);
}

/**
 * Those that must be cancelled before a sale, the oldest first; none when it can be sent beside them, and when all of them
 * together would not do.
 *
 * @param free what no order holds, in base units
 */
export function stopsToFree(
  amount: Decimal,
  free: Decimal,
  stops: readonly HoldingStop[],
): readonly HoldingStop[] {
  let missing = amount.minus(free);
  if (heldBy(stops).lt(missing)) return [];
  return stops.filter((stop) => {
    if (!missing.gt(zero)) return false;
    missing = missing.minus(stop.amount);
    return true;
  });
}

/** The sale, with the cancellation of the stop-losses that hold what it sells. What is left is protected anew after it. */
export function withStopsFreed(
  services: ExecuteServices,
  client: ExchangeClient,
  { amount, ...name }: SaleName & { readonly amount: Decimal },
  stops: readonly HoldingStop[],
  action: PreparedAction,
): PreparedAction {
  if (stops.length === 0) return action;
  const { account, market } = name;
  const cancels = stops.map(({ orderId }) => orderId);
  const names = stops.map(({ of, orderId }) => `order ${orderId} of "${of}"`).join(', ');
  const told = `what it sells is held by the stop-loss ${names}, which is cancelled first`;
  return {
    ...action,
    requests: [...cancels.map((orderId) => ({ cancel: orderId })), ...action.requests],
    note: action.note === undefined ? told : `${told}; ${action.note}`,
    async send(options) {
      await noteTaken(services.facts, account, market, cancels);
      const done = await cancelReplaced(services, client, { market, cancels }, options);
      if (done.areCancelled) return withReplaced(await action.send(options), done);
      await noteAnswered(services.facts, name, soldMeanwhile(stops, amount, done));
      return withReplaced(endedMeanwhile, done);
    },
  };
}

/** What the sale asked for of those that ended before they could be cancelled: it counts as its sale. */
function soldMeanwhile(
  stops: readonly HoldingStop[],
  amount: Decimal,
  { exits }: Replaced,
): readonly StopSale[] {
  const gone = new Set(exits.flatMap(({ result, orderIds }) => (result === 'gone' ? orderIds : [])));
  return partsWithin(
    amount,
    stops.filter(({ orderId }) => gone.has(orderId)),
  );
}

/** The sale of what stop-losses have not sold already. */
export function withStopped(
  { facts }: Pick<ExecuteServices, 'facts'>,
  name: SaleName,
  { note, parts }: StoppedSale,
  action: PreparedAction,
): PreparedAction {
  return {
    ...action,
    note: action.note === undefined ? note : `${note}; ${action.note}`,
    async send(options) {
      await noteAnswered(facts, name, parts);
      return await action.send(options);
    },
  };
}

const endedMeanwhile: Outcome = {
  status: 'not_sent',
  note: 'nothing was sold: a stop-loss that held what it sells had ended meanwhile, and may have sold it, or may still be open',
  evidence: null,
};
