import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Account, TradingGround } from '../model/account.ts';
import type { Market } from '../model/market.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal } from '../model/signal.ts';
import { findStopObstacle } from './spot-stop.ts';

/**
 * Denies an order in a market that is closed, or that does not trade where the account's configuration says.
 *
 * @see DECISIONS 127
 */
export function checkTradable(
  { name, tradesEnabled, isCollateral, isFutures }: Market,
  tradesOn: TradingGround,
): Denial | null {
  if (!tradesEnabled)
    return {
      rule: 'market_closed',
      limit: 'open',
      actual: 'closed',
      message: `${name} is closed for trading; wait until the exchange opens it, or trade another market`,
    };
  if (isFutures !== (tradesOn === 'futures')) {
    const actual = isFutures ? 'futures' : 'spot';
    return {
      rule: 'market_trades_elsewhere',
      limit: tradesOn,
      actual,
      message: `${name} trades on ${isFutures ? 'futures' : 'spot, and perhaps margin'}, and relay.config.ts says tradesOn: '${tradesOn}'; correct it there`,
    };
  }
  if (tradesOn === 'spot' || isCollateral) return null;
  return {
    rule: 'market_not_collateral',
    limit: 'collateral',
    actual: 'spot',
    message: `${name} is a spot market without margin trading; write tradesOn: 'spot' in relay.config.ts, or map the ticker to another market`,
  };
}

/** The exchange states the free collateral in this currency, whatever the market. */
const collateralCurrency = 'USDT';

/** Denies a share of the free collateral in a market that is not priced in its currency. */
export function checkCollateralShare({ size }: OrderSignal, { name, quote }: Market): Denial | null {
  if (size.unit !== 'percent' || size.of !== 'balance' || quote === collateralCurrency) return null;
  return {
    rule: 'collateral_currency',
    limit: collateralCurrency,
    actual: quote,
    message: `the free collateral is in ${collateralCurrency}, and ${name} is priced in ${quote}, so no share of it can be computed; write "quantity" or "quoteQuantity"`,
  };
}

/** Denies what spot trading does not have: dropped in silence, it would leave a holding without its protection. */
export function checkSpotFields(signal: OrderSignal, market: string, account: Account): Denial | null {
  const deny = (field: string, reason: string): Denial => ({
    rule: 'not_on_spot',
    limit: 'spot trading',
    actual: field,
    message: `${market} trades on spot, ${reason}`,
  });
  const obstacle = findStopObstacle(signal, account);
  if (obstacle !== null) return deny(obstacle.field, obstacle.reason);
  if (signal.positionSide !== undefined && signal.positionSide !== 'BOTH')
    return deny('positionSide', 'where there are no positions; remove "positionSide"');
  if (signal.size.unit === 'percent' && signal.size.of === 'position')
    return deny(
      'of: position',
      'where there are no positions; remove "of": a sell of "quantityPercent" is a share of what the account holds',
    );
  if (signal.reduceOnly === true && signal.side === 'buy')
    return deny(
      'reduceOnly',
      'where a buy reduces nothing; remove "reduceOnly", or trade the market on margin',
    );
  return null;
}

/** Denies an order with a price that is zero after rounding. */
export function checkPrices(
  prices: Readonly<Record<string, Decimal | undefined>>,
  { name, quote, priceStep }: Market,
): Denial | null {
  const least = formatDecimal(priceStep);
  for (const [what, price] of Object.entries(prices)) {
    if (price === undefined || price.gt(zero)) continue;
    const actual = formatDecimal(price);
    const message = `${what} is ${actual} after rounding to steps of ${least} ${quote}; write a higher price for ${name}`;
    return { rule: 'price_rounds_to_zero', limit: least, actual, message };
  }
  return null;
}

const half = parseDecimal('0.5');

/**
 * Denies a stop-loss or take-profit at a price below half of the entry price. It is most likely a per cent without its
 * sign, and would leave the position without its protection.
 *
 * @param entryPrice of a stop-limit order the trigger price, if that is lower than the limit price; of an open position the
 *   last price
 * @param priceName what the message calls that
 */
