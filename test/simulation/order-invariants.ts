import { one, parseDecimal } from '../../lib/base/decimal.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { keyText, type WireSend } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { settings } from './simulated-world.ts';

/** Whether what was ordered is what the owner allows to be ordered. */
export function findUnlawfulOrders({ history, dialect }: Facts): readonly Violation[] {
  return history.sends.filter(({ path }) => path === stopLimit.path[dialect]).flatMap(findFarLimits);
}

interface SentPrices {
  readonly side: 'buy' | 'sell';
  readonly price: string;
  readonly activation_price: string;
}

function findFarLimits({ body, invocation }: WireSend): readonly Violation[] {
  const key = invocation?.key ?? null;
  const rate = settings.accounts[key?.account ?? '']?.maxLimitDistanceRate ?? null;
  if (key === null || rate === null) return [];
  const { side, price, activation_price: stopPrice } = JSON.parse(body) as SentPrices;
  const furthest = parseDecimal(stopPrice).times(side === 'buy' ? one.plus(rate) : one.minus(rate));
  const isBeyond = side === 'buy' ? parseDecimal(price).gt(furthest) : parseDecimal(price).lt(furthest);
  if (!isBeyond) return [];
  const text = `${keyText(key)} was sent as a ${side} with limit price ${price} and stop price ${stopPrice}, further apart than its account allows`;
  return [{ invariant: 'I8', harm: 'other', text }];
}
