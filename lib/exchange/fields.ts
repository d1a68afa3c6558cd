import * as z from 'zod';
import { type Decimal, isDecimalText, parseDecimal } from '../base/decimal.ts';
import { isKnownStatusWord, orderTypeOf, statusOf } from './dialect.ts';

/** A decimal as the exchange writes it: a JSON string. */
export const DecimalField = z
  .string()
  .refine(isDecimalText, 'must be a decimal number as text')
  .transform((text) => parseDecimal(text));

/** A decimal that the exchange leaves out, or leaves empty, when it does not apply. */
export const OptionalDecimalField = z
  .union([z.literal('').transform(() => undefined), z.null().transform(() => undefined), DecimalField])
  .optional();

/** A decimal on its way out. */
export const DecimalParam = z.custom<Decimal>(
  (value) => typeof value === 'object' && value !== null && 'toFixed' in value,
  'must be a decimal',
);

/** Seconds with fractions since 1970 become whole milliseconds. */
export const SecondsField = z.number().transform((seconds) => Math.round(seconds * 1000));

/** Some clients saw flags as `"0"` and `"1"`. */
export const FlagField = z.union([
  z.boolean(),
  z.enum(['0', '1']).transform((text) => text === '1'),
  z.literal([0, 1]).transform((digit) => digit === 1),
]);

/** The fields every report of an order has, in both dialects. */
export const OrderField = z
  .object({
    orderId: z.int(),
    clientOrderId: z.string(),
    market: z.string(),
    side: z.enum(['buy', 'sell']),
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
    activationCondition: z.string().optional(),
    activated: FlagField.optional(),
    postOnly: z.boolean().optional(),
    takerFee: OptionalDecimalField,
    makerFee: OptionalDecimalField,
    stp: z.string().optional(),
    positionSide: z.string().optional(),
    oto: z
      .object({ otoId: z.int(), stopLoss: OptionalDecimalField, takeProfit: OptionalDecimalField })
      .optional(),
  })
  .transform(({ timestamp, mtime, takerFee, makerFee, status, type, ...order }) => ({
    ...order,
    ...statusOf(status),
    type: orderTypeOf(type),
    createdAtMs: timestamp,
    updatedAtMs: mtime,
    takerFeeRate: takerFee,
    makerFeeRate: makerFee,
  }));
