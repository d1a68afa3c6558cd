import { type Decimal, formatDecimal, isDecimalText, parseDecimal, zero } from '../base/decimal.ts';
import { type Dialect, type Worded, wireWord } from '../exchange/dialect.ts';
import { type OrderType, positionSides, sides } from '../model/order.ts';
import type { NewOrder } from './engine.ts';
import { type PaperMarket, paperMarkets } from './markets.ts';
import { type DecimalName, isDecimalField, orderFieldsOf, type RequiredName } from './order-fields.ts';
import type { Refusal, RefusalName } from './refusals.ts';
import { createNewOrder } from './stored-commands.ts';

/**
 * Reads a request field by its model name. A field that was sent under another wire name counts as missing.
 */
export type FieldReader = (name: string) => unknown;

export type Checked<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly refusals: readonly [Refusal, ...Refusal[]] };

function refuse(name: RefusalName, value?: Decimal): { valid: false; refusals: [Refusal] } {
  return { valid: false, refusals: [value === undefined ? { name } : { name, value: formatDecimal(value) }] };
}

/**
 * Reads request fields under the wire names of endpoint and dialect. A snake_case client order id is dropped
 * here in the live dialect, as on the live service.
 */
export function createFieldReader(
  dialect: Dialect,
  endpoint: Worded,
  body: Readonly<Record<string, unknown>>,
): FieldReader {
  return (name) => {
    const wire = wireWord(dialect, endpoint, name);
    const value = Object.hasOwn(body, wire) ? body[wire] : undefined;
    return value === null || value === '' ? undefined : value;
  };
}

/** The refusal of each missing field. The service accepts orders without a client order id. */
const requiredRefusals = {
  market: 'market_required',
  side: 'side_required',
  amount: 'amount_required',
  price: 'price_required',
  activationPrice: 'activation_required',
} as const satisfies Record<Exclude<RequiredName, 'clientOrderId'>, RefusalName>;

/**
 * Checks the fields of an order against its kind and market, in the order in which the service checks them.
 */
export function checkNewOrder(read: FieldReader, type: OrderType): Checked<NewOrder> {
  const [first, ...others] = findMissing(read, type);
  if (first !== undefined) return { valid: false, refusals: [first, ...others] };
  const word = checkWords(read) ?? checkClientOrderId(read('clientOrderId'));
  if (word !== null) return refuse(word);
  const market = checkMarket(read);
  if (!market.valid) return market;
  const numbers = readNumbers(read, type, market.value);
  if (!numbers.valid) return numbers;
  const order = createNewOrder({
    type,
    market: market.value.name,
    side: read('side'),
    ...numbers.value,
    positionSide: read('positionSide'),
    clientOrderId: read('clientOrderId') ?? '',
    stp: read('stp') ?? 'no',
  });
  return checkSize(order, market.value) ?? checkPriceSides(order) ?? { valid: true, value: order };
}

function findMissing(read: FieldReader, type: OrderType): readonly Refusal[] {
  const refusals: Readonly<Record<string, RefusalName>> = requiredRefusals;
  return orderFieldsOf(type)
    .filter(({ name, isOptional }) => !isOptional && read(name) === undefined)
    .flatMap(({ name }) => refusals[name] ?? [])
    .map((name) => ({ name }));
}

const selfTradeWords: readonly unknown[] = ['no', 'cb', 'cn', 'co'];

function checkWords(read: FieldReader): RefusalName | null {
  const positionSide = read('positionSide') ?? 'BOTH';
  if (!(sides as readonly unknown[]).includes(read('side'))) return 'side_unknown';
  if (!(positionSides as readonly unknown[]).includes(positionSide)) return 'position_side_unknown';
  if (!selfTradeWords.includes(read('stp') ?? 'no')) return 'stp_unknown';
  return checkReduceOnly(read('reduceOnly') ?? false);
}

/**
 * Reduce-only orders are refused. Filled like any other, one could open a position that it was meant to
 * close.
 */
function checkReduceOnly(reduceOnly: unknown): RefusalName | null {
  if (typeof reduceOnly !== 'boolean') return 'reduce_only_not_boolean';
  return reduceOnly ? 'reduce_only_unavailable' : null;
}

const maximumClientOrderIdLength = 64;

function checkClientOrderId(value: unknown): RefusalName | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') return 'client_order_id_not_text';
  if (!/^[A-Za-z0-9._-]+$/.test(value)) return 'client_order_id_charset';
  return value.length > maximumClientOrderIdLength ? 'client_order_id_too_long' : null;
}

