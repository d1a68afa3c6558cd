import { decimalOrUndefined, parseDecimal } from '../base/decimal.ts';
import type { FieldName } from '../signals/fields.ts';
import { hintForForeignField } from '../signals/foreign-words.ts';
import type { OwnMessage } from './own-message.ts';
import { tickerOf } from './symbols.ts';
import { type Amount, amountOf, kindOfUnit, type Token, wordAmount } from './text-amounts.ts';
import { entryDoubt, exitDoubt, priceDoubt, seriesDoubt, stopDoubt, unitDoubt } from './text-doubts.ts';
import {
  actionOf,
  fieldNamed,
  flagOf,
  isBystander,
  isExitWord,
  isFiller,
  isForeignUnit,
  isLimitWord,
  isOffWord,
  isSetting,
  isTurningWord,
  kindOf,
  labelOf,
} from './text-words.ts';
import { freeTexts, isLimitToken, isPlainMarketOrder, seriesOf } from './token-kinds.ts';

/** What the tokens of a text mean. */
export interface Interpretation {
  readonly message: OwnMessage;
  /** Why the meaning cannot be told; none contains a word of the text. */
  readonly doubts: readonly string[];
  /** What the text asks for and the relay does not have; likewise. */
  readonly losses: readonly string[];
  /** The fields of the message that more than one value of the text may be, or whose value may be another one's. */
  readonly unclear: ReadonlySet<FieldName>;
  /** Each word or value of the text, and the fields that it became. */
  readonly parts: readonly TextPart[];
}

export interface TextPart {
  readonly theirs: string;
  /** Empty for what is not taken over. */
  readonly fields: readonly FieldName[];
  /** Whether it was understood, although it may change nothing about the order. */
  readonly isUnderstood: boolean;
}

interface Collector {
  readonly ticker: string | undefined;
  readonly isLimit: boolean;
  set(field: FieldName, value: string): void;
  note(theirs: string, fields: readonly FieldName[], isUnderstood?: boolean): void;
  readonly doubts: Set<string>;
  readonly losses: Set<string>;
  readonly unclear: Set<FieldName>;
  /** The numbers without a name and a unit. */
  readonly sizes: string[];
  /** The numbers that are prices by their name. */
  readonly prices: string[];
}

/** Reads from a token on; returns how many tokens it has used, 0 when they are not for it. */
type TokenReader = (tokens: readonly Token[], at: number, collector: Collector) => number;

/** @param tickers those of the configuration */
export function interpretTokens(
  tokens: readonly Token[],
  tickers: Readonly<Record<string, string>>,
): Interpretation {
  const message: OwnMessage = {};
  const parts: TextPart[] = [];
  const doubts = new Set<string>();
  const symbols = new Set(tokens.flatMap((token) => symbolIn(token, tickers) ?? []));
  const unclear = new Set<FieldName>();
  if (symbols.size > 1) {
    doubts.add(`it names ${symbols.size} tickers`);
    unclear.add('ticker');
  }
  const [ticker] = symbols;
  if (ticker !== undefined) message.ticker = ticker;
  const collector: Collector = {
    ticker,
    isLimit: tokens.some(isLimitToken),
    doubts,
    losses: new Set(),
    unclear,
    sizes: [],
    prices: [],
    set(field, value) {
      if (message[field] !== undefined && message[field] !== value) {
        doubts.add(`it gives "${field}" twice`);
        unclear.add(field);
      } else message[field] = value;
    },
    note: (theirs, fields, isUnderstood = fields.length > 0) =>
      void parts.push({ theirs, fields, isUnderstood }),
  };
  for (let at = 0; at < tokens.length; )
    at += readers.reduce((used, read) => (used > 0 ? used : read(tokens, at, collector)), 0);
  const { losses } = collector;
  judgeSizes(message, collector);
  return { message, doubts: [...doubts], losses: [...losses], unclear, parts };

  function symbolIn({ name, value }: Token, known: Readonly<Record<string, string>>): string | undefined {
    return name === null || fieldNamed(name) === 'ticker' ? tickerWord(value, known) : undefined;
  }
}

