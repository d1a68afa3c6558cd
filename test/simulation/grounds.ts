import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { TradingGround } from '../../lib/model/account.ts';

/** A market that alerts trade, on an account, with the sizes and prices that suit it. */
export interface Ground {
  readonly account: string;
  readonly ticker: string;
  readonly tradesOn: TradingGround;
  /** A whole number in the quote currency: the first price of the paper exchange. */
  readonly price: number;
  /** Decimal places of an amount in base units. */
  readonly places: number;
  /** Amounts in steps of the market: an ordinary one, and one beyond the first level of the order book. */
  readonly small: number;
  readonly large: number;
  /** Whether a step of the price is a tenth of the quote currency, not a hundredth or less. */
  readonly isCoarse: boolean;
}

/** The account that trades the perpetual. */
export const hedgedAccount = 'main';

const btc = {
  ticker: 'BTCUSDT',
  tradesOn: 'margin',
  price: 60_000,
  places: 6,
  small: 2000,
  large: 1_500_000,
  isCoarse: false,
} as const;
const eth = {
  ticker: 'ETHUSDT',
  tradesOn: 'margin',
  price: 3000,
  places: 5,
  small: 2000,
  large: 3_000_000,
  isCoarse: false,
} as const;
const sol = {
  ticker: 'SOLUSDT',
  tradesOn: 'spot',
  price: 150,
  places: 3,
  small: 1500,
  large: 600_000,
  isCoarse: false,
} as const;
const perp = {
  ticker: 'BTCUSDT.P',
  tradesOn: 'futures',
  price: 60_000,
  places: 3,
  small: 100,
  large: 1500,
  isCoarse: true,
} as const;

export type Grounds = readonly [Ground, ...Ground[]];

/** Few markets for many signals, so that signals of the same market meet. */
const shared: Grounds = [
  { account: 'main', ...btc },
  { account: 'main', ...btc },
  { account: 'main', ...eth },
  { account: hedgedAccount, ...perp },
  { account: 'second', ...sol },
  { account: 'second', ...btc },
  { account: 'rehearsal', ...btc },
];

const live: Grounds = [...shared, { account: 'second', ...sol }, { account: 'second', ...sol }];

/** The written API has no spot orders, so most signals trade elsewhere. */
const documented: Grounds = [...shared, { account: 'second', ...btc }, { account: 'second', ...btc }];

export function groundsIn(dialect: Dialect): Grounds {
  return dialect === 'live' ? live : documented;
}
