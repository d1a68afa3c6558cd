import type { Alarm } from '../base/alarms.ts';
import { RelayError } from '../base/errors.ts';
import type { Entry, EntryKey, SignalEntry } from '../ledger/entry.ts';
import type { ExecuteServices } from './services.ts';
import { denialOutcome, settleEntry, unlessMoved } from './settle-entry.ts';

/** A page of what waits in one market; mostly there is nothing but the signal itself. */
const pageSize = 50;
/**
 * A function has 30 s, and one signal may take 25 of them, a cancellation of many orders. So nothing is begun later than
 * this: it is left to the next delivery.
 */
const latestBeginningMs = 4_000;

/**
 * Signals of the same market that were stored before this one and are still to be carried out, oldest first.
 *
 * A signal can be stored without its message: the relay died in between, or the queue was out of order. Its message
 * comes later then, and must not let the signal be overtaken by the ones after it.
 */
export async function listEarlier(
  { ledger }: Pick<ExecuteServices, 'ledger'>,
  { account, signalId, signal }: SignalEntry,
): Promise<readonly Entry[]> {
  const waiting = await ledger.waiting(account, signal.market, pageSize);
  const own = waiting.findIndex((entry) => entry.signalId === signalId);
  return own === -1 ? waiting : waiting.slice(0, own);
}

/** Whether more signals may wait behind those listed. */
export function mayHaveMore(earlier: readonly Entry[]): boolean {
  return earlier.length >= pageSize;
}

/**
 * Carries those signals out first, each by itself.
 *
 * One that cannot be carried out is ended as `denied`, with an alarm: the ones after it would wait for ever, and must
 * not overtake it.
 *
 * @throws RelayError of a kind that may pass, for example `store_unavailable`: then all of them wait
 */
export async function carryOutEarlier(
  services: ExecuteServices,
  earlier: readonly Entry[],
  carryOut: (key: EntryKey) => Promise<unknown>,
): Promise<void> {
  const startedAtMs = services.clock.nowMs();
  for (const entry of earlier) {
    try {
      await carryOut(entry);
    } catch (error) {
      if (error instanceof RelayError && error.row.retryMayHelp) throw error;
      await giveUp(services, entry, error);
    }
    if (services.clock.nowMs() - startedAtMs > latestBeginningMs) throw createEarlierWait(entry);
  }
  const [first] = earlier;
  if (first !== undefined && mayHaveMore(earlier)) throw createEarlierWait(first);
}

function createEarlierWait({ account, signal }: Entry): RelayError {
  return new RelayError(
    'earlier_signals_wait',
    `more signals of ${account} were stored before this one in ${signal?.market ?? 'its market'}; they are carried out first`,
  );
}

async function giveUp(services: ExecuteServices, entry: Entry, error: unknown): Promise<void> {
  const alarm: Alarm = {
    name: 'signal_not_carried_out',
    message: 'a signal could not be carried out, and the next ones of its market go on without it',
  };
  const outcome = {
    ...denialOutcome({
      rule: 'overtaken',
      limit: 'in the order in which signals were stored',
      actual: error instanceof RelayError ? error.code : 'unexpected failure',
      message:
        'it could not be carried out in its turn, and later signals of its market must not wait for it',
    }),
    alarm,
  };
  await unlessMoved(() => settleEntry(services, entry, outcome)).catch((failure: unknown) => {
    if (failure instanceof RelayError && failure.row.retryMayHelp) throw failure;
    const { account, signalId } = entry;
    services.alarms.raise(alarm, { account, signalId });
  });
}
