import { distance } from 'fastest-levenshtein';
import { type Issues, quoteText, shortenText } from './issues.ts';
import type { JsonNode, JsonObject } from './parse-json.ts';

/** Every field of an alert, with the other names people know it by. */
export const otherNames = {
  ticker: ['symbol', 'market', 'pair'],
  action: ['side'],
  orderType: [],
  quantity: ['amount', 'contracts', 'qty'],
  quoteQuantity: [],
  stopPrice: ['activation_price', 'activationPrice'],
  limitPrice: ['price'],
  stopLoss: ['sl'],
  takeProfit: ['tp'],
  positionSide: [],
  time: ['timestamp', 'timenow'],
  maxLag: [],
  id: [],
  signalId: [],
  orderId: ['order_id'],
  clientOrderId: ['client_order_id'],
  strategy: [],
  interval: [],
  comment: [],
  extras: [],
} as const satisfies Record<string, readonly string[]>;

export type FieldName = keyof typeof otherNames;

/** One value of an alert, and where its owner finds it. */
export interface Field {
  /** The name as the alert wrote it, after the place in an array: `[1].qty`. */
  readonly path: string;
  readonly node: JsonNode;
}

export type Fields = Partial<Readonly<Record<FieldName, Field>>>;

const fieldNames = Object.keys(otherNames) as readonly FieldName[];
const nameOfKey: ReadonlyMap<string, FieldName> = new Map(
  fieldNames.flatMap((name) => [name, ...otherNames[name]].map((key): [string, FieldName] => [key, name])),
);
const keyOfPlainKey: ReadonlyMap<string, string> = new Map(
  Array.from(nameOfKey.keys(), (key) => [plainKey(key), key]),
);
/** What peers of this relay call some fields. */
const peersNames: ReadonlyMap<string, string> = new Map([
  ['size', 'quantity'],
  ['volume', 'quantity'],
  ['lots', 'quantity'],
  ['type', 'orderType'],
  ['direction', 'action'],
  ['stop', 'stopPrice'],
  ['trigger', 'stopPrice'],
  ['triggerprice', 'stopPrice'],
  ['limit', 'limitPrice'],
  ['message', 'comment'],
]);
const secretKey = /pass(?:word|phrase|wd)?|secret|token|api_?key|auth|webhook_?key/i;
const longestKeyCompared = 32;

/**
 * Sorts the members of an alert by field, whatever name each goes by.
 *
 * A key that is not known, or one field given twice, is a fault: a misspelt `stopLoss` must not leave a position
 * without one.
 *
 * @param prefix where the object stands, for example `[1].`; empty for a lone alert
 */
export function collectFields(object: JsonObject, prefix: string, faults: Issues): Fields {
  const fields: Partial<Record<FieldName, Field>> = {};
  const keys = new Map<FieldName, string>();
  for (const { name: key, value } of object.members) {
    const path = pathOf(prefix, key);
    const name = nameOfKey.get(key);
    const earlierKey = name === undefined ? undefined : keys.get(name);
    if (name === undefined) refuseUnknownKey(key, path, faults);
    else if (earlierKey !== undefined) refuseSecond(earlierKey, key, path, faults);
    else {
      keys.set(name, key);
      fields[name] = { path, node: value };
    }
  }
  return fields;
}

/** A key of the body as a path may show it. */
export function pathOf(prefix: string, key: string): string {
  return `${prefix}${shortenText(key)}`;
}

function refuseSecond(earlierKey: string, key: string, path: string, faults: Issues): void {
  const message =
    earlierKey === key
      ? `"${key}" is given twice`
      : `"${earlierKey}" and "${key}" are names of the same field`;
  faults.add(path, message, 'keep one of them');
}

function refuseUnknownKey(key: string, path: string, faults: Issues): void {
  const message = `${quoteText(key)} is not a field of an alert`;
  faults.add(path, message, faults.isFull ? '' : hintForUnknownKey(key));
}

function hintForUnknownKey(key: string): string {
  const nearest = nearestKey(key);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  if (secretKey.test(key))
    return 'remove it: the token in the webhook URL is the only secret, and none belongs into a message';
  return `remove it, or put it into "extras"; known fields: ${fieldNames.join(', ')}`;
}

/** The known key this one was meant to be: alike but for case and dashes, a peer's name, or a few letters away. */
function nearestKey(key: string): string | undefined {
  const plain = plainKey(key.slice(0, longestKeyCompared));
  const same = keyOfPlainKey.get(plain) ?? peersNames.get(plain);
  if (same !== undefined) return same;
  const [best] = Array.from(keyOfPlainKey, ([known, knownKey]) => ({
    knownKey,
    edits: distance(plain, known),
  })).sort((a, b) => a.edits - b.edits);
  // A third of the letters: "stopLos" is meant, "leverage" is not.
  return best !== undefined && best.edits <= Math.floor(plain.length / 3) ? best.knownKey : undefined;
}

function plainKey(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, '');
}
