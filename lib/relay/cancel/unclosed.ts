import { readPosition } from '../../account/read-position.ts';
import { describeAmount } from '../../account/seen-position.ts';
import type { Alarm } from '../../base/alarms.ts';
import { zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import { orderRecordOf } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import type { CancelAllSignal } from '../../model/signal.ts';
import { changeAction, type Plan } from '../execute/action.ts';
import { withAlarm } from '../position/close-alarms.ts';
import type { ExecuteServices } from '../services.ts';

/** A stored cancellation of all orders. */
export type CancelAllEntry = SignalEntry & { readonly signal: CancelAllSignal };

/**
 * Why a cancellation of a whole market must leave what protects a position: the order before it in its alert did not do all
 * that it was asked to, and a position may stand.
 *
 * @returns null where nothing of the kind is known: what protects may go
 * @throws RelayError `store_unavailable`
 */
export async function findUnclosed(
  services: ExecuteServices,
  client: ExchangeClient,
  account: Account,
  { signal: cancel, signalId }: CancelAllEntry,
): Promise<string | null> {
  const { scope, market, afterOrder } = cancel;
  if ((scope ?? 'own') === 'own' || afterOrder === undefined) return null;
  const before = await services.ledger.read({ account: account.name, signalId: afterOrder });
  if (before === null || isDone(before)) return null;
  const { signal, status } = before;
  const asked = `signal "${afterOrder}" before it in its alert is ${status}, and has not surely done all that it was asked to`;
  if (account.markets[market]?.tradesOn === 'spot') return asked;
  const positionSide = signal !== null && 'positionSide' in signal ? signal.positionSide : undefined;
  const query = { account: account.name, market, signalId, positionSide };
  try {
    const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
    const reading = await readPosition(services, client, query, limits);
    if (reading.kind !== 'seen') return `${asked}, and the position is not known`;
    const { amount } = reading.position;
    return amount.eq(zero) ? null : `${asked}: the position is ${describeAmount(amount)}`;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return `${asked}, and the position could not be read (${describeSafely(error)})`;
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

/** Whether it has sent what it was asked to and all of that is filled, or nothing was left to do. */
function isDone(entry: Entry): boolean {
  if (entry.status === 'satisfied' || entry.status === 'dry_run') return true;
  const { amount = null, filled = zero } = orderRecordOf(entry) ?? {};
  return entry.status === 'placed' && amount !== null && filled.gte(amount);
}
