import type { ConditionalOrder, Order } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { ExchangeError } from './errors.ts';
import { type Groups, listConditionalOrders } from './list-conditional-orders.ts';

/**
 * The groups of a market. There are none when the exchange refuses the list: it has no collateral orders in this market, or not
 * for this key.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listGroups(
  client: ExchangeClient,
  market: string,
  options: SendOptions,
): Promise<Groups> {
  try {
    return await listConditionalOrders(client, market, options);
  } catch (error) {
    if (error instanceof ExchangeError && error.failure.kind === 'rejected') return noGroups;
    throw error;
  }
}

/** Of a market, or an account, that has none. */
export const noGroups: Groups = { groups: [], isWhole: true };

/** The orders of a group that exist: both of a pair, or the one whose stop-loss and take-profit are only planned. */
export function legsOf(group: ConditionalOrder): readonly Order[] {
  return group.kind === 'oco' ? [group.stopLoss, group.takeProfit] : [group.primary];
}

/** `OCO 117703764513`, as the exchange's documents name the kinds. */
export function nameGroup({ kind, id }: ConditionalOrder): string {
  return `${kind.toUpperCase()} ${id}`;
}
