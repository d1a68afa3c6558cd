import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import { cancelOrder } from '../../../lib/exchange/endpoints/cancel-order.ts';
import type { OrderRole } from '../../../lib/model/execution.ts';
import { executeSignal } from '../../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../../support/aftermath.ts';
import { buyAlert } from '../../support/alerts.ts';
import { settingsWith } from '../../support/limited-relay.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
  // Where the relay keeps the protection itself, it tells this once.
  Object.assign(relay.services, { settings: settingsWith({ protection: 'alarm' }) });
});
afterEach(() => relay.close());

const positionsPath = '/api/v4/collateral-account/positions/open';

/** An entry whose stop-loss and take-profit are on the exchange. */
async function openPosition(changes: Record<string, unknown> = {}): Promise<void> {
  await relay.send(buyAlert(changes));
  relay.setPrice('50150');
  await relay.follow();
}

async function cancelExit(role: OrderRole, signalId = 'buy-1'): Promise<void> {
  const { execution } = await relay.entry(signalId);
  const orderId = execution?.orders.find((order) => order.role === role)?.orderId ?? 0;
  const client = await relay.services.exchangeFor('main');
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId });
}

async function followAfter(ms: number): Promise<void> {
  relay.clock.advance(ms);
  await relay.follow();
}

function unprotected() {
  return relay.alarms.filter(({ name }) => name === 'position_unprotected');
}

test('a stop-loss that was triggered and rests unfilled is told, with the command that closes', async () => {
  await openPosition();
  relay.setPrice('40000');
  await followAfter(1000);
  await followAfter(60_000);
  expect(unprotected()).toHaveLength(1);
  expect(unprotected()[0]).toMatchObject({
    market: 'BTC_USDT',
    whatToDo: expect.stringContaining('npx relay close BTC_USDT --account main'),
  });
});

describe('a stop-loss that vanished without a fill', () => {
  beforeEach(async () => {
    await openPosition();
    await cancelExit('stop_loss');
    await relay.follow();
  });

  test('raises an alarm after 60 seconds, and not a millisecond before', async () => {
    await followAfter(minuteMs - 1);
    expect(unprotected()).toEqual([]);

    await followAfter(1);

    const { orderId } = await relay.entry('buy-1');
    const id = `stop-${orderId}-${(noonMs + minuteMs) / 1000}`;
    expect(unprotected()).toEqual([
      {
        name: 'position_unprotected',
        account: 'main',
        signalId: 'buy-1',
        market: 'BTC_USDT',
        orderId,
        position: 'long',
        amount: '0.01',
        stopPrice: '49000',
        isPositionRead: true,
        whatToDo: `echo '{"id":"${id}","ticker":"BTCUSDT","action":"sell","orderType":"stop_limit","stopPrice":"49000","limitPrice":"48510","quantity":"0.01","reduceOnly":true,"expectTrigger":"below","comment":"stop-loss of order ${orderId}"}' | npx relay send - --account main`,
      },
    ]);
    expect(await relay.entry('buy-1')).toMatchObject({
      execution: { unprotectedSinceMs: noonMs, unprotectedAtMs: noonMs + minuteMs, isFollowed: true },
    });
  });

  test('raises the alarm again as often as other alarms, while the position stands', async () => {
    await followAfter(minuteMs);
    await followAfter(relay.services.settings.unknownAlarmAfterMs - 1);
    expect(unprotected()).toHaveLength(1);
    await followAfter(1);
    expect(unprotected()).toHaveLength(2);
  });

  test('raises the alarm again after the clock was set back, and then as often as before', async () => {
    await followAfter(minuteMs);
    await followAfter(-24 * 60 * minuteMs);
    await followAfter(minuteMs);
    expect(unprotected()).toHaveLength(2);
    await followAfter(relay.services.settings.unknownAlarmAfterMs - 1);
    expect(unprotected()).toHaveLength(2);
  });

  test('raises none once the advised order stands', async () => {
    await followAfter(minuteMs);
    const command = String(unprotected()[0]?.['whatToDo']);
    const [, alert = ''] = /^echo '(.*)' \| /.exec(command) ?? [];
    expect((await relay.send(alert)).status).toBe('placed');

    await followAfter(relay.services.settings.unknownAlarmAfterMs);
    await followAfter(relay.services.settings.unknownAlarmAfterMs);

    expect(unprotected()).toHaveLength(1);
  });

  test('raises none, and is no longer followed, once the position is gone', async () => {
    await relay.send(
      buyAlert({
        id: 'close',
        action: 'sell',
        orderType: 'limit',
        stopPrice: undefined,
        limitPrice: '50000',
        stopLoss: undefined,
        takeProfit: undefined,
        reduceOnly: true,
      }),
    );

    await followAfter(minuteMs);
    await followAfter(10 * minuteMs);

    expect(unprotected()).toEqual([]);
    expect(await relay.entry('buy-1')).toMatchObject({
      execution: { isFollowed: false, orders: [{}, { status: 'cancelled' }, { status: 'cancelled' }] },
    });
  });
});

