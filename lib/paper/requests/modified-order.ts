import { formatDecimal } from '../../base/decimal.ts';
import { isQuoteSized } from '../../model/order.ts';
import type { NewOrder } from '../engine/creating.ts';
import type { PaperOrder } from '../engine/exchange-state.ts';
import { checkModifiable } from '../engine/modifying.ts';
import type { RefusalName } from '../engine/refusals.ts';
import { type BestPrice, checkNewOrder } from './new-order.ts';
import { type Checked, type FieldReader, failCheck } from './validation.ts';

/**
 * Checks a modification, and makes the order that replaces the old one: its fields, changed by the request, with what is
 * left of its amount unless the request names another.
 */
export function checkModifiedOrder(
  read: FieldReader,
  old: PaperOrder,
  bestPrice: BestPrice,
): Checked<NewOrder> {
  const changes = readChanges(read);
  const refusal = checkModifiable(old) ?? checkChanges(changes, old);
  if (refusal !== null) return failCheck(refusal);
  const { amount, total, price, activationPrice } = changes;
  const fields: Readonly<Record<string, unknown>> = {
    ...old,
    amount: amount ?? total ?? formatDecimal(old.remaining),
    price: price ?? (old.price === null ? undefined : formatDecimal(old.price)),
    activationPrice:
      activationPrice ?? (old.activationPrice === null ? undefined : formatDecimal(old.activationPrice)),
    positionSide: old.statedSide,
    clientOrderId: old.clientOrderId === '' ? undefined : old.clientOrderId,
    stp: read('stp') ?? old.stp,
  };
  return checkNewOrder((name) => fields[name], old.type, bestPrice);
}

interface Changes {
  readonly amount: unknown;
  readonly total: unknown;
  readonly price: unknown;
  readonly activationPrice: unknown;
}

/** The public documents name the trigger price in camel case here. An open client sends it in snake case. */
function readChanges(read: FieldReader): Changes {
  return {
    amount: read('amount'),
    total: read('total'),
    price: read('price'),
    activationPrice: read('activationPrice') ?? read('activation_price'),
  };
}

function checkChanges(
  { amount, total, price, activationPrice }: Changes,
  old: PaperOrder,
): RefusalName | null {
  const isGiven = (value: unknown) => value !== undefined;
  if (![amount, total, price, activationPrice].some(isGiven)) return 'modify_nothing';
  if (isGiven(amount) && isGiven(total)) return 'modify_amount_and_total';
  const isInQuote = isQuoteSized(old);
  if (isGiven(total) && !isInQuote) return 'modify_needs_amount';
  if (isGiven(amount) && isInQuote) return 'modify_needs_total';
  if (isGiven(price) && old.price === null) return 'modify_without_price';
  if (!isGiven(activationPrice)) return null;
  if (old.activationPrice === null) return 'modify_without_activation';
  return old.activated ? 'modify_activated' : null;
}
