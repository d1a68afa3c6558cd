import type { Alarm } from '../../base/alarms.ts';
import { RelayError } from '../../base/errors.ts';
import type { Entry, EntryKey, SignalEntry } from '../../ledger/entry.ts';
import { listBefore } from '../../ledger/ledger-rules.ts';
import type { Status } from '../../model/outcome.ts';
import type { ExecuteServices } from '../services.ts';
import { denialOutcome, isConflict, settleEntry, unlessMoved } from '../settle/settle-entry.ts';

/** The most waiting signals of a market read at once; usually only the signal itself waits. */
export const pageSize = 50;
/**
 * No signal is started later than this; the next delivery takes the rest. A Lambda function has 30 s, and one
 * signal may take 25 s: see `signalTimeouts`.
 */
export const latestStartMs = 4_000;

/**
 * Lists the signals of the same market that were stored before this one and still wait, oldest first.
 *
 * A signal can be stored without a message, when the relay dies in between or the queue fails. Its message is
 * then enqueued later, behind those of younger signals, which must not be executed before it.
 */
export async function listEarlier(
  { ledger }: Pick<ExecuteServices, 'ledger'>,
  entry: SignalEntry,
): Promise<readonly Entry[]> {
  return listBefore(entry, await ledger.waiting(entry.account, entry.signal.market, pageSize));
}

/** Whether more signals may wait behind those listed. */
export function mayHaveMore(earlier: readonly Entry[]): boolean {
  return earlier.length >= pageSize;
}

/**
 * Executes the earlier signals one after the other.
 *
 * A signal that cannot be executed is settled as `denied`, with an alarm. Otherwise the later signals, which
 * must not overtake it, would wait for ever.
 *
 * @throws RelayError that a retry may cure, for example `store_unavailable`: all signals keep waiting;
 * `earlier_signals_wait` when there are too many for one delivery, or another worker is sending one of them
 * @see DECISIONS 68
 */
export async function executeEarlier(
  services: ExecuteServices,
  earlier: readonly Entry[],
  execute: (key: EntryKey) => Promise<Status>,
): Promise<void> {
  const startedAtMs = services.clock.nowMs();
  for (const entry of earlier) {
    try {
      // Another worker is sending it at this moment, which happens when a message is delivered twice.
      if ((await execute(entry)) === 'sending') throw createEarlierWait(entry);
    } catch (error) {
      if (error instanceof RelayError && error.row.retryMayHelp) throw error;
      const moved = isConflict(error) ? await services.ledger.read(entry) : null;
      if (moved?.status === 'sending') throw createEarlierWait(entry);
      // Another worker has settled it meanwhile.
      if (moved === null || moved.status === 'accepted') await giveUp(services, entry, error);
    }
    if (services.clock.nowMs() - startedAtMs > latestStartMs) throw createEarlierWait(entry);
  }
  const [first] = earlier;
  // A full page: the ledger may hold more earlier signals.
  if (first !== undefined && mayHaveMore(earlier)) throw createEarlierWait(first);
}

function createEarlierWait({ account, signal }: Entry): RelayError {
  return new RelayError(
    'earlier_signals_wait',
    `account ${account} has earlier signals in ${signal?.market ?? 'its market'}; they are executed before this one`,
  );
}

async function giveUp(services: ExecuteServices, entry: Entry, error: unknown): Promise<void> {
  const alarm: Alarm = {
    name: 'signal_not_executed',
    message: 'a signal could not be executed: later signals of its market are executed without it',
  };
  const outcome = {
    ...denialOutcome({
      rule: 'overtaken',
      limit: 'execution in the order in which signals were stored',
      actual: error instanceof RelayError ? error.code : 'unexpected failure',
      message:
        'the signal could not be executed when it was due, and later signals of its market must not wait for it',
    }),
    alarm,
  };
  await unlessMoved(() => settleEntry(services, entry, outcome)).catch((failure: unknown) => {
    if (failure instanceof RelayError && failure.row.retryMayHelp) throw failure;
    const { account, signalId } = entry;
    services.alarms.raise(alarm, { account, signalId });
  });
}