test('a stop-loss that the exchange never made raises the alarm, in the words of the alert', async () => {
  await relay.send(buyAlert({ takeProfit: undefined }));
  relay.setPrice('50150');
  const { orders } = relay.paper.control.state();
  const stop = orders.find(({ type }) => type === 'stop_limit' && orders.length > 1);
  expect(stop).toBeDefined();
  const client = await relay.services.exchangeFor('main');
  const [, made] = orders;
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId: made?.orderId ?? 0 });
  relay.paper.control.listCancelled('main', false);

  await relay.follow();
  await followAfter(minuteMs);

  expect(unprotected()).toMatchObject([{ amount: '0.01', stopPrice: '49000' }]);
  expect((await relay.entry('buy-1')).execution?.orders).toHaveLength(1);
});

test('an entry that filled in part is watched, too', async () => {
  await relay.send(buyAlert({ orderType: 'limit', stopPrice: undefined, limitPrice: '49500' }));
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.004'));
  await relay.follow();
  await followAfter(minuteMs);
  expect(unprotected()).toMatchObject([{ amount: '0.004', stopPrice: '49000' }]);
});

test('two entries with the same exits have one each, the older entry the older orders', async () => {
  await relay.send(buyAlert({ id: 'first' }));
  await relay.send(buyAlert({ id: 'second' }));
  relay.setPrice('50150');

  await relay.follow();

  const exitsOf = async (signalId: string) =>
    (await relay.entry(signalId)).execution?.orders.slice(1).map(({ orderId }) => orderId) ?? [];
  const [first, second] = [await exitsOf('first'), await exitsOf('second')];
  expect(first).toHaveLength(2);
  expect(second).toHaveLength(2);
  expect(new Set([...first, ...second]).size).toBe(4);
});

test('two limit orders with the same exits have those of their own fills, the younger order filled first', async () => {
  const limits = { first: '49500', second: '49600' };
  for (const [id, limitPrice] of Object.entries(limits))
    await relay.send(buyAlert({ id, orderType: 'limit', stopPrice: undefined, limitPrice }));
  relay.setPrice('49400');

  await relay.follow();

  const stopOf = async (signalId: string) =>
    (await relay.entry(signalId)).execution?.orders.find(({ role }) => role === 'stop_loss')?.orderId ?? 0;
  expect(await stopOf('second')).toBeLessThan(await stopOf('first'));
});

test('a take-profit that ends the position raises no alarm, and asks for no position', async () => {
  await openPosition();
  relay.asked.length = 0;
  relay.clock.advance(minuteMs);
  relay.setPrice('52000');
  await relay.follow();
  await followAfter(minuteMs);

  expect(unprotected()).toEqual([]);
  expect(relay.asked).not.toContain(positionsPath);
  expect(await relay.entry('buy-1')).toMatchObject({
    execution: {
      isFollowed: false,
      orders: [{}, { status: 'cancelled' }, { status: 'filled', filled: '0.01' }],
    },
  });
});

test('a position that cannot be read raises the alarm after twice the time', async () => {
  await openPosition();
  await cancelExit('stop_loss');
  await relay.follow();
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'open-positions', probability: 1 });
  await followAfter(2 * minuteMs - 1);
  expect(unprotected()).toEqual([]);
  await followAfter(1);
  expect(unprotected()).toMatchObject([{ isPositionRead: false }]);
});

test('a position that was opened after the one of the entry raises no alarm about the stop-loss of that entry', async () => {
  await openPosition();
  await cancelExit('stop_loss');
  await relay.send(
    buyAlert({
      id: 'out',
      action: 'sell',
      orderType: 'market',
      maxSlippage: '1%',
      quantity: '0.01',
      reduceOnly: true,
      stopLoss: undefined,
      takeProfit: undefined,
      stopPrice: undefined,
      limitPrice: undefined,
    }),
  );
  relay.clock.advance(minuteMs / 2);
  await relay.send(
    buyAlert({
      id: 'other',
      orderType: 'market',
      maxSlippage: '1%',
      stopLoss: undefined,
      takeProfit: undefined,
      stopPrice: undefined,
      limitPrice: undefined,
    }),
  );

  await followAfter(2 * minuteMs);
  await followAfter(2 * minuteMs);

  expect(unprotected()).toEqual([]);
});

test('in hedge mode a stop that closes its side protects the position, flag or not', async () => {
  relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
  relay.paper.control.setHedgeMode('main', true);
  const alerts = [
    { id: 'entry', action: 'buy', orderType: 'market', maxSlippage: '1%', stopLoss: '48000' },
    { id: 'stop', action: 'sell', orderType: 'stop_limit', stopPrice: '48000', limitPrice: '47900' },
  ];
  for (const alert of alerts) {
    const perp = { ticker: 'BTCUSDT.P', positionSide: 'LONG', quantity: '0.02' };
    await relay.receive(JSON.stringify({ ...perp, ...alert }));
    await executeSignal(relay.services, { account: 'main', signalId: alert.id, market: 'BTC_PERP' });
    await followAfter(3000);
  }
  const { execution } = await relay.entry('entry');
  const stopLoss = execution?.orders.find(({ role }) => role === 'stop_loss')?.orderId ?? 0;
  const client = await relay.services.exchangeFor('main');
  await client.call(cancelOrder, { market: 'BTC_PERP', orderId: stopLoss });

  for (let minute = 0; minute < 5; minute += 1) await followAfter(minuteMs);

  expect(unprotected()).toEqual([]);
});
