import type { Account } from '../model/account.ts';
import { kindOfType, type OrderRequest } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import { regionOrderTypes } from '../model/region.ts';
import { kindNamed } from '../orders/order-kinds.ts';

/**
 * Denies an order of a type that the exchange does not take from accounts in the region of this one. A market order
 * with a `maxSlippage` is among them, because it goes out as a limit order.
 *
 * @see DECISIONS 123
 */
export function checkRegion(
  { type }: Pick<OrderRequest, 'type'>,
  { name, region }: Pick<Account, 'name' | 'region'>,
): Denial | null {
  if (region === null || regionOrderTypes[region].includes(type)) return null;
  const taken = [...new Set(regionOrderTypes[region].map((other) => kindOfType[other]))];
  const { title } = kindNamed(kindOfType[type]);
  return {
    rule: `${region}_order_type`,
    limit: taken.join(', '),
    actual: type,
    message: `account ${name} is in the region "${region}", where the exchange takes only ${taken.join(' and ')} orders, on spot; this one is sent as a ${title} (every market order with a maxSlippage is sent as a limit order); write "orderType": "market" without "maxSlippage", or "stop_market"`,
  };
}
