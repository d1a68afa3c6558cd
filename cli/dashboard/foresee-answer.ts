import { type Decimal, formatDecimal } from '../../lib/base/decimal.ts';
import { type OrderRequest, usualTriggerSides } from '../../lib/model/order.ts';

/** What is to be expected of an order that the relay would send. */
export interface Foreseen {
  /** Whether the exchange refuses it. */
  readonly isRefused: boolean;
  /** Why, or what the operator should know of it. */
  readonly note: string;
}

/**
 * Says what the exchange would answer to the prices of an order, by the rules that it publishes. The relay itself leaves
 * that to the exchange: the price moves until it has the order.
 *
 * @param lastPrice null: not known
 * @param waitsBySide whether a rehearsal found that the side of a stop decides which way it waits
 * @returns null where nothing is to be said
 */
export function foreseeAnswer(
  order: OrderRequest,
  lastPrice: Decimal | null,
  waitsBySide: boolean,
): Foreseen | null {
  return foreseeTrigger(order, lastPrice, waitsBySide) ?? foreseeExits(order, lastPrice);
}

const moves = { above: 'rises', below: 'falls' } as const;

function foreseeTrigger(
  { side, activationPrice }: OrderRequest,
  lastPrice: Decimal | null,
  waitsBySide: boolean,
): Foreseen | null {
  if (activationPrice === undefined || lastPrice === null) return null;
  const stop = `its stop price of ${formatDecimal(activationPrice)}`;
  if (activationPrice.eq(lastPrice)) return { isRefused: true, note: `${stop} is the last price` };
  const lies = activationPrice.gt(lastPrice) ? 'above' : 'below';
  const usual = usualTriggerSides[side];
  if (lies === usual) return null;
  const wakes = waitsBySide ? 'so it would wake at once' : `so it wakes when the price ${moves[lies]} to it`;
  return {
    isRefused: false,
    note: `${stop} is ${lies} the last price, ${wakes}; a ${side} usually waits for a price that ${moves[usual]}`,
  };
}

function foreseeExits(
  { side, price, activationPrice, stopLoss, takeProfit }: OrderRequest,
  lastPrice: Decimal | null,
): Foreseen | null {
  const own = price ?? activationPrice ?? lastPrice;
  if (own === null) return null;
  const [lossSide, gainSide] = side === 'buy' ? (['below', 'above'] as const) : (['above', 'below'] as const);
  const exits = [
    ['stop-loss', stopLoss, lossSide],
    ['take-profit', takeProfit, gainSide],
  ] as const;
  for (const [name, exit, wanted] of exits)
    if (exit !== undefined && !lies(exit, wanted, own))
      return {
        isRefused: true,
        note: `the ${name} of ${formatDecimal(exit)} does not lie ${wanted} the price of the order, ${formatDecimal(own)}`,
      };
  // The last price when it begins to fill.
  const begins = activationPrice ?? lastPrice;
  if (stopLoss === undefined || begins === null || lies(stopLoss, lossSide, begins)) return null;
  const named = activationPrice === undefined ? 'the last price' : 'its stop price';
  return {
    isRefused: false,
    note: `the stop-loss of ${formatDecimal(stopLoss)} does not lie ${lossSide} ${named}, ${formatDecimal(begins)}: what the order opens would be closed at once`,
  };
}

function lies(price: Decimal, side: 'above' | 'below', of: Decimal): boolean {
  return side === 'above' ? price.gt(of) : price.lt(of);
}
