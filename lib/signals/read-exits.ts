import type { PercentText, PriceOrDistance } from '../model/signal.ts';
import { type Field, type Fields, pathOf } from './fields.ts';
import { noTrailing, plainWord, protectOpen } from './foreign-words.ts';
import type { Issues } from './issues.ts';
import type { JsonObject } from './parse-json.ts';
import { isPercent, readPercent, readPositive } from './read-number.ts';
import { readTakeProfits, type TakeProfitsPart } from './read-take-profits.ts';
import { readWord, type Vocabulary } from './read-text.ts';
import { textOf } from './written-value.ts';

type ExitName = 'stopLoss' | 'takeProfit';

/** The exchange sets the limit price of a stop-loss, whatever the type says. */
const exitTypes: Readonly<Record<ExitName, Vocabulary<'trailing' | 'fixed'>>> = {
  stopLoss: {
    what: 'a type of stop-loss',
    words: {
      stop: 'fixed',
      stopmarket: 'fixed',
      stoplimit: 'fixed',
      trailing: 'trailing',
      trailingstop: 'trailing',
    },
    known: ['stop', 'stop_limit', 'trailing_stop'],
    findHint: (word) => (/trail/.test(word) ? noTrailing : undefined),
  },
  takeProfit: {
    what: 'a type of take-profit that the exchange has',
    words: { limit: 'fixed' },
    known: ['limit'],
    findHint: (word) => (/trail/.test(word) ? noTrailing : undefined),
  },
};
/** The member that is a price, besides `price`, in the objects of alerts for other relays. */
const priceMembers: Readonly<Record<ExitName, string>> = { stopLoss: 'stopprice', takeProfit: 'limitprice' };

/** What an alert asks to protect a position with. */
export interface ExitsPart extends TakeProfitsPart {
  readonly stopLoss?: PriceOrDistance;
  readonly takeProfit?: PriceOrDistance;
  readonly trailing?: PercentText;
}

/**
 * Reads what protects the position that an order opens. Without a `stopLoss`, a trailing one begins at its distance: the
 * exchange itself holds it from the fill on.
 */
export function readExits(fields: Fields, issues: Issues): ExitsPart {
  const { stopLoss, takeProfit, trailing } = fields;
  const stop = stopLoss && readStopLoss(stopLoss, issues);
  const { takeProfits } = readTakeProfits(fields, issues);
  const target = takeProfit && readExit('takeProfit', takeProfit, issues)?.price;
  const trails = readTrailing(trailing, stop?.trailing, issues);
  const first = stop?.price ?? trails;
  return {
    ...(first === undefined ? {} : { stopLoss: first }),
    ...(target === undefined ? {} : { takeProfit: target }),
    ...(takeProfits === undefined ? {} : { takeProfits }),
    ...(trails === undefined ? {} : { trailing: trails }),
  };
}

/** The words for the average entry price of the open position. */
const entryWords: ReadonlySet<string> = new Set(['entry', 'entryprice', 'breakeven', 'be']);

/** Whether a `stopLoss` is the entry price of the open position. */
export function isEntryWord({ node }: Field): boolean {
  return node.kind === 'string' && entryWords.has(plainWord(node.text.trim()));
}

function readStopLoss(field: Field, issues: Issues): ReadExit | undefined {
  if (!isEntryWord(field)) return readExit('stopLoss', field, issues);
  return issues.add(
    field.path,
    `"${(textOf(field.node) ?? '').trim()}" is the entry price of an open position, and this alert opens one`,
    `write a price or a distance such as "2%" here; ${protectOpen}`,
  );
}

/** Reads how far behind the best price a stop-loss follows, from its own field or from the object of the stop-loss. */
export function readTrailing(
  field: Field | undefined,
  ofStop: PercentText | undefined,
  issues: Issues,
): PercentText | undefined {
  if (field === undefined) return ofStop;
  if (ofStop !== undefined)
    return issues.add(field.path, '"stopLoss" says how it trails, too', 'keep one of them');
  return readPercent(field, isNamedPercent(field) ? 'percent' : 'nothing', issues);
}

