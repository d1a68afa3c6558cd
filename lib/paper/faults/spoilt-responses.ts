import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '../../base/json.ts';

/** Changes an order report so that it contradicts the request: the next order id and the opposite side. */
export function contradict(body: unknown): unknown {
  if (!isRecord(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, contradictField(name, value)]),
  );
}

function contradictField(name: string, value: unknown): unknown {
  if (name === 'side') return value === 'buy' ? 'sell' : 'buy';
  return (name === 'orderId' || name === 'order_id') && typeof value === 'number' ? value + 1 : value;
}

/** Puts all headers of the request into the texts of an order report or refusal. */
export function echoHeaders(body: unknown, headers: IncomingHttpHeaders): unknown {
  const echo = Object.values(headers).join(' ');
  if (!isRecord(body)) return body;
  return 'errors' in body
    ? { ...body, message: echo, errors: { [echo]: [echo] } }
    : { ...body, type: echo, stp: echo };
}
