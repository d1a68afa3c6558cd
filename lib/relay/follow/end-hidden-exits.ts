import { attachedIds } from '../../account/exits.ts';
import { hasPassed } from '../../base/clock.ts';
import { zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { readListedOrder } from '../../exchange/list-account.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { mayHide } from '../../exchange/listed.ts';
import { replacedIn } from '../../ledger/cancel-reports.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { OpenPosition } from '../../model/holdings.ts';
import type { Order } from '../../model/order.ts';
import { attachedExits, knownIds } from '../../protection/other-stops.ts';
import { AskedActs } from '../protect/keep-protection.ts';
import type { FollowServices } from './follow-services.ts';
import { cancellationIdOf, storeCancellation } from './store-cancellation.ts';

type SeenPosition = Pick<OpenPosition, 'market' | 'positionSide' | 'amount' | 'openedAtMs' | 'tpsl'>;

/** What only the list of positions has shown beside a position, each of an order of this relay. */
interface HiddenExits {
  readonly position: SeenPosition;
  readonly orderIds: ReadonlySet<number>;
  /** Since when no reading shows the position; null: the last one does. */
  readonly goneSinceMs: number | null;
}

/** What one process knows of such exits of an account. */
export class HiddenMemory {
  exits: readonly HiddenExits[] = [];
  readonly asked = new AskedActs();
}

interface Reading {
  readonly positions: Positions;
  readonly open: readonly Order[];
  readonly ended: readonly { readonly orderId: number }[];
  /** The followed ones, oldest first. */
  readonly entries: readonly Entry[];
}

interface HiddenServices {
  readonly services: FollowServices;
  readonly teller: Teller;
  readonly account: string;
  readonly client: ExchangeClient;
  readonly options: SendOptions;
  /** Whether the relay keeps the protection of this account; otherwise an alarm tells what stays. */
  readonly keeps: boolean;
}

/**
 * Ends what the exchange made of orders whose position is gone, and which no list of orders has shown: it could open a position,
 * and once the position is gone nothing shows it any more. It is remembered in memory alone, until it has ended.
 *
 * @throws RelayError `store_unavailable`
 */
export async function endHiddenExits(
  hidden: HiddenServices,
  reading: Reading,
  memory: HiddenMemory,
): Promise<void> {
  // Every turn comes here, and mostly there is nothing to look at.
  const isShown = reading.positions.positions.some(({ tpsl }) => attachedIds(tpsl).length > 0);
  if (memory.exits.length === 0 && !isShown) return;
  const nowMs = hidden.services.clock.nowMs();
  memory.exits = noteHidden(reading, memory.exits).map((exits) => {
    const { position, goneSinceMs } = exits;
    const { positions, hidden: unread } = reading.positions;
    const isHeld = positions.some((one) => isSame(one, position)) || mayHide(unread, position.market);
    return { ...exits, goneSinceMs: isHeld ? null : (goneSinceMs ?? nowMs) };
  });
  for (const exits of memory.exits) {
    // The list of positions may lag behind the order that opened it.
    if (exits.goneSinceMs === null || !hasPassed(exits.goneSinceMs, longestPositionLagMs, nowMs)) continue;
    const left: number[] = [];
    for (const orderId of exits.orderIds)
      if (!(await isOver(hidden, reading, exits.position.market, orderId, memory))) left.push(orderId);
    const orderIds = new Set(left);
    memory.exits = memory.exits.flatMap((one) =>
      one.position !== exits.position ? one : orderIds.size === 0 ? [] : { ...one, orderIds },
    );
  }
}

/** What another list shows as well is followed as an order. */
function noteHidden(
  { positions, open, ended, entries }: Reading,
  before: readonly HiddenExits[],
): readonly HiddenExits[] {
  const records = listRecords(entries);
  const known = knownIds(records);
  const isShown = (orderId: number) =>
    known.has(orderId) || [...open, ...ended].some((order) => order.orderId === orderId);
  const noted = before.flatMap((exits) => {
    const orderIds = new Set([...exits.orderIds].filter((orderId) => !isShown(orderId)));
    return orderIds.size === 0 ? [] : [{ ...exits, orderIds }];
  });
  for (const position of positions.positions) {
    const own = attachedExits(position, records, open).filter(({ of }) => of !== null);
    if (own.length === 0) continue;
    const place = noted.findIndex((one) => isSame(one.position, position));
    const orderIds = new Set([...(noted[place]?.orderIds ?? []), ...own.map(({ orderId }) => orderId)]);
    noted.splice(place < 0 ? noted.length : place, 1, { position, orderIds, goneSinceMs: null });
  }
  return noted;
}

/** A time that the exchange does not tell proves no other position. */
function isSame(one: SeenPosition, other: SeenPosition): boolean {
  return (
    one.market === other.market &&
    one.positionSide === other.positionSide &&
    one.amount.gt(zero) === other.amount.gt(zero) &&
    (one.openedAtMs === null || other.openedAtMs === null || one.openedAtMs === other.openedAtMs)
  );
}

/**
 * Asks for its end, again and again until that is known, or tells it.
 *
 * @returns whether nothing more is to be done
 */
async function isOver(
  hidden: HiddenServices,
  { entries }: Reading,
  market: string,
  orderId: number,
  { asked }: HiddenMemory,
): Promise<boolean> {
  const { services, account, keeps } = hidden;
  if (!asked.isDue(String(orderId), '', services.clock.nowMs())) return false;
  const recent = await services.ledger.list({ account, limit: mostRecent });
  const isAnswered = ({ signalId, status }: Entry) =>
    signalId.startsWith(cancellationIdOf(orderId)) && (status === 'cancelled' || status === 'rejected');
  if (recent.entries.some(isAnswered)) return true;
  // The close of the position has cancelled it, if that knew of it.
  if (replacedIn([...entries, ...recent.entries]).has(orderId)) return true;
  try {
    const { ended } = await readListedOrder(hidden.client, { market, orderId }, hidden.options);
    if (ended !== null) return true;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return false;
  }
  if (keeps)
    await storeCancellation(services, account, orderId, {
      ticker: market,
      market,
      comment: 'the position is gone that this order was attached to',
      target: { by: 'orderId', orderId },
    });
  else await tell(services, hidden.teller, account, market, orderId);
  return !keeps;
}

/** A close is among these, if it has cancelled them. */
const mostRecent = 50;

async function tell(
  { commandOptions }: FollowServices,
  teller: Teller,
  account: string,
  market: string,
  orderId: number,
): Promise<void> {
  await teller.tell(account, {
    key: `hidden exit ${market} ${orderId}`,
    alarm: {
      name: 'orders_left_open',
      message: `the position in ${market} is gone, and order ${orderId}, a stop-loss or take-profit that the exchange had attached to it, may still be open and could open a new one: cancel it`,
    },
    facts: {
      market,
      orderId,
      whatToDo: `npx relay cancel ${market} --order-id ${orderId} --account ${account}${commandOptions}`,
    },
    everyMs: null,
  });
}
