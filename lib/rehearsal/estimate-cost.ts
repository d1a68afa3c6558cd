import { type Decimal, formatDecimal, parseDecimal } from '../base/decimal.ts';
import { playMoney } from '../model/market.ts';
import { readPrices, type Stage, smallestAmount } from './stage.ts';

/** What the last step costs at about the prices of now. In the quote currency of the market. */
export interface Cost {
  readonly currency: string;
  /** What one of its orders is worth. */
  readonly notional: Decimal;
  readonly fees: Decimal;
  readonly spread: Decimal;
}

const lowestPriceRate = parseDecimal('0.9');

/** @returns null when the market has no prices now */
export async function estimateCost(stage: Stage): Promise<Cost | null> {
  const prices = await readPrices(stage);
  if (prices === null) return null;
  const { ground, market } = stage;
  const { bid, ask } = prices;
  const amount = smallestAmount(bid.times(lowestPriceRate), market);
  // A long and a short position, each opened and closed; on spot one buy and one sale.
  const turns = ground === 'spot' ? '1' : '2';
  const notional = amount.times(ask);
  return {
    currency: market.quote,
    notional,
    fees: notional.times(market.takerFeeRate).times('2').times(turns),
    spread: ask.minus(bid).times(amount).times(turns),
  };
}

export function describeCost(cost: Cost | null): string {
  if (cost === null) return 'What it costs cannot be told: the market has no prices now.';
  const { currency, notional, fees, spread } = cost;
  const money = (amount: Decimal) => `${formatDecimal(amount.round(4))} ${currency}`;
  const text = `Each order is worth about ${money(notional)}; fees come to about ${money(fees)}, the spread to ${money(spread)}`;
  return currency === playMoney ? `${text}. It is play money of the exchange.` : `${text}.`;
}
