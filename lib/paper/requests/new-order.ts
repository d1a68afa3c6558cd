import { type Decimal, formatDecimal, isDecimalText, parseDecimal, zero } from '../../base/decimal.ts';
import {
  isQuoteSized,
  isSpotType,
  type OrderType,
  positionSides,
  type Side,
  sides,
  stpModes,
} from '../../model/order.ts';
import type { NewOrder } from '../engine/creating.ts';
import type { PaperMarket } from '../engine/markets.ts';
import {
  type DecimalName,
  isDecimalField,
  orderFieldsOf,
  type RequiredName,
} from '../engine/order-fields.ts';
import type { Refusal, RefusalName } from '../engine/refusals.ts';
import { createNewOrder } from '../engine/stored-commands.ts';
import {
  type Checked,
  checkClientOrderId,
  checkNamedMarket,
  type FieldReader,
  failCheck,
} from './validation.ts';

/** The best price for a taker of that side. */
export type BestPrice = (market: string, side: Side) => Decimal;

/** The refusal of each missing field. The service accepts orders without a client order id. */
const requiredRefusals = {
  market: 'market_required',
  side: 'side_required',
  amount: 'amount_required',
  price: 'price_required',
  activationPrice: 'activation_required',
} as const satisfies Record<Exclude<RequiredName, 'clientOrderId'>, RefusalName>;

/**
 * Checks the fields of an order against its type and market, in the order in which the service checks them. Fields that
 * the type does not have are ignored.
 *
 * @param bestPrice values an order without a price of its own
 */
export function checkNewOrder(read: FieldReader, type: OrderType, bestPrice: BestPrice): Checked<NewOrder> {
  const [first, ...others] = findMissing(read, type);
  if (first !== undefined) return { valid: false, refusals: [first, ...others] };
  const refusal =
    checkWords(read, type) ?? checkFlags(read, type) ?? checkClientOrderId(read('clientOrderId'));
  if (refusal !== null) return failCheck(refusal);
  const market = checkTradedMarket(read, type);
  if (!market.valid) return market;
  const numbers = readNumbers(read, type, market.value);
  if (!numbers.valid) return numbers;
  const order = createNewOrder({
    ...readOthers(read, type),
    ...numbers.value,
    type,
    clientOrderId: read('clientOrderId') ?? '',
    stp: read('stp') ?? 'no',
  });
  const price = order.price ?? order.activationPrice ?? bestPrice(order.market, order.side);
  return (
    checkSize(order, price, market.value) ?? checkPriceSides(order, price) ?? { valid: true, value: order }
  );
}

function findMissing(read: FieldReader, type: OrderType): readonly Refusal[] {
  const refusals: Readonly<Record<string, RefusalName>> = requiredRefusals;
  return orderFieldsOf(type)
    .filter(({ name, isOptional }) => !isOptional && read(name) === undefined)
    .flatMap(({ name }) => refusals[name] ?? [])
    .map((name) => ({ name }));
}

function checkWords(read: FieldReader, type: OrderType): RefusalName | null {
  const positionSide = read('positionSide') ?? 'BOTH';
  if (!(sides as readonly unknown[]).includes(read('side'))) return 'side_unknown';
  if (!isSpotType(type) && !(positionSides as readonly unknown[]).includes(positionSide))
    return 'position_side_unknown';
  return (stpModes as readonly unknown[]).includes(read('stp') ?? 'no') ? null : 'stp_unknown';
}

const flagRefusals = {
  postOnly: 'post_only_not_boolean',
  ioc: 'ioc_not_boolean',
  reduceOnly: 'reduce_only_not_boolean',
} as const;

function checkFlags(read: FieldReader, type: OrderType): RefusalName | null {
  const fields = orderFieldsOf(type).map(({ name }) => name);
  for (const [name, refusal] of Object.entries(flagRefusals))
    if (fields.includes(name) && typeof (read(name) ?? false) !== 'boolean') return refusal;
  const isSet = (name: string) => fields.includes(name) && read(name) === true;
  if (isSet('ioc') && isSet('postOnly')) return 'ioc_with_post_only';
  const hasPrices = read('stopLoss') !== undefined || read('takeProfit') !== undefined;
  return isSet('reduceOnly') && hasPrices ? 'reduce_only_with_prices' : null;
}

/** A perpetual has no spot trading, and a market that is no collateral nothing else. */
function checkTradedMarket(read: FieldReader, type: OrderType): Checked<PaperMarket> {
  const market = checkNamedMarket(read);
  if (!market.valid) return market;
  const { settlement, isCollateral } = market.value;
  const isTraded = isSpotType(type) ? settlement === 'spot' : isCollateral;
  return isTraded ? market : failCheck('market_unknown');
}

/** The fields of the type that are no decimals. */
function readOthers(read: FieldReader, type: OrderType): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    orderFieldsOf(type)
      .filter((field) => !isDecimalField(field))
      .map(({ name }) => [name, read(name)]),
  );
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
    const isBase = name === 'amount' && !isQuoteSized({ type, side: read('side') as Side });
    const step = isBase ? market.amountStep : market.priceStep;
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
  if (typeof text !== 'string' || !isDecimalText(text)) return failCheck(notNumeric);
  const number = parseDecimal(text);
  if (number.lte(zero)) return failCheck(notPositive);
  return number.mod(step).eq(zero) ? { valid: true, value: number } : failCheck(offStep, step);
}

function checkSize(order: NewOrder, price: Decimal, market: PaperMarket): Checked<never> | null {
  const isInQuote = isQuoteSized(order);
  const total = isInQuote ? order.amount : order.amount.times(price);
  if (isInQuote && total.lt(market.minTotal)) return failCheck('quote_amount_too_small', market.minTotal);
  if (!isInQuote && order.amount.lt(market.minAmount)) return failCheck('amount_too_small', market.minAmount);
  if (total.lt(market.minTotal)) return failCheck('total_too_small', market.minTotal);
  return market.maxTotal !== null && total.gt(market.maxTotal)
    ? failCheck('total_too_big', market.maxTotal)
    : null;
}

/** A buy order needs its take-profit above its price and its stop-loss below; a sell order the reverse. */
function checkPriceSides({ side, stopLoss, takeProfit }: NewOrder, price: Decimal): Checked<never> | null {
  const gains = (exitPrice: Decimal) => (side === 'buy' ? exitPrice.gt(price) : exitPrice.lt(price));
  if (takeProfit !== undefined && !gains(takeProfit)) return failCheck('take_profit_wrong_side', price);
  const loses = (exitPrice: Decimal) => !exitPrice.eq(price) && !gains(exitPrice);
  return stopLoss !== undefined && !loses(stopLoss) ? failCheck('stop_loss_wrong_side', price) : null;
}
