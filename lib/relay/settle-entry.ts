import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import type { Entry, Step } from '../ledger/entry.ts';
import type { Ledger, Move } from '../ledger/ledger.ts';
import type { Denial, Status } from '../model/outcome.ts';
import type { Outcome } from './action.ts';

/** What writing an outcome down needs of the world. */
export interface SettleServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly ledger: Ledger;
}

/**
 * Writes down how an entry ended, if it still has the status the caller saw, and says so.
 *
 * @param by who settles it, where that is not the relay on the signal's way
 * @throws RelayError `entry_conflict` when somebody else moved it; `store_unavailable`
 */
export async function settleEntry(
  services: SettleServices,
  entry: Entry,
  outcome: Outcome,
  by?: string,
): Promise<Status> {
  const { status, note, evidence, orderId, orderOpen } = outcome;
  const atMs = services.clock.nowMs();
  const step: Step = { status, atMs, ...(by === undefined ? {} : { by }), note, evidence };
  const move: Move = {
    from: entry.status,
    step,
    ...(orderId === undefined ? {} : { orderId }),
    ...(orderOpen === undefined ? {} : { orderOpen }),
  };
  // Told before it is written: an alarm too many is better than one that a crash in between swallows.
  if (outcome.alarm !== undefined)
    services.alarms.raise(outcome.alarm, { account: entry.account, signalId: entry.signalId });
  await services.ledger.move(entry, move);
  return logOutcome(services, entry, outcome);
}

/** Says how an entry ended: an outcome nobody can know is an alarm, what came to nothing a warning. */
export function logOutcome(services: SettleServices, entry: Entry, outcome: Outcome): Status {
  const { status, note, orderId } = outcome;
  const facts: Record<string, Json> = {
    account: entry.account,
    signalId: entry.signalId,
    market: entry.signal?.market ?? null,
    status,
    note,
    orderId: orderId ?? null,
    clientOrderId: entry.clientOrderId,
    tookMs: services.clock.nowMs() - entry.createdAtMs,
  };
  if (status === 'unknown')
    services.alarms.raise({ name: 'outcome_unknown', message: 'signal outcome unknown' }, facts);
  else if (troubling.has(status)) services.log.warn(`signal ${status}`, facts);
  else services.log.info(`signal ${status}`, facts);
  return status;
}

const troubling: ReadonlySet<Status> = new Set(['rejected', 'not_sent', 'not_placed']);

/** The worker that wrote `sending` died before it wrote an outcome: whether the order exists cannot be told here. */
export function lostResponseOutcome({ clientOrderId }: Entry): Outcome {
  return {
    status: 'unknown',
    note: 'the relay stopped between sending and hearing the response; it will not be sent again',
    evidence: { clientOrderId },
    orderOpen: clientOrderId !== null,
  };
}

export function denialOutcome({ rule, limit, actual, message }: Denial): Outcome {
  return { status: 'denied', note: message, evidence: { rule, limit, actual } };
}

/** @returns false when somebody else moved the entry first, which is as good */
export async function unlessMoved(settle: () => Promise<unknown>): Promise<boolean> {
  try {
    await settle();
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'entry_conflict';
}
