import { marketKind } from '../orders/market.ts';
import type { OrderAction, PositionAction } from './actions.ts';
import { sizeNames } from './field-table.ts';
import type { Field, Fields } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import { textOf } from './written-value.ts';

/**
 * An order that leaves a position and states no size closes all of it, at market; null for any other order.
 */
export function closeOf(fields: Fields, { side, exits }: OrderAction): PositionAction | null {
  const only = exits ?? (saysFlat(fields) ? (side === 'sell' ? 'long' : 'short') : null);
  const names = [...sizeNames, 'stopPrice', 'limitPrice'] as const;
  if (only === null || names.some((name) => fields[name] !== undefined)) return null;
  return fields.orderType === undefined || isMarket(fields.orderType) ? { name: 'close', only } : null;
}

/** Whether an `orderType` is the word for a market order. */
export function isMarket({ node }: Field): boolean {
  return marketKind.words.includes(plainWord(textOf(node) ?? ''));
}

/** Whether the alert says that there is no position afterwards. */
export function saysFlat({ sentiment }: Fields): boolean {
  return sentiment !== undefined && plainWord(textOf(sentiment.node) ?? '') === 'flat';
}
