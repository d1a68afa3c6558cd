import * as z from 'zod/mini';
import { type Decimal, decimalOrUndefined, zero } from '../base/decimal.ts';
import type { Deal } from '../model/holdings.ts';
import { type Order, sides } from '../model/order.ts';
import { orderTypeOf, spotMarkOf } from './dialect.ts';
import { cutWord, type FoundWord, type RecordReader, WordField } from './listed.ts';
import { isKnownStatusWord, openStatusOf, statusOf, type WordedStatus } from './status-words.ts';

/** Checks and transforms at once: a check of its own would parse each number of a response twice. */
function toDecimal(text: string, { issues }: z.core.ParsePayload): Decimal {
  const value = decimalOrUndefined(text);
  if (value !== undefined) return value;
  issues.push({ code: 'custom', message: 'must be a decimal number as text', input: text });
  return z.NEVER;
}

/** A decimal as the exchange writes it: a JSON string. */
export const DecimalField = z.pipe(z.string(), z.transform(toDecimal));

/** A decimal that the exchange omits, or sends as an empty text, when it does not apply. */
export const OptionalDecimalField = z.optional(
  z.pipe(
    z.nullable(z.string()),
    z.transform((text, context) => (text === null || text === '' ? undefined : toDecimal(text, context))),
  ),
);

/** A text that the exchange omits when it does not apply. */
export const OptionalTextField = z.optional(
  z.pipe(
    z.nullable(z.string()),
    z.transform((text) => text ?? undefined),
  ),
);

/** Seconds with fractions since 1970 become whole milliseconds. */
export const SecondsField = z.pipe(
  z.number(),
  z.transform((seconds) => Math.round(seconds * 1000)),
);

/** A date of a query: whole seconds since 1970. */
export const DateField = z.int().check(z.positive());

/** A flag. Some clients received flags as `"0"` and `"1"`. */
export const FlagField = z.union([
  z.boolean(),
  z.pipe(
    z.enum(['0', '1']),
    z.transform((text) => text === '1'),
  ),
  z.pipe(
    z.literal([0, 1]),
    z.transform((digit) => digit === 1),
  ),
]);

/**
 * A field that is read as `fallback` where it cannot be read. It is what `z.catch` makes, which itself refers to zod's helpers
 * as one object: all of them would be in the bundle of a function, 7 KB.
 */
export function leniently<S extends z.ZodMiniType>(field: S, fallback: z.output<S>): z.ZodMiniCatch<S> {
  const catching = { type: 'catch', innerType: field, catchValue: () => fallback } as const;
  return new z.ZodMiniCatch(catching) as z.ZodMiniCatch<S>;
}

/** A flag that the relay only shows: one that is left out, or written in another way, is not known. */
const OptionalFlagField = leniently(z.optional(FlagField), undefined);

/**
 * The id of an accepted order is above zero. Above 53 bits a number loses digits, so such ids are rejected.
 */
export const OrderIdField = z.int().check(z.positive());

/** The client order id; empty when the exchange stores or reports none. */
export const ClientOrderIdField = z.pipe(
  z.nullish(z.string()),
  z.transform((text) => text ?? ''),
);

const OtoField = z.object({
  otoId: z.int(),
  stopLoss: OptionalDecimalField,
  takeProfit: OptionalDecimalField,
});

/**
 * The fields of an order report, in both dialects, but for its status.
 *
 * Fields that the relay acts on are read strictly, fields that only an operator reads leniently: an accepted
 * order must not become ambiguous because of an unimportant field.
 */
const orderFields = {
  orderId: OrderIdField,
  clientOrderId: ClientOrderIdField,
  market: z.string(),
  side: z.enum(sides),
  type: z.string(),
  timestamp: SecondsField,
  mtime: z.optional(SecondsField),
  dealMoney: DecimalField,
  dealStock: DecimalField,
  amount: DecimalField,
  left: DecimalField,
  dealFee: DecimalField,
  feeAsset: leniently(OptionalTextField, undefined),
  // The response to a market order has none.
  price: OptionalDecimalField,
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
  reduceOnly: OptionalFlagField,
  oto: z.optional(z.nullable(OtoField)),
} as const;

