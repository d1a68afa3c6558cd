import { type Decimal, decimalOrUndefined, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { followedAs, orderRecordOf } from '../ledger/order-record.ts';
import type { PositionSide } from '../model/order.ts';
import { placesOrder, type Signal } from '../model/signal.ts';

/** How far the order of a signal was filled, as far as the ledger knows. */
export type Filling = 'none' | 'part' | 'whole';

/** What a report needs to know of a signal that asks for an order. */
export interface SignalFacts {
  readonly account: string;
  readonly signalId: string;
  readonly market: string;
  readonly strategy: string | null;
  /** Of an order of hedge mode; else null. */
  readonly positionSide: PositionSide | null;
  /** Whether its order can only reduce a position. */
  readonly onlyReduces: boolean;
  readonly referencePrice: Decimal | null;
  /** When the alert was stored. */
  readonly createdAtMs: number;
  /** When its order was sent; null when it was not. */
  readonly sentAtMs: number | null;
  /** Whether an alert asked for it; false: the relay made it itself, to keep the protection of a position. */
  readonly isAsked: boolean;
  /** Whether the exchange accepted its order. */
  readonly isPlaced: boolean;
  readonly filling: Filling;
}

/** @returns null for a refused alert and for a cancellation */
export function factsOf(entry: Entry): SignalFacts | null {
  const { account, signalId, signal, createdAtMs, steps, status } = entry;
  if (signal === null || !placesOrder(signal)) return null;
  const isPlaced = status === 'placed';
  const side = 'positionSide' in signal ? signal.positionSide : undefined;
  const reference = decimalOrUndefined(('referencePrice' in signal && signal.referencePrice) || '');
  return {
    account,
    signalId,
    market: signal.market,
    strategy: signal.strategy ?? null,
    positionSide: side === 'LONG' || side === 'SHORT' ? side : null,
    onlyReduces: reducesOnly(signal),
    referencePrice: reference?.gt(zero) === true ? reference : null,
    createdAtMs,
    isAsked: signal.action !== 'protect',
    sentAtMs: isPlaced ? (steps.find((step) => step.status === 'sending')?.atMs ?? null) : null,
    isPlaced,
    filling: fillingOf(entry),
  };
}

function reducesOnly(signal: Signal): boolean {
  if (signal.action === 'order') return signal.reduceOnly === true;
  return (
    signal.action === 'close' || signal.action === 'protect' || ('leg' in signal && signal.leg === 'reduce')
  );
}

function fillingOf(entry: Entry): Filling {
  const own = followedAs(orderRecordOf(entry), 'order');
  if (own === null) return 'none';
  if (own.status === 'filled') return 'whole';
  return parseDecimal(own.filled).gt(zero) ? 'part' : 'none';
}
