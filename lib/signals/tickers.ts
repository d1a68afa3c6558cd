import type { Account } from '../model/account.ts';
import { dollars } from '../model/market.ts';
import type { Field } from './fields.ts';
import { type Issues, quoteText } from './issues.ts';
import { describe, isPlaceholder, placeholderHint } from './written-value.ts';

/** A ticker as the alert wrote it, and its market at the exchange. */
export interface Instrument {
  readonly ticker: string;
  readonly market: string;
}

/** What the configuration lists: ticker in the alert → market at the exchange, and the markets of the account. */
interface Listed {
  readonly tickers: Readonly<Record<string, string>>;
  readonly account: Pick<Account, 'name' | 'markets'>;
}

/** The quote currencies that a pair can end with. Where two match, the longer one must come first. */
const quoteCurrencies = ['USDT', 'USDC', 'EUR', 'USD', 'TRY', 'GBP', 'BTC', 'ETH'];
/** A pair in one word, or in two. */
const spelledPattern = /^[A-Za-z0-9]{2,20}(?:[/_-][A-Za-z0-9]{2,10})?(?:\.[Pp])?$/;
/** Any other ticker is not repeated in a hint, because it may contain anything. */
const tickerPattern = /^[\w.:!/&*+^-]{1,28}$/;

/**
 * Finds the market of a ticker. Only tickers that the configuration maps are traded; no market is guessed. Another
 * spelling of a listed ticker, or of its market, is taken: `btcusdt`, `BTC/USDT`, `BTC_USDT`. The prefix of an exchange is
 * no spelling: its prices are others.
 */
export function readInstrument(
  field: Field,
  { tickers, account }: Listed,
  issues: Issues,
): Instrument | undefined {
  if (field.node.kind !== 'string')
    return issues.add(
      field.path,
      `${describe(field.node)} is not a ticker`,
      'write the ticker in double quotes: "{{ticker}}"',
    );
  const ticker = field.node.text;
  const market = Object.hasOwn(tickers, ticker) ? tickers[ticker] : findSpelling(ticker, tickers);
  if (market !== undefined) return { ticker, market };
  return issues.add(field.path, `${quoteText(ticker)} is not mapped to a market`, hintFor(ticker, account));
}

/** Undefined also where two listed tickers of that spelling have different markets. */
function findSpelling(ticker: string, tickers: Readonly<Record<string, string>>): string | undefined {
  if (!spelledPattern.test(ticker)) return undefined;
  const plain = plainTicker(ticker);
  const [first, second] = ticker.toUpperCase().split(/[/_-]/);
  const markets = Object.entries(tickers).flatMap(([listed, market]) => {
    const isMeant = plainTicker(listed) === plain || plainTicker(market) === plain;
    return isMeant && (second === undefined || market.startsWith(`${first}_`)) ? [market] : [];
  });
  return new Set(markets).size === 1 ? markets[0] : undefined;
}

/** `BTC/USDT`, `btc-usdt` and `BTC_USDT` name one symbol. */
export function plainTicker(text: string): string {
  return text.toUpperCase().replace(/[/_-]/g, '');
}

function hintFor(ticker: string, { name, markets }: Listed['account']): string {
  if (isPlaceholder(ticker)) return placeholderHint;
  if (!tickerPattern.test(ticker)) return 'write the ticker as TradingView shows it, for example "BTCUSDT.P"';
  const traded = Object.keys(markets);
  const guess = guessMarket(ticker);
  const market = traded.includes(guess) ? guess : (inOtherDollars(guess, traded) ?? guess);
  const line = `add this line to the tickers in relay.config.ts: '${ticker}': '${market}',`;
  const added =
    market === unknownMarket
      ? ` with the exchange's name of the market, and that market to the markets of account ${name};`
      : traded.includes(market)
        ? ''
        : ` and ${market} to the markets of account ${name};`;
  return `${line}${added} then start or deploy the relay again`;
}

/** `BTCUSD` of another exchange is often meant as the market in another dollar that the account trades. */
function inOtherDollars(guess: string, traded: readonly string[]): string | undefined {
  const [base, quote = ''] = guess.split('_');
  const found = traded.filter((market) => {
    const [tradedBase, tradedQuote = ''] = market.split('_');
    return tradedBase === base && dollars.has(tradedQuote);
  });
  return dollars.has(quote) && found.length === 1 ? found[0] : undefined;
}

const unknownMarket = '<market>';

/** The likely market of a ticker: a proposal in a hint, which the operator must check. */
function guessMarket(ticker: string): string {
  const symbol = ticker.slice(ticker.lastIndexOf(':') + 1).toUpperCase();
  const pair = symbol.replace(/(?:\.P|[-_]SWAP)$/, '');
  const isPerpetual = pair !== symbol;
  const [first = '', second = '', third] = pair.split(/[/_-]/);
  if (!/^[A-Z0-9]+$/.test(first + second) || third !== undefined) return unknownMarket;
  const quote = quoteCurrencies.find((currency) => pair.endsWith(currency) && pair !== currency);
  // Some write the quote currency first. Ether is also bought with bitcoin.
  const isTurned = dollars.has(first) && !dollars.has(second);
  if (second !== '')
    return isTurned ? marketOf(second, first, isPerpetual) : marketOf(first, second, isPerpetual);
  return quote === undefined ? unknownMarket : marketOf(pair.slice(0, -quote.length), quote, isPerpetual);
}

function marketOf(base: string, quote: string, isPerpetual: boolean): string {
  return isPerpetual ? `${base}_PERP` : `${base}_${quote}`;
}
