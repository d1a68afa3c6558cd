import type { FaultRequest } from '../../lib/paper/faults/faults.ts';

/** One row of the table in docs/outcomes.md: what goes wrong, what the ledger shows, how many orders the exchange holds. */
export interface FaultRow {
  /** As the document words it. */
  readonly name: string;
  readonly fault: FaultRequest;
  readonly status: string;
  readonly orders: 0 | 1;
  /** Whether the relay waits until its deadline. */
  readonly isLate?: boolean;
}

/** The row as the document shows it. */
export function renderFaultRow({ name, status, orders }: FaultRow): string {
  return `| ${name} | \`${status}\` | ${orders} |\n`;
}

const anHourMs = 3_600_000;

/** Every kind of fault, on the endpoint that places stop-limit orders. */
export const faultRows: readonly FaultRow[] = [
  { name: '`refuse`: the exchange says no', fault: { fault: 'refuse' }, status: 'rejected', orders: 0 },
  {
    name: '`drop_before`: cut off before it was read',
    fault: { fault: 'drop_before' },
    status: 'unknown',
    orders: 0,
  },
  {
    name: '`drop_after`: accepted, the response lost',
    fault: { fault: 'drop_after' },
    status: 'unknown',
    orders: 1,
  },
  { name: '`delay` within the deadline', fault: { fault: 'delay', delayMs: 5 }, status: 'placed', orders: 1 },
  {
    name: '`delay` beyond the deadline',
    fault: { fault: 'delay', delayMs: anHourMs },
    isLate: true,
    status: 'unknown',
    orders: 1,
  },
  {
    name: '`error_before`: 503, not accepted',
    fault: { fault: 'error_before' },
    status: 'unknown',
    orders: 0,
  },
  { name: '`error_after`: 500, accepted', fault: { fault: 'error_after' }, status: 'unknown', orders: 1 },
  {
    name: '`garbage`: accepted, the response unreadable',
    fault: { fault: 'garbage' },
    status: 'unknown',
    orders: 1,
  },
  {
    name: '`id_used_after`: accepted, then refused for its own id',
    fault: { fault: 'id_used_after' },
    status: 'unknown',
    orders: 1,
  },
  {
    name: '`contradict`: accepted, the response is about another order',
    fault: { fault: 'contradict' },
    status: 'unknown',
    orders: 1,
  },
  {
    name: '`echo_headers`: accepted, the response repeats key and signature; they are redacted',
    fault: { fault: 'echo_headers' },
    status: 'placed',
    orders: 1,
  },
  {
    name: '`surplus`: accepted, and ahead of its response comes a refusal that belongs to no request',
    fault: { fault: 'surplus' },
    status: 'unknown',
    orders: 1,
  },
  {
    name: '`nonce_429`: not accepted; looked up, not found, and not sent again',
    fault: { fault: 'nonce_429' },
    status: 'unknown',
    orders: 0,
  },
  {
    name: '`rate_429`: not accepted; looked up, not found, and not sent again',
    fault: { fault: 'rate_429' },
    status: 'unknown',
    orders: 0,
  },
  {
    name: '`nonce_429_after`: accepted, but the response is 429: looked up, and found',
    fault: { fault: 'nonce_429_after' },
    status: 'placed',
    orders: 1,
  },
  {
    name: '`rate_429_after`: accepted, but the response is 429: looked up, and found',
    fault: { fault: 'rate_429_after' },
    status: 'placed',
    orders: 1,
  },
  {
    name: '`down`: the exchange accepts no connection',
    fault: { fault: 'down', durationMs: anHourMs },
    status: 'not_sent',
    orders: 0,
  },
];
