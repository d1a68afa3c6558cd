import type { Json } from '../lib/base/json.ts';
import type { Entry } from '../lib/ledger/entry.ts';
import { statusMeanings } from '../lib/model/outcome.ts';

/** What has become of a signal, in a sentence: a status alone does not tell orders from cancellations. */
export function describeMeaning({ status, signal, steps }: Entry): string {
  if (status !== 'rejected' || signal === null) return statusMeanings[status];
  if (signal.action === 'order') return 'the exchange refused it: there is no order';
  return tellsGone(steps.at(-1)?.evidence)
    ? 'without effect: the order to cancel was not open any more'
    : 'without effect: what it was to cancel may still be open';
}

/** By what the exchange answered, or by what looking the order up showed. */
function tellsGone(evidence: Json | undefined): boolean {
  const { wasGone, target } = Object(evidence) as { readonly wasGone?: unknown; readonly target?: unknown };
  const { state } = Object(target) as { readonly state?: unknown };
  return wasGone === true || state === 'executed';
}