const OrderFields = z.object(orderFields);

function toOrder(
  {
    timestamp,
    mtime,
    dealMoney,
    dealStock,
    left,
    dealFee,
    takerFee,
    makerFee,
    type,
    oto,
    price,
    ...order
  }: z.output<typeof OrderFields>,
  status: WordedStatus,
): Order {
  return {
    ...order,
    price: price ?? zero,
    filled: dealStock,
    filledNotional: dealMoney,
    remaining: left,
    fee: dealFee,
    ...status,
    type: orderTypeOf(type),
    createdAtMs: timestamp,
    updatedAtMs: mtime,
    takerFeeRate: takerFee,
    makerFeeRate: makerFee,
    oto: oto ?? undefined,
  };
}

/** The order report in a response to a request that placed or cancelled it: every word of it must be known. */
export const OrderField = z.pipe(
  z.object({
    ...orderFields,
    status: z.string().check(z.refine(isKnownStatusWord, 'is a status this relay does not know')),
  }),
  z.transform(({ status, ...order }): Order => toOrder(order, statusOf(status))),
);

/** The same in a list of open orders, where an order is open, whatever word it carries. */
export const ListedOrderField = z.pipe(
  z.object({ ...orderFields, status: WordField }),
  z.transform(
    ({ status, ...order }): Order => ({
      ...toOrder(order, openStatusOf(status, order.dealStock.gt(zero))),
      ...spotMarkOf(order.type, order.positionSide),
    }),
  ),
);

/** The word of an order's status, if the relay does not know it. */
export function unknownStatusIn({
  unknownStatus,
}: {
  readonly unknownStatus?: string | undefined;
}): readonly FoundWord[] {
  return unknownStatus === undefined ? [] : [{ field: 'status', word: unknownStatus }];
}

const roles: Readonly<Record<number, Deal['role']>> = { 1: 'maker', 2: 'taker' };

/** The exchange writes a number. Nothing depends on the role, so any other one is kept as it is written. */
const RoleField = z.pipe(
  z.optional(z.unknown()),
  z.transform((role): Deal['role'] =>
    typeof role === 'number' && role in roles ? String(roles[role]) : cutWord(String(JSON.stringify(role))),
  ),
);

/** The fields that every record of a fill has. Those of earlier years name no asset of the fee. */
const fillFields = {
  id: z.int().check(z.positive()),
  time: SecondsField,
  role: RoleField,
  amount: DecimalField,
  price: DecimalField,
  deal: DecimalField,
  fee: DecimalField,
  feeAsset: z.nullish(z.string()),
} as const;

interface FillRecord {
  readonly time: number;
  readonly deal: Decimal;
  readonly feeAsset?: string | null | undefined;
}

/** Renames what a fill calls differently. */
function toDeal<Record extends FillRecord>({ time, deal, feeAsset, ...record }: Record) {
  return { ...record, atMs: time, notional: deal, feeAsset: feeAsset ?? undefined };
}

/** The role of a fill, if the relay does not know it. */
function unknownRoleIn({ role }: Pick<Deal, 'role'>): readonly FoundWord[] {
  return Object.values(roles).includes(role) ? [] : [{ field: 'role', word: role }];
}

const DealRecord = z.pipe(
  z.object({
    ...fillFields,
    side: z.enum(sides),
    orderId: z.nullish(OrderIdField),
    clientOrderId: z.nullish(z.string()),
  }),
  z.transform(
    ({ orderId, clientOrderId, ...record }): Deal => ({
      ...toDeal(record),
      orderId: orderId ?? undefined,
      clientOrderId: clientOrderId ?? undefined,
    }),
  ),
);

const OrderDealRecord = z.pipe(z.object(fillFields), z.transform(toDeal));

/** The lists of an account's fills. */
export const dealReader: RecordReader<Deal> = { record: DealRecord, unknownWords: unknownRoleIn };

/** The list of one order's fills, which repeats neither the order's id nor its side. */
export const orderDealReader: RecordReader<z.output<typeof OrderDealRecord>> = {
  record: OrderDealRecord,
  unknownWords: unknownRoleIn,
};
