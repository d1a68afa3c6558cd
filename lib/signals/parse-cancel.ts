import type { CancelAllSignal, CancelSignal, CancelTarget, OwnPart } from '../model/signal.ts';
import type { FieldName, Fields } from './fields.ts';
import type { Issues } from './issues.ts';
import { orderFields } from './parse-order.ts';
import { readOrderId } from './read-number.ts';
import { readClientOrderId, readSignalId } from './read-text.ts';

const targetFields = ['orderId', 'clientOrderId', 'signalId'] as const satisfies readonly FieldName[];

/**
 * Reads which order a cancel names, gathering every fault.
 *
 * @param prefix where the alert stands, for example `[1].`; empty for a lone one
 */
export function parseCancel(
  fields: Fields,
  prefix: string,
  faults: Issues,
): OwnPart<CancelSignal> | undefined {
  refuseFields(fields, orderFields, 'a cancel takes no fields of an order', faults);
  const [first, ...further] = targetFields.flatMap((name) => fields[name] ?? []);
  if (first === undefined)
    return faults.add(
      `${prefix}signalId`,
      'the cancel does not say which order',
      'add one of "signalId" (the signal that placed it), "clientOrderId" or "orderId"; or use the action "cancel_all"',
    );
  for (const { path } of further)
    faults.add(path, 'the cancel names its order twice', `keep one of ${targetFields.join(', ')}`);
  const target = readTarget(fields, faults);
  return target === undefined ? undefined : { action: 'cancel', target };
}

/** A cancel of everything in the market names no order. */
export function parseCancelAll(fields: Fields, faults: Issues): OwnPart<CancelAllSignal> {
  refuseFields(fields, orderFields, 'a cancel takes no fields of an order', faults);
  refuseFields(fields, targetFields, 'cancel_all ends every order of the market, not a single one', faults);
  return { action: 'cancel_all' };
}

/** An order neither names another order nor chooses the id the exchange will know it by. */
export function refuseTargets(fields: Fields, faults: Issues): void {
  const reason = 'the action is to place an order, and this names one that exists';
  refuseFields(fields, ['orderId', 'clientOrderId'], reason, faults);
}

/** Reads the names of orders in an alert whose action is not known, for their faults alone. */
export function readTarget(fields: Fields, faults: Issues): CancelTarget | undefined {
  const orderId = fields.orderId && readOrderId(fields.orderId, faults);
  const clientOrderId = fields.clientOrderId && readClientOrderId(fields.clientOrderId, faults);
  const signalId = fields.signalId && readSignalId(fields.signalId, faults);
  if (orderId !== undefined) return { by: 'orderId', orderId };
  if (clientOrderId !== undefined) return { by: 'clientOrderId', clientOrderId };
  return signalId === undefined ? undefined : { by: 'signalId', signalId };
}

function refuseFields(fields: Fields, names: readonly FieldName[], reason: string, faults: Issues): void {
  for (const { path } of names.flatMap((name) => fields[name] ?? []))
    faults.add(path, reason, 'remove it, or correct "action"');
}
