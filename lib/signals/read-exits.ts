import type { PriceOrDistance } from '../model/signal.ts';
import { type Field, pathOf } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import type { JsonObject } from './parse-json.ts';
import { isPercent, readPercent, readPositive } from './read-number.ts';
import { readWord, type Vocabulary } from './read-text.ts';

type ExitName = 'stopLoss' | 'takeProfit';

const noTrailing =
  'the exchange has no trailing orders: keep the protection as a fixed price or distance: "stopLoss": "2%"';
/** The exchange sets the limit price of a stop-loss, whatever the type says, and trails none. */
const exitTypes: Readonly<Record<ExitName, Vocabulary<string>>> = {
  stopLoss: {
    what: 'a type of stop-loss that the exchange has',
    words: { stop: 'stop', stopmarket: 'stop', stoplimit: 'stop' },
    known: ['stop', 'stop_limit'],
    findHint: (word) => (/trail/.test(word) ? noTrailing : undefined),
  },
  takeProfit: {
    what: 'a type of take-profit that the exchange has',
    words: { limit: 'limit' },
    known: ['limit'],
    findHint: (word) => (/trail/.test(word) ? noTrailing : undefined),
  },
};
/** The member that is a price, besides `price`, in the objects of alerts for other relays. */
const priceMembers: Readonly<Record<ExitName, string>> = { stopLoss: 'stopprice', takeProfit: 'limitprice' };

/**
 * Reads a stop-loss or take-profit: a price, a distance such as `"2%"`, or an object with one of them:
 * `{"percent": 2}`, `{"price": 59000}`, `{"stopPrice": 59000}` for a stop-loss, `{"limitPrice": 64000}` for a take-profit.
 *
 * @see https://github.com/TradersPost/docs/blob/main/webhook-spec.json the objects, read 2026-11-22
 */
export function readExit(name: ExitName, field: Field, issues: Issues): PriceOrDistance | undefined {
  if (field.node.kind === 'object') return readObject(name, field, field.node, issues);
  if (field.node.kind === 'array')
    return issues.add(
      field.path,
      `it is a list, and an order has one ${titles[name]}`,
      `keep one here; further targets are "limit" orders with "reduceOnly": true, sent once the entry has filled`,
    );
  return isPercent(field) ? readPercent(field, 'nothing', issues) : readPositive(field, issues);
}

function readObject(
  name: ExitName,
  { path }: Field,
  { members }: JsonObject,
  issues: Issues,
): PriceOrDistance | undefined {
  const given: (PriceOrDistance | undefined)[] = [];
  const found = new Set<string>();
  for (const { name: key, value } of members) {
    const member: Field = { key, path: pathOf(`${path}.`, key), node: value };
    const plain = plainWord(key.slice(0, 32));
    if (found.has(plain)) issues.add(member.path, 'this member is given twice', 'keep one of them');
    else if (plain === 'percent') given.push(readPercent(member, 'percent', issues));
    else if (plain === priceMembers[name] || plain === 'price') given.push(readPositive(member, issues));
    else if (plain === 'type') readWord(member, exitTypes[name], issues);
    else
      issues.add(
        member.path,
        `it is no part of a ${titles[name]} here`,
        /trail/.test(plain) ? noTrailing : hints[name],
      );
    found.add(plain);
  }
  if (given.length === 1) return given[0];
  return issues.add(path, `the ${titles[name]} needs one price or one distance`, hints[name]);
}

const titles: Readonly<Record<ExitName, string>> = { stopLoss: 'stop-loss', takeProfit: 'take-profit' };
const hints: Readonly<Record<ExitName, string>> = {
  stopLoss: 'write a price, or a distance from the entry price: "stopLoss": "2%"',
  takeProfit: 'write a price, or a distance from the entry price: "takeProfit": "4%"',
};
