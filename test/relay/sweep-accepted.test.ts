import { expect, test } from '@jest/globals';
import { parseSignalMessage } from '../../lib/queue/parse-message.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import { sweepAccepted } from '../../lib/relay/settle/sweep-accepted.ts';
import { QueueService } from '../simulation/queue-service.ts';
import { buyAlert } from '../support/alerts.ts';
import { openFunctions } from '../support/functions.ts';
import { createManualClock } from '../support/manual-clock.ts';

const noonMs = Date.UTC(2026, 0, 1, 12);
const ofAnyTime = {
  fromMs: Number.NEGATIVE_INFINITY,
  untilMs: Number.POSITIVE_INFINITY,
  aheadMs: Number.POSITIVE_INFINITY,
};

test('signals that were stored but never enqueued are enqueued oldest first, whatever their number', async () => {
  const queue = {
    enqueue: async () => {
      throw new Error('the process died here');
    },
  };
  const functions = await openFunctions(({ settings }) => ({
    queue,
    settings: {
      ...settings,
      accounts: { main: { ...settings.accounts['slow'], name: 'main', maxSignalsPerMinute: null } as never },
    },
  }));
  const ids = Array.from({ length: 230 }, (_, index) => `s-${index}`);
  for (const id of ids) await functions.receive(buyAlert({ id }));
  await functions.execute('s-0');

  const enqueued: SignalMessage[] = [];
  const recording = {
    enqueue: async (message: SignalMessage) => {
      enqueued.push(message);
    },
  };
  const found = await sweepAccepted({ ledger: functions.ledger, queue: recording }, ofAnyTime, 'test');

  expect(found).toMatchObject({ enqueued: 229, tooOld: [] });
  expect(enqueued.map(({ signalId }) => signalId)).toEqual(ids.slice(1));
  expect(enqueued[0]).toEqual({ account: 'main', signalId: 's-1', market: 'BTC_USDT' });
  await functions.close();
});

test('a signal that may have waited for the position is enqueued under another id, with those behind it', async () => {
  const functions = await openFunctions();
  const alert = (id: string, members: object) => JSON.stringify({ id, ticker: 'BTCUSDT', ...members });
  await functions.receive(alert('before', { action: 'buy', quantity: 0.1, stopPrice: 60000 }));
  const attempts: (readonly [string, string | undefined])[] = [];
  const queue = {
    enqueue: async ({ signalId }: SignalMessage, attempt?: string) => {
      attempts.push([signalId, attempt]);
    },
  };

  await sweepAccepted({ ledger: functions.ledger, queue }, ofAnyTime, 'sweep-1');
  await functions.receive(alert('waits', { target: 1, maxSlippage: '0.5%' }));
  await sweepAccepted({ ledger: functions.ledger, queue }, ofAnyTime, 'sweep-2');

  expect(attempts).toEqual([
    ['before', undefined],
    ['before', 'sweep-2'],
    ['waits:reduce', 'sweep-2'],
    ['waits', 'sweep-2'],
  ]);
  await functions.close();
});

test('a cancellation of a market may have waited for an order before it in its alert, too', async () => {
  const functions = await openFunctions();
  const cancel = { id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' };
  await functions.receive(JSON.stringify([JSON.parse(buyAlert({ id: 'order' })), cancel]));
  const attempts: (readonly [string, string | undefined])[] = [];
  const queue = {
    enqueue: async ({ signalId }: SignalMessage, attempt?: string) => {
      attempts.push([signalId, attempt]);
    },
  };

  await sweepAccepted({ ledger: functions.ledger, queue }, ofAnyTime, 'sweep-1');

  expect(attempts).toEqual([
    ['order', 'sweep-1'],
    ['all', 'sweep-1'],
  ]);
  await functions.close();
});

test('an order that only reduces may have waited for the exchange, too', async () => {
  const functions = await openFunctions();
  const reducing = {
    action: 'sell',
    quantity: 0.1,
    orderType: 'market',
    reduceOnly: true,
    maxSlippage: '0.5%',
  };
  await functions.receive(JSON.stringify({ id: 'waits', ticker: 'BTCUSDT', ...reducing }));
  const attempts: (string | undefined)[] = [];
  const queue = { enqueue: async (_: SignalMessage, attempt?: string) => void attempts.push(attempt) };

  await sweepAccepted({ ledger: functions.ledger, queue }, ofAnyTime, 'sweep-1');

  expect(attempts).toEqual(['sweep-1']);
  await functions.close();
});

test('a signal that may wait for the position is enqueued for as long as it waits, others for as long as it says', async () => {
  const functions = await openFunctions();
  const alert = (id: string, members: object) => JSON.stringify({ id, maxSlippage: '0.5%', ...members });
  const order = { action: 'buy', orderType: 'market', quantity: 0.1 };
  await functions.receive(alert('other', { ticker: 'ETHUSDT', ...order }));
  await functions.receive(alert('waits', { ticker: 'BTCUSDT', action: 'close' }));
  await functions.receive(alert('behind', { ticker: 'BTCUSDT', ...order }));
  const enqueued: string[] = [];
  const queue = {
    enqueue: async ({ signalId }: SignalMessage) => {
      enqueued.push(signalId);
    },
  };
  const ofLater = { ...ofAnyTime, fromMs: Number.MAX_SAFE_INTEGER };

  const { tooOld } = await sweepAccepted({ ledger: functions.ledger, queue }, ofLater, 'sweep-1');

  expect(enqueued).toEqual(['waits', 'behind']);
  expect(tooOld.map(({ signalId }) => signalId)).toEqual(['other', 'waits', 'behind']);
  await functions.close();
});

test('a signal behind one that waits has a new message, too, however young it is', async () => {
  const clock = createManualClock(noonMs);
  const functions = await openFunctions(() => ({}), clock);
  const queue = new QueueService(clock, 5, () => undefined);
  const receive = async (id: string, members: object) => {
    await functions.receive(JSON.stringify({ id, ticker: 'BTCUSDT', ...members }));
    await queue.enqueue({ account: 'main', signalId: id, market: 'BTC_USDT' });
  };
  /** The ids of the signals whose messages are delivered now, and handled without being carried out. */
  const deliver = () => {
    const ids: string[] = [];
    for (let held = queue.receive(); held !== null; held = queue.receive()) {
      ids.push(parseSignalMessage(held.body).signalId);
      queue.remove(held);
    }
    return ids;
  };
  await receive('close', { action: 'close', maxSlippage: '0.5%' });
  clock.advance(12_000);
  await receive('behind', { action: 'buy', quantity: 0.1, stopPrice: 60000 });
  expect(deliver()).toEqual(['close', 'behind']);

  clock.advance(23_000);
  const window = { fromMs: noonMs, untilMs: clock.nowMs() - 30_000, aheadMs: clock.nowMs() + 60_000 };
  await sweepAccepted({ ledger: functions.ledger, queue }, window, 'sweep-1');

  expect(deliver()).toEqual(['close', 'behind']);
  await functions.close();
});
