import * as z from 'zod';
import { formatDecimal, parseDecimal } from '../../base/decimal.ts';
import { tradingGrounds } from '../../model/account.ts';
import { type OrderType, orderTypes, positionSides, stpModes } from '../../model/order.ts';
import { DecimalValue } from '../../model/order-schemas.ts';
import type { NewOrder } from './creating.ts';
import type { Command } from './engine.ts';
import { ExitSettingsChangeSchema } from './exit-settings.ts';
import { isDecimalField, orderFieldsOf } from './order-fields.ts';
import { accountTypes } from './set-funds.ts';

/** A decimal that is stored as text. */
export const StoredDecimal = z.codec(z.string(), DecimalValue, {
  decode: parseDecimal,
  encode: formatDecimal,
});

/** The stored form of an order: the fields of its type with decimals as text, its type, and `stp`. */
function storedOrderOf(type: OrderType) {
  const fields = orderFieldsOf(type).map((field) => {
    const stored = isDecimalField(field) ? StoredDecimal : field.schema;
    return [field.name, field.isOptional ? z.optional(stored) : stored] as const;
  });
  return z.strictObject({ ...Object.fromEntries(fields), type: z.literal(type), stp: z.enum(stpModes) });
}

type StoredOrder = ReturnType<typeof storedOrderOf>;

/** Every order type, derived from the schemas of the requests. */
const NewOrderSchema = z.discriminatedUnion(
  'type',
  orderTypes.map(storedOrderOf) as [StoredOrder, ...StoredOrder[]],
) as unknown as z.ZodType<NewOrder>;

/**
 * Creates an order from checked fields with decimals as text.
 *
 * @throws ZodError when the fields do not fit the order type
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

/** Every command, in both forms: as it is applied and as it is stored. */
export const CommandSchema: z.ZodType<Command> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('create'),
    atMs: z.number(),
    account: z.string(),
    order: NewOrderSchema,
  }),
  z.object({
    kind: z.literal('create_pair'),
    atMs: z.number(),
    account: z.string(),
    stopLoss: NewOrderSchema,
    takeProfit: NewOrderSchema,
  }),
  z.object({
    kind: z.literal('modify'),
    atMs: z.number(),
    account: z.string(),
    orderId: z.int(),
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
    kind: z.literal('cancel_all'),
    atMs: z.number(),
    account: z.string(),
    market: z.string().nullable(),
    types: z.array(z.enum(tradingGrounds)),
    positionSide: z.enum(positionSides).nullable(),
  }),
  z.object({
    kind: z.literal('cancel_conditional'),
    atMs: z.number(),
    account: z.string(),
    market: z.string(),
    id: z.int(),
  }),
  z.object({
    kind: z.literal('close_position'),
    atMs: z.number(),
    account: z.string(),
    market: z.string(),
    positionId: z.int(),
  }),
  z.object({
    kind: z.literal('trade'),
    atMs: z.number(),
    market: z.string(),
    price: StoredDecimal,
    volume: StoredDecimal.nullable(),
  }),
  z.object({
    kind: z.literal('set_hedge_mode'),
    atMs: z.number(),
    account: z.string(),
    isHedged: z.boolean(),
  }),
  z.object({
    kind: z.literal('set_leverage'),
    atMs: z.number(),
    account: z.string(),
    leverage: z.int(),
  }),
  z.object({
    kind: z.literal('set_funds'),
    atMs: z.number(),
    account: z.string(),
    of: z.enum(accountTypes),
    ticker: z.string(),
    amount: StoredDecimal,
  }),
  z.object({
    kind: z.literal('set_exits'),
    atMs: z.number(),
    change: ExitSettingsChangeSchema,
  }),
  z.object({
    kind: z.literal('set_balance'),
    atMs: z.number(),
    account: z.string(),
    ticker: z.string(),
    amount: StoredDecimal,
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
