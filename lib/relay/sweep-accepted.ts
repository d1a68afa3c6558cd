import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SignalQueue } from '../queue/queue.ts';

const pageSize = 100;

/**
 * Enqueues every signal that is stored but still `accepted`, oldest first: a crash between storing and enqueuing
 * must not leave one behind. A message that still waits is not doubled.
 *
 * @returns how many signals were found
 * @throws RelayError `store_unavailable`
 */
export async function sweepAccepted(services: { ledger: Ledger; queue: SignalQueue }): Promise<number> {
  const waiting = (await listAccepted(services.ledger)).toReversed();
  for (const { account, signalId, signal } of waiting)
    if (signal !== null) await services.queue.enqueue({ account, signalId, market: signal.market });
  return waiting.length;
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