/** The market that a request names. */
export function checkMarket(read: FieldReader): Checked<PaperMarket> {
  const name = read('market');
  if (name === undefined) return refuse('market_required');
  const market = typeof name === 'string' ? paperMarkets.get(name) : undefined;
  return market === undefined ? refuse('market_unknown') : { valid: true, value: market };
}

type NumberRefusals = readonly [notNumeric: RefusalName, notPositive: RefusalName, offStep: RefusalName];

const numberRefusals: Readonly<Record<DecimalName, NumberRefusals>> = {
  amount: ['amount_not_numeric', 'amount_not_positive', 'amount_off_step'],
  price: ['price_not_numeric', 'price_not_positive', 'price_off_step'],
  activationPrice: ['activation_not_numeric', 'activation_not_positive', 'activation_off_step'],
  stopLoss: ['stop_loss_not_numeric', 'stop_loss_not_positive', 'stop_loss_off_step'],
  takeProfit: ['take_profit_not_numeric', 'take_profit_not_positive', 'take_profit_off_step'],
};

/** The decimal fields that the request has, as text. */
function readNumbers(
  read: FieldReader,
  type: OrderType,
  market: PaperMarket,
): Checked<Readonly<Record<string, string>>> {
  const numbers: Record<string, string> = {};
  for (const name of orderFieldsOf(type)
    .filter(isDecimalField)
    .map(({ name }) => name as DecimalName)) {
    const value = read(name);
    if (value === undefined) continue;
    const step = name === 'amount' ? market.amountStep : market.priceStep;
    const number = readNumber(value, step, numberRefusals[name], name !== 'activationPrice');
    if (!number.valid) return number;
    numbers[name] = formatDecimal(number.value);
  }
  return { valid: true, value: numbers };
}

function readNumber(
  value: unknown,
  step: Decimal,
  [notNumeric, notPositive, offStep]: NumberRefusals,
  takesNumbers: boolean,
): Checked<Decimal> {
  const text = takesNumbers && typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !isDecimalText(text)) return refuse(notNumeric);
  const number = parseDecimal(text);
  if (number.lte(zero)) return refuse(notPositive);
  return number.mod(step).eq(zero) ? { valid: true, value: number } : refuse(offStep, step);
}

function checkSize({ amount, price }: NewOrder, market: PaperMarket): Checked<never> | null {
  const total = amount.times(price);
  if (amount.lt(market.minAmount)) return refuse('amount_too_small', market.minAmount);
  if (total.lt(market.minTotal)) return refuse('total_too_small', market.minTotal);
  return market.maxTotal !== null && total.gt(market.maxTotal)
    ? refuse('total_too_big', market.maxTotal)
    : null;
}

/** A buy order needs its take-profit above its price and its stop-loss below; a sell order the reverse. */
function checkPriceSides({ side, price, stopLoss, takeProfit }: NewOrder): Checked<never> | null {
  const gains = (exitPrice: Decimal) => (side === 'buy' ? exitPrice.gt(price) : exitPrice.lt(price));
  if (takeProfit !== undefined && !gains(takeProfit)) return refuse('take_profit_wrong_side', price);
  const loses = (exitPrice: Decimal) => !exitPrice.eq(price) && !gains(exitPrice);
  return stopLoss !== undefined && !loses(stopLoss) ? refuse('stop_loss_wrong_side', price) : null;
}

/** The order that a cancellation names. */
export interface CancelTarget {
  readonly market: string;
  /** Null if the order is named by its client order id. */
  readonly orderId: number | null;
  readonly clientOrderId: string;
}

/** Checks that a cancellation names its order by exactly one of the two ids. */
export function checkCancel(read: FieldReader): Checked<CancelTarget> {
  const market = checkMarket(read);
  if (!market.valid) return market;
  const [orderId, clientOrderId] = [read('orderId'), read('clientOrderId')];
  const { name } = market.value;
  if (orderId !== undefined && clientOrderId !== undefined) return refuse('order_ids_ambiguous');
  const refusal = checkClientOrderId(clientOrderId);
  if (refusal !== null) return refuse(refusal);
  if (typeof clientOrderId === 'string')
    return { valid: true, value: { market: name, orderId: null, clientOrderId } };
  if (orderId === undefined) return refuse('order_id_required');
  if (typeof orderId !== 'number' || !Number.isSafeInteger(orderId)) return refuse('order_id_not_integer');
  return { valid: true, value: { market: name, orderId, clientOrderId: '' } };
}
