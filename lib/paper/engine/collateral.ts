import { type Decimal, one, zero } from '../../base/decimal.ts';
import {
  type Balance,
  type CollateralAccount,
  collateralAccountOf,
  type ExchangeState,
  lastPriceOf,
} from './exchange-state.ts';
import { marginOf, unrealizedPnlOf } from './positions.ts';

/** The currency in which an account's funds are summed up. */
const settlementTicker = 'USDT';

/** What a collateral account is worth and what is free, in USDT. */
export interface CollateralTotals {
  /** Every balance at its last price. */
  readonly equity: Decimal;
  /** The unrealised profit of all open positions. */
  readonly pnl: Decimal;
  /** The margin of all open positions and the funds reserved for open orders. */
  readonly margin: Decimal;
  /** Equity + pnl − margin. There is no funding on the paper exchange. */
  readonly freeMargin: Decimal;
  readonly leverage: number;
  /** Margin by equity; zero without equity. */
  readonly marginFraction: Decimal;
}

const fractionPlaces = 8;

/**
 * Sums up a collateral account.
 *
 * Funding and liquidation are left out: a loss can make the free margin, and even a balance, negative.
 *
 * @see https://docs.whitebit.com/api-reference/collateral-trading/collateral-account-summary
 */
export function summaryOf(state: ExchangeState, account: string): CollateralTotals {
  const collateral = collateralAccountOf(state, account);
  const equity = equityOf(state, collateral);
  const positions = [...collateral.positions.values()];
  const pnl = positions.reduce((sum, position) => sum.plus(unrealizedPnlOf(state, position)), zero);
  const held = [...collateral.balances].reduce(
    (sum, [ticker, { reserved }]) => sum.plus(reserved.times(usdtValueOf(state, ticker))),
    zero,
  );
  const margin = positions.reduce((sum, position) => sum.plus(marginOf(collateral, position)), held);
  const freeMargin = equity.plus(pnl).minus(margin);
  return {
    equity,
    pnl,
    margin,
    freeMargin,
    leverage: collateral.leverage,
    marginFraction: equity.gt(zero) ? margin.div(equity).round(fractionPlaces) : zero,
  };
}

function equityOf(state: ExchangeState, { balances }: CollateralAccount): Decimal {
  return [...balances].reduce(
    (sum, [ticker, balance]) => sum.plus(totalOf(balance).times(usdtValueOf(state, ticker))),
    zero,
  );
}

export function totalOf({ available, reserved }: Balance): Decimal {
  return available.plus(reserved);
}

/** The last price of a ticker in USDT; zero for one without such a market, which is no collateral. */
function usdtValueOf(state: ExchangeState, ticker: string): Decimal {
  if (ticker === settlementTicker) return one;
  return lastPriceOf(state, `${ticker}_${settlementTicker}`);
}
