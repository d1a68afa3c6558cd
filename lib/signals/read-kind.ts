import type { Account } from '../model/account.ts';
import type { OrderKindName } from '../model/order.ts';
import type { OrderKind } from '../orders/order-kind.ts';
import { kindNamed, orderKinds } from '../orders/order-kinds.ts';
import type { Fields } from './fields.ts';
import { hintForForeignOrderType, plainWord } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import { readWord, type Vocabulary } from './read-text.ts';

const orderTypes: Vocabulary<OrderKindName> = {
  what: 'a kind of order this relay places',
  words: Object.fromEntries(orderKinds.flatMap(({ name, words }) => words.map((word) => [word, name]))),
  known: orderKinds.map(({ name }) => name),
  findHint: hintForForeignOrderType,
};

/**
 * Reads the kind of an order. Without `orderType`, a stop price means a stop-limit order, a `limitPrice` a limit order, and
 * no price at all what the account says.
 */
export function readKind(
  fields: Fields,
  { defaultOrderType }: Account,
  prefix: string,
  issues: Issues,
): OrderKind | undefined {
  if (fields.orderType !== undefined) {
    const name = readWord(fields.orderType, orderTypes, issues);
    return name && kindNamed(name);
  }
  if (fields.stopPrice !== undefined) return kindNamed('stop_limit');
  if (defaultOrderType === null)
    return refuse(prefix, 'the alert has neither an order type nor a stop price', issues);
  const { limitPrice } = fields;
  if (limitPrice === undefined) return kindNamed(defaultOrderType);
  if (plainWord(limitPrice.key) !== 'price') return kindNamed('limit');
  return issues.add(
    limitPrice.path,
    '"price" could be a limit, or the last price',
    'add "orderType": "market" if it is the last price, or "orderType": "limit" if it is the worst price you accept',
  );
}

/** The likeliest kind first. */
const likeliest = [
  'market',
  'limit',
  'stop_limit',
  'stop_market',
] as const satisfies readonly OrderKindName[];

function refuse(prefix: string, message: string, issues: Issues): undefined {
  const lines = likeliest.map((name) => `"orderType": "${name}" for a ${kindNamed(name).title}`);
  return issues.add(
    `${prefix}orderType`,
    message,
    `add ${lines.join(', or ')}; the stop orders also need "stopPrice"`,
  );
}
