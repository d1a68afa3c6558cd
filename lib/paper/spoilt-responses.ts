import type { IncomingHttpHeaders } from 'node:http';

/** The report of an order, as it was, but of another order: the next number, the other side. */
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

/** The report of an order with all headers of its request in its texts. */
export function echoHeaders(body: unknown, headers: IncomingHttpHeaders): unknown {
  const echo = Object.values(headers).join(' ');
  if (!isRecord(body)) return body;
  return 'errors' in body
    ? { ...body, message: echo, errors: { [echo]: [echo] } }
    : { ...body, type: echo, stp: echo };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
