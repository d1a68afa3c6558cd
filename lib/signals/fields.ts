import { hintForForeignField, plainWord } from './foreign-words.ts';
import { type Issues, quoteText, shortenText } from './issues.ts';
import type { JsonNode, JsonObject } from './parse-json.ts';

/**
 * Every field of an alert, with its other accepted names. Case, spaces, dashes and underscores do not matter, so each
 * name stands here in one spelling.
 */
export const otherNames = {
  ticker: ['symbol', 'market', 'pair', 'instrument', 'tv_instrument'],
  action: ['side', 'order'],
  orderType: ['type', 'pricetype'],
  quantity: ['amount', 'contracts', 'qty', 'amountPerTrade'],
  quoteQuantity: ['quoteAmount', 'quoteQty'],
  quantityPercent: [],
  quantityType: ['qtyType', 'currency_type', 'amountPerTradeType'],
  of: [],
  stopPrice: ['activationPrice'],
  limitPrice: ['price'],
  maxSlippage: [],
  referencePrice: ['signalPrice', 'refPrice'],
  stopLoss: ['sl', 'stopLossPrice'],
  takeProfit: ['tp', 'takeProfitPrice'],
  reduceOnly: [],
  postOnly: [],
  ioc: [],
  timeInForce: ['tif'],
  stp: ['selfTradePrevention'],
  positionSide: [],
  sentiment: ['market_position'],
  target: [],
  targetQuote: [],
  marketPositionSize: [],
  positionSize: [],
  requirePosition: [],
  expectTrigger: [],
  scope: [],
  time: ['timestamp', 'timenow'],
  maxLag: [],
  id: [],
  signalId: [],
  orderId: [],
  clientOrderId: [],
  strategy: [],
  interval: [],
  comment: [],
  extras: [],
} as const satisfies Record<string, readonly string[]>;

export type FieldName = keyof typeof otherNames;

/** One value of an alert, and its place in the alert. */
export interface Field {
  /** The key as the alert wrote it. */
  readonly key: string;
  /** The key, safe to print, after its position in an array: `[1].qty`. */
  readonly path: string;
  readonly node: JsonNode;
}

export type Fields = Partial<Readonly<Record<FieldName, Field>>>;

const fieldNames = Object.keys(otherNames) as readonly FieldName[];
/** Every accepted name as it is listed above, and its field. */
const nameOfKey: ReadonlyMap<string, FieldName> = new Map(
  fieldNames.flatMap((name) => [name, ...otherNames[name]].map((key): [string, FieldName] => [key, name])),
);
const keyOfPlainKey: ReadonlyMap<string, string> = new Map(
  Array.from(nameOfKey.keys(), (key) => [plainWord(key), key]),
);
/** Names that people use for a field whose own name is not that short. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['limit', 'limitPrice'],
  ['message', 'comment'],
]);
const secretKey = /pass(?:word|phrase|wd)?|secret|token|api[_-]?key|auth|webhook[_-]?key|^key$/i;
/** Some relays put the size into an object of this name, which is another name of `action` here. */
const orderObjectHint =
  'write its members beside "action": "quantity", "quantityType", "orderType", "limitPrice"';
/** No name of a field is longer, however it is spelled. */
const longestKeyCompared = 32;
/** Known keys with fewer letters are too alike for a misspelling to be attributed to one of them. */
const shortestMisspelt = 5;

/**
 * Assigns the members of an alert to its fields, by any of their names.
 *
 * An unknown key and a field given twice are validation issues: a misspelt `stopLoss` must not leave a
 * position without a stop-loss.
 *
 * @param prefix the object's position in an array, for example `[1].`; empty for a single alert
 */
export function collectFields(object: JsonObject, prefix: string, issues: Issues): Fields {
  const fields: Partial<Record<FieldName, Field>> = {};
  const keys = new Map<FieldName, string>();
  for (const { name: key, value } of object.members) {
    const path = pathOf(prefix, key);
    const name = findName(key);
    const earlierKey = name === undefined ? undefined : keys.get(name);
    if (name === undefined) refuseUnknownKey(key, path, issues);
    else if (value.kind === 'object' && plainWord(key) === 'order')
      issues.add(path, 'an object is not an action', orderObjectHint);
    else if (earlierKey !== undefined) refuseSecond(earlierKey, key, path, issues);
    else {
      keys.set(name, key);
      fields[name] = { key, path, node: value };
    }
  }
  return fields;
}

/** The field of a key, in whatever spelling. */
function findName(key: string): FieldName | undefined {
  const name = nameOfKey.get(key);
  if (name !== undefined || key.length > longestKeyCompared) return name;
  return nameOfKey.get(keyOfPlainKey.get(plainWord(key)) ?? '');
}

/** The path of a key, safe to print. */
export function pathOf(prefix: string, key: string): string {
  return `${prefix}${shortenText(key)}`;
}

function refuseSecond(earlierKey: string, key: string, path: string, issues: Issues): void {
  const message =
    earlierKey === key
      ? `"${key}" is given twice`
      : `"${earlierKey}" and "${key}" are names of the same field`;
  issues.add(path, message, 'keep one of them');
}

function refuseUnknownKey(key: string, path: string, issues: Issues): void {
  const message = `${quoteText(key)} is not a field of an alert`;
  issues.add(path, message, issues.isFull ? '' : hintForUnknownKey(key));
}

function hintForUnknownKey(key: string): string {
  const plain = plainWord(key.slice(0, longestKeyCompared));
  const known = synonyms.get(plain);
  if (known !== undefined) return `did you mean "${known}"?`;
  const foreign = hintForForeignField(plain);
  if (foreign !== undefined) return foreign;
  if (secretKey.test(key))
    return 'remove it: the token in the webhook URL is the only secret; a message must not contain one';
  const misspelt = findMisspelt(plain);
  if (misspelt !== undefined) return `did you mean "${misspelt}"?`;
  return `if the signal does not need it, remove it or put it into "extras"; known fields: ${fieldNames.join(', ')}`;
}

/**
 * The known key that this one is a typing error away from. A key with a digit or a sign, or with two other
 * letters, counts as another word.
 */
function findMisspelt(plain: string): string | undefined {
  if (!/^[a-z]+$/.test(plain)) return undefined;
  for (const [known, key] of keyOfPlainKey)
    if (known.length >= shortestMisspelt && isTypo(plain, known)) return key;
  return undefined;
}

/** One letter too many, too few or wrong, or two adjacent letters swapped. */
function isTypo(written: string, known: string): boolean {
  const shorter = Math.min(written.length, known.length);
  let front = 0;
  while (front < shorter && written[front] === known[front]) front += 1;
  let back = 0;
  while (back < shorter - front && written.at(-1 - back) === known.at(-1 - back)) back += 1;
  const [wrong, right] = [written, known].map((word) => word.slice(front, word.length - back)) as [
    string,
    string,
  ];
  if (wrong.length <= 1 && right.length <= 1) return true;
  return right.length === 2 && wrong === `${right[1]}${right[0]}`;
}
