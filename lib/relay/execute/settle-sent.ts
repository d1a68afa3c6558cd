import { RelayError } from '../../base/errors.ts';
import type { Entry } from '../../ledger/entry.ts';
import { type Status, statusTransitions } from '../../model/outcome.ts';
import {
  isConflict,
  logOutcome,
  raiseAlarms,
  type SettleServices,
  storeOutcome,
} from '../settle/settle-entry.ts';
import type { Outcome } from './action.ts';

/**
 * Outlasts another process's lock or a throttled table; if it does not, the next delivery finds `sending`.
 */
const settlePausesMs = [100, 300, 1000];

/**
 * Stores the outcome of a sent signal, with retries: a short failure of the ledger must not lose it. After the last one an
 * alarm tells the outcome, and the next delivery finds `sending`.
 *
 * @throws RelayError as the ledger
 */
export async function settleSent(services: SettleServices, sent: Entry, outcome: Outcome): Promise<Status> {
  raiseAlarms(services, sent, outcome);
  for (const pauseMs of settlePausesMs) {
    try {
      return await settleOver(services, sent, outcome);
    } catch (error) {
      if (!(error instanceof RelayError) || !error.row.retryMayHelp) throw error;
      const { account, signalId } = sent;
      const { status, note } = outcome;
      services.log.error('an outcome could not be written; trying again', {
        account,
        signalId,
        status,
        note,
      });
      await services.clock.sleep(pauseMs);
    }
  }
  try {
    return await settleOver(services, sent, outcome);
  } catch (error) {
    if (error instanceof RelayError && error.row.retryMayHelp) alarmUnstored(services, sent, outcome);
    throw error;
  }
}

/** Nobody can read the outcome anywhere else until the order was looked up. */
function alarmUnstored({ alarms }: SettleServices, sent: Entry, { status, note, orderId }: Outcome): void {
  // Of one that is not known the alarm was raised before.
  if (status === 'unknown') return;
  const message =
    'an outcome could not be stored: later signals of its market wait, and the signal is looked up once the store can be written';
  const { account, signalId, signal, clientOrderId } = sent;
  const facts = { account, signalId, market: signal?.market ?? null, clientOrderId };
  alarms.raise({ name: 'outcome_unknown', message }, { ...facts, status, note, orderId: orderId ?? null });
}

/**
 * Also replaces an `unknown` that the reconciler stored when it wrongly took this worker for dead.
 *
 * @see DECISIONS 23
 */
async function settleOver(services: SettleServices, sent: Entry, outcome: Outcome): Promise<Status> {
  try {
    return await storeOutcome(services, sent, outcome);
  } catch (error) {
    const found = isConflict(error) ? await services.ledger.read(sent) : null;
    if (found === null) throw error;
    // This worker's own write succeeded and its response was lost: only the log line is missing.
    if (found.status === outcome.status) return logOutcome(services, found, outcome);
    if (statusTransitions[found.status].includes(outcome.status))
      return await storeOutcome(services, found, outcome);
    // A worker that was frozen, and does not know what became of its request, contradicts nobody.
    if (outcome.status === 'unknown' && outcome.orderId === undefined) return found.status;
    alarmContradiction(services, found, outcome);
    throw error;
  }
}

/** The signal was settled otherwise meanwhile: the alarm keeps the outcome that this worker knows. */
function alarmContradiction(
  { alarms }: SettleServices,
  found: Entry,
  { status, note, orderId }: Outcome,
): void {
  const message = 'the signal was already settled with another outcome: compare both with the exchange';
  alarms.raise(
    { name: 'outcome_contradicted', message },
    {
      account: found.account,
      signalId: found.signalId,
      settledAs: found.status,
      status,
      note,
      orderId: orderId ?? null,
    },
  );
}
