import { decimalOrUndefined } from '../base/decimal.ts';
import { plainWord } from './foreign-words.ts';
import type { JsonNode } from './parse-json.ts';
import { longestName, secretNames } from './remove-secrets.ts';
import { isPlaceholder, textOf } from './written-value.ts';

/** Whether the value of a key must not be kept, in whatever spelling. */
export function isSecretKey(key: string): boolean {
  return secretNames.has(withoutPrefix(plainWord(key.slice(0, longestName))));
}

/** Of TradingView's placeholders, and other relays' housekeeping. None of them can say what is bought, sold or protected. */
export const plainNames = new Set(
  'high low exchange tvexchange orderprice ordercomment alertmessage orderalertmessage prevmarketpositionsize bartime barindex closeprice lastprice currentprice syminfocurrency syminfobasecurrency botid botuuid botname alertid alertname strategyid indicator indicatorname source version'.split(
    ' ',
  ),
);

/**
 * Names that inform with some values alone. `close` and `open` could be commands, unless they are numbers. A size of
 * visible contracts, a trigger price or a delay says nothing when it is zero, nor does a cancellation that is not wanted.
 * `product` is the account on which others trade.
 */
export const checkedNames: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['open', isNumberOrNothing],
  ['close', isNumberOrNothing],
  ['volume', isNumberOrNothing],
  ['disclosedquantity', isZero],
  ['triggerprice', isZero],
  ['delay', isZero],
  ['orderpriceoffset', isZero],
  ['delayseconds', isZero],
  ['cancel', (text) => /^false$/i.test(text)],
  ['messagetype', (text) => /^(?:bot|signal|alert)$/i.test(text)],
  ['product', (text) => /^(?:mis|cnc|nrml)$/i.test(text)],
]);

/**
 * Whether a key that is no field only informs: its value changes nothing about what is bought, sold, protected or
 * cancelled. Objects and lists may say more than their name, so they never only inform.
 *
 * @param isForBot whether the alert has `tv_instrument`, as those of 3Commas have: their `trigger_price` is the last price
 * @returns `secret` when its value must not be kept; `no` when the alert must be refused
 */
export function judgeInforming(key: string, node: JsonNode, isForBot: boolean): 'informs' | 'secret' | 'no' {
  if (isSecretKey(key)) return 'secret';
  const plain = withoutPrefix(plainWord(key.slice(0, longestName)));
  if (node.kind === 'object' || node.kind === 'array') return 'no';
  if (isForBot && plain === 'triggerprice') return 'informs';
  if (plainNames.has(plain) || /^plot\d{1,2}$/.test(plain)) return 'informs';
  const check = checkedNames.get(plain);
  if (check === undefined) return 'no';
  const text = node.kind === 'boolean' ? String(node.value) : (textOf(node) ?? '').trim();
  return node.kind === 'null' || check(text) ? 'informs' : 'no';
}

/** `strategy.order.price` is TradingView's name of `orderPrice`. */
export function withoutPrefix(plain: string): string {
  return plain.startsWith('strategy.') ? plain.slice(9).replaceAll('.', '') : plain;
}

function isNumberOrNothing(text: string): boolean {
  return text === '' || isPlaceholder(text) || /^nan?$/i.test(text) || decimalOrUndefined(text) !== undefined;
}

export function isZero(text: string): boolean {
  return text === '' || decimalOrUndefined(text)?.eq('0') === true;
}
