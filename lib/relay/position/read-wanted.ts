import { type Decimal, formatDecimal, parseDecimal, rateOfPercent, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { collateralSummary } from '../../exchange/endpoints/collateral-summary.ts';
import { orderBook } from '../../exchange/endpoints/order-book.ts';
import type { Market } from '../../model/market.ts';
import type { Denial } from '../../model/outcome.ts';
import type { PercentText, PositionSignal } from '../../model/signal.ts';

/** A wanted position in base units, signed and not rounded to steps, or the reason why it cannot be computed. */
export type Wanted =
  | { readonly ok: true; readonly amount: Decimal }
  | { readonly ok: false; readonly denial: Denial };

/** The exchange states the equity in this currency, whatever the market. */
const equityCurrency = 'USDT';

/**
 * Computes the position that a target wants; zero for signals without a target.
 *
 * @throws ExchangeError when the prices or the equity cannot be read
 */
export async function readWanted(
  client: ExchangeClient,
  signal: PositionSignal,
  market: Market,
  limits: SendOptions,
): Promise<Wanted> {
  if (signal.action !== 'target') return { ok: true, amount: zero };
  const { target } = signal;
  switch (target.unit) {
    case 'flat':
      return { ok: true, amount: zero };
    case 'base':
      return { ok: true, amount: parseDecimal(target.quantity) };
    case 'quote':
      return await inBase(client, parseDecimal(target.quoteQuantity), market, limits);
    case 'percent':
      return await inShareOfEquity(client, target.percentOfEquity, market, limits);
  }
}

async function inShareOfEquity(
  client: ExchangeClient,
  percent: PercentText,
  market: Market,
  limits: SendOptions,
): Promise<Wanted> {
  if (market.quote !== equityCurrency) return { ok: false, denial: denyCurrency(market) };
  const { equity } = await client.call(collateralSummary, {}, limits);
  // A share of a debt would be a position of the other side.
  if (equity.lte(zero)) return { ok: false, denial: denyNoEquity(equity) };
  const rate = rateOfPercent(percent.replace('-', ''));
  const value = equity.times(rate);
  return await inBase(client, percent.startsWith('-') ? value.times('-1') : value, market, limits);
}

/** At the best price for a trade toward the wanted position. */
async function inBase(
  client: ExchangeClient,
  value: Decimal,
  market: Market,
  limits: SendOptions,
): Promise<Wanted> {
  const { asks, bids } = await client.call(orderBook, { market: market.name, limit: 1 }, limits);
  const price = (value.gt(zero) ? asks : bids)[0]?.price;
  if (price === undefined) return { ok: false, denial: denyNoPrice(market) };
  return { ok: true, amount: value.div(price) };
}

function denyCurrency({ name, quote }: Market): Denial {
  return {
    rule: 'collateral_currency',
    limit: equityCurrency,
    actual: quote,
    message: `the equity is in ${equityCurrency}, and ${name} is priced in ${quote}, so no share of it can be computed; write "target" as an amount, or "targetQuote"`,
  };
}

function denyNoEquity(equity: Decimal): Denial {
  return {
    rule: 'no_equity',
    limit: 'an equity above zero',
    actual: formatDecimal(equity),
    message: `the equity of the collateral account is ${formatDecimal(equity)} ${equityCurrency}: no share of it is a position; write "flat" to close`,
  };
}

function denyNoPrice({ name }: Market): Denial {
  return {
    rule: 'empty_book',
    limit: 'a price on that side of the order book',
    actual: 'none',
    message: `nobody offers ${name} on that side now, so the size of the wanted position cannot be computed; try again later`,
  };
}
