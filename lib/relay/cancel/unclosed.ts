import { readPosition } from '../../account/read-position.ts';
import { describeAmount } from '../../account/seen-position.ts';
import type { Alarm } from '../../base/alarms.ts';
import { hasPassed } from '../../base/clock.ts';
import { zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { listPositionsIn } from '../../exchange/list-positions.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import { orderRecordOf } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import type { PositionSide } from '../../model/order.ts';
import { type CancelAllSignal, wantsNoPosition } from '../../model/signal.ts';
import { mayOpen } from '../../signals/may-open.ts';
import { changeAction, type Plan } from '../execute/action.ts';
import { withAlarm } from '../position/close-alarms.ts';
import type { ExecuteServices } from '../services.ts';

/** A stored cancellation of all orders. */
export type CancelAllEntry = SignalEntry & { readonly signal: CancelAllSignal };

/** Whether the orders before a cancellation in its alert have left a position. */
export type LeftOpen =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'perhaps'; readonly reason: string }
  /** The list of positions need not show yet what they did. */
  | { readonly kind: 'waits'; readonly reason: string };

const nothing: LeftOpen = { kind: 'nothing' };

/**
 * Whether a cancellation of a whole market must leave what protects: an order before it in its alert may have left a position.
 *
 * @throws RelayError `store_unavailable`
 */
export async function findUnclosed(
  services: ExecuteServices,
  client: ExchangeClient,
  account: Account,
  cancel: CancelAllEntry,
): Promise<LeftOpen> {
  const { scope = 'own', afterOrders = [] } = cancel.signal;
  if (scope === 'own') return nothing;
  for (const signalId of afterOrders) {
    const before = await services.ledger.read({ account: account.name, signalId });
    if (before === null || hasClosed(before, account)) continue;
    const left = await readLeftBy(services, client, account, cancel, before);
    if (left.kind !== 'nothing') return left;
  }
  return nothing;
}

/** Whether nothing has to be read: all that it was to close is closed. One that may open a position leaves one in any case. */
function hasClosed(entry: Entry, account: Account): boolean {
  const { status, signal } = entry;
  if (status === 'satisfied' || status === 'dry_run') return true;
  const { amount = null, filled = zero } = orderRecordOf(entry) ?? {};
  if (status !== 'placed' || signal === null || amount === null || filled.lt(amount)) return false;
  if (signal.action === 'order' && signal.size.unit === 'percent' && signal.size.of === 'position')
    return signal.size.quantityPercent === '100%';
  return wantsNoPosition(signal) || mayOpen(signal, account);
}

async function readLeftBy(
  services: ExecuteServices,
  client: ExchangeClient,
  account: Account,
  { signal: { market }, signalId, createdAtMs }: CancelAllEntry,
  { signalId: before, status, signal }: Entry,
): Promise<LeftOpen> {
  const asked = `signal "${before}" before it in its alert is ${status}`;
  if (account.markets[market]?.tradesOn === 'spot')
    return { kind: 'perhaps', reason: `${asked}, and has not surely done all that it was asked to` };
  const positionSide = signal !== null && 'positionSide' in signal ? signal.positionSide : undefined;
  try {
    const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
    // Once the list shows none, nothing has to be waited for: orders that protect what is gone could open a position.
    const listed = await listPositionsIn(client, market, services.clock.nowMs(), limits);
    const isAsked = (side: PositionSide) => positionSide === undefined || side === positionSide;
    if (status === 'placed' && !listed.some((one) => isAsked(one.positionSide) && !one.amount.eq(zero)))
      return nothing;
    const query = { account: account.name, market, signalId, positionSide };
    const reading = await readPosition(services, client, query, limits);
    const mayWait = !hasPassed(createdAtMs, longestPositionLagMs, services.clock.nowMs());
    if (reading.kind === 'waits' && reading.mayPassSoon && mayWait)
      return { kind: 'waits', reason: reading.reason };
    if (reading.kind !== 'seen')
      return { kind: 'perhaps', reason: `${asked}, and the position is not known` };
    const { amount } = reading.position;
    if (amount.eq(zero)) return nothing;
    return { kind: 'perhaps', reason: `${asked}, and the position is ${describeAmount(amount)}` };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return {
      kind: 'perhaps',
      reason: `${asked}, and the position could not be read (${describeSafely(error)})`,
    };
  }
}

/** Says by an alarm what a cancellation leaves, and why. */
export function withProtectionKept(plan: Plan, reason: string): Plan {
  const alarm: Alarm = {
    name: 'close_incomplete',
    message: `${reason}; so this cancel_all leaves what protects it, and the orders by hand: close the rest, or cancel them`,
  };
  return changeAction(plan, ({ facts, send }) => ({
    facts: { ...facts, keepsProtection: true },
    send: async (options) => withAlarm(await send(options), alarm),
  }));
}
