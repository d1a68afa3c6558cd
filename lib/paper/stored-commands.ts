import * as z from 'zod';
import { formatDecimal, parseDecimal } from '../base/decimal.ts';
import { DecimalValue, type OrderKindName, orderKindNames } from '../model/order.ts';
import type { Command, NewOrder } from './engine.ts';
import { isDecimalField, orderFieldsOf } from './order-fields.ts';

/** A decimal of the world, which is text on the disk. */
export const DecimalText = z.codec(z.string(), DecimalValue, { decode: parseDecimal, encode: formatDecimal });

/** An order on the disk: the fields of its kind, decimals as text, and what only the exchange knows of it. */
function storedOrderOf(kind: OrderKindName) {
  const fields = orderFieldsOf(kind).map((field) => {
    const stored = isDecimalField(field) ? DecimalText : field.schema;
    return [field.name, field.isOptional ? stored.optional() : stored] as const;
  });
  return z.strictObject({ ...Object.fromEntries(fields), kind: z.literal(kind), stp: z.string() });
}

type StoredOrder = ReturnType<typeof storedOrderOf>;

/** Every kind of order, from the schemas that requests are made from. */
const NewOrderSchema = z.discriminatedUnion(
  'kind',
  orderKindNames.map(storedOrderOf) as [StoredOrder, ...StoredOrder[]],
) as unknown as z.ZodType<NewOrder>;

/**
 * Makes an order of fields that were checked, decimals as text.
 *
 * @throws ZodError when they are not the fields of its kind
 */
export function createNewOrder(fields: Readonly<Record<string, unknown>>): NewOrder {
  return z.decode(NewOrderSchema, fields as never);
}

const FeeTermsText = z.object({
  minFlex: z.string().optional(),
  maxFlex: z.string().optional(),
  percentFlex: z.string().optional(),
  fixed: z.string().optional(),
  minAmount: z.string().optional(),
  maxAmount: z.string().optional(),
});

/** Everything that can happen to the world, in both forms: as it is carried out, and as it stands on the disk. */
export const CommandSchema: z.ZodType<Command> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('create'),
    atMs: z.number(),
    account: z.string(),
    order: NewOrderSchema,
  }),
  z.object({
    kind: z.literal('cancel'),
    atMs: z.number(),
    account: z.string(),
    market: z.string(),
    orderId: z.int(),
  }),
  z.object({
    kind: z.literal('trade'),
    atMs: z.number(),
    market: z.string(),
    price: DecimalText,
    volume: DecimalText.nullable(),
  }),
  z.object({
    kind: z.literal('set_hedge_mode'),
    atMs: z.number(),
    account: z.string(),
    isHedged: z.boolean(),
  }),
  z.object({
    kind: z.literal('set_balance'),
    atMs: z.number(),
    account: z.string(),
    ticker: z.string(),
    amount: DecimalText,
  }),
  z.object({
    kind: z.literal('set_fee'),
    atMs: z.number(),
    ticker: z.string(),
    change: z.object({
      canDeposit: z.boolean().optional(),
      canWithdraw: z.boolean().optional(),
      deposit: FeeTermsText.optional(),
      withdraw: FeeTermsText.optional(),
    }),
  }),
  z.object({
    kind: z.literal('pay_interest'),
    atMs: z.number(),
    account: z.string(),
    payment: z.object({
      planId: z.string(),
      investmentId: z.string(),
      amount: z.string(),
      ticker: z.string(),
      timestamp: z.int(),
    }),
  }),
]);
