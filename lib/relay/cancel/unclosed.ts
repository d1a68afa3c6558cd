import { listRecent, type PositionQuery, readPosition } from '../../account/read-position.ts';
import { describeAmount } from '../../account/seen-position.ts';
import type { Alarm } from '../../base/alarms.ts';
import { hasPassed } from '../../base/clock.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { listPositionsIn } from '../../exchange/list-positions.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { listRecords, orderRecordOf } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { type OpenPosition, placeOf } from '../../model/holdings.ts';
import type { HedgeSide } from '../../model/order.ts';
import { type CancelAllSignal, isPositionSignal, wantsNoPosition } from '../../model/signal.ts';
import { spotLots } from '../../protection/spot-lots.ts';
import { mayOpen } from '../../signals/may-open.ts';
import { changeAction, type Plan } from '../execute/action.ts';
import { withAlarm } from '../position/close-alarms.ts';
import type { ExecuteServices } from '../services.ts';
import { mayStillBeSent } from './cancel-target.ts';

/** A stored cancellation of all orders. */
export type CancelAllEntry = SignalEntry & { readonly signal: CancelAllSignal };

/** Whether the orders before a cancellation in its alert have left a position. */
export type LeftOpen =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'perhaps';
      readonly reason: string;
      /** Whether one of them was to close it. */
      readonly isExit: boolean;
    }
  /** One of them is being sent, or the list of positions need not show yet what they did. */
  | { readonly kind: 'waits'; readonly reason: string };

const nothing: LeftOpen = { kind: 'nothing' };

/**
 * Whether a cancellation of a whole market must leave what protects: after the orders before it in its alert a position may
 * stand.
 *
 * @throws RelayError `store_unavailable`
 */
export async function findUnclosed(
  services: ExecuteServices,
  client: ExchangeClient,
  account: Account,
  cancel: CancelAllEntry,
): Promise<LeftOpen> {
  const { scope = 'own', market, afterOrders = [] } = cancel.signal;
  if (scope === 'own' || afterOrders.length === 0) return nothing;
  const found = await Promise.all(
    afterOrders.map((signalId) => services.ledger.read({ account: account.name, signalId })),
  );
  const orders = found.filter((order) => order !== null);
  // Another worker, which got the message of an order, too, may still send it: not once this cancellation has ended.
  const onItsWay = orders.find((order) => mayStillBeSent(order, services.clock.nowMs()));
  if (onItsWay !== undefined)
    return { kind: 'waits', reason: `signal "${onItsWay.signalId}" before it in its alert is being sent` };
  const isSpot = account.markets[market]?.tradesOn === 'spot';
  const openedAtMs = isSpot ? null : await lastOpening(services, account, cancel);
  const sides = new Set<HedgeSide>();
  let updatedAtMs = 0;
  for (const before of orders) {
    const { signalId } = before;
    if (isBesidePresumed(before)) continue;
    const side = before.signal === null || before.status === 'dry_run' ? null : placeOf(before.signal).side;
    if (side !== null) sides.add(side);
    updatedAtMs = Math.max(updatedAtMs, before.updatedAtMs);
    if (hasClosed(before, isSpot, openedAtMs)) continue;
    if (isSpot) {
      const reason = `signal "${signalId}" before it in its alert is ${before.status}, and has not surely sold all`;
      return { kind: 'perhaps', reason, isExit: true };
    }
    const left = await readLeftBy(services, client, account, { cancel, before, openedAtMs });
    if (left.kind !== 'nothing') return left;
  }
  if (isSpot) return await findStopped(services, account.name, market);
  return sides.size === 0
    ? nothing
    : await readOtherSide(services, client, { account, cancel, sides, openedAtMs, updatedAtMs });
}

interface Sides {
  readonly account: Account;
  readonly cancel: CancelAllEntry;
  /** Those that the orders before it were about. */
  readonly sides: ReadonlySet<HedgeSide>;
  readonly openedAtMs: number | null;
  readonly updatedAtMs: number;
}

