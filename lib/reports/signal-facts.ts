import { type Decimal, decimalOrUndefined, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import type { OrderExecution } from '../model/execution.ts';
import { placeOf } from '../model/holdings.ts';
import type { PositionSide } from '../model/order.ts';
import { placesOrder, type Signal } from '../model/signal.ts';

/** How far the order of a signal was filled, as far as the ledger knows. */
export type Filling = 'none' | 'part' | 'whole';

/** What a report needs to know of a signal that asks for an order. */
export interface SignalFacts extends Pick<OrderRecord, 'account' | 'signalId' | 'market' | 'createdAtMs'> {
  readonly strategy: string | null;
  /** Of an order of hedge mode; else null. */
  readonly positionSide: PositionSide | null;
  /** Whether its order can only reduce a position. */
  readonly onlyReduces: boolean;
  readonly referencePrice: Decimal | null;
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
  const { signal } = entry;
  const record = orderRecordOf(entry);
  if (signal === null || !placesOrder(signal) || record === null) return null;
  const { account, signalId, market, createdAtMs, status, sentAtMs, followed } = record;
  const isPlaced = status === 'placed';
  const reference = decimalOrUndefined(('referencePrice' in signal && signal.referencePrice) || '');
  return {
    account,
    signalId,
    market,
    strategy: signal.strategy ?? null,
    positionSide: placeOf(signal).side,
    onlyReduces: reducesOnly(signal),
    referencePrice: reference?.gt(zero) === true ? reference : null,
    createdAtMs,
    isAsked: signal.action !== 'protect',
    sentAtMs: isPlaced ? sentAtMs : null,
    isPlaced,
    filling: fillingOf(followed),
  };
}

function reducesOnly(signal: Signal): boolean {
  if (signal.action === 'order') return signal.reduceOnly === true;
  return (
    signal.action === 'close' || signal.action === 'protect' || ('leg' in signal && signal.leg === 'reduce')
  );
}

function fillingOf(followed: OrderExecution | null): Filling {
  if (followed?.status === 'filled') return 'whole';
  return parseDecimal(followed?.filled ?? '0').gt(zero) ? 'part' : 'none';
}
