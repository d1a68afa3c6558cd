import type { FieldName } from '../signals/fields.ts';
import { otherNames } from '../signals/fields.ts';
import { plainWord } from '../signals/foreign-words.ts';

/** Two words that mean one thing, and the one word that stands for them from here on. */
const pairs: readonly (readonly [words: RegExp, word: string])[] = [
  [/\b(?:enter|open|go)[ _-]?(long|short)\b/gi, 'enter_$1'],
  [/\b(?:exit|close)[ _-]?(long|short)\b/gi, 'exit_$1'],
  [/\bcancel[ _-]?all\b/gi, 'cancel_all'],
  [/\bstop[ _-]loss\b/gi, 'stoploss'],
  [/\btake[ _-]profit\b/gi, 'takeprofit'],
  [/(\d)\s*(?:%|per ?cent\b|pct\b)/gi, '$1%'],
  [/\bs\/l\b/gi, 'sl'],
  [/\bt\/p\b/gi, 'tp'],
  [/\bstop[ _-](limit|market)\b/gi, 'stop_$1'],
  [/\b(order|limit|stop)[ _-](type|price)\b/gi, '$1$2'],
  [/\b(reduce|post)[ _-]only\b/gi, '$1only'],
];

/** The text with each of those pairs as one word. */
export function joinPairs(text: string): string {
  return pairs.reduce((joined, [words, word]) => joined.replace(words, word), text);
}

const actionWords: ReadonlyMap<string, string> = new Map([
  ...[
    'buy',
    'sell',
    'enter_long',
    'enter_short',
    'exit_long',
    'exit_short',
    'close',
    'reverse',
    'cancel',
    'cancel_all',
  ].map((word): [string, string] => [plainWord(word), word]),
  ['long', 'enter_long'],
  ['short', 'enter_short'],
  ['exit', 'close'],
  ['flat', 'close'],
  ['flatten', 'close'],
]);
const kindWords: ReadonlyMap<string, string> = new Map([
  ['market', 'market'],
  ['mkt', 'market'],
  ['limit', 'limit'],
  ['lmt', 'limit'],
  ['stoplimit', 'stop_limit'],
  ['stopmarket', 'stop_market'],
]);

/** The action that a word of plain text asks for; a lone `long` enters, a lone `flat` closes. */
export function actionOf(word: string): string | undefined {
  return /^\{\{strategy\.order\.action\}\}$/.test(word) ? word : actionWords.get(plainWord(word));
}

/** The kind of order that a word of plain text names. */
export function kindOf(word: string): string | undefined {
  return kindWords.get(plainWord(word));
}

/** Whether a relay's word for a kind of order means one that fills at once. */
export function isMarketWord(word: string): boolean {
  return /^(?:market|mkt)$/i.test(word);
}

/** Whether a relay's word for a kind of order means one with a price. */
export function isLimitWord(word: string): boolean {
  return /^(?:limit|lmt)$/i.test(word);
}

const fieldOfPlainName: ReadonlyMap<string, FieldName> = new Map(
  (Object.keys(otherNames) as FieldName[]).flatMap((field) =>
    [field, ...otherNames[field]].map((name): [string, FieldName] => [plainWord(name), field]),
  ),
);

/** The field that is called so, in any spelling. */
export function fieldNamed(name: string): FieldName | undefined {
  return name.length > 32 ? undefined : fieldOfPlainName.get(plainWord(name));
}

const labels: ReadonlyMap<string, FieldName> = new Map([
  ...['qty', 'size', 'quantity', 'amount', 'contracts'].map((word): [string, FieldName] => [
    word,
    'quantity',
  ]),
  ['sl', 'stopLoss'],
  ['stoploss', 'stopLoss'],
  ['tp', 'takeProfit'],
  ['takeprofit', 'takeProfit'],
  ['limitprice', 'limitPrice'],
  ['stopprice', 'stopPrice'],
  ['trigger', 'stopPrice'],
]);

/** The field of the number that follows the word: `sl 59000`. */
export function labelOf(word: string): FieldName | undefined {
  return labels.get(plainWord(word));
}

/** The field that a word alone sets to true. */
export function flagOf(word: string): FieldName | undefined {
  const field = fieldNamed(word);
  return field === 'reduceOnly' || field === 'postOnly' || field === 'ioc' ? field : undefined;
}

/** A word that begins with `slow`, `slippage` or `slope` is no stop-loss. */
const protective = /(?:^|\.)sl(?!ow|ip|op)|stop|trail|breakeven|^be(?:trigger|offset)/;

/** Whether a name or a word means what protects a position. Without it, a message would not mean the same. */
export function isProtective(word: string): boolean {
  return protective.test(plainWord(word));
}

/** Whether a name or a word of a text means what protects a position, or its take-profit. */
export function isExitWord(word: string): boolean {
  return isProtective(word) || /^(?:tp|takeprofit)/.test(plainWord(word));
}

const series =
  /(?<![a-z])(dca|grid|safety[ _-]?orders?|martingale|averaging|ladder)(?:s|orders?|levels?|steps?|bots?)?(?![a-z])/i;

/**
 * What a name or a word of a text calls a series of orders, in lower case: `dca`, `grid`; undefined when it means none. A
 * message without it would not mean the same.
 */
export function seriesIn(word: string): string | undefined {
  // `useDca` is two words.
  const [, found] = series.exec(word.replace(/([a-z])(?=[A-Z])/g, '$1 ')) ?? [];
  return found?.toLowerCase().replace(/[_-]/, ' ');
}

/** Whether a value says that there is none. */
export function isOffWord(value: string): boolean {
  return /^(?:0(?:\.0+)?|false|no|off|none|)$/i.test(value);
}

/** Whether a word is a unit that no number of the relay has; a currency of the ticker is read with its size. */
export function isForeignUnit(word: string): boolean {
  return /^(?:lots?|shares?|dollars?|bucks|euros?|sats?|satoshis?|pips?|points?|pts|ticks?|bps|percent|pct|usd[tc]?|eur|gbp|btc|eth|x)$/i.test(
    word,
  );
}

/** Names of values that change nothing about an order: when it was, for whom, and the prices of a bar. */
const bystander =
  /pass|secret|token|key|licen[cs]e|^(?:exchange|interval|timeframe|tf|date|account|user|bot|open|high|low|close|volume|name|command|message|note|alert|text)$/i;

/** Whether a value of this name changes nothing about the order. It is left out in silence, and never shown. */
export function isBystander(name: string): boolean {
  return bystander.test(name);
}

const setting = /lever(?:age)?|margin|isolated|hedgemode/i;

/** Whether a name is a setting of the account at the exchange, which no message changes. */
export function isSetting(name: string): boolean {
  return setting.test(name);
}

const filler =
  /^(?:signals?|alerts?|entry|now|please|at|on|the|an?|of|for|in|to|is|was|new|triggered|fired|hit|orders?|position|strategy|binance|bybit|okx|kraken|coinbase|kucoin|bitget|whitebit|tradingview)[:!.,]*$/i;

/** Whether a word says nothing about an order, or has neither a letter nor a digit. */
export function isFiller(word: string): boolean {
  return filler.test(word) || !/[\p{L}\p{N}]/u.test(word);
}

/** What turns the meaning of the words around it, so that they mean no order as they stand. */
export function isTurningWord(word: string): boolean {
  return /^(?:not?|don'?t|never|without|unless|if|when|or|instead|half|double|rest|test)$/i.test(word);
}
