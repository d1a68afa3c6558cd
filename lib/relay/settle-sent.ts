import { RelayError } from '../base/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Status, statusTransitions } from '../model/outcome.ts';
import type { Outcome } from './action.ts';
import { isConflict, logOutcome, type SettleServices, settleEntry } from './settle-entry.ts';

/** Long enough for a neighbour's lock or a throttled table; after that, the next delivery finds `sending`. */
const settlePausesMs = [100, 300, 1000];

/** What is known of a sent order must not be forgotten because the ledger is busy for a moment. */
export async function settleSent(services: SettleServices, sent: Entry, outcome: Outcome): Promise<Status> {
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
  return await settleOver(services, sent, outcome);
}

/** Another worker may have taken this one for dead and written `unknown`; it lived, and knows better. */
async function settleOver(services: SettleServices, sent: Entry, outcome: Outcome): Promise<Status> {
  try {
    return await settleEntry(services, sent, outcome);
  } catch (error) {
    const found = isConflict(error) ? await services.ledger.read(sent) : null;
    if (found === null) throw error;
    // Our own write, whose response was lost: it stands, and only its telling is left to do.
    if (found.status === outcome.status) return logOutcome(services, found, outcome);
    if (statusTransitions[found.status].includes(outcome.status))
      return await settleEntry(services, found, outcome);
    alarmContradiction(services, found, outcome);
    throw error;
  }
}

/** Somebody gave this worker up and settled the signal otherwise: what it knows must not be lost with it. */
function alarmContradiction(
  { alarms }: SettleServices,
  found: Entry,
  { status, note, orderId }: Outcome,
): void {
  const message = 'an outcome came after the signal was settled otherwise: compare with the exchange';
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
