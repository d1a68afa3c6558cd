import type { CancelAllSignal, CancelScope, CancelSignal, CancelTarget, OwnPart } from '../model/signal.ts';
import { type FieldName, namesTakenBy } from './field-table.ts';
import type { Fields } from './fields.ts';
import type { Issues } from './issues.ts';
import { readOrderId } from './read-number.ts';
import { readClientOrderId, readSignalId, readWord, type Vocabulary } from './read-text.ts';

/** Fields that only orders and position actions have. */
const orderFields = namesTakenBy('trade', 'exits', 'order', 'position');
const targetFields = ['orderId', 'clientOrderId', 'signalId'] as const satisfies readonly FieldName[];
const scopes: Vocabulary<CancelScope> = {
  what: 'a scope of a cancellation',
  words: { own: 'own', market: 'market' },
  known: ['own', 'market'],
};

/**
 * Reads which order a cancel names, and adds every validation issue.
 *
 * @param prefix the signal's position in an array, for example `[1].`; empty for a single signal
 */
export function parseCancel(
  fields: Fields,
  prefix: string,
  issues: Issues,
): OwnPart<CancelSignal> | undefined {
  refuseFields(fields, orderFields, 'a cancel has no fields of an order', issues);
  refuseFields(fields, ['scope'], 'a cancel names one order; only cancel_all has a scope', issues);
  const [first, ...further] = targetFields.flatMap((name) => fields[name] ?? []);
  if (first === undefined)
    return issues.add(
      `${prefix}signalId`,
      'the cancel names no order',
      'add one of "signalId" (the signal that placed it), "clientOrderId" or "orderId"; or use the action "cancel_all"',
    );
  for (const { path } of further)
    issues.add(path, 'the cancel names its order more than once', `keep one of ${targetFields.join(', ')}`);
  const target = readTarget(fields, issues);
  return target === undefined ? undefined : { action: 'cancel', target };
}

/** Parses a `cancel_all`, which must not name an order. */
export function parseCancelAll(fields: Fields, issues: Issues): OwnPart<CancelAllSignal> {
  const scope = readScope(fields, issues);
  refuseFields(fields, orderFields, 'a cancel has no fields of an order', issues);
  refuseFields(
    fields,
    targetFields,
    'cancel_all cancels every open order of the market, not a single one',
    issues,
  );
  return { action: 'cancel_all', ...(scope === undefined ? {} : { scope }) };
}

/** An order must not name another order, and must not choose its own client order id. */
export function refuseCancelFields(fields: Fields, issues: Issues): void {
  const reason = 'the action places a new order, but this field names an existing one';
  refuseFields(fields, ['orderId', 'clientOrderId'], reason, issues);
  refuseFields(fields, ['scope'], 'the action places a new order; only cancel_all has a scope', issues);
}

/** Reads the fields of cancellations of an alert with an unknown action, only to report their validation issues. */
export function checkCancelFields(fields: Fields, issues: Issues): void {
  readTarget(fields, issues);
  readScope(fields, issues);
}

function readScope({ scope }: Fields, issues: Issues): CancelScope | undefined {
  return scope && readWord(scope, scopes, issues);
}

function readTarget(fields: Fields, issues: Issues): CancelTarget | undefined {
  const orderId = fields.orderId && readOrderId(fields.orderId, issues);
  const clientOrderId = fields.clientOrderId && readClientOrderId(fields.clientOrderId, issues);
  const signalId = fields.signalId && readSignalId(fields.signalId, issues);
  if (orderId !== undefined) return { by: 'orderId', orderId };
  if (clientOrderId !== undefined) return { by: 'clientOrderId', clientOrderId };
  return signalId === undefined ? undefined : { by: 'signalId', signalId };
}

function refuseFields(fields: Fields, names: readonly FieldName[], reason: string, issues: Issues): void {
  for (const { path } of names.flatMap((name) => fields[name] ?? []))
    issues.add(path, reason, 'remove it, or correct "action"');
}
