import type { Field } from './fields.ts';
import { type Issues, quoteText } from './issues.ts';
import { describe, isPlaceholder, placeholderHint } from './written-value.ts';

/** A ticker as the alert wrote it, and its market at the exchange. */
export interface Instrument {
  readonly ticker: string;
  readonly market: string;
}

/** The quote currencies that a pair can end with. Where two match, the longer one must come first. */
const quoteCurrencies = ['USDT', 'USDC', 'EUR', 'USD', 'TRY', 'GBP', 'BTC', 'ETH'];
/** Any other ticker is not repeated in a hint, because it may contain anything. */
const tickerPattern = /^[\w.:!/&*+^-]{1,28}$/;

/**
 * Finds the market of a ticker. Only tickers that the configuration maps are traded; no market is guessed.
 *
 * @param tickers ticker in the alert → market at the exchange
 */
export function readInstrument(
  field: Field,
  tickers: Readonly<Record<string, string>>,
  issues: Issues,
): Instrument | undefined {
  if (field.node.kind !== 'string')
    return issues.add(
      field.path,
      `${describe(field.node)} is not a ticker`,
      'write the ticker in double quotes: "{{ticker}}"',
    );
  const ticker = field.node.text;
  const market = Object.hasOwn(tickers, ticker) ? tickers[ticker] : undefined;
  if (market !== undefined) return { ticker, market };
  return issues.add(field.path, `${quoteText(ticker)} is not mapped to a market`, hintFor(ticker));
}

function hintFor(ticker: string): string {
  if (isPlaceholder(ticker)) return placeholderHint;
  if (!tickerPattern.test(ticker)) return 'write the ticker as TradingView shows it, for example "BTCUSDT.P"';
  return `add this line to the tickers in relay.config.ts: '${ticker}': '${guessMarket(ticker)}',`;
}

/** The likely market of a ticker: a proposal in a hint, which the operator must check. */
function guessMarket(ticker: string): string {
  const symbol = ticker.slice(ticker.lastIndexOf(':') + 1);
  if (/^[A-Z0-9]+_[A-Z0-9]+$/.test(symbol)) return symbol;
  const isPerpetual = symbol.endsWith('.P');
  const pair = isPerpetual ? symbol.slice(0, -2) : symbol;
  const quote = quoteCurrencies.find((currency) => pair.endsWith(currency) && pair !== currency);
  if (quote === undefined || !/^[A-Z0-9]+$/.test(pair)) return '<market>';
  const base = pair.slice(0, -quote.length);
  return isPerpetual ? `${base}_PERP` : `${base}_${quote}`;
}
