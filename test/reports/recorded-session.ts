import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Fill, FollowedStatus, OrderExecution, OrderRole } from '../../lib/model/execution.ts';
import type { OrderSignal } from '../../lib/model/signal.ts';
import { acceptOne } from '../support/accept-one.ts';

/** 2026-11-20 10:00:00 UTC, the day of the session. */
export const dayMs = Date.UTC(2026, 10, 20, 10);
const minuteMs = 60_000;
const oneDayMs = 86_400_000;

/** One recorded fill: deal id, order id, role, time, side, liquidity, amount, price, notional, fee, fee asset. */
type Row = readonly [
  dealId: number,
  orderId: number,
  role: OrderRole,
  afterMs: number,
  terms: `${'buy' | 'sell'} ${'maker' | 'taker'}`,
  amount: string,
  price: string,
  notional: string,
  fee: string,
  feeAsset: string,
];

interface RecordedSignal {
  readonly signalId: string;
  readonly market: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: string;
  readonly strategy?: string;
  readonly referencePrice?: string;
  readonly reduceOnly?: boolean;
  readonly atMs: number;
  /** From the stored alert on. */
  readonly sentAfterMs: number;
  readonly status: FollowedStatus;
  readonly fills: readonly Row[];
}

/**
 * A position of the day before, closed on the day; an entry that fills in two parts, is reduced by an order that fills in
 * part before it is cancelled by hand, and ends at its stop-loss; a short position that is flipped by a bigger order; and a
 * spot buy that pays its fees in the base currency, sold at once.
 */
const session: readonly RecordedSignal[] = [
  {
    signalId: 'swing-in',
    market: 'SOL_PERP',
    side: 'buy',
    quantity: '10',
    strategy: 'swing',
    referencePrice: '149.9',
    atMs: dayMs - oneDayMs,
    sentAfterMs: 70,
    status: 'filled',
    fills: [[1, 900, 'order', 100, 'buy taker', '10', '150', '1500', '0.825', 'USDT']],
  },
  {
    signalId: 'long-1',
    market: 'BTC_PERP',
    side: 'buy',
    quantity: '0.3',
    strategy: 'breakout',
    referencePrice: '60000',
    atMs: dayMs,
    sentAfterMs: 120,
    status: 'filled',
    fills: [
      [11, 101, 'order', 150, 'buy taker', '0.1', '60010', '6001', '3.30055', 'USDT'],
      [12, 101, 'order', 160, 'buy taker', '0.2', '60025', '12005', '6.60275', 'USDT'],
      [14, 102, 'stop_loss', 20 * minuteMs, 'sell taker', '0.26', '59000', '15340', '8.437', 'USDT'],
    ],
  },
  {
    signalId: 'reduce-1',
    market: 'BTC_PERP',
    side: 'sell',
    quantity: '0.1',
    strategy: 'breakout',
    referencePrice: '60500',
    reduceOnly: true,
    atMs: dayMs + 5 * minuteMs,
    sentAfterMs: 80,
    status: 'cancelled',
    fills: [[13, 103, 'order', 5000, 'sell maker', '0.04', '60500', '2420', '0.242', 'USDT']],
  },
  {
    signalId: 'short-1',
    market: 'BTC_PERP',
    side: 'sell',
    quantity: '0.2',
    strategy: 'reversal',
    referencePrice: '59000',
    atMs: dayMs + 30 * minuteMs,
    sentAfterMs: 100,
    status: 'filled',
    fills: [[15, 104, 'order', 135, 'sell taker', '0.2', '58990', '11798', '6.4889', 'USDT']],
  },
  {
    signalId: 'flip-1',
    market: 'BTC_PERP',
    side: 'buy',
    quantity: '0.5',
    strategy: 'reversal',
    atMs: dayMs + 40 * minuteMs,
    sentAfterMs: 95,
    status: 'filled',
    fills: [[16, 105, 'order', 135, 'buy taker', '0.5', '58500', '29250', '16.0875', 'USDT']],
  },
  {
    signalId: 'spot-1',
    market: 'ETH_USDT',
    side: 'buy',
    quantity: '2',
    referencePrice: '3000',
    atMs: dayMs + 50 * minuteMs,
    sentAfterMs: 110,
    status: 'filled',
    fills: [
      [17, 106, 'order', 135, 'buy taker', '1.5', '3000', '4500', '0.0015', 'ETH'],
      [18, 106, 'order', 136, 'buy taker', '0.5', '3001', '1500.5', '0.0005', 'ETH'],
    ],
  },
  {
    signalId: 'spot-2',
    market: 'ETH_USDT',
    side: 'sell',
    quantity: '1.998',
    atMs: dayMs + 60 * minuteMs,
    sentAfterMs: 90,
    status: 'filled',
    fills: [[19, 107, 'order', 135, 'sell taker', '1.998', '3100', '6193.8', '6.1938', 'USDT']],
  },
  {
    signalId: 'swing-out',
    market: 'SOL_PERP',
    side: 'sell',
    quantity: '10',
    strategy: 'swing',
    atMs: dayMs + 70 * minuteMs,
    sentAfterMs: 200,
    status: 'filled',
    fills: [[20, 108, 'order', 250, 'sell taker', '10', '151.5', '1515', '0.83325', 'USDT']],
  },
];

