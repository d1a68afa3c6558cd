import type { Entry } from '../../lib/ledger/entry.ts';
import { fingerprintOf, isExplicitId } from '../../lib/signals/identity.ts';
import type { Answered, History } from './history.ts';
import type { Facts, Violation } from './invariants.ts';

/** Whether whoever looks for an alert that was turned away finds it, and hears of those that are too many. */
export function findLostRefusals({ history, entries }: Facts): readonly Violation[] {
  const refusals = Map.groupBy(
    entries.filter(({ status }) => status === 'invalid'),
    ({ account, fingerprint }) => `${account} ${fingerprint}`,
  );
  return history.answers
    .filter(({ alert }) => !alert.isForged)
    .map((response) => ({ response, code: codeOf(response) }))
    .filter(({ response, code }) => isRefusal(response, code))
    .flatMap(({ response, code }) => [
      ...findUnnamed(response, refusals.get(nameOf(response)) ?? []),
      ...(code === 'rate_limited' ? findUntold(history, response) : []),
    ]);
}

function broken(text: string): Violation {
  return { invariant: 'I10', harm: 'silent', text };
}

function codeOf({ body }: Answered): string | null {
  if (body === '') return null;
  const { error } = JSON.parse(body) as { readonly error?: { readonly code: string } };
  return error?.code ?? null;
}

/** A token that is not valid any more is nobody's. */
function isRefusal({ httpStatus }: Answered, code: string | null): boolean {
  if (code === 'unauthorized') return false;
  return (httpStatus >= 400 && httpStatus < 500) || code === 'rate_limited';
}

function nameOf({ alert }: Answered): string {
  return `${alert.account} ${fingerprintOf(Buffer.from(alert.body))}`;
}

function findUnnamed({ alert, httpStatus }: Answered, refusals: readonly Entry[]): readonly Violation[] {
  const told = `${alert.name} was answered ${httpStatus}, and`;
  const ids = explicitIdsOf(alert.body);
  if (ids.length === 0) return refusals.length > 0 ? [] : [broken(`${told} the ledger knows nothing of it`)];
  return ids
    .filter((id) => !refusals.some(({ signalId }) => signalId.startsWith(`${id}@`)))
    .map((id) => broken(`${told} is not in the ledger under its id ${id}`));
}

function explicitIdsOf(body: string): readonly string[] {
  const items = [JSON.parse(body) as unknown].flat() as readonly { readonly id?: unknown }[];
  return items.flatMap(({ id }) => (typeof id === 'string' && isExplicitId(id) ? [id] : []));
}

/** A process tells of a run of refusals once in five minutes; its clock may be set in between. */
const longestSilenceMs = 5 * 60_000 + 30_000;

function findUntold({ alarms }: History, { alert, atMs }: Answered): readonly Violation[] {
  const isTold = alarms.some(
    (alarm) =>
      alarm.name === 'signals_over_limit' &&
      alarm.facts['account'] === alert.account &&
      alarm.atMs <= atMs &&
      alarm.atMs > atMs - longestSilenceMs,
  );
  return isTold
    ? []
    : [broken(`${alert.name} was over the limit of ${alert.account}, and no alarm was raised`)];
}