/** Whether a number without a name is the size cannot be told beside another one, or beside prices that are as large. */
function judgeSizes({ quantity }: OwnMessage, { sizes, prices, doubts, unclear }: Collector): void {
  const [first] = sizes;
  if (sizes.length > 1) {
    doubts.add(`it has ${sizes.length} numbers, and does not say which of them is the size`);
    for (const field of sizeFields) unclear.add(field);
  } else if (first !== undefined && first === quantity && prices.some((price) => isNear(first, price))) {
    doubts.add(entryDoubt);
    unclear.add('quantity');
  }
}

const sizeFields: readonly FieldName[] = ['quantity', 'quoteQuantity', 'quantityPercent'];

/** As an exit is near its entry: neither is more than twice the other. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [decimalOrUndefined(one), decimalOrUndefined(other)];
  return a !== undefined && b !== undefined && a.lte(b.times(two)) && b.lte(a.times(two));
}

const two = parseDecimal('2');

const priceFields: ReadonlySet<FieldName> = new Set<FieldName>([
  'stopLoss',
  'takeProfit',
  'limitPrice',
  'stopPrice',
]);

function tickerWord(value: string, tickers: Readonly<Record<string, string>>): string | undefined {
  return /^(?:\{\{exchange\}\}:)?\{\{ticker\}\}$/.test(value) ? value : tickerOf(value, tickers);
}

/** Sets a size in its unit, which may be the next word. @returns how many words the unit takes, and the field */
function setSize(
  { value, unit: ownUnit }: Amount,
  next: Token | undefined,
  { ticker, set }: Collector,
): { readonly used: number; readonly fields: readonly FieldName[] } {
  const nextUnit = ownUnit === undefined && next?.name === null ? kindOfUnit(ticker, next.value) : undefined;
  const kind = nextUnit ?? kindOfUnit(ticker, ownUnit);
  if (ownUnit !== undefined && kind === undefined) return { used: 0, fields: [] };
  const field = value.endsWith('%') ? 'quantityPercent' : kind === 'quote' ? 'quoteQuantity' : 'quantity';
  set(field, value);
  return { used: nextUnit === undefined ? 0 : 1, fields: [field] };
}

const readers: readonly TokenReader[] = [
  readSeries,
  readNamed,
  readLabelled,
  readVocabulary,
  readBareSize,
  (tokens, at, { note, doubts, ticker }) => {
    const { value } = tokens[at] as Token;
    if (isTurningWord(value)) doubts.add('it has a condition or a negation');
    if (isExitWord(value)) doubts.add(exitDoubt);
    if (isForeignUnit(value) && kindOfUnit(ticker, value) !== 'base') doubts.add(unitDoubt);
    note(value, [], isFiller(value) || kindOfUnit(ticker, value) === 'base');
    return 1;
  },
];

/** `dca=3`, `grid` */
function readSeries(tokens: readonly Token[], at: number, { note, doubts }: Collector): number {
  const token = tokens[at] as Token;
  const series = seriesOf(token);
  if (series === undefined) return 0;
  doubts.add(seriesDoubt(series));
  note(token.value, []);
  return 1;
}

/** `qty=0.001` */
function readNamed(tokens: readonly Token[], at: number, collector: Collector): number {
  const { name, value } = tokens[at] as Token;
  if (name === null) return 0;
  const { set, note, losses, doubts, prices, ticker, isLimit } = collector;
  const theirs = `${name}=${value}`;
  const field = fieldNamed(name) ?? labelOf(name);
  if (field === undefined) {
    if (isExitWord(name) && !isOffWord(value)) doubts.add(exitDoubt);
    const loss = isBystander(name) ? undefined : hintForForeignField(name);
    if (loss !== undefined) losses.add(loss);
    note(theirs, [], isBystander(name) || isSetting(name) || isOffWord(value));
    return 1;
  }
  if (field === 'timeInForce' && /^day$/i.test(value) && isPlainMarketOrder(tokens)) {
    losses.add('the end of the day, before which a market order is long filled');
    note(theirs, [], true);
    return 1;
  }
  if (freeTexts.has(field)) {
    note(theirs, [], true);
    return 1;
  }
  if (field === 'ticker') {
    if (ticker === undefined) doubts.add('its ticker is no symbol of a market');
    note(theirs, ticker === undefined ? [] : [field]);
    return 1;
  }
  if (/^price$/i.test(name) && !isLimit) {
    doubts.add(priceDoubt);
    prices.push(value);
    note(theirs, []);
    return 1;
  }
  const amount = amountOf(tokens[at]);
  const word =
    field === 'action' ? actionOf(value) : field === 'orderType' ? kindOf(value) : plainWordOf(value);
  if (amount !== undefined && field === 'quantity') {
    const { used, fields } = setSize(amount, tokens[at + 1], collector);
    note(theirs, fields);
    return 1 + used;
  }
  const taken = word ?? amount?.value;
  if (word === undefined && isForeignUnit(amount?.unit ?? '')) doubts.add(unitDoubt);
  if (taken === undefined) doubts.add(`its "${field}" is neither a plain number nor a word of the relay`);
  else set(field, taken);
  if (taken !== undefined && priceFields.has(field)) prices.push(taken);
  note(theirs, taken === undefined ? [] : [field]);
  return 1;
}

