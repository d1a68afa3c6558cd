import { type Clock, systemClock } from './clock.ts';
import { parseAddress } from './http-address.ts';
import { Delivery } from './http-delivery.ts';
import { ConnectionPool } from './http-pool.ts';
import { composeRequest } from './http-request.ts';
import type { Transport } from './wire.ts';

/**
 * HTTP/1.1 over plain sockets. A request is written at once and whole, to a connection that carries nothing else, and
 * is never written twice.
 *
 * @param clock decides how long a connection was idle, and with the machine's steady clock whether a request may still be
 *   written; time-outs run on the steady clock
 * @see DECISIONS 138
 */
export function createTransport(clock: Clock = systemClock): Transport {
  const pools = new Map<string, ConnectionPool>();
  let isClosed = false;

  function poolOf(baseUrl: string): ConnectionPool {
    let pool = pools.get(baseUrl);
    if (pool === undefined) {
      pool = new ConnectionPool(parseAddress(baseUrl), clock);
      pools.set(baseUrl, pool);
    }
    return pool;
  }

  return {
    async send(request) {
      if (isClosed) return { kind: 'not_sent', reason: 'the connections were closed' };
      const pool = poolOf(request.baseUrl);
      const composed = composeRequest(request, pool.host);
      if (composed.kind === 'invalid') return { kind: 'not_sent', reason: composed.reason };
      const delivery = new Delivery(request, composed.text, composed.encoding, clock);
      pool.deliver(delivery);
      delivery.startTimer();
      return await delivery.outcome;
    },
    close() {
      isClosed = true;
      for (const pool of pools.values()) pool.close('the relay closed the connection');
    },
  };
}
