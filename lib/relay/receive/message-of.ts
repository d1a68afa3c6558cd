import type { Entry } from '../../ledger/entry.ts';
import type { SignalMessage } from '../../queue/queue.ts';

/** The queue messages of signals, in the same order; the entry of a refused alert has none. */
export function messagesOf(entries: readonly Entry[]): readonly SignalMessage[] {
  return entries.flatMap(({ account, signalId, signal }) =>
    signal === null ? [] : [{ account, signalId, market: signal.market }],
  );
}
