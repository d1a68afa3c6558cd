import type { Decimal } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { findOrder } from '../../exchange/find-order.ts';

/**
 * What a stop-loss has sold that has ended, in base units. The fills alone, without the order, may not all be listed yet: they
 * tell it when they are the whole amount.
 *
 * @returns null while no list tells it
 */
export async function readFilled(
  client: ExchangeClient,
  { market, clientOrderId }: { readonly market: string; readonly clientOrderId: string | null },
  whole: Decimal,
  limits: SendOptions,
): Promise<Decimal | null> {
  try {
    const place = await findOrder(client, { market, clientOrderId: clientOrderId ?? '' }, limits);
    if (place.kind === 'found') return place.isOpen ? null : place.order.filled;
    return place.kind === 'filled' && place.filled.gte(whole) ? place.filled : null;
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}
