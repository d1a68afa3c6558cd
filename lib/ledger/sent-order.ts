import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import type { OrderRole } from '../model/execution.ts';
import type { MarketSignal, OrderSignal, PositionSignal } from '../model/signal.ts';
import type { ExitPrices, PositionOrder } from '../model/step-facts.ts';
import type { Entry } from './entry.ts';
import { stepFacts } from './order-facts.ts';
import { protectiveSignal } from './protective-signal.ts';

/** The order of a position signal as an alert would ask for it: a market order of an amount in the base currency. */
export function orderSignalFor(signal: PositionSignal, order: PositionOrder): MarketSignal {
  const { ticker, market, timeMs, maxLagMs, maxSlippage, stp } = signal;
  const { side, size, reduceOnly, positionSide } = order;
  const worstPrice = signal.action === 'close' ? signal.worstPrice : undefined;
  const {
    stopLoss,
    takeProfit,
    takeProfits,
    trailing,
  }: Pick<OrderSignal, 'stopLoss' | 'takeProfit' | 'takeProfits' | 'trailing'> =
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
    ...(worstPrice === undefined ? {} : { worstPrice }),
    ...(stp === undefined ? {} : { stp }),
    ...(reduceOnly ? { reduceOnly } : {}),
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
    ...(takeProfits === undefined ? {} : { takeProfits }),
    ...(trailing === undefined ? {} : { trailing }),
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

/** A stop-loss or take-profit that an entry asked for. */
export interface WantedExit {
  readonly role: Exclude<OrderRole, 'order'>;
  /** Null when it is not known: the alert gave a distance, and the response that had the price was lost. */
  readonly price: Decimal | null;
  /** Whether the exchange itself reported the price, which is then exact. */
  readonly isReported: boolean;
}

/** The exits that an entry asked for, with the prices that the exchange reported for them. */
export function wantedExitsOf(entry: Pick<Entry, 'signal' | 'steps'>): readonly WantedExit[] {
  const newest = entry.steps.toReversed().flatMap(({ facts }) => facts ?? []);
  const reports = newest.flatMap(({ report }) => report ?? []);
  const asked = orderSignalOf(entry);
  const wantedExit = (role: WantedExit['role'], name: keyof ExitPrices): readonly WantedExit[] => {
    const told: readonly (ExitPrices | undefined | null)[] = [
      ...reports.map(({ exits }) => exits),
      ...newest.map(({ exits }) => exits),
      asked,
    ];
    const price = told.map((exits) => exits?.[name]).find((text) => text !== undefined);
    if (price === undefined) return [];
    const reported = decimalIn(reports[0]?.exits?.[name]);
    return [{ role, price: reported ?? decimalIn(price), isReported: reported !== null }];
  };
  return [...wantedExit('stop_loss', 'stopLoss'), ...wantedExit('take_profit', 'takeProfit')];
}
