import { isQuoteSized, kindOfType, type OrderType, orderTypes, type Side } from '../model/order.ts';
import type { Endpoint, FieldNames } from './endpoint.ts';
import type { NonceRule } from './nonce.ts';

/** `documented` is the written API. `live` is the protocol of the service since April 2026. */
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

/** The nonce rule of each dialect. */
export const nonceRules: Readonly<Record<Dialect, NonceRule>> = {
  // The written API knows only "a unique request identifier, sent as a string".
  documented: 'increasing',
  live: 'window',
};

/**
 * The dialect an endpoint uses. Endpoints that the written API does not describe exist in the live dialect
 * only.
 */
export function spokenDialect(dialect: Dialect, endpoint: Pick<Endpoint, 'availability'>): Dialect {
  return endpoint.availability === 'live-only' ? 'live' : dialect;
}

/** The parts of an endpoint that decide its wire names. */
export type Worded = Pick<Endpoint, 'availability' | 'fields'>;

/** The endpoint's names on the wire. */
export function wireNames(dialect: Dialect, endpoint: Worded): FieldNames {
  const spoken = spokenDialect(dialect, endpoint);
  return { ...fieldNames[spoken], ...endpoint.fields?.[spoken] };
}

/** Old name → new name; undefined for a key that is dropped. */
type Renames = ReadonlyMap<string, string | undefined>;

interface NameTables {
  readonly toWire: Renames;
  readonly fromWire: Renames;
}

const nameTables: Readonly<Record<Dialect, WeakMap<Worded, NameTables>>> = {
  documented: new WeakMap(),
  live: new WeakMap(),
};

function nameTablesOf(dialect: Dialect, endpoint: Worded): NameTables {
  const known = nameTables[dialect].get(endpoint);
  if (known !== undefined) return known;
  const names = Object.entries(wireNames(dialect, endpoint));
  const tables: NameTables = {
    toWire: new Map(names),
    // A wire key that equals the model's name, where this dialect uses another one, comes from the other
    // dialect. Accepting it would hide that the wrong dialect is configured.
    fromWire: new Map<string, string | undefined>([
      ...names.map(([model]) => [model, undefined] as const),
      ...names.map(([model, wire]) => [wire, model] as const),
    ]),
  };
  nameTables[dialect].set(endpoint, tables);
  return tables;
}

/** Renames the keys of a value, at every depth, from the model's names to the wire's. */
export function toWire(dialect: Dialect, endpoint: Worded, value: unknown): unknown {
  return renameKeys(value, nameTablesOf(dialect, endpoint).toWire, 0);
}

/**
 * Renames the keys of a value, at every depth, from the wire's names to the model's.
 *
 * @throws RangeError when the value nests deeper than 32 levels; no response of the exchange does
 */
export function fromWire(dialect: Dialect, endpoint: Worded, value: unknown): unknown {
  return renameKeys(value, nameTablesOf(dialect, endpoint).fromWire, 0);
}

/** The wire name for a name of the model. */
export function wireWord(dialect: Dialect, endpoint: Worded, word: string): string {
  return nameTablesOf(dialect, endpoint).toWire.get(word) ?? word;
}

const maximumDepth = 32;

function renameKeys(value: unknown, renames: Renames, depth: number): unknown {
  if (depth > maximumDepth) throw new RangeError(`the value nests deeper than ${maximumDepth} levels`);
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, renames, depth + 1));
  if (!isPlainObject(value)) return value;
  const renamed: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const name = renames.has(key) ? renames.get(key) : key;
    // Assigning `__proto__` would give the record another prototype instead of a field.
    if (name !== undefined && name !== '__proto__')
      renamed[name] = renameKeys(value[key], renames, depth + 1);
  }
  return renamed;
}

/** True for plain records only: decimals are objects too, and their keys must not be renamed. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The live service's word for each order type, as in public captures and in its socket's documents. */
const liveTypeWords: Readonly<Record<OrderType, string>> = {
  stop_limit: 'margin stop limit',
  limit: 'margin limit',
  market: 'margin market',
  stop_market: 'trigger margin market',
  spot_limit: 'limit',
  spot_market: 'market',
  spot_stock_market: 'stock market',
  spot_stop_limit: 'stop limit',
  spot_stop_market: 'stop market',
};

const typesByWord: ReadonlyMap<string, OrderType> = new Map(
  orderTypes.map((type) => [liveTypeWords[type], type]),
);

/** The kind of order that a word of either dialect names. An unknown word is returned unchanged. */
export function orderTypeOf(word: string): string {
  const type = typesByWord.get(word);
  return type === undefined ? word : kindOfType[type];
}

/**
 * The mark of an order on the spot account, of a list of the live service. Such an order has the type word of one, and no side of
 * a position. Both are asked for: an order that changes a position must never count as one on spot.
 */
export function spotMarkOf(word: string, positionSide: string | undefined): { readonly onSpot?: true } {
  const isSpot = positionSide === undefined && typesByWord.get(word)?.startsWith('spot_') === true;
  return isSpot ? { onSpot: true } : {};
}

/** Whether an order with that type word is sized in quote units. */
export function isQuoteSizedWord(word: string, side: Side): boolean {
  const type = typesByWord.get(word);
  return type !== undefined && isQuoteSized({ type, side });
}

/** The wire's word for an order type. The written API has stop-limit orders and the legs of their pairs. */
export function orderTypeWord(dialect: Dialect, type: OrderType): string {
  return dialect === 'live' ? liveTypeWords[type] : kindOfType[type].replace('_', ' ');
}

/** The named addresses of the exchange. */
const knownAddresses = new Map([
  ['global', 'https://whitebit.com'],
  ['eu', 'https://whitebit.eu'],
]);

/**
 * The base URL for `global`, `eu`, or a URL of scheme, host and port (https anywhere, http on this machine
 * only).
 *
 * @throws RangeError for any other address
 */
export function baseUrlOf(address: string): string {
  const url = URL.parse(knownAddresses.get(address) ?? address);
  if (url === null) throw new RangeError(`"${address}" is neither global, eu nor a URL`);
  // The message does not quote the address: the part before the @ may hold a password.
  if (url.username !== '' || url.password !== '')
    throw new RangeError('the exchange address must not hold a user or a password');
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    throw new RangeError(`"${address}" must use https; http is allowed for this machine only`);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new RangeError(`"${address}" must end after the host and port: the relay adds the path itself`);
  return url.origin;
}
