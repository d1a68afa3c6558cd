import { type Action, isCancel } from './actions.ts';
import type { Field, Fields } from './fields.ts';
import { longestIdOfTwoLegs, reduceLegIdOf } from './identity.ts';
import type { Issues } from './issues.ts';
import { readExplicitId } from './read-text.ts';

/** The fields of one signal. */
interface IdSource {
  readonly fields: Fields;
  readonly issues: Issues;
}

/**
 * The id that the signal states. Without one, the bytes of the alert identify it if they contain a time or another id;
 * otherwise its bytes and the moment of its arrival do.
 */
export function readId(source: IdSource, action: Action | undefined): string | null {
  const field = idFieldOf(source, action);
  return (field && readExplicitId(field, source.issues)) ?? null;
}

/**
 * In an order and in a position action, `signalId` is another name of `id`. In a cancel, it names the signal whose order
 * is cancelled.
 */
function idFieldOf({ fields, issues }: IdSource, action: Action | undefined): Field | undefined {
  const { id, signalId } = fields;
  if (isCancel(action) || action === undefined) return id;
  if (id !== undefined && signalId !== undefined)
    issues.add(signalId.path, '"id" and "signalId" are names of the same field', 'keep one of them');
  return id ?? signalId;
}

/** The id of the first leg is the id of the alert with a suffix. */
export function refuseLongId({ fields, issues }: IdSource, explicitId: string | null): void {
  if (explicitId === null || explicitId.length <= longestIdOfTwoLegs) return;
  issues.add(
    (fields.id ?? fields.signalId)?.path ?? '',
    `the id has ${explicitId.length} characters, and the alert may need two orders`,
    `shorten it to ${longestIdOfTwoLegs} characters: the relay appends ":reduce" for the first of them`,
  );
}

/** One signal of an array; `reduceLeg`: one that is executed before it, with an id of its own. */
interface IdentifiedItem {
  readonly explicitId: string | null;
  readonly reduceLeg?: unknown;
}

/** The second of two signals with one id would count as a resend of the first and be dropped. That holds for legs, too. */
export function refuseSharedIds(items: readonly IdentifiedItem[], issues: Issues): void {
  const owners = new Map<string, number>();
  for (const [index, { explicitId, reduceLeg }] of items.entries()) {
    if (explicitId === null) continue;
    const ids = reduceLeg === undefined ? [explicitId] : [explicitId, reduceLegIdOf(explicitId)];
    const taken = ids.find((id) => owners.has(id));
    const owner = taken === undefined ? undefined : owners.get(taken);
    if (owner !== undefined)
      issues.add(
        `[${index}].id`,
        items[owner]?.explicitId === explicitId
          ? `[${owner}] has the same id`
          : `"${taken}" is the id of the first of two orders, and another signal has it`,
        'give every signal an id of its own',
      );
    for (const id of ids) owners.set(id, owners.get(id) ?? index);
  }
}
