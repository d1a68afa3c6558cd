import type { Entry } from '../../lib/ledger/entry.ts';
import { fingerprintOf, isExplicitId } from '../../lib/signals/identity.ts';
import type { History, SenderResponse } from './history.ts';
import type { Facts, Violation } from './invariants.ts';

/** Finds refused alerts that are not in the ledger under their ids, and overloads without an alarm. */
export function findLostRefusals({ history, entries }: Facts): readonly Violation[] {
  const refusals = Map.groupBy(
    entries.filter(({ status }) => status === 'invalid'),
    ({ account, fingerprint }) => `${account} ${fingerprint}`,
  );
  return history.responses
    .filter(({ alert }) => !alert.isForged)
    .map((response) => ({ response, code: codeOf(response) }))
    .filter(({ response, code }) => isRefusal(response, code))
    .flatMap(({ response, code }) => [
      ...findUnnamed(response, refusals.get(nameOf(response)) ?? []),
      ...(code === 'rate_limited' ? findMissingAlarm(history, response) : []),
    ]);
}

function broken(text: string): Violation {
  return { invariant: 'I10', harm: 'silent', text };
}

function codeOf({ body }: SenderResponse): string | null {
  if (body === '') return null;
  const { error } = JSON.parse(body) as { readonly error?: { readonly code: string } };
  return error?.code ?? null;
}

/** An alert with a token that is no longer valid is not recorded. */
function isRefusal({ httpStatus }: SenderResponse, code: string | null): boolean {
  if (code === 'unauthorized') return false;
  return (httpStatus >= 400 && httpStatus < 500) || code === 'rate_limited';
}

function nameOf({ alert }: SenderResponse): string {
  return `${alert.account} ${fingerprintOf(Buffer.from(alert.body))}`;
}

function findUnnamed(
  { alert, httpStatus }: SenderResponse,
  refusals: readonly Entry[],
): readonly Violation[] {
  const start = `${alert.name} got a response ${httpStatus}, and`;
  const ids = explicitIdsOf(alert.body);
  if (ids.length === 0) return refusals.length > 0 ? [] : [broken(`${start} is not in the ledger`)];
  return ids
    .filter((id) => !refusals.some(({ signalId }) => signalId.startsWith(`${id}@`)))
    .map((id) => broken(`${start} is not in the ledger under its id ${id}`));
}

function explicitIdsOf(body: string): readonly string[] {
  const items = [JSON.parse(body) as unknown].flat() as readonly { readonly id?: unknown }[];
  return items.flatMap(({ id }) => (typeof id === 'string' && isExplicitId(id) ? [id] : []));
}

/** A process raises this alarm at most once in five minutes; its clock may be changed in between. */
const longestSilenceMs = 5 * 60_000 + 30_000;

function findMissingAlarm({ alarms }: History, { alert, atMs }: SenderResponse): readonly Violation[] {
  const isAlarmed = alarms.some(
    (alarm) =>
      alarm.name === 'signals_over_limit' &&
      alarm.facts['account'] === alert.account &&
      alarm.atMs <= atMs &&
      alarm.atMs > atMs - longestSilenceMs,
  );
  return isAlarmed
    ? []
    : [broken(`${alert.name} was over the limit of ${alert.account}, and no alarm was raised`)];
}
