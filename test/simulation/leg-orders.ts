import { type Decimal, parseDecimal, rateOfPercent, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { PositionSignal } from '../../lib/model/signal.ts';
import type { History } from './history.ts';
import type { Decided, PositionView } from './position-view.ts';
import { stateOf } from './true-positions.ts';
import { equitiesRead, type WantedRange, wantedRange } from './wanted-positions.ts';

/** The entry of a position signal. */
export type PositionEntry = Entry & { readonly signal: PositionSignal };

/**
 * What an order of a position action may be, signed, when the position is this one: above zero for a buy. Null: no order
 * at all.
 */
export type OrderFor = (position: Decimal) => WantedRange | null;

interface LegContext {
  readonly history: History;
  readonly decided: Decided;
  /** What the leg before it could have seen; null without one, or when that sent nothing. */
  readonly reduced: PositionView | null;
}

/** The simulation's own computation of what one leg has to send. */
export function orderForLeg({ account, signal }: PositionEntry, context: LegContext): OrderFor {
  switch (signal.action) {
    case 'close':
      return (position) => {
        const { unless, only = stateOf(position), part, atMost } = signal;
        if (position.eq(zero) || stateOf(position) === unless || stateOf(position) !== only) return null;
        const asked = position.neg().times(part === undefined ? '1' : rateOfPercent(part));
        const isCut = atMost !== undefined && asked.abs().gt(parseDecimal(atMost));
        return exactly(isCut ? parseDecimal(atMost).times(asked.gt(zero) ? '1' : '-1') : asked);
      };
    case 'reverse':
      if (signal.leg === 'reduce') return (position) => (position.eq(zero) ? null : exactly(position.neg()));
      return (position) => (position.eq(zero) ? turned(signal.size, context.reduced) : null);
    case 'target': {
      const equities = equitiesRead(context.history, account, context.decided);
      const wanted = wantedRange(signal.target, signal.market, equities);
      return (position) => (wanted === null ? null : orderTo(wanted, position, signal.leg));
    }
  }
}

function exactly(amount: Decimal): WantedRange {
  return { least: amount, most: amount };
}

/** A position of the other side than the one that was closed. */
function turned(
  size: Extract<PositionSignal, { readonly action: 'reverse' }>['size'],
  reduced: PositionView | null,
): WantedRange | null {
  const closed = reduced?.believable.filter((position) => !position.eq(zero)) ?? [];
  const opened = closed.map((position) => {
    if (size?.unit !== 'base') return position.neg();
    return parseDecimal(size.quantity).times(position.gt(zero) ? '-1' : '1');
  });
  const [least] = opened.toSorted((a, b) => a.cmp(b));
  const [most] = opened.toSorted((a, b) => b.cmp(a));
  return least === undefined || most === undefined ? null : { least, most };
}

/** A leg that reduces never goes beyond flat, and one that opens never begins on the other side. */
function orderTo(wanted: WantedRange, position: Decimal, leg: 'reduce' | 'open'): WantedRange | null {
  const isOther = position.times(wanted.most).lt(zero) || wanted.most.eq(zero);
  if (isOther) return leg === 'open' || position.eq(zero) ? null : exactly(position.neg());
  const [least, most] = [wanted.least.minus(position), wanted.most.minus(position)];
  const reduces = position.gt(zero) ? least.lt(zero) : most.gt(zero);
  if (leg === 'reduce') return position.eq(zero) || !reduces ? null : { least, most };
  return { least, most };
}
