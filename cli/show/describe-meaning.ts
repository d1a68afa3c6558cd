import type { Json } from '../../lib/base/json.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { statusMeanings } from '../../lib/model/outcome.ts';
import { placesOrder } from '../../lib/model/signal.ts';

/** The outcome of a signal in a sentence. The status alone does not distinguish orders from cancellations. */
export function describeMeaning({ status, signal, steps }: Entry): string {
  if (status !== 'rejected' || signal === null) return statusMeanings[status];
  if (placesOrder(signal)) return 'the exchange refused it: there is no order';
  return showsTargetGone(steps.at(-1)?.evidence)
    ? 'without effect: the order was no longer open'
    : 'without effect: the order may still be open';
}

/** Whether the response of the exchange or the lookup shows that the order to cancel was no longer open. */
function showsTargetGone(evidence: Json | undefined): boolean {
  const { wasGone, target } = Object(evidence) as { readonly wasGone?: unknown; readonly target?: unknown };
  const { state } = Object(target) as { readonly state?: unknown };
  return wasGone === true || state === 'executed';
}
