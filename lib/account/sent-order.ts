import { parseDecimal } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { stepFacts } from '../ledger/order-facts.ts';
import type { MarketSignal, OrderSignal, PositionSignal } from '../model/signal.ts';
import type { PositionOrder } from '../model/step-facts.ts';
import { protectiveSignal } from './protective-signal.ts';

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

/** Whether the entry sent an order that reduces the whole position that was read; true also when that cannot be told. */
export function reducesWhole(entry: Pick<Entry, 'steps'>): boolean {
  const { position, positionOrder } = stepFacts(entry, 'sending');
  if (positionOrder === undefined) return true;
  const { reduceOnly, size } = positionOrder;
  if (position === undefined || !reduceOnly || size.unit !== 'base') return false;
  return parseDecimal(size.quantity).gte(parseDecimal(position.amount).abs());
}

/** What an entry asked the exchange for; null when it asked for no order, or when what was sent cannot be read. */
export function orderSignalOf({ signal, steps }: Pick<Entry, 'signal' | 'steps'>): OrderSignal | null {
  switch (signal?.action) {
    case 'order':
      return signal;
    case 'close':
    case 'reverse':
    case 'target': {
      const { positionOrder } = stepFacts({ steps }, 'sending');
      return positionOrder === undefined ? null : orderSignalFor(signal, positionOrder);
    }
    case 'protect': {
      const { protective } = stepFacts({ steps }, 'sending');
      return protective === undefined ? null : protectiveSignal(signal, protective);
    }
    default:
      return null;
  }
}