/** In hedge mode the other position may stand, which no order before it was about. */
async function readOtherSide(
  services: ExecuteServices,
  client: ExchangeClient,
  { account, cancel, sides, openedAtMs, updatedAtMs }: Sides,
): Promise<LeftOpen> {
  const positionSide = (['LONG', 'SHORT'] as const).find((side) => !sides.has(side));
  if (positionSide === undefined) return nothing;
  const { market } = cancel.signal;
  const perhaps = (seen: string): LeftOpen => {
    const reason = `no signal before it in its alert is about the ${positionSide} side, and ${seen}`;
    return { kind: 'perhaps', reason, isExit: false };
  };
  try {
    const nowMs = services.clock.nowMs();
    const listed = await listPositionsIn(client, market, nowMs, {
      timeoutMs: services.exchangeTimeoutMs / 2,
    });
    const held = listed.find((each) => each.positionSide === positionSide);
    if (held !== undefined && !held.amount.eq(zero))
      return perhaps(`the position is ${describeAmount(held.amount)}`);
    if (mustShow(openedAtMs, nowMs)) return nothing;
  } catch (error) {
    return perhaps(unreadable(error));
  }
  const query = { account: account.name, market, signalId: cancel.signalId, positionSide };
  return await readStanding(services, client, query, { updatedAtMs, perhaps });
}

/** On spot, a sale of a part leaves the other buys, and the orders that stop them out. */
async function findStopped(services: ExecuteServices, account: string, market: string): Promise<LeftOpen> {
  const { entries } = await listRecent(services, account, market);
  const lots = spotLots(listRecords(entries), market);
  const open = await services.ledger.openOrders(account, market, mostBelieved);
  const stopped = open.flatMap(({ signal }) =>
    signal?.action === 'protect' && lots.get(signal.of)?.gt(zero) === true ? [signal.of] : [],
  );
  if (stopped.length === 0) return nothing;
  const names = stopped.map((name) => `"${name}"`).join(', ');
  const reason = `what the orders before it in its alert have sold leaves something of ${names}, which a stop-loss protects`;
  return { kind: 'perhaps', reason, isExit: false };
}

/** A leg that closes unless the position is the one that its order presumes. */
function isBesidePresumed({ signal }: Entry): boolean {
  return signal?.action === 'close' && signal.unless !== undefined;
}

/** When another order of the market last opened something, or may have, as far as it is known; null: none did of late. */
async function lastOpening(
  services: ExecuteServices,
  account: Account,
  { signal: { market, afterOrders = [] } }: CancelAllEntry,
): Promise<number | null> {
  const { entries } = await listRecent(services, account.name, market);
  const times = entries.flatMap((entry) => {
    const { signal, signalId, updatedAtMs } = entry;
    const record = orderRecordOf(entry);
    if (record === null || record.market !== market || afterOrders.includes(signalId)) return [];
    const mayHaveFilled =
      record.filled.gt(zero) || record.status === 'unknown' || record.status === 'sending';
    if (signal === null || !mayOpen(signal, account) || !mayHaveFilled) return [];
    return Math.max(updatedAtMs, record.endedAtMs ?? 0);
  });
  return times.length === 0 ? null : Math.max(...times);
}

/** Whether the list of positions must show by then what was opened. */
function mustShow(openedAtMs: number | null, atMs: number): boolean {
  return openedAtMs === null || hasPassed(openedAtMs, longestPositionLagMs, atMs);
}

/** Whether nothing has to be read: all that was held is closed. */
function hasClosed(entry: Entry, isSpot: boolean, openedAtMs: number | null): boolean {
  const { status, signal, updatedAtMs } = entry;
  if (status === 'dry_run') return true;
  const { amount = null, filled = zero } = orderRecordOf(entry) ?? {};
  if (status !== 'placed' || signal === null || amount === null || filled.lt(amount)) return false;
  if (isSpot || wantsNoPosition(signal)) return true;
  const isOfAll =
    signal.action === 'order' && signal.size.unit === 'percent' && signal.size.quantityPercent === '100%';
  // It was sized on the list.
  return isOfAll && signal.size.of === 'position' && mustShow(openedAtMs, updatedAtMs);
}

interface Before {
  readonly cancel: CancelAllEntry;
  readonly before: Entry;
  readonly openedAtMs: number | null;
}

