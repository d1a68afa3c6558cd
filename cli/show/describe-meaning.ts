import type { Entry } from '../../lib/ledger/entry.ts';
import { statusMeanings } from '../../lib/model/outcome.ts';
import { placesOrder } from '../../lib/model/signal.ts';

/** The outcome of a signal in a sentence. The status alone does not distinguish what the signals ask for. */
export function describeMeaning({ status, signal, steps }: Entry): string {
  if (status === 'satisfied' && signal?.action === 'protect_position')
    return 'what protects the position is noted; its orders follow as signals of their own';
  if (status !== 'rejected' || signal === null) return statusMeanings[status];
  if (placesOrder(signal)) return 'the exchange refused it: there is no order';
  const wasGone = signal.action === 'cancel' && steps.at(-1)?.facts?.wasGone === true;
  return wasGone
    ? 'without effect: the order was no longer open'
    : 'without effect: the order may still be open';
}
