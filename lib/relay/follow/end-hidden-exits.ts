import { hasPassed } from '../../base/clock.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { mayHide } from '../../exchange/listed.ts';
import { replacedIn } from '../../ledger/cancel-reports.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { Order } from '../../model/order.ts';
import { attachedStop, knownIds } from '../../protection/other-stops.ts';
import { fingerprintOf } from '../../signals/identity.ts';
import type { FollowServices } from './follow-services.ts';

/** The stop-losses that only the list of positions has shown beside a position, each of an order of this relay. */
interface HiddenStops {
  readonly market: string;
  readonly orderIds: ReadonlySet<number>;
  /** Since when no reading shows the position; null: the last one does. */
  readonly goneSinceMs: number | null;
}

/** By market, side of hedge mode and direction of the position. */
export type HiddenMemory = Map<string, HiddenStops>;

interface Reading {
  readonly positions: Positions;
  readonly open: readonly Order[];
  readonly ended: readonly { readonly orderId: number }[];
  /** The followed ones, oldest first. */
  readonly entries: readonly Entry[];
}

/**
 * Ends what the exchange made of orders whose position is gone, and which no list of orders has shown: it could open a position,
 * and once the position is gone nothing shows it any more. It is remembered in memory alone.
 *
 * @param keeps whether the relay keeps the protection of this account; otherwise an alarm tells it
 * @throws RelayError `store_unavailable`
 */
export async function endHiddenExits(
  services: FollowServices,
  teller: Teller,
  account: string,
  reading: Reading,
  memory: HiddenMemory,
  keeps: boolean,
): Promise<void> {
  const nowMs = services.clock.nowMs();
  noteHidden(reading, memory);
  for (const [place, stops] of memory) {
    const { market, orderIds, goneSinceMs } = stops;
    const isHeld = reading.positions.positions.some((position) => placeOf(position) === place);
    if (isHeld || mayHide(reading.positions.hidden, market)) {
      memory.set(place, { ...stops, goneSinceMs: null });
      continue;
    }
    // The list of positions may lag behind the order that opened it.
    memory.set(place, { ...stops, goneSinceMs: goneSinceMs ?? nowMs });
    if (goneSinceMs === null || !hasPassed(goneSinceMs, longestPositionLagMs, nowMs)) continue;
    memory.delete(place);
    const recent = await services.ledger.list({ account, limit: mostRecent });
    const over = replacedIn([...reading.entries, ...recent.entries]);
    const left = [...orderIds].filter((orderId) => !over.has(orderId));
    for (const orderId of left)
      if (keeps) await askToCancel(services, account, market, orderId);
      else await tell(services, teller, account, market, orderId);
  }
}

/** A close is among these, if it has cancelled them. */
const mostRecent = 50;

/** What another list shows as well, is followed as an order. */
function noteHidden({ positions, open, ended, entries }: Reading, memory: HiddenMemory): void {
  const records = listRecords(entries);
  const known = knownIds(records);
  const isShown = (orderId: number) =>
    known.has(orderId) || [...open, ...ended].some((order) => order.orderId === orderId);
  for (const [place, stops] of memory) {
    const orderIds = new Set([...stops.orderIds].filter((orderId) => !isShown(orderId)));
    if (orderIds.size === 0) memory.delete(place);
    else memory.set(place, { ...stops, orderIds });
  }
  for (const position of positions.positions) {
    const stop = attachedStop(position, records, open);
    if (stop === null || stop.of === null) continue;
    const place = placeOf(position);
    const orderIds = new Set([...(memory.get(place)?.orderIds ?? []), stop.orderId]);
    memory.set(place, { market: position.market, orderIds, goneSinceMs: null });
  }
}

function placeOf(position: {
  readonly market: string;
  readonly positionSide: string;
  readonly amount: Decimal;
}): string {
  const { market, positionSide, amount } = position;
  return `${market} ${positionSide} ${amount.gt(zero) ? 'long' : 'short'}`;
}

/** A cancellation in the line of the market, as of an alert. */
async function askToCancel(
  { entrance, clock }: FollowServices,
  account: string,
  market: string,
  orderId: number,
): Promise<void> {
  const signalId = `cancel-${orderId}`;
  const signal = {
    ticker: market,
    market,
    timeMs: null,
    maxLagMs: null,
    comment: 'the position is gone that this stop-loss was attached to',
    action: 'cancel' as const,
    target: { by: 'orderId' as const, orderId },
  };
  const fingerprint = fingerprintOf(Buffer.from(signalId));
  await entrance.accept(
    [{ account, signalId, signal, clientOrderId: null, fingerprint, atMs: clock.nowMs() }],
    null,
  );
}

async function tell(
  { commandOptions }: FollowServices,
  teller: Teller,
  account: string,
  market: string,
  orderId: number,
): Promise<void> {
  await teller.tell(account, {
    key: `hidden stop ${market} ${orderId}`,
    alarm: {
      name: 'orders_left_open',
      message: `the position in ${market} is gone, and the stop-loss order ${orderId}, which the exchange had attached to it, may still be open and could open a new one: cancel it`,
    },
    facts: {
      market,
      orderId,
      whatToDo: `npx relay cancel ${market} --order-id ${orderId} --account ${account}${commandOptions}`,
    },
    everyMs: null,
  });
}
