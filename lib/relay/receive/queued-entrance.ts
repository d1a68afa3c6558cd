import type { LedgerEntrance } from '../../ledger/ledger.ts';
import type { SignalQueue } from '../../queue/queue.ts';
import { messagesOf } from './message-of.ts';

/**
 * An entrance whose signals are executed from a queue beside the ledger: they are stored, then enqueued.
 *
 * A stored signal may have lost its message in a crash, so a resend enqueues every signal that still waits; queue and
 * executor drop duplicates. What is not enqueued here is enqueued by the reconciler, and is still executed in order: see
 * `executeSignal`.
 *
 * @param entrance `accept` throws RelayError `store_unavailable`, too, when a signal was stored and not enqueued
 */
export function createQueuedEntrance(entrance: LedgerEntrance, queue: SignalQueue): LedgerEntrance {
  return {
    refuse: (entry) => entrance.refuse(entry),
    read: (key) => entrance.read(key),
    async accept(entries, limit) {
      const accepted = await entrance.accept(entries, limit);
      if (accepted.result !== 'stored') return accepted;
      const waiting = accepted.signals
        .map(({ entry }) => entry)
        .filter(({ status }) => status === 'accepted');
      for (const message of messagesOf(waiting)) await queue.enqueue(message);
      return accepted;
    },
  };
}
