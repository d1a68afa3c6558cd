import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { spotLimit } from '../../lib/exchange/endpoints/spot-limit.ts';
import { spotStopMarket } from '../../lib/exchange/endpoints/spot-stop-market.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { testConfig } from '../support/world.ts';

/** On spot a stop by hand holds coins: those that the owner holds besides, or those that the relay has bought. */
const main = {
  mode: 'live',
  maxSlippage: '0.5%',
  allowUnguardedMarket: true,
  markets: { BTC_USDT: { tradesOn: 'spot' } },
};

let relay: Aftermath;
beforeEach(async () => {
  const { settings } = parseConfig({ ...testConfig, accounts: { main } });
  relay = await openAftermath('live', undefined, undefined, settings);
});
afterEach(() => relay.close());

const goOn = (seconds: number) => relay.goOn(seconds);
const client = () => relay.services.exchangeFor('main');

function hold(btc: string): void {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(btc));
}

async function stopByHand(amount: string, activationPrice: string): Promise<void> {
  const order = {
    market: 'BTC_USDT',
    side: 'sell' as const,
    amount: parseDecimal(amount),
    activationPrice: parseDecimal(activationPrice),
    clientOrderId: `mine-${activationPrice}`,
  };
  await (await client()).call(spotStopMarket, order);
}

/** Buys 0.1 with a stop-loss at 48000, of which 0.0999 is left without the fee. */
async function buy(): Promise<void> {
  relay.clock.advance(1000);
  const signal = { action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' };
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: 'bought', ...signal }));
  await relay.runLine();
}

async function listOpen() {
  return (await listOpenOrders(await client(), 'BTC_USDT', {})).orders;
}

async function standing(): Promise<readonly string[]> {
  const orders = await listOpen();
  return orders
    .map(
      ({ side, remaining, activationPrice, price }) =>
        `${side} ${formatDecimal(remaining)} stop ${formatDecimal(activationPrice ?? price)}`,
    )
    .sort();
}

async function cancelStopOfRelay(): Promise<void> {
  const stop = (await listOpen()).find(({ activationPrice }) => activationPrice?.eq('48000'));
  await (await client()).call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
}

/** Without a stop-loss for what was bought: the exchange refuses the relay's. */
async function buyUnprotected(): Promise<void> {
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-stop-limit', count: 1 });
  await buy();
  expect(await listOpen().then((open) => open.filter(({ remaining }) => remaining.eq('0.0999')))).toEqual([]);
}

const alarmNames = () => relay.alarms.map(({ name }) => name);
const stopOfRelay = 'sell 0.0999 stop 48000';

describe.each([
  ['all of it', '1', '1'],
  ['a part of it', '3', '2'],
])('A stop by hand that guards what the owner holds besides, %s,', (_, besides, held) => {
  const byHand = `sell ${held} stop 30000`;
  beforeEach(async () => {
    hold(besides);
    await stopByHand(held, '30000');
  });

  test('does not take the place of the stop-loss of a buy', async () => {
    await buy();
    expect(await standing()).toEqual([stopOfRelay, byHand]);
    await goOn(180);

    expect(await standing()).toEqual([stopOfRelay, byHand]);
    expect(alarmNames()).toEqual([]);
  });

  test('does not silence the alarm when the stop-loss of the buy is cancelled', async () => {
    await buy();
    await goOn(30);
    await cancelStopOfRelay();
    await goOn(180);

    expect(await standing()).toEqual([byHand]);
    expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', amount: '0.0999' }]);
  });

  test('does not silence the alarm while the balance cannot be read', async () => {
    await buy();
    await goOn(30);
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'trade-balance', probability: 1 });
    await cancelStopOfRelay();
    await goOn(180);

    expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', isPositionRead: false }]);
  });
});

describe('A stop by hand that holds what a buy has bought', () => {
  test.each([
    ['and nothing else is held', '0', []],
    ['and another one all that is held besides', '1', ['sell 1 stop 30000']],
  ])('needs none of the relay beside it, %s', async (_, besides, others) => {
    hold(besides);
    if (besides !== '0') await stopByHand(besides, '30000');
    await buyUnprotected();
    await stopByHand('0.0999', '47000');
    await goOn(180);

    expect(await standing()).toEqual(['sell 0.0999 stop 47000', ...others]);
    expect(alarmNames()).toEqual(['protection_failed']);
  });

  test('needs none beside it while the balance is listed as it was before', async () => {
    hold('0');
    await buyUnprotected();
    relay.clock.advance(10_000);
    await stopByHand('0.0999', '47000');
    const lag = { fault: 'read_lag', endpoint: 'trade-balance', delayMs: 8000, probability: 1 } as const;
    relay.paper.control.addFault(lag);
    await goOn(60);

    expect(await standing()).toEqual(['sell 0.0999 stop 47000']);
    expect(alarmNames()).toEqual(['protection_failed']);
  });

  test('needs none beside it while a limit order by hand holds what is held besides', async () => {
    hold('1');
    await (await client()).call(spotLimit, {
      market: 'BTC_USDT',
      side: 'sell',
      amount: parseDecimal('1'),
      price: parseDecimal('90000'),
      clientOrderId: 'mine-90000',
    });
    await buyUnprotected();
    await stopByHand('0.0999', '47000');
    await goOn(180);

    expect(await standing()).toEqual(['sell 0.0999 stop 47000', 'sell 1 stop 90000']);
    expect(alarmNames()).toEqual(['protection_failed']);
  });

  test('leaves the rest to a stop-loss of the relay', async () => {
    hold('0');
    await buyUnprotected();
    await stopByHand('0.05', '47000');
    await goOn(180);

    expect(await standing()).toEqual(['sell 0.0499 stop 48000', 'sell 0.05 stop 47000']);
    expect(alarmNames()).toEqual(['protection_failed']);
  });
});

test('A stop-loss that a sale could not cancel, and that the owner cancels then, is not placed again', async () => {
  await buy();
  await goOn(9);
  relay.clock.advance(10_000);
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', count: 1 });
  const sale = { ticker: 'BTCUSDT', id: 'sold', action: 'sell', orderType: 'market', quantity: '0.0999' };
  await relay.receiveAll(JSON.stringify(sale));
  await relay.runLine();
  expect((await relay.entry('sold')).status).toBe('not_sent');
  expect(await standing()).toEqual([stopOfRelay]);

  await goOn(30);
  await cancelStopOfRelay();
  await goOn(180);

  expect(await standing()).toEqual([]);
  expect(alarmNames()).toEqual(['orders_left_open', 'position_unprotected']);
});
