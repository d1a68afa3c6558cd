import { attachedIds } from '../../account/exits.ts';
import { hasPassed } from '../../base/clock.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { readListedOrder } from '../../exchange/list-account.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { mayHide } from '../../exchange/listed.ts';
import { replacedIn } from '../../ledger/cancel-reports.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { AttachedOrder } from '../../model/execution.ts';
import { type OpenPosition, openingSideOf } from '../../model/holdings.ts';
import type { Order } from '../../model/order.ts';
import { exitRoles } from '../../model/signal.ts';
import { attachedExits, isSameTime, knownIds } from '../../protection/other-stops.ts';
import type { AccountMemory } from './follow-memory.ts';
import type { FollowServices, Watch } from './follow-services.ts';
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

/** How many of them are looked at in one reading. */
const mostLookedAt = 10;
/** After so many tries, which take an hour and more, the owner is told. */
const mostTries = 12;

/**
 * Ends what the exchange made of orders whose position is gone, and which no list of orders has shown: it could open a position,
 * and once the position is gone nothing shows it any more. Its order is followed until it has ended.
 *
 * @throws RelayError `store_unavailable`
 */
export async function endHiddenExits(watch: Watch, reading: Reading, memory: AccountMemory): Promise<void> {
  const nowMs = watch.services.clock.nowMs();
  const left = reading.followed.filter(mayLeave);
  const names = new Set(
    left.flatMap(({ attached }) => attached?.exits.map(({ orderId }) => `${orderId}`) ?? []),
  );
  memory.hiddenExits.keepOnly(names);
  for (const name of memory.goneSinceMs.keys()) if (!names.has(name)) memory.goneSinceMs.delete(name);
  let looks = 0;
  for (const one of left) {
    const exits: AttachedOrder[] = [];
    for (const exit of one.attached?.exits ?? []) {
      const name = `${exit.orderId}`;
      const isHeld = mayStand(one, exit, reading.positions);
      const sinceMs = memory.goneSinceMs.get(name) ?? nowMs;
      if (isHeld) memory.goneSinceMs.delete(name);
      else memory.goneSinceMs.set(name, sinceMs);
      // The list of positions may lag behind the order that opened it.
      const isGone = !isHeld && hasPassed(sinceMs, longestPositionLagMs, nowMs);
      const isLookedAt = isGone && looks < mostLookedAt && memory.hiddenExits.isDue(name, '', nowMs);
      if (isLookedAt) looks += 1;
      if (!isLookedAt || !(await isOver(watch, reading, one.market, exit.orderId, memory))) exits.push(exit);
    }
    one.attached = { seen: one.attached?.seen ?? [], exits };
  }
}

/** Whether exits may stand that no list of orders has shown. */
export function mayLeave({ attached }: FollowedEntry): boolean {
  return attached !== null && attached.exits.length > 0;
}

/** Notes with each entry what only the list of positions shows of it. What another list shows as well is followed as an order. */
export function noteAttached(
  followed: readonly FollowedEntry[],
  { open, ended }: Pick<Reading, 'open' | 'ended'>,
  positions: Positions,
  nowMs: number,
): void {
  // Every turn comes here, and mostly there is nothing to note.
  const isShown = positions.positions.some(({ tpsl }) => attachedIds(tpsl).length > 0);
  if (!isShown && !followed.some(mayLeave)) return;
  const records = listRecords(followed.map((one) => one.currentAt(nowMs)));
  const known = knownIds(records);
  const isListed = ({ orderId }: { readonly orderId: number }) =>
    [...open, ...ended].some((order) => order.orderId === orderId);
  const shown = positions.positions.flatMap((position) =>
    attachedExits(position, records, open).map((exit) => ({ ...exit, openedAtMs: position.openedAtMs })),
  );
  for (const one of followed) {
    const before = one.attached?.exits ?? [];
    const fresh = shown.filter(
      ({ of, orderId }) =>
        of === one.entry.signalId && !known.has(orderId) && !before.some((exit) => exit.orderId === orderId),
    );
    if (one.attached === null && fresh.length === 0) continue;
    const exits = [
      ...before,
      ...fresh.map(({ role, orderId, openedAtMs }) => ({ role, orderId, openedAtMs })),
    ];
    const seen = exitRoles.filter(
      (role) => one.attached?.seen.includes(role) === true || exits.some((exit) => exit.role === role),
    );
    one.attached = { exits: exits.filter((exit) => !isListed(exit)), seen };
  }
}

/** Whether the position may stand beside which it was seen. */
function mayStand(
  { market, signal }: FollowedEntry,
  { openedAtMs }: AttachedOrder,
  { positions, hidden }: Positions,
): boolean {
  const isIt = (position: OpenPosition) =>
    position.market === market &&
    position.positionSide === (signal.positionSide ?? 'BOTH') &&
    openingSideOf(position.amount) === signal.side &&
    isSameTime(openedAtMs, position.openedAtMs);
  return mayHide(hidden, market) || positions.some(isIt);
}

/**
 * Asks for its end, again and again until that is known, or tells it.
 *
 * @returns whether nothing more is to be done
 */
async function isOver(
  watch: Watch,
  { entries }: Reading,
  market: string,
  orderId: number,
  { hiddenExits }: AccountMemory,
): Promise<boolean> {
  const { services, account, keeps } = watch;
  const tries = await services.ledger.findByPrefix(account, cancellationIdOf(orderId), mostTries);
  // What lists have told of a cancellation proves nothing of an order that they do not show.
  const isAnswered = ({ status, steps, lookup }: Entry) =>
    lookup === null &&
    (status === 'cancelled' || (status === 'rejected' && steps.at(-1)?.facts?.wasGone === true));
  if (tries.some(isAnswered)) return true;
  // The close of the position has cancelled it, if that knew of it.
  const recent = await services.ledger.list({ account, limit: mostRecent });
  if (replacedIn([...entries, ...recent.entries]).has(orderId)) return true;
  let isRead = true;
  try {
    const { ended } = await readListedOrder(watch.client, { market, orderId }, watch.options);
    if (ended !== null) return true;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    isRead = false;
  }
  const isLast = Math.max(tries.length, hiddenExits.timesOf(String(orderId))) >= mostTries;
  const isGivenUp = isLast || (!keeps && isRead);
  if (isGivenUp) await tell(services, watch.teller, account, market, orderId);
  else if (keeps)
    await storeCancellation(services, account, orderId, {
      ticker: market,
      market,
      comment: 'the position is gone that this order was attached to',
      target: { by: 'orderId', orderId },
    });
  return isGivenUp;
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
