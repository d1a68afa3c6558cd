import { isOrderEnd, type OrderStatus } from '../model/order.ts';
import { type Dialect, dialects } from './dialect.ts';

const statusWords: Readonly<Record<Dialect, Readonly<Record<OrderStatus, string>>>> = {
  documented: {
    open: 'NEW',
    partially_filled: 'PARTIALLY_FILLED',
    filled: 'FILLED',
    cancelled: 'CANCELLED',
  },
  live: {
    open: 'OPEN',
    partially_filled: 'PARTIALLY_FILLED',
    filled: 'FILLED',
    cancelled: 'CANCELED',
  },
};

/** Statuses of the live service that are cancellations with a reason. */
const endReasons = [
  'CANCELED_STP',
  'CANCELED_TAKER_BAND',
  'CANCELED_RPI',
  'AUTO_CANCELED_REDUCE_ONLY',
  'AUTO_CANCELED_LIQUIDATION',
  'AUTO_CANCELED_USER_MARGIN',
  'AUTO_CANCELED_MARGIN_EXCHANGE_BALANCE',
  'CANCELED_POSITION_SIDE_NOT_MATCH',
  'DELISTING',
  'MAINTENANCE',
];

const statusesByWord = new Map<string, { status: OrderStatus; endReason?: string }>([
  ...dialects.flatMap((dialect) =>
    (Object.keys(statusWords[dialect]) as OrderStatus[]).map(
      (status) => [statusWords[dialect][status], { status }] as const,
    ),
  ),
  ...endReasons.map((word) => [word, { status: 'cancelled', endReason: word }] as const),
]);

export function isKnownStatusWord(word: string): boolean {
  return statusesByWord.has(word);
}

/** The model's status for a status word of either dialect. */
export function statusOf(word: string): { status: OrderStatus; endReason?: string } {
  const known = statusesByWord.get(word);
  if (known === undefined) throw new RangeError(`"${word}" is not an order status`);
  return known;
}

/** What a list says of the state of an order. */
export interface WordedStatus {
  readonly status: OrderStatus;
  /** Why it ended, in the exchange's own word, if that says more than the status. */
  readonly endReason?: string;
  /** The exchange's word for the status, if this relay does not know it, or not in this list. */
  readonly unknownStatus?: string | undefined;
}

/** What the word means in the list of open orders, where an order is open unless its word tells an end. */
export function openStatusOf(word: string, hasFilled: boolean): WordedStatus {
  return statusesByWord.get(word) ?? { status: hasFilled ? 'partially_filled' : 'open', unknownStatus: word };
}

/**
 * What the word means in the list of ended orders, where an order has ended, whatever its word says. The exchange documents
 * "partially filled" as an end, too.
 */
export function endedStatusOf(word: string, isWhollyFilled: boolean): WordedStatus {
  const known = statusesByWord.get(word);
  if (known !== undefined && isOrderEnd(known.status)) return known;
  const status = isWhollyFilled ? 'filled' : 'cancelled';
  if (known?.status === 'partially_filled') return { status, endReason: word };
  return { status, endReason: word, unknownStatus: word };
}

/** The wire's word for a status. In the live dialect the reason for an end replaces the status. */
export function statusWord(dialect: Dialect, status: OrderStatus, endReason?: string): string {
  return dialect === 'live' && endReason !== undefined ? endReason : statusWords[dialect][status];
}