/** A lone word. The relay's own reader decides whether it is one of the field's words. */
function plainWordOf(value: string): string | undefined {
  return /^[a-z][a-z_-]{1,23}$/i.test(value) ? value.toLowerCase() : undefined;
}

/** `sl 59000` */
function readLabelled(tokens: readonly Token[], at: number, collector: Collector): number {
  const { value: label } = tokens[at] as Token;
  const isPrice = /^(?:@|at|price)$/i.test(label);
  const glued = /^@(.+)$/.exec(label)?.[1];
  const amount = glued === undefined ? wordAmount(tokens[at + 1]) : amountOf({ name: null, value: glued });
  if (amount === undefined || (glued === undefined && wordAmount(tokens[at]) !== undefined)) return 0;
  const { set, note, losses, doubts, prices, isLimit } = collector;
  const used = glued === undefined ? 2 : 1;
  const theirs = glued === undefined ? `${label} ${amount.value}` : label;
  const field = labelOf(label);
  if (field === 'quantity') {
    const size = setSize(amount, tokens[at + used], collector);
    note(theirs, size.fields);
    return used + size.used;
  }
  if (isForeignUnit(amount.unit ?? '')) doubts.add(unitDoubt);
  if (field === undefined ? isPrice || glued !== undefined || /^stop$/i.test(label) : priceFields.has(field))
    prices.push(amount.value);
  if (field !== undefined) {
    set(field, amount.value);
    note(theirs, [field]);
  } else if (isLimit && (isPrice || glued !== undefined || isLimitWord(label))) {
    set('orderType', 'limit');
    set('limitPrice', amount.value);
    note(theirs, ['orderType', 'limitPrice']);
  } else if (isPrice || glued !== undefined || /^stop$/i.test(label)) {
    doubts.add(/^stop$/i.test(label) ? stopDoubt : priceDoubt);
    note(theirs, []);
  } else {
    const loss = actionOf(label) === undefined ? hintForForeignField(label) : undefined;
    if (loss === undefined) return 0;
    if (isExitWord(label)) doubts.add(exitDoubt);
    losses.add(loss);
    note(theirs, [], isSetting(label));
  }
  return used;
}

/** `buy`, `market`, `BTCUSDT`, `reduce only` */
function readVocabulary(tokens: readonly Token[], at: number, { set, note, ticker }: Collector): number {
  const { value } = tokens[at] as Token;
  const action = actionOf(value);
  const kind = kindOf(value);
  const flag = flagOf(value);
  if (action !== undefined) set('action', action);
  else if (kind !== undefined) set('orderType', kind);
  else if (flag !== undefined) set(flag, 'true');
  else if (ticker === undefined || tickerWord(value, { [ticker]: '' }) !== ticker) return 0;
  note(value, [action ? 'action' : kind ? 'orderType' : (flag ?? 'ticker')]);
  return 1;
}

/** `0.001`, `0.001 BTC` */
function readBareSize(tokens: readonly Token[], at: number, collector: Collector): number {
  const amount = wordAmount(tokens[at]);
  if (amount === undefined) return 0;
  const { value } = tokens[at] as Token;
  collector.sizes.push(value);
  const { used, fields } =
    collector.sizes.length > 1 ? { used: 0, fields: [] } : setSize(amount, tokens[at + 1], collector);
  if (collector.sizes.length === 1 && fields.length === 0) collector.sizes.pop();
  collector.note(value, fields);
  return 1 + used;
}
