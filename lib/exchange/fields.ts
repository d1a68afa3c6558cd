import * as z from 'zod/mini';
import { type Decimal, decimalOrUndefined, zero } from '../base/decimal.ts';
import type { Deal } from '../model/holdings.ts';
import { type Order, sides } from '../model/order.ts';
import { isKnownStatusWord, orderTypeOf, statusOf } from './dialect.ts';

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
const OptionalTextField = z.optional(
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

/** Lists by market. An empty list of pairs may come as an empty array. */
export function byMarket<Item extends z.ZodMiniType>(item: Item) {
  return z.union([
    z.record(z.string(), z.array(item)),
    z.pipe(
      z.array(z.never()),
      z.transform((): Record<string, z.output<Item>[]> => ({})),
    ),
  ]);
}

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

/** A flag that the relay only shows: one that is left out, or written in another way, is not known. */
const OptionalFlagField = z.catch(z.optional(FlagField), undefined);

/**
 * The id of an accepted order is above zero. Above 53 bits a number loses digits, so such ids are rejected.
 */
export const OrderIdField = z.int().check(z.positive());

/** The client order id; empty when the exchange stores or reports none. */
const ClientOrderIdField = z.pipe(
  z.nullish(z.string()),
  z.transform((text) => text ?? ''),
);

const OtoField = z.object({
  otoId: z.int(),
  stopLoss: OptionalDecimalField,
  takeProfit: OptionalDecimalField,
});

/**
 * The fields of an order report, in both dialects.
 *
 * Fields that the relay acts on are read strictly, fields that only an operator reads leniently: an accepted
 * order must not become ambiguous because of an unimportant field.
 */
export const OrderField = z.pipe(
  z.object({
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
    // The response to a market order has none.
    price: OptionalDecimalField,
    status: z.string().check(z.refine(isKnownStatusWord, 'is a status this relay does not know')),
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
  }),
  z.transform(
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
      price,
      ...order
    }): Order => ({
      ...order,
      price: price ?? zero,
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
  ),
);

/** The fields that every record of a fill has. Those of earlier years name no asset of the fee. */
const fillFields = {
  id: z.int().check(z.positive()),
  time: SecondsField,
  role: z.literal([1, 2]),
  amount: DecimalField,
  price: DecimalField,
  deal: DecimalField,
  fee: DecimalField,
  feeAsset: z.nullish(z.string()),
} as const;

interface FillRecord {
  readonly time: number;
  readonly role: 1 | 2;
  readonly deal: Decimal;
  readonly feeAsset?: string | null | undefined;
}

/** Renames what a fill calls differently. */
function toDeal<Record extends FillRecord>({ time, role, deal, feeAsset, ...record }: Record) {
  const liquidity: Deal['role'] = role === 1 ? 'maker' : 'taker';
  return { ...record, atMs: time, role: liquidity, notional: deal, feeAsset: feeAsset ?? undefined };
}

/** A fill in the lists of an account's fills. */
export const DealRecord = z.pipe(
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

/** A fill in the list of one order's fills, which repeats neither the order's id nor its side. */
export const OrderDealRecord = z.pipe(z.object(fillFields), z.transform(toDeal));
