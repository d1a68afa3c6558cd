import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { stopMarket } from '../../lib/exchange/endpoints/stop-market.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

/** A stop-loss and a take-profit fit the position that they protect, whatever becomes of it. */
let relay: Aftermath;
let count = 0;
beforeEach(async () => {
  count = 0;
  relay = await openAftermath('live');
});
afterEach(() => relay.close());

const exits = { stopLoss: '48000', takeProfit: '52000' };

/** Sends an alert and carries out what the relay asks for itself after it. */
async function send(members: object): Promise<Entry> {
  count += 1;
  const signalId = `s${count}`;
  await relay.receiveAll(
    JSON.stringify({ ticker: 'BTCUSDT', id: signalId, maxSlippage: '0.5%', ...members }),
  );
  await executeSignal(relay.services, { account: 'main', signalId, market: 'BTC_USDT' });
  await runLine();
  return await relay.entry(signalId);
}

const runLine = () => relay.runLine();
const goOn = (seconds: number) => relay.goOn(seconds);

async function client() {
  return await relay.services.exchangeFor('main');
}

async function byHand(side: 'buy' | 'sell', amount: string): Promise<void> {
  const order = { market: 'BTC_USDT', side, amount: parseDecimal(amount), clientOrderId: '' };
  await (await client()).call(marketEndpoint, order);
}

async function held(): Promise<string> {
  const { records } = await (await client()).call(openPositions, { market: 'BTC_USDT' });
  const [position] = records;
  return position === undefined ? '0' : formatDecimal(position.amount);
}

async function listOpen() {
  return (await listOpenOrders(await client(), 'BTC_USDT', {})).orders;
}

/** The open orders of the market: `sell 0.1 stop 48000`. */
async function open(): Promise<readonly string[]> {
  const orders = await listOpen();
  return orders
    .map(({ side, remaining, price, activationPrice }) =>
      activationPrice === undefined
        ? `${side} ${formatDecimal(remaining)} at ${formatDecimal(price)}`
        : `${side} ${formatDecimal(remaining)} stop ${formatDecimal(activationPrice)}`,
    )
    .sort();
}

const alarmNames = () => relay.alarms.map(({ name }) => name);

const buy = { action: 'buy', orderType: 'market', quantity: '0.1', ...exits };
const whole = ['sell 0.1 at 52000', 'sell 0.1 stop 48000'];
const half = ['sell 0.05 at 52000', 'sell 0.05 stop 48000'];

test('a stop-loss that is ended by hand is told beside an older entry that has none', async () => {
  await send({ ...buy, stopLoss: undefined });
  await send({ ...buy, takeProfit: undefined });
  await goOn(30);
  const stop = (await listOpen()).find(({ activationPrice }) => activationPrice !== undefined);
  await (await client()).call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
  await byHand('sell', '0.1');
  await goOn(120);

  expect(await held()).toBe('0.1');
  expect(alarmNames()).toContain('position_unprotected');
});

test('a stop-loss that the relay places after an alarm, and the owner cancels at once, is told again', async () => {
  relay.paper.control.setExits({ madeAt: 'never' });
  await send({ ...buy, takeProfit: undefined });
  for (let turn = 0; turn < 50; turn += 1) {
    relay.clock.advance(3000);
    await relay.follow();
  }
  expect(alarmNames()).toEqual(['position_unprotected']);
  await runLine();
  expect(await open()).toEqual(['sell 0.1 stop 48000']);
  const [stop] = await listOpen();
  await (await client()).call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
  await goOn(600);

  expect(await open()).toEqual([]);
  expect(alarmNames()).toEqual(['position_unprotected', 'position_unprotected']);
});

describe('After an entry of 0.1 with a stop-loss and a take-profit', () => {
  beforeEach(async () => {
    await send(buy);
    await goOn(30);
    expect(await open()).toEqual(whole);
  });

  test.each([
    ['a close of one half', { action: 'close', quantityPercent: '50%' }],
    ['a target of one half', { action: 'target', target: '0.05' }],
    [
      'a reduce-only sell of one half',
      { action: 'sell', orderType: 'market', quantity: '0.05', reduceOnly: true },
    ],
  ])('%s leaves exits for the other half', async (_, alert) => {
    await send(alert);

    expect(await open()).toEqual(half);
    expect(alarmNames()).toEqual([]);
  });

  test('two closes in one second leave exits for the rest at once', async () => {
    await send({ action: 'close', quantityPercent: '40%' });
    await send({ action: 'sell', orderType: 'market', quantity: '0.01', reduceOnly: true });

    expect(await open()).toEqual(half);
  });

  test('a plain sell of one half leaves exits for the other half once its fill is listed', async () => {
    await send({ action: 'sell', orderType: 'market', quantity: '0.05' });
    await goOn(30);

    expect(await open()).toEqual(half);
  });

  test('a sell that asks for exits of its own and only closes the position leaves nothing open', async () => {
    await send({ ...buy, action: 'sell', stopLoss: '52000', takeProfit: '48000' });
    await goOn(60);

    expect([await held(), await open()]).toEqual(['0', []]);
  });

  test('a sale of one half by hand leaves exits for the other half', async () => {
    await byHand('sell', '0.05');
    await goOn(30);

    expect(await open()).toEqual(half);
  });

  test('a close by hand leaves nothing open', async () => {
    await byHand('sell', '0.1');
    await goOn(30);

    expect(await open()).toEqual([]);
  });

  test('the stop-loss of the rest closes the position and no more', async () => {
    await send({ action: 'close', quantityPercent: '50%' });
    relay.setPrice('47900');
    await goOn(30);

    expect(await held()).toBe('0');
    expect(await open()).toEqual([]);
  });

  test('a stop-loss that the owner cancels is not placed again, and told once', async () => {
    const stop = (await listOpen()).find(({ activationPrice }) => activationPrice !== undefined);
    await (await client()).call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
    await goOn(1500);

    expect(await open()).toEqual([]);
    expect(alarmNames()).toEqual(['position_unprotected']);
  });

  test('a second entry and a target of one half of both leave the exits of the second', async () => {
    await send({ ...buy, stopLoss: '47000', takeProfit: '53000' });
    await goOn(30);
    await send({ action: 'target', target: '0.1' });
    await goOn(30);

    expect(await open()).toEqual(['sell 0.1 at 53000', 'sell 0.1 stop 47000']);
  });

  test('a stop by hand is never touched', async () => {
    const stop = {
      market: 'BTC_USDT',
      side: 'sell' as const,
      amount: parseDecimal('0.02'),
      activationPrice: parseDecimal('49000'),
      reduceOnly: true,
      clientOrderId: 'mine',
    };
    await (await client()).call(stopMarket, stop);
    await send({ action: 'close', quantityPercent: '50%' });
    await goOn(60);

    expect(await open()).toEqual([...half.slice(0, 1), 'sell 0.02 stop 49000', ...half.slice(1)].sort());
  });
});
