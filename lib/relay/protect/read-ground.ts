import {
  findUnsettled,
  listRecent,
  type PositionQuery,
  readPosition,
  type WaitingReading,
} from '../../account/read-position.ts';
import { type Decimal, sumOf, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { tradeBalance } from '../../exchange/endpoints/trade-balance.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { SpotBalance } from '../../model/holdings.ts';
import type { Market } from '../../model/market.ts';
import type { Order } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import { holdingStops } from '../../protection/guards.ts';
import { asListed } from '../../protection/left-of.ts';
import type { GuardedPosition } from '../../protection/shares.ts';
import { marketsBeside, protectableIn } from '../../protection/spot-claims.ts';
import type { ExecuteServices } from '../services.ts';
import { readTaken } from './taken-stops.ts';
import { isBalanceTrusted } from './trust-balance.ts';

/** What protection stands on: a position, or on spot what of the balance can be protected. */
export type GroundReading =
  | {
      readonly kind: 'seen';
      readonly position: GuardedPosition;
      readonly readAtMs: number;
      readonly entries: readonly Entry[];
      readonly open: readonly Order[];
      readonly taken: ReadonlySet<number>;
      /** On spot: what no order holds, in base units; null elsewhere, where an order that only reduces holds nothing. */
      readonly free: Decimal | null;
    }
  | WaitingReading
  | { readonly kind: 'denied'; readonly denial: Denial };

/**
 * Reads what the protection of a market is planned on.
 *
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readGround(
  services: ExecuteServices,
  client: ExchangeClient,
  market: Market,
  query: PositionQuery & { readonly isSpot: boolean },
  limits: SendOptions,
): Promise<GroundReading> {
  if (query.isSpot) return await readSpotGround(services, client, market, query, limits);
  const reading = await readPosition(services, client, query, limits);
  if (reading.kind !== 'seen') return reading;
  const taken = await readTaken(services.facts, query.account, market.name);
  const open = await listOpenOrders(client, market.name, limits);
  if (!open.isWhole) return openUnread;
  const { amount, side } = reading.position;
  const position = { market: market.name, side, amount, openedAtMs: reading.openedAtMs, tpsl: reading.tpsl };
  return { ...reading, position, open: open.orders, taken, free: null };
}

export const openUnread = {
  kind: 'waits',
  reason: 'the open orders cannot be read whole',
  mayPassSoon: false,
} as const;

/** What other orders hold of the balance counts as sold: no stop-loss can hold it beside them. */
async function readSpotGround(
  services: ExecuteServices,
  client: ExchangeClient,
  { name, base }: Market,
  query: PositionQuery,
  limits: SendOptions,
): Promise<GroundReading> {
  const unsettled = await findUnsettled(services, query, null);
  if (unsettled !== undefined) {
    const reason = `the outcome of signal "${unsettled.signalId}" is not known yet (${unsettled.status}), and it may change the balance`;
    return { kind: 'waits', reason, mayPassSoon: false, unknownSinceMs: unsettled.updatedAtMs };
  }
  const { entries } = await listRecent(services, query.account, name);
  const taken = await readTaken(services.facts, query.account, name);
  const readAtMs = services.clock.nowMs();
  const open = await listOpenOrders(client, name, limits);
  if (!open.isWhole) return openUnread;
  const balances = await client.call(tradeBalance, {}, limits);
  const balance = balances[base] ?? { available: zero, freeze: zero };
  const held = new Map([[name, heldIn(name, { entries, open: open.orders, taken })]]);
  const records = asListed(listRecords(entries), open.orders);
  for (const other of marketsBeside(records, name)) {
    const beside = await listOpenOrders(client, other, limits);
    if (!beside.isWhole) return openUnread;
    const takenBeside = await readTaken(services.facts, query.account, other);
    held.set(other, heldIn(other, { entries, open: beside.orders, taken: takenBeside }));
  }
  const position = spotPosition(name, balance, held, records);
  if (!isBalanceTrusted(position.amount, entries, name, readAtMs))
    return { kind: 'waits', reason: 'the balance may not show the last orders yet', mayPassSoon: true };
  return { kind: 'seen', position, readAtMs, entries, open: open.orders, taken, free: balance.available };
}

/** What the relay's own stop-losses in a market hold of its base currency, in base units. */
export function heldIn(market: string, view: Parameters<typeof holdingStops>[0]): Decimal {
  const entries = view.entries.filter(({ signal }) => signal?.market === market);
  return holdingStops({ ...view, entries }).reduce((sum, stop) => sum.plus(stop.amount), zero);
}

/**
 * What of a spot balance can be protected in a market.
 *
 * @param held by market with that base currency: what the relay's own stop-losses hold
 * @param records of the account, oldest first
 */
export function spotPosition(
  market: string,
  { available: free, freeze }: SpotBalance,
  held: ReadonlyMap<string, Decimal>,
  records: readonly OrderRecord[],
): GuardedPosition {
  const amount = protectableIn(market, { free, held }, records);
  // A list may lag. What was free and is held by now is counted once all the same.
  const ofStops = sumOf(held.values());
  const ofOthers = freeze.minus(ofStops);
  return { market, side: null, amount, openedAtMs: null, isSpot: true, balance: amount.plus(ofOthers) };
}
