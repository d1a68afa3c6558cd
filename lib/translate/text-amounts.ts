import { unitIn } from './symbols.ts';
import { actionOf } from './text-words.ts';

/** One word of a text, or a value with its name. */
export interface Token {
  readonly name: string | null;
  readonly value: string;
}

/** A number and its unit. */
export interface Amount {
  readonly value: string;
  /** A currency, or `$`. */
  readonly unit: string | undefined;
}

const amountPattern = /^(\$?)(\d{1,9}(?:\.\d{1,18})?|\.\d{1,18})(%|[A-Za-z]{2,6})?$/;
const numberPlaceholder = /^\{\{(?:strategy\.[\w.]+|close|open|high|low|plot_\d+)\}\}$/;

/** A number as texts write it: `0.001`, `5%`, `$100`, `0.01BTC`. One of more digits may be a secret. */
export function amountOf(token: Token | undefined): Amount | undefined {
  if (token === undefined) return undefined;
  if (numberPlaceholder.test(token.value) && actionOf(token.value) === undefined)
    return { value: token.value, unit: undefined };
  const [, dollar, digits, suffix] = amountPattern.exec(token.value) ?? [];
  if (digits === undefined) return undefined;
  if (suffix === '%') return { value: `${digits}%`, unit: undefined };
  return { value: digits, unit: dollar === '$' ? '$' : suffix };
}

/** The number of a word without a name. */
export function wordAmount(token: Token | undefined): Amount | undefined {
  return token?.name === null ? amountOf(token) : undefined;
}

/** In which currency of the ticker an amount of that unit is. */
export function kindOfUnit(
  ticker: string | undefined,
  unit: string | undefined,
): 'base' | 'quote' | undefined {
  if (unit === '$') return 'quote';
  return unit === undefined || ticker === undefined ? undefined : unitIn(ticker, unit);
}