/** `trailPercent` says of itself that it is a per cent. */
function isNamedPercent({ key }: Field): boolean {
  return plainWord(key).endsWith('percent');
}

/** A stop-loss or take-profit as it was read. */
export interface ReadExit {
  readonly price?: PriceOrDistance;
  /** Of a stop-loss that follows the price. */
  readonly trailing?: PercentText;
}

/**
 * Reads a stop-loss or take-profit: a price, a distance such as `"2%"`, or an object with one of them:
 * `{"percent": 2}`, `{"price": 59000}`, `{"stopPrice": 59000}` for a stop-loss, `{"limitPrice": 64000}` for a take-profit;
 * `{"type": "trailing_stop", "trailPercent": 2}` for a stop-loss that follows the price.
 *
 * @see https://github.com/TradersPost/docs/blob/main/webhook-spec.json the objects, read 2026-11-22
 */
export function readExit(name: ExitName, field: Field, issues: Issues): ReadExit | undefined {
  if (field.node.kind === 'object') return readObject(name, field, field.node, issues);
  if (field.node.kind === 'array')
    return issues.add(field.path, `it is a list, and this is one ${titles[name]}`, listHints[name]);
  const price = isPercent(field) ? readPercent(field, 'nothing', issues) : readPositive(field, issues);
  return price === undefined ? undefined : { price };
}

function readObject(
  name: ExitName,
  { path }: Field,
  { members }: JsonObject,
  issues: Issues,
): ReadExit | undefined {
  const given: (PriceOrDistance | undefined)[] = [];
  const trails: (PercentText | undefined)[] = [];
  const found = new Set<string>();
  let type: Field | undefined;
  for (const { name: key, value } of members) {
    const member: Field = { key, path: pathOf(`${path}.`, key), node: value };
    const plain = plainWord(key.slice(0, 32));
    if (found.has(plain)) issues.add(member.path, 'this member is given twice', 'keep one of them');
    else if (plain === 'percent') given.push(readPercent(member, 'percent', issues));
    else if (plain === priceMembers[name] || plain === 'price') given.push(readPositive(member, issues));
    else if (plain === 'trailpercent' && name === 'stopLoss')
      trails.push(readPercent(member, 'percent', issues));
    else if (plain === 'type') type = member;
    else
      issues.add(
        member.path,
        `it is no part of a ${titles[name]} here`,
        /trail/.test(plain) ? noTrailing : hints[name],
      );
    found.add(plain);
  }
  const kind = type && readWord(type, exitTypes[name], issues);
  const isTrailing = kind === 'trailing' || (kind === undefined && trails.length > 0);
  if (kind === 'fixed' && trails.length > 0)
    issues.add(type?.path ?? path, 'a stop-loss of this type does not trail', 'write "trailing_stop"');
  if (isTrailing && trails.length === 0)
    return issues.add(path, 'it does not say how far behind the best price it trails', noTrailing);
  const [price] = given;
  const [trailing] = trails;
  if (isTrailing && given.length < 2)
    return { ...(price === undefined ? {} : { price }), ...(trailing === undefined ? {} : { trailing }) };
  if (given.length === 1) return price === undefined ? undefined : { price };
  return issues.add(path, `the ${titles[name]} needs one price or one distance`, hints[name]);
}

const titles: Readonly<Record<ExitName, string>> = { stopLoss: 'stop-loss', takeProfit: 'take-profit' };
const hints: Readonly<Record<ExitName, string>> = {
  stopLoss: 'write a price, or a distance from the entry price: "stopLoss": "2%"',
  takeProfit: 'write a price, or a distance from the entry price: "takeProfit": "4%"',
};
const listHints: Readonly<Record<ExitName, string>> = {
  stopLoss: 'keep one: a position has one stop-loss for all that an order has opened',
  takeProfit:
    'write the list as "takeProfits", each with its share: [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]',
};
