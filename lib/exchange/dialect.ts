import type { OrderStatus } from '../model/order.ts';
import type { Endpoint, FieldNames } from './endpoint.ts';

/** `documented` is the written API; `live` is what the service has spoken since April 2026. */
export const dialects = ['documented', 'live'] as const;
export type Dialect = (typeof dialects)[number];

const alwaysSnakeCase = {
  mainBalance: 'main_balance',
  canDeposit: 'can_deposit',
  canWithdraw: 'can_withdraw',
};

const fieldNames: Readonly<Record<Dialect, FieldNames>> = {
  documented: {
    ...alwaysSnakeCase,
    orderId: 'order_id',
    clientOrderId: 'client_order_id',
    dealMoney: 'deal_money',
    dealStock: 'deal_stock',
    dealFee: 'deal_fee',
    activationPrice: 'activation_price',
  },
  live: alwaysSnakeCase,
};

/** How a private request proves that it is new. */
export const nonceRules: Readonly<Record<Dialect, 'increasing' | 'window'>> = {
  // The written API knows only "a unique request identifier, sent as a string".
  documented: 'increasing',
  live: 'window',
};

/** The dialect an endpoint speaks: what the written API never described exists in live words only. */
export function spokenDialect(dialect: Dialect, endpoint: Pick<Endpoint, 'availability'>): Dialect {
  return endpoint.availability === 'live-only' ? 'live' : dialect;
}

/** The endpoint's names on the wire. */
export function wireNames(dialect: Dialect, endpoint: Endpoint): FieldNames {
  const spoken = spokenDialect(dialect, endpoint);
  return { ...fieldNames[spoken], ...endpoint.fields?.[spoken] };
}

/** Renames the keys of a value, at every depth, from the model's words to the wire's. */
export function toWire(dialect: Dialect, endpoint: Endpoint, value: unknown): unknown {
  return renameKeys(value, wireNames(dialect, endpoint));
}

/** Renames the keys of a value, at every depth, from the wire's words to the model's. */
export function fromWire(dialect: Dialect, endpoint: Endpoint, value: unknown): unknown {
  const names = wireNames(dialect, endpoint);
  return renameKeys(value, Object.fromEntries(Object.entries(names).map(([model, wire]) => [wire, model])));
}

function renameKeys(value: unknown, names: FieldNames): unknown {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, names));
  if (!isPlainObject(value)) return value;
  const renamed: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) renamed[names[key] ?? key] = renameKeys(item, names);
  return renamed;
}

/** Decimals are objects too; only records made of keys are renamed. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const statusWords: Readonly<Record<Dialect, Readonly<Record<OrderStatus, string>>>> = {
  documented: {
    open: 'NEW',
    partially_filled: 'PARTIALLY_FILLED',
    filled: 'FILLED',
    cancelled: 'CANCELLED',
  },
  live: {
    open: 'OPEN',
    partially_filled: 'PARTIALLY_FILLED',
    filled: 'FILLED',
    cancelled: 'CANCELED',
  },
};

/** Ends of the live service that are cancellations with a reason. */
const endReasons = [
  'CANCELED_STP',
  'CANCELED_TAKER_BAND',
  'CANCELED_RPI',
  'AUTO_CANCELED_REDUCE_ONLY',
  'AUTO_CANCELED_LIQUIDATION',
  'AUTO_CANCELED_USER_MARGIN',
  'DELISTING',
];

const statusesByWord = new Map<string, { status: OrderStatus; endReason?: string }>([
  ...dialects.flatMap((dialect) =>
    (Object.keys(statusWords[dialect]) as OrderStatus[]).map(
      (status) => [statusWords[dialect][status], { status }] as const,
    ),
  ),
  ...endReasons.map((word) => [word, { status: 'cancelled', endReason: word }] as const),
]);

export function isKnownStatusWord(word: string): boolean {
  return statusesByWord.has(word);
}

/** The model's status for a word of either dialect. */
export function statusOf(word: string): { status: OrderStatus; endReason?: string } {
  const known = statusesByWord.get(word);
  if (known === undefined) throw new RangeError(`"${word}" is no order status`);
  return known;
}

/** The wire's word for a status; a known reason for the end is a word of its own in the live dialect. */
export function statusWord(dialect: Dialect, status: OrderStatus, endReason?: string): string {
  return dialect === 'live' && endReason !== undefined ? endReason : statusWords[dialect][status];
}

const typeWords: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  documented: { stop_limit: 'stop limit', limit: 'limit' },
  // M-H: seen in public captures of collateral orders.
  live: { stop_limit: 'margin stop limit', limit: 'margin limit' },
};

/** The model's name of an order type; a word not known here is kept as it came. */
export function orderTypeOf(word: string): string {
  for (const dialect of dialects)
    for (const [type, wire] of Object.entries(typeWords[dialect])) if (wire === word) return type;
  return word;
}

/** The wire's word for an order type. */
export function orderTypeWord(dialect: Dialect, type: string): string {
  return typeWords[dialect][type] ?? type;
}

/** The exchange's own addresses. */
const knownAddresses: Readonly<Record<string, string>> = {
  global: 'https://whitebit.com',
  eu: 'https://whitebit.eu',
};

/**
 * The base URL for `global`, `eu`, or a URL (https anywhere, http on this machine only).
 *
 * @throws RangeError when it is none of these
 */
export function baseUrlOf(address: string): string {
  const url = URL.parse(knownAddresses[address] ?? address);
  if (url === null) throw new RangeError(`"${address}" is neither global, eu nor a URL`);
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    throw new RangeError(`"${address}" must use https; http is for this machine only`);
  return url.origin;
}
