import { type FieldName, fieldNames, fieldTable } from './field-table.ts';
import { hintForForeignField, plainWord } from './foreign-words.ts';
import type { JsonNode, JsonObject } from './parse-json.ts';

/** Every accepted name, and how the table spells it. */
const keyOfPlainKey: ReadonlyMap<string, string> = new Map(
  fieldNames.flatMap((name: FieldName) =>
    [name, ...fieldTable[name].others].map((key): [string, string] => [plainWord(key), key]),
  ),
);
/** Names that people use for a field whose own name is not that short. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['limit', 'limitPrice'],
  ['message', 'comment'],
]);
const secretKey = /pass(?:word|phrase|wd)?|secret|token|api[_-]?key|auth|webhook[_-]?key|^key$/i;
/** No name of a field is longer, however it is spelled. */
const longestKeyCompared = 32;
/** Known keys with fewer letters are too alike for a misspelling to be attributed to one of them. */
const shortestMisspelt = 5;

/** What to do about a key that is no field. Nothing that may protect a position is to be removed. */
export function hintForUnknownKey(key: string, node: JsonNode): string {
  const plain = plainWord(key.slice(0, longestKeyCompared));
  const known = synonyms.get(plain);
  if (known !== undefined) return `did you mean "${known}"?`;
  const foreign = hintForForeignField(plain);
  if (foreign !== undefined) return foreign;
  const members = node.kind === 'object' ? describeMembers(node) : '';
  if (members !== '') return `write beside the other fields: ${members}`;
  if (secretKey.test(key))
    return 'remove it: the token in the webhook URL is the only secret; a message must not contain one';
  const misspelt = findMisspelt(plain);
  if (misspelt !== undefined) return `did you mean "${misspelt}"?`;
  return 'the relay does nothing of that name: if it only informs, write it into "extras": {…}; if it must change the order, docs/alert-reference.md lists the fields for that';
}

/** The members that are fields, such as `"reduceOnly": true`; only of flags the value is shown. */
function describeMembers({ members }: JsonObject): string {
  return members
    .slice(0, 10)
    .flatMap(({ name, value }) => {
      const key = keyOfPlainKey.get(plainWord(name.slice(0, longestKeyCompared)));
      if (key === undefined) return [];
      return [value.kind === 'boolean' ? `"${key}": ${value.value}` : `"${key}"`];
    })
    .join(', ');
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