async function readLeftBy(
  services: ExecuteServices,
  client: ExchangeClient,
  account: Account,
  { cancel, before, openedAtMs }: Before,
): Promise<LeftOpen> {
  const { signal, status, updatedAtMs } = before;
  const { market } = cancel.signal;
  const saysItReduces = signal !== null && !mayOpen(signal, account);
  const wasToClose = saysItReduces && !hasDoneItsPart(before);
  const perhaps = (seen: string, isExit = wasToClose): LeftOpen => {
    const reason = `signal "${before.signalId}" before it in its alert is ${status}, and ${seen}`;
    return { kind: 'perhaps', reason, isExit };
  };
  const positionSide = signal !== null && 'positionSide' in signal ? signal.positionSide : undefined;
  try {
    const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
    const nowMs = services.clock.nowMs();
    // Once the list shows none, nothing has to be waited for: orders that protect what is gone could open a position.
    const listed =
      saysItReduces && mustShow(openedAtMs, nowMs)
        ? await listPositionsIn(client, market, nowMs, limits)
        : null;
    const isHeld = ({ amount, positionSide: side }: OpenPosition) =>
      !amount.eq(zero) && (positionSide === undefined || side === positionSide);
    if (listed !== null && !listed.some(isHeld)) return nothing;
  } catch (error) {
    return perhaps(unreadable(error));
  }
  const query = { account: account.name, market, signalId: cancel.signalId, positionSide };
  const isAgainst = (amount: Decimal) =>
    signal?.action === 'order' && (signal.side === 'sell') === amount.gt(zero);
  return await readStanding(services, client, query, {
    updatedAtMs,
    perhaps: (seen, amount) => perhaps(seen, wasToClose || (amount !== undefined && isAgainst(amount))),
  });
}

/** Whether it has reduced a position as far as it was asked to, which need not be all of it. */
function hasDoneItsPart(entry: Entry): boolean {
  const { signal, status } = entry;
  if (signal === null || !isPositionSignal(signal) || wantsNoPosition(signal)) return false;
  if (status === 'satisfied') return signal.action !== 'close';
  const { amount = null, filled = zero } = orderRecordOf(entry) ?? {};
  return status === 'placed' && amount !== null && filled.gte(amount);
}

interface Standing {
  /** When the last order was answered that may have changed the position. */
  readonly updatedAtMs: number;
  /** @param amount the position; absent: it is not known */
  perhaps(seen: string, amount?: Decimal): LeftOpen;
}

async function readStanding(
  services: ExecuteServices,
  client: ExchangeClient,
  query: PositionQuery,
  { updatedAtMs, perhaps }: Standing,
): Promise<LeftOpen> {
  try {
    const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
    const reading = await readPosition(services, client, query, limits);
    const mayWait = !hasPassed(updatedAtMs, longestPositionLagMs, services.clock.nowMs());
    if (reading.kind === 'waits' && reading.mayPassSoon && mayWait)
      return { kind: 'waits', reason: reading.reason };
    if (reading.kind !== 'seen') return perhaps('the position is not known');
    const { amount } = reading.position;
    return amount.eq(zero) ? nothing : perhaps(`the position is ${describeAmount(amount)}`, amount);
  } catch (error) {
    return perhaps(unreadable(error));
  }
}

/** @throws what is no failure of the exchange */
function unreadable(error: unknown): string {
  if (!(error instanceof ExchangeError)) throw error;
  return `the position could not be read (${describeSafely(error)})`;
}

/** Says what a cancellation leaves, and why; where the position should have been closed, by an alarm. */
export function withProtectionKept(
  plan: Plan,
  { reason, isExit }: Extract<LeftOpen, { kind: 'perhaps' }>,
): Plan {
  const message = `${reason}; so this cancel_all leaves what protects it, and the orders by hand`;
  const alarm: Alarm = { name: 'close_incomplete', message: `${message}: close the rest, or cancel them` };
  return changeAction(plan, ({ facts, send }) => ({
    facts: { ...facts, keepsProtection: true },
    send: async (options) => {
      const outcome = await send(options);
      return isExit ? withAlarm(outcome, alarm) : { ...outcome, note: `${outcome.note}; ${message}` };
    },
  }));
}