export function checkExitPrices(
  { stopLoss, takeProfit, takeProfits = [] }: Pick<OrderSignal, 'stopLoss' | 'takeProfit' | 'takeProfits'>,
  entryPrice: Decimal,
  { quote }: Pick<Market, 'quote'>,
  priceName: 'entry price' | 'last price' = 'entry price',
): Denial | null {
  const least = entryPrice.times(half);
  const parts = takeProfits.map(({ price }): [field: string, text: string] => ['takeProfits', price]);
  for (const [field, text] of [...Object.entries({ stopLoss, takeProfit }), ...parts]) {
    if (text === undefined || text.endsWith('%') || parseDecimal(text).gte(least)) continue;
    const entry = formatDecimal(entryPrice);
    return {
      rule: 'exit_too_far',
      limit: formatDecimal(least),
      actual: text,
      message: `"${field}" is a price of ${text} ${quote}, less than half of the ${priceName} of ${entry}; write a distance with its per cent sign, for example "2%", and a price so far away as its distance, for example "60%"`,
    };
  }
  return null;
}

/**
 * Denies a stop-loss that the price has passed: it would close at once what the order opens.
 *
 * @param fillsAt the price at which the entry is expected to fill
 */
export function checkStopSide(
  stopLoss: Decimal,
  isLong: boolean,
  fillsAt: Decimal,
  { quote }: Pick<Market, 'quote'>,
): Denial | null {
  if (isLong ? stopLoss.lt(fillsAt) : stopLoss.gt(fillsAt)) return null;
  const [actual, entry] = [formatDecimal(stopLoss), formatDecimal(fillsAt)];
  const [side, order, ends, advice] = isLong
    ? ['below', 'buy', 'buys would be sold', 'lower']
    : ['above', 'sell', 'sells would be bought back', 'raise'];
  return {
    rule: 'stop_loss_side',
    limit: `${side} ${entry}`,
    actual,
    message: `the stop-loss of ${actual} ${quote} is not ${side} the price of ${entry} at which the ${order} is expected to fill: what it ${ends} at once; ${advice} "stopLoss"`,
  };
}

/**
 * Denies a take-profit of a list that would not wait: the relay places them as limit orders once the entry has filled. Of a
 * single one the exchange itself says so.
 *
 * @param fillsAt the price at which the entry is expected to fill
 */
export function checkPartSides(
  { takeProfits = [] }: Pick<OrderSignal, 'takeProfits'>,
  isLong: boolean,
  fillsAt: Decimal,
): Denial | null {
  const wrong = takeProfits.find(
    ({ price }) =>
      !price.endsWith('%') && (isLong ? parseDecimal(price).lte(fillsAt) : parseDecimal(price).gte(fillsAt)),
  );
  if (wrong === undefined) return null;
  const side = isLong ? 'above' : 'below';
  const entry = formatDecimal(fillsAt);
  return {
    rule: 'take_profit_wrong_side',
    limit: `${side} ${entry}`,
    actual: wrong.price,
    message: `a take-profit of "takeProfits" is ${wrong.price}, and must lie ${side} the entry price of ${entry}: it would fill at once; correct it, or write a distance such as "2%"`,
  };
}

/** Denies an amount that is below one step, or below the market's minimum. */
export function checkAmount(
  asked: Decimal,
  amount: Decimal,
  { name, base, amountStep, minAmount }: Pick<Market, 'name' | 'base' | 'amountStep' | 'minAmount'>,
): Denial | null {
  const step = formatDecimal(amountStep);
  const least = formatDecimal(minAmount);
  if (amount.lte(zero)) {
    const actual = formatDecimal(asked.prec(8, 0));
    const message = `${actual} ${base} is less than one step of ${step}; raise the size for ${name}`;
    return { rule: 'amount_rounds_to_zero', limit: step, actual, message };
  }
  if (amount.gte(minAmount)) return null;
  const actual = formatDecimal(amount);
  const message = `${actual} ${base} is below the minimum of ${least}; raise the size for ${name}`;
  return { rule: 'min_amount', limit: least, actual, message };
}

/** Denies an order that is worth less or more than the market allows. @param onlyReduces the size of a position is what it is */
export function checkTotal(
  total: Decimal,
  { name, quote, minTotal, maxTotal }: Market,
  onlyReduces: boolean,
): Denial | null {
  const actual = formatDecimal(total);
  if (total.lt(minTotal)) {
    const limit = formatDecimal(minTotal);
    const advice = onlyReduces
      ? `raise the size for ${name}, or close what is too small for an order on the website of the exchange`
      : `raise the size for ${name}`;
    const message = `the order is worth ${actual} ${quote}, below the minimum of ${limit}; ${advice}`;
    return { rule: 'min_total', limit, actual, message };
  }
  if (maxTotal === null || total.lte(maxTotal)) return null;
  const limit = formatDecimal(maxTotal);
  const message = `the order is worth ${actual} ${quote}, above the maximum of ${limit}; lower the size for ${name}`;
  return { rule: 'max_total', limit, actual, message };
}
