import type { Field } from './fields.ts';
import { type Issues, quoteText } from './issues.ts';
import { describe, isPlaceholder, placeholderHint } from './written-value.ts';

/** A ticker as the alert wrote it, and the exchange's market it stands for. */
export interface Instrument {
  readonly ticker: string;
  readonly market: string;
}

/** The quote currencies a pair can end in; of two that fit, the longer comes first. */
const quoteCurrencies = ['USDT', 'USDC', 'EUR', 'USD', 'TRY', 'GBP', 'BTC', 'ETH'];
/** What is longer is not repeated in a hint: it may be anything. */
const tickerPattern = /^[\w.:!/&*+^-]{1,28}$/;

/**
 * Looks the market of a ticker up: only what the configuration maps is traded, nothing is guessed.
 *
 * @param tickers ticker as alerts write it → the exchange's market
 */
export function readInstrument(
  field: Field,
  tickers: Readonly<Record<string, string>>,
  faults: Issues,
): Instrument | undefined {
  if (field.node.kind !== 'string')
    return faults.add(
      field.path,
      `${describe(field.node)} is not a ticker`,
      'write the ticker in double quotes: "{{ticker}}"',
    );
  const ticker = field.node.text;
  const market = Object.hasOwn(tickers, ticker) ? tickers[ticker] : undefined;
  if (market !== undefined) return { ticker, market };
  return faults.add(field.path, `${quoteText(ticker)} is mapped to no market`, hintFor(ticker));
}

function hintFor(ticker: string): string {
  if (isPlaceholder(ticker)) return placeholderHint;
  if (!tickerPattern.test(ticker)) return 'write the ticker as TradingView shows it, for example "BTCUSDT.P"';
  return `add this line to the tickers in relay.config.ts: '${ticker}': '${guessMarket(ticker)}',`;
}

/** What a market of that ticker would be called here; a proposal for a person to check. */
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
