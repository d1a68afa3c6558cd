import { parseDecimal } from '../base/decimal.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import type { StandingExit } from './known-exits.ts';
import type { AttachedExit } from './other-stops.ts';
import type { WantedGuard } from './wanted.ts';

/**
 * Whether the list of open orders must show by now what the exchange has made of the order; or it hides that, because the relay has
 * replaced one that no list had shown: of several, each is shown when the one before has gone.
 */
export function mustBeListed(
  { record }: WantedGuard,
  nowMs: number,
  isCancelled: (orderId: number) => boolean,
): boolean {
  const { readAtMs = null, attached = null, exits = [] } = record ?? {};
  const isHidden =
    attached !== null && exits.some(({ order }) => order !== null && isCancelled(order.orderId));
  return isHidden || (readAtMs !== null && nowMs - readAtMs >= longestOrderLagMs);
}

const hiddenMarks = {
  onlyReduces: false,
  isTriggered: false,
  isMade: true,
  isHidden: true,
  isLeaving: true,
} as const;

/** An exit that no list of orders shows, known by its fills. */
export function hiddenExit(orderId: number, { role, price, record }: WantedGuard): readonly StandingExit[] {
  if (record?.attached?.exits.some((exit) => exit.orderId === orderId) !== true) return [];
  const ofRole = record.exits.filter((exit) => exit.role === role && exit.order !== null);
  const sold = parseDecimal(ofRole.find(({ order }) => order?.orderId === orderId)?.order?.filled ?? '0');
  const remaining = ofRole.length === 1 ? (record.filled?.minus(sold) ?? null) : null;
  return [{ orderId, remaining, price, ...hiddenMarks, ...pairIn(record, orderId) }];
}

/** The exchange has made them together, and cancels them together. */
function pairIn(
  record: OrderRecord | null,
  orderId: number,
  shown: readonly number[] = [],
): Pick<StandingExit, 'pair'> {
  const ids = new Set([...(record?.attached?.exits.map((exit) => exit.orderId) ?? []), ...shown]);
  ids.delete(orderId);
  return ids.size === 0 ? {} : { pair: [...ids] };
}

/** An exit that no list of orders shows, and of which no fill is known. */
export function leavingExit(
  { orderId, of, role }: AttachedExit,
  { amount, price, record }: WantedGuard,
  attached: readonly AttachedExit[],
): StandingExit {
  const others = attached.filter((exit) => exit.of === of && exit.orderId !== orderId);
  const shown = others.map((exit) => exit.orderId);
  // Nothing tells its amount. The exchange makes one for what the order filled, or several for its parts.
  const isOnly = !others.some((exit) => exit.role === role);
  return {
    orderId,
    remaining: isOnly ? (record?.filled ?? amount) : null,
    price,
    ...hiddenMarks,
    ...pairIn(record, orderId, shown),
  };
}
