import type { Order, OrderRequest } from '../model/order.ts';
import type { ExchangeClient, PreparedRequest } from './client.ts';
import { stopLimit } from './endpoints/stop-limit.ts';

/** Builds the request that places an order of any kind; nothing is sent yet. */
export function prepareOrder(client: ExchangeClient, order: OrderRequest): PreparedRequest<Order> {
  switch (order.kind) {
    case 'stop_limit': {
      const { kind: _, ...params } = order;
      return client.prepare(stopLimit, params);
    }
  }
}
