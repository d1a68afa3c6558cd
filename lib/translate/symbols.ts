import { plainTicker } from '../signals/tickers.ts';

/** What follows the base currency in a symbol of a crypto exchange. */
const quoteCurrency = '(?:USDT|USDC|FDUSD|BUSD|USD|EUR|GBP|TRY|BTC|ETH|PERP)';
const symbolPattern = new RegExp(`^(?:[A-Z]{2,12}:)?[A-Z0-9]{1,10}[/_-]?${quoteCurrency}(?:\\.P)?$`);

/**
 * The ticker that a word names: as the configuration spells it, or as it stands there if it looks like a symbol;
 * undefined for any other word, which may be anything.
 */
export function tickerOf(word: string, tickers: Readonly<Record<string, string>>): string | undefined {
  if (Object.hasOwn(tickers, word)) return word;
  const plain = plainTicker(word);
  const known = Object.keys(tickers).filter((ticker) => plainTicker(ticker) === plain);
  if (known.length === 1) return known[0];
  const upper = word.toUpperCase();
  if (word !== upper && word !== word.toLowerCase()) return undefined;
  return symbolPattern.test(upper) ? upper : undefined;
}

/** Whether a unit is the base currency of a ticker, or its quote currency. */
export function unitIn(ticker: string, unit: string): 'base' | 'quote' | undefined {
  const plain = plainTicker(ticker.slice(ticker.lastIndexOf(':') + 1)).replace(/\.P$/, '');
  const wanted = unit.toUpperCase();
  if (plain.startsWith(wanted) && plain !== wanted) return 'base';
  return plain.endsWith(wanted) && plain !== wanted ? 'quote' : undefined;
}
