import type { Entry } from '../ledger/entry.ts';
import type { SignalMessage } from '../queue/queue.ts';

/** The messages of signals that are to be carried out, in their order; a refused alert has none. */
export function messagesOf(entries: readonly Entry[]): readonly SignalMessage[] {
  return entries.flatMap(({ account, signalId, signal }) =>
    signal === null ? [] : [{ account, signalId, market: signal.market }],
  );
}
