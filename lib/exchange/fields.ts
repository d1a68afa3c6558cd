import * as z from 'zod';
import { isDecimalText, parseDecimal } from '../base/decimal.ts';
import { type Order, sides } from '../model/order.ts';
import { isKnownStatusWord, orderTypeOf, statusOf } from './dialect.ts';

/** A decimal as the exchange writes it: a JSON string. */
export const DecimalField = z
  .string()
  .refine(isDecimalText, 'must be a decimal number as text')
  .transform((text) => parseDecimal(text));

/** A decimal that the exchange leaves out, or leaves empty, when it does not apply. */
export const OptionalDecimalField = z
  .string()
  .nullable()
  .refine((text) => text === null || text === '' || isDecimalText(text), 'must be a decimal number as text')
  .transform((text) => (text === null || text === '' ? undefined : parseDecimal(text)))
  .optional();

/** A word that the exchange leaves out when it does not apply. */
const OptionalTextField = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined)
  .optional();

/** Seconds with fractions since 1970 become whole milliseconds. */
export const SecondsField = z.number().transform((seconds) => Math.round(seconds * 1000));

/** Some clients saw flags as `"0"` and `"1"`. */
export const FlagField = z.union([
  z.boolean(),
  z.enum(['0', '1']).transform((text) => text === '1'),
  z.literal([0, 1]).transform((digit) => digit === 1),
]);

/** A flag that the exchange leaves out when it does not apply. */
const OptionalFlagField = FlagField.nullable()
  .transform((flag) => flag ?? undefined)
  .optional();

/** An order that was taken in has a number above zero; beyond 53 bits it could not be told from its neighbour. */
export const OrderIdField = z.int().positive();

/** The id its sender gave it; empty when the exchange keeps or tells none. */
const ClientOrderIdField = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

const OtoField = z.object({
  otoId: z.int(),
  stopLoss: OptionalDecimalField,
  takeProfit: OptionalDecimalField,
});

/**
 * The fields every report of an order has, in both dialects.
 *
 * Strict where the relay acts on a field, lenient where a person merely reads it: an order that was accepted must not
 * look lost because of a detail.
 */
export const OrderField = z
  .object({
    orderId: OrderIdField,
    clientOrderId: ClientOrderIdField,
    market: z.string(),
    side: z.enum(sides),
    type: z.string(),
    timestamp: SecondsField,
    mtime: SecondsField.optional(),
    dealMoney: DecimalField,
    dealStock: DecimalField,
    amount: DecimalField,
    left: DecimalField,
    dealFee: DecimalField,
    price: DecimalField,
    status: z.string().refine(isKnownStatusWord, 'is a status this relay does not know'),
    activationPrice: OptionalDecimalField,
    activationCondition: OptionalTextField,
    activated: OptionalFlagField,
    postOnly: OptionalFlagField,
    ioc: OptionalFlagField,
    rpi: OptionalFlagField,
    takerFee: OptionalDecimalField,
    makerFee: OptionalDecimalField,
    stp: OptionalTextField,
    positionSide: OptionalTextField,
    oto: OtoField.nullable().optional(),
  })
  .transform(
    ({
      timestamp,
      mtime,
      dealMoney,
      dealStock,
      left,
      dealFee,
      takerFee,
      makerFee,
      status,
      type,
      oto,
      ...order
    }): Order => ({
      ...order,
      filled: dealStock,
      filledNotional: dealMoney,
      remaining: left,
      fee: dealFee,
      ...statusOf(status),
      type: orderTypeOf(type),
      createdAtMs: timestamp,
      updatedAtMs: mtime,
      takerFeeRate: takerFee,
      makerFeeRate: makerFee,
      oto: oto ?? undefined,
    }),
  );
