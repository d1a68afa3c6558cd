import {
  ceilToStep,
  type Decimal,
  floorToStep,
  one,
  parseDecimal,
  rateOfPercent,
} from '../../lib/base/decimal.ts';
import type { History } from './history.ts';
import { readingsFor } from './readings.ts';
import type { SentOrder } from './sent-orders.ts';

interface BookBody {
  readonly asks?: readonly (readonly [price: string, amount: string])[];
  readonly bids?: readonly (readonly [price: string, amount: string])[];
}

/** The best opposite prices that the order may have been priced on, one for each response that is young enough. */
export function oppositePrices(history: History, { send, side, market }: SentOrder): readonly Decimal[] {
  return readingsFor(history, send, market.name, 'book').flatMap((body) => {
    const { asks, bids } = (body ?? {}) as BookBody;
    const prices = ((side === 'buy' ? asks : bids) ?? []).map(([price]) => parseDecimal(price));
    const [best] = prices.toSorted((a, b) => (side === 'buy' ? a.cmp(b) : b.cmp(a)));
    return best ?? [];
  });
}

/** How far beyond the best opposite price the order may fill: the lower of its alert's and its account's allowance. */
export function allowanceOf({ signal, account }: SentOrder): Decimal | null {
  if (signal.orderType !== 'market') return null;
  const asked = signal.maxSlippage === undefined ? null : rateOfPercent(signal.maxSlippage);
  const most = account.maxSlippageRate;
  if (asked === null || most === null) return asked ?? most;
  return asked.lt(most) ? asked : most;
}

/** The worst price at which the order may fill. */
export function boundAt(opposite: Decimal, rate: Decimal, { side, market }: SentOrder): Decimal {
  return side === 'buy'
    ? floorToStep(opposite.times(one.plus(rate)), market.priceStep)
    : ceilToStep(opposite.times(one.minus(rate)), market.priceStep);
}