/** Stores the session, a denied signal and a cancellation, as the relay would have. */
export async function recordSession(ledger: Ledger, executions: Executions): Promise<void> {
  for (const signal of session) await recordSignal(ledger, executions, signal);
  const [denied] = session.slice(1);
  if (denied === undefined) return;
  const key = { account: 'main', signalId: 'denied-1' };
  const atMs = dayMs + 80 * minuteMs;
  await acceptOne(ledger, {
    ...key,
    signal: signalOf(denied),
    clientOrderId: 'c-denied',
    fingerprint: 'f',
    atMs,
  });
  await ledger.move(key, { from: 'accepted', step: { status: 'denied', atMs, note: 'over a limit' } });
  await acceptOne(ledger, {
    account: 'main',
    signalId: 'cancel-1',
    signal: { ticker: 'BTCUSDT.P', market: 'BTC_PERP', timeMs: null, maxLagMs: null, action: 'cancel_all' },
    clientOrderId: null,
    fingerprint: 'f',
    atMs: dayMs + 81 * minuteMs,
  });
}

async function recordSignal(ledger: Ledger, executions: Executions, recorded: RecordedSignal): Promise<void> {
  const { signalId, atMs, sentAfterMs, fills } = recorded;
  const key = { account: 'main', signalId };
  const orderId = fills[0]?.[1] ?? 0;
  await acceptOne(ledger, {
    ...key,
    signal: signalOf(recorded),
    clientOrderId: `c-${signalId}`,
    fingerprint: 'f',
    atMs,
  });
  await ledger.start(key, { status: 'sending', atMs: atMs + sentAfterMs, note: 'on its way' }, null);
  const step = { status: 'placed', atMs: atMs + sentAfterMs + 45, note: 'placed' } as const;
  await ledger.move(key, { from: 'sending', step, orderId, orderOpen: true });
  const orders = [...new Set(fills.map(([, id]) => id))].map((id) => executionOf(recorded, id));
  const execution = { revision: 1, readAtMs: atMs + 60_000, orders, isFollowed: false };
  await executions.record(
    key,
    execution,
    fills.map((row) => fillOf(recorded, row)),
  );
}

function signalOf({
  market,
  side,
  quantity,
  strategy,
  referencePrice,
  reduceOnly,
}: RecordedSignal): OrderSignal {
  return {
    ticker: market,
    market,
    timeMs: null,
    maxLagMs: null,
    action: 'order',
    orderType: 'market',
    side,
    size: { unit: 'base', quantity },
    ...(strategy === undefined ? {} : { strategy }),
    ...(referencePrice === undefined ? {} : { referencePrice }),
    ...(reduceOnly === undefined ? {} : { reduceOnly }),
  };
}

/** The sums of an order are not what a report reads, so they stay empty. */
function executionOf({ fills, status, atMs }: RecordedSignal, orderId: number): OrderExecution {
  const row = fills.find(([, id]) => id === orderId);
  return {
    role: row?.[2] ?? 'order',
    orderId,
    status: row?.[2] === 'order' ? status : 'filled',
    endedAtMs: atMs + (row?.[3] ?? 0),
    filled: row?.[5] ?? '0',
    filledNotional: row?.[7] ?? '0',
    fees: {},
  };
}

function fillOf({ signalId, market, atMs }: RecordedSignal, row: Row): Fill {
  const [dealId, orderId, role, afterMs, terms, amount, price, notional, fee, feeAsset] = row;
  const [side, liquidity] = terms.split(' ') as ['buy' | 'sell', 'maker' | 'taker'];
  return {
    account: 'main',
    market,
    dealId,
    atMs: atMs + afterMs,
    signalId,
    orderId,
    role,
    side,
    liquidity,
    amount,
    price,
    notional,
    fee,
    feeAsset,
  };
}
