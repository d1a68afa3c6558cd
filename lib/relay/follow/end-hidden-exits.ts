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
import type { AttachedOrders } from '../../model/execution.ts';
import type { OpenPosition } from '../../model/holdings.ts';
import type { Order } from '../../model/order.ts';
import { attachedExits, knownIds } from '../../protection/other-stops.ts';
import type { AccountMemory } from './follow-memory.ts';
import type { FollowServices } from './follow-services.ts';
import type { FollowedEntry } from './followed-entry.ts';
import { cancellationIdOf, storeCancellation } from './store-cancellation.ts';

interface Reading {
  readonly positions: Positions;
  readonly open: readonly Order[];
  readonly ended: readonly { readonly orderId: number }[];
  readonly followed: readonly FollowedEntry[];
  /** The same with what this reading has told of them, oldest first. */
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
 * and once the position is gone nothing shows it any more. Its order is followed until it has ended.
 *
 * @throws RelayError `store_unavailable`
 */
export async function endHiddenExits(
  hidden: HiddenServices,
  reading: Reading,
  memory: AccountMemory,
): Promise<void> {
  const { positions, followed } = reading;
  // Every turn comes here, and mostly there is nothing to look at.
  const isShown = positions.positions.some(({ tpsl }) => attachedIds(tpsl).length > 0);
  if (!isShown && followed.every(({ attached }) => attached === null)) return;
  noteAttached(reading);
  const nowMs = hidden.services.clock.nowMs();
  for (const one of followed) {
    const { signalId } = one.entry;
    if (one.attached === null || mayStand(one, one.attached, positions)) {
      memory.goneSinceMs.delete(signalId);
      continue;
    }
    const sinceMs = memory.goneSinceMs.get(signalId) ?? nowMs;
    memory.goneSinceMs.set(signalId, sinceMs);
    // The list of positions may lag behind the order that opened it.
    if (!hasPassed(sinceMs, longestPositionLagMs, nowMs)) continue;
    const orderIds: number[] = [];
    for (const orderId of one.attached.orderIds)
      if (!(await isOver(hidden, reading, one.market, orderId, memory))) orderIds.push(orderId);
    one.attached = orderIds.length === 0 ? null : { ...one.attached, orderIds };
    if (orderIds.length === 0) memory.goneSinceMs.delete(signalId);
  }
}

/** What another list shows as well is followed as an order. */
function noteAttached({ positions: { positions }, open, ended, followed, entries }: Reading): void {
  const records = listRecords(entries);
  const known = knownIds(records);
  const isListed = (orderId: number) =>
    known.has(orderId) || [...open, ...ended].some((order) => order.orderId === orderId);
  const shown = positions.flatMap((position) =>
    attachedExits(position, records, open).map((exit) => ({ ...exit, openedAtMs: position.openedAtMs })),
  );
  for (const one of followed) {
    const seen = shown.filter(({ of }) => of === one.entry.signalId);
    const before = (one.attached?.orderIds ?? []).filter((orderId) => !isListed(orderId));
    const orderIds = [...new Set([...before, ...seen.map(({ orderId }) => orderId)])];
    // A later position shows what an earlier one has left.
    const openedAtMs = one.attached?.openedAtMs ?? seen[0]?.openedAtMs ?? null;
    one.attached = orderIds.length === 0 ? null : { orderIds, openedAtMs };
  }
}

/** Whether the position may stand beside which they were seen. A time that the exchange does not tell proves no other position. */
function mayStand(
  { market, signal }: FollowedEntry,
  { openedAtMs }: AttachedOrders,
  { positions, hidden }: Positions,
): boolean {
  const isIt = (position: OpenPosition) =>
    position.market === market &&
    position.positionSide === (signal.positionSide ?? 'BOTH') &&
    position.amount.gt(zero) === (signal.side === 'buy') &&
    (openedAtMs === null || position.openedAtMs === null || openedAtMs === position.openedAtMs);
  return mayHide(hidden, market) || positions.some(isIt);
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
  { hiddenExits }: AccountMemory,
): Promise<boolean> {
  const { services, account, keeps } = hidden;
  if (!hiddenExits.isDue(String(orderId), '', services.clock.nowMs())) return false;
  const recent = await services.ledger.list({ account, limit: mostRecent });
  // A rejection that only lists have told proves nothing of an order that they do not show.
  const isAnswered = ({ signalId, status, lookup }: Entry) =>
    signalId.startsWith(cancellationIdOf(orderId)) &&
    (status === 'cancelled' || (status === 'rejected' && lookup === null));
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
