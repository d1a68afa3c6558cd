import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SignalQueue } from '../queue/queue.ts';

/** Signals stored at or after `fromMs` and before `untilMs`. */
export interface SweepWindow {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How many signals a sweep found `accepted`: those it enqueued, and those stored before its window. */
export interface Sweep {
  readonly enqueued: number;
  readonly tooOld: number;
}

const pageSize = 100;
const always: SweepWindow = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

/**
 * Enqueues every signal that is stored but still `accepted`, oldest first: a crash between storing and enqueuing
 * must not leave one behind. A message that still waits is not doubled.
 *
 * @param window absent: all of them
 * @throws RelayError `store_unavailable`
 */
export async function sweepAccepted(
  services: { ledger: Ledger; queue: SignalQueue },
  { fromMs, untilMs }: SweepWindow = always,
): Promise<Sweep> {
  const waiting = (await listAccepted(services.ledger)).toReversed();
  const due = waiting.filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < untilMs);
  for (const { account, signalId, signal } of due)
    if (signal !== null) await services.queue.enqueue({ account, signalId, market: signal.market });
  return {
    enqueued: due.length,
    tooOld: waiting.filter(({ createdAtMs }) => createdAtMs < fromMs).length,
  };
}

async function listAccepted(ledger: Ledger): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await ledger.list({
      status: 'accepted',
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.entries);
    cursor = page.next;
  }
  return found;
}
