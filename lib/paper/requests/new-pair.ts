import type { NewPair } from '../engine/creating-pairs.ts';
import type { RefusalName } from '../engine/refusals.ts';
import { type BestPrice, checkNewOrder } from './new-order.ts';
import type { Checked, FieldReader } from './validation.ts';

/** Fields of single orders that a pair has not. */
const withoutFields: ReadonlySet<string> = new Set(['postOnly', 'ioc', 'stopLoss', 'takeProfit']);

/** The stop-loss has its limit price in a field of its own. */
const refusalsOfStop: Partial<Readonly<Record<RefusalName, RefusalName>>> = {
  price_required: 'stop_limit_price_required',
  price_not_numeric: 'stop_limit_price_not_numeric',
  price_not_positive: 'stop_limit_price_not_positive',
  price_off_step: 'stop_limit_price_off_step',
};

/** Checks the fields of a pair: first as those of its take-profit, then as those of its stop-loss. */
export function checkNewPair(read: FieldReader, bestPrice: BestPrice): Checked<NewPair> {
  const readProfit: FieldReader = (name) => (withoutFields.has(name) ? undefined : read(name));
  const takeProfit = checkNewOrder(readProfit, 'limit', bestPrice);
  if (!takeProfit.valid) return takeProfit;
  const readStop: FieldReader = (name) => readProfit(name === 'price' ? 'stopLimitPrice' : name);
  const stopLoss = checkNewOrder(readStop, 'stop_limit', bestPrice);
  if (stopLoss.valid)
    return { valid: true, value: { stopLoss: stopLoss.value, takeProfit: takeProfit.value } };
  const [first, ...others] = stopLoss.refusals.map((refusal) => ({
    ...refusal,
    name: refusalsOfStop[refusal.name] ?? refusal.name,
  }));
  return first === undefined ? stopLoss : { valid: false, refusals: [first, ...others] };
}
