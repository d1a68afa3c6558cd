import type { DecimalText } from '../model/signal.ts';
import type { Fields } from './fields.ts';
import type { Issues } from './issues.ts';
import { readPositive } from './read-number.ts';

/**
 * Reads the price that the fills of an order are compared with, usually `{{close}}` or `{{strategy.order.price}}`. It
 * changes nothing about the order. Every action that may place an order can take it.
 */
export function readReferencePrice({ referencePrice }: Fields, issues: Issues): ReferencePart {
  const price = referencePrice && readPositive(referencePrice, issues);
  return price === undefined ? {} : { referencePrice: price };
}

/** The part of a signal that holds it. */
export interface ReferencePart {
  readonly referencePrice?: DecimalText;
}
