import { type Interpretation, interpretTokens } from './interpret-tokens.ts';
import type { Token } from './text-amounts.ts';
import { actionOf, fieldNamed, isBystander, joinPairs } from './text-words.ts';
import { seriesOf } from './token-kinds.ts';

/** What a text that is not JSON says, in the words of this relay. */
export interface TextReading extends Interpretation {
  /** What the text is: `words`, `a form`, … */
  readonly form: string;
}

/** No alert in words is longer; a longer text is something else. */
const longestText = 1_000;

/**
 * Reads a text as an alert: a form, names and values, or words. Only words of a fixed vocabulary, symbols and plain
 * numbers are taken over; nothing is guessed where two readings are possible.
 *
 * @returns null when it is too long, is broken JSON, or says neither what to do nor with which ticker
 */
export function readPlainText(text: string, tickers: Readonly<Record<string, string>>): TextReading | null {
  if (text.length > longestText || isBrokenJson(text)) return null;
  const tokens = tokensOf(text);
  const reading = interpretTokens(tokens, tickers);
  const { ticker, action } = reading.message;
  return ticker === undefined && action === undefined ? null : { form: formOf(text, tokens), ...reading };
}

/** What a text calls a series of orders; undefined when it asks for none. */
export function seriesInText(text: string): string | undefined {
  for (const token of tokensOf(text)) {
    const series = seriesOf(token);
    if (series !== undefined) return series;
  }
  return undefined;
}

function isBrokenJson(text: string): boolean {
  return /^\s*["'`\u2018-\u201f]|[{}[\]]/.test(text.replace(/\{\{[\w.]+\}\}/g, 'x'));
}

function formOf(text: string, tokens: readonly Token[]): string {
  if (isForm(text)) return 'a form';
  if (tokens.some(({ name }) => name !== null)) return 'a list of names and values';
  return /^[^\s,]+(?:,[^\s,]+)+$/.test(text.trim()) ? 'a comma-separated list' : 'words';
}

function isForm(text: string): boolean {
  return /^\s*[\w.%+-]+=[^\s&]*(?:&[\w.%+-]+=[^\s&]*)+\s*$/.test(text);
}

/** A value may be in quotes, or have its name before it, with `=` or `:`. */
const tokenPattern =
  /(?:([A-Za-z_][\w.]*)(\s*=\s*|\s*:\s*))?("[^"]*"|'[^']*'|\{\{[\w.]+\}\}(?::\{\{[\w.]+\}\})?|[^\s,;&|"'=]+)/g;

function tokensOf(text: string): readonly Token[] {
  if (isForm(text))
    return [...new URLSearchParams(text.trim())].map(([name, value]) => ({ name, value: value.trim() }));
  return [...joinPairs(text).matchAll(tokenPattern)]
    .flatMap(([, name, separator = '', found = '']) => tokenOf(name, separator, found))
    .filter(({ name, value }) => name !== null || value !== '');
}

function tokenOf(name: string | undefined, separator: string, found: string): readonly Token[] {
  const value = trimMarks(found);
  if (name === undefined) return [{ name: null, value }];
  const isField = fieldNamed(name) !== undefined;
  const isName = separator.includes('=') || isField || isBystander(name);
  // `BINANCE:BTCUSDT` is one word; after `Alert: ` a sentence begins.
  if (!isName && separator === ':') return [{ name: null, value: `${name}:${value}` }];
  if (!separator.includes('=') && !isField && actionOf(value) !== undefined)
    return [
      { name: null, value: name },
      { name: null, value },
    ];
  return [{ name, value }];
}

function trimMarks(word: string): string {
  return word.replace(/^[^\w@$.{-]+|[^\w%}]+$/g, '') || (word.includes('@') ? '@' : '');
}
