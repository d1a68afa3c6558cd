import * as z from 'zod/mini';
import { parseDecimal } from '../base/decimal.ts';
import { type Entry, evidenceOf } from '../ledger/entry.ts';
import { type PositionSide, positionSides, type Side, sides } from '../model/order.ts';
import type { MarketSignal, OrderSignal, OrderSize, PositionSignal } from '../model/signal.ts';

/** The order of a position signal. */
export interface PositionOrder {
  readonly side: Side;
  readonly size: OrderSize;
  readonly reduceOnly: boolean;
  /** Of an account in hedge mode. */
  readonly positionSide?: PositionSide;
}

const Size = z.union([
  z.object({ unit: z.literal('base'), quantity: z.string() }),
  z.object({ unit: z.literal('quote'), quoteQuantity: z.string() }),
  z.object({
    unit: z.literal('percent'),
    quantityPercent: z.templateLiteral([z.string(), '%']),
    of: z.enum(['balance', 'position']),
  }),
]);
/** The part of the evidence of `sending` that tells which order was sent. */
const SentOrder = z.object({
  positionOrder: z.object({
    side: z.enum(sides),
    size: Size,
    reduceOnly: z.boolean(),
    positionSide: z.optional(z.enum(positionSides)),
  }),
});

/** The order of a position signal as an alert would ask for it: a market order of an amount in the base currency. */
export function orderSignalFor(signal: PositionSignal, order: PositionOrder): MarketSignal {
  const { ticker, market, timeMs, maxLagMs, maxSlippage, stp } = signal;
  const { side, size, reduceOnly, positionSide } = order;
  const { stopLoss, takeProfit }: Pick<OrderSignal, 'stopLoss' | 'takeProfit'> =
    signal.action === 'close' || reduceOnly ? {} : signal;
  return {
    ticker,
    market,
    timeMs,
    maxLagMs,
    action: 'order',
    orderType: 'market',
    side,
    size,
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
    ...(stp === undefined ? {} : { stp }),
    ...(reduceOnly ? { reduceOnly } : {}),
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
  };
}

const SentReduction = z.object({
  position: z.object({ amount: z.string() }),
  positionOrder: z.object({ reduceOnly: z.literal(true), size: z.object({ quantity: z.string() }) }),
});

/** Whether the entry sent an order that reduces the whole position that was read; true also when that cannot be told. */
export function reducesWhole(entry: Pick<Entry, 'steps'>): boolean {
  const sending = evidenceOf(entry, 'sending');
  const sent = z.safeParse(SentReduction, sending);
  if (!sent.success) return !z.safeParse(SentOrder, sending).success;
  const { position, positionOrder } = sent.data;
  return parseDecimal(positionOrder.size.quantity).gte(parseDecimal(position.amount).abs());
}

/** What an entry asked the exchange for; null when it asked for no order, or when what was sent cannot be read. */
export function orderSignalOf({ signal, steps }: Pick<Entry, 'signal' | 'steps'>): OrderSignal | null {
  switch (signal?.action) {
    case 'order':
      return signal;
    case 'close':
    case 'reverse':
    case 'target': {
      const sent = z.safeParse(SentOrder, evidenceOf({ steps }, 'sending'));
      if (!sent.success) return null;
      const { positionSide, ...order } = sent.data.positionOrder;
      return orderSignalFor(signal, { ...order, ...(positionSide === undefined ? {} : { positionSide }) });
    }
    default:
      return null;
  }
}
