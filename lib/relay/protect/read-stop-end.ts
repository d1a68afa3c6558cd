import type { Decimal } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ifRead } from '../../exchange/errors.ts';
import { findOrder } from '../../exchange/find-order.ts';

/** What became of an order that protects. */
export interface StopEnd {
  /** What it has sold, in base units. */
  readonly filled: Decimal;
  /** On the exchange's clock; null when no list says it. */
  readonly endedAtMs: number | null;
}

/**
 * How an order that protects has ended. The fills alone, without the order, may not all be listed yet: they tell it when they are the whole
 * amount.
 *
 * @returns null while no list tells it
 */
export async function readStopEnd(
  client: ExchangeClient,
  { market, clientOrderId }: { readonly market: string; readonly clientOrderId: string | null },
  whole: Decimal,
  limits: SendOptions,
): Promise<StopEnd | null> {
  const place = await ifRead(findOrder(client, { market, clientOrderId: clientOrderId ?? '' }, limits));
  if (place?.kind === 'found') {
    const { filled, endedAtMs = null } = place.order;
    return place.isOpen ? null : { filled, endedAtMs };
  }
  return place?.kind === 'filled' && place.filled.gte(whole)
    ? { filled: place.filled, endedAtMs: null }
    : null;
}
