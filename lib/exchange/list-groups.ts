import type { ConditionalOrder, Order } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { ExchangeError } from './errors.ts';
import { listConditionalOrders } from './list-conditional-orders.ts';

/**
 * The groups of a market: pairs of orders (OCO), and orders with a planned stop-loss or take-profit (OTO).
 *
 * @returns null when the exchange refuses the list: it has no collateral orders in this market, or not for this key
 * @throws ExchangeError when a page cannot be read
 */
export async function listGroups(
  client: ExchangeClient,
  market: string,
  options: SendOptions,
): Promise<readonly ConditionalOrder[] | null> {
  try {
    return await listConditionalOrders(client, market, options);
  } catch (error) {
    if (error instanceof ExchangeError && error.failure.kind === 'rejected') return null;
    throw error;
  }
}

/** The orders of a group that exist: both of a pair, or the one whose stop-loss and take-profit are only planned. */
export function legsOf(group: ConditionalOrder): readonly Order[] {
  return group.kind === 'oco' ? [group.stopLoss, group.takeProfit] : [group.primary];
}

/** `OCO 117703764513`, as the exchange's documents name the kinds. */
export function nameGroup({ kind, id }: ConditionalOrder): string {
  return `${kind.toUpperCase()} ${id}`;
}
