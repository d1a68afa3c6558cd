import * as z from 'zod/mini';
import { type Decimal, formatDecimal, parseDecimal } from '../base/decimal.ts';
import type { Json } from '../base/json.ts';
import type { Entry } from '../ledger/entry.ts';
import { type PositionSide, positionSides, type Side, sides } from '../model/order.ts';
import type { MarketSignal, OrderSignal, PositionSignal } from '../model/signal.ts';

/** The order of a position signal. */
export interface PositionOrder {
  readonly side: Side;
  /** In base units, above zero. */
  readonly amount: Decimal;
  readonly reduceOnly: boolean;
  /** Of an account in hedge mode. */
  readonly positionSide?: PositionSide;
}

/** The part of the evidence of `sending` that tells which order was sent. */
const SentOrder = z.object({
  positionOrder: z.object({
    side: z.enum(sides),
    amount: z.string(),
    reduceOnly: z.boolean(),
    positionSide: z.optional(z.enum(positionSides)),
  }),
});

/** The order as evidence of `sending`, so that lookups know what to compare with. */
export function describePositionOrder({ side, amount, reduceOnly, positionSide }: PositionOrder): Json {
  return {
    side,
    amount: formatDecimal(amount),
    reduceOnly,
    ...(positionSide === undefined ? {} : { positionSide }),
  };
}

/** The order of a position signal as an alert would ask for it: a market order of an amount in the base currency. */
export function orderSignalFor(signal: PositionSignal, order: PositionOrder): MarketSignal {
  const { ticker, market, timeMs, maxLagMs, maxSlippage, stp } = signal;
  const { side, amount, reduceOnly, positionSide } = order;
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
    size: { unit: 'base', quantity: formatDecimal(amount) },
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
    ...(stp === undefined ? {} : { stp }),
    ...(reduceOnly ? { reduceOnly } : {}),
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
  };
}

/** What an entry asked the exchange for; null when it asked for no order, or when what was sent cannot be read. */
export function orderSignalOf({ signal, steps }: Pick<Entry, 'signal' | 'steps'>): OrderSignal | null {
  switch (signal?.action) {
    case 'order':
      return signal;
    case 'close':
    case 'reverse':
    case 'target': {
      const sending = steps.findLast(({ status }) => status === 'sending');
      const sent = z.safeParse(SentOrder, sending?.evidence);
      if (!sent.success) return null;
      const { amount, positionSide, ...order } = sent.data.positionOrder;
      return orderSignalFor(signal, {
        ...order,
        amount: parseDecimal(amount),
        ...(positionSide === undefined ? {} : { positionSide }),
      });
    }
    default:
      return null;
  }
}
