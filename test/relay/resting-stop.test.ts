import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { spotStopLimit } from '../../lib/exchange/endpoints/spot-stop-limit.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { alertIn } from '../support/commands.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { testConfig } from '../support/world.ts';

/** With `protection: 'alarm'`, a stop-loss that was triggered and rests at its limit price is missing. */
const { main } = testConfig.accounts;
function settingsOf(changes: object) {
  const accounts = { ...testConfig.accounts, main: { ...main, maxSlippage: '1%', ...changes } };
  return parseConfig({ ...testConfig, accounts }).settings;
}

let relay: KeptRelay;
afterEach(() => relay.close());

const entry = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const told = () => relay.alarms.filter(({ name }) => name === 'position_unprotected');
/** What the alarms say from now on, oldest first. */
function listMessages(): readonly string[] {
  const { alarms } = relay.services;
  const messages: string[] = [];
  const raise: typeof alarms.raise = (alarm, facts) => {
    messages.push(alarm.message);
    alarms.raise(alarm, facts);
  };
  Object.assign(relay.services, { alarms: { raise } });
  return messages;
}

const spot = { markets: { BTC_USDT: { tradesOn: 'spot' } } };

/** @returns what the alarms say from now on, oldest first */
async function buyOnSpot(held: string, stopLoss: string): Promise<readonly string[]> {
  relay = await openKeptRelay({ settings: settingsOf(spot) });
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(held));
  const messages = listMessages();
  const { maxSlippage: _, ...buy } = entry;
  await relay.say({ ...buy, stopLoss });
  await relay.goOn(30);
  return messages;
}
/** Hardly anything trades there. */
const gapTo = (market: string, price: string) =>
  relay.paper.control.setPrice(market, parseDecimal(price), parseDecimal('0.0001'));

test('in hedge mode, the command that closes names the side', async () => {
  relay = await openKeptRelay({ settings: settingsOf({ protection: 'alarm' }), market: 'BTC_PERP' });
  relay.paper.control.setHedgeMode('main', true);
  await relay.say({ ...entry, positionSide: 'LONG', stopLoss: '49000' });
  await relay.goOn(30);
  gapTo('BTC_PERP', '48000');
  await relay.goOn(120);

  expect(told()).toMatchObject([{ whatToDo: 'npx relay close BTC_PERP --side long --account main' }]);
});

test('on spot, the command sells what was bought', async () => {
  relay = await openKeptRelay({ settings: settingsOf(spot) });
  const { maxSlippage: _, ...buy } = entry;
  await relay.say({ ...buy, stopLoss: '48000' });
  await relay.goOn(30);
  Object.assign(relay.services, { settings: settingsOf({ ...spot, protection: 'alarm' }) });
  gapTo('BTC_USDT', '47000');
  await relay.goOn(200);
  const [alarm] = told();
  const alert = /echo '(.*)' \|/.exec(String(alarm?.['whatToDo']))?.[1] ?? '';

  expect((await relay.say(JSON.parse(alert))).status).toBe('placed');
  expect(await relay.open()).toEqual([]);
});

test('a stop of the owner that rests beside the position protects nothing', async () => {
  relay = await openKeptRelay({ settings: settingsOf({ protection: 'alarm' }) });
  relay.paper.control.setExits({ showsAttached: true });
  await relay.say({ ...entry, stopLoss: '45000' });
  await relay.goOn(12);
  await relay.cancelByHand('sell 0.1 stop 45000');
  const byHand = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal('0.1'), clientOrderId: '' } as const;
  const client = await relay.services.exchangeFor('main');
  for (let count = 0; count < 2; count += 1)
    await client.call(marketEndpoint, { ...byHand, stopLoss: parseDecimal('49000') });
  await relay.goOn(30);
  gapTo('BTC_USDT', '48000');
  await relay.goOn(200);

  expect(told()).toHaveLength(1);
});

test('a stop of an alert that rests beside the position protects nothing, also where the relay keeps its own', async () => {
  relay = await openKeptRelay({ settings: settingsOf({ protection: 'keep' }) });
  await relay.say({ ...entry, stopLoss: '45000' });
  await relay.goOn(30);
  await relay.cancelByHand('sell 0.1 stop 45000');
  await relay.say({
    action: 'sell',
    orderType: 'stop_limit',
    quantity: '0.1',
    stopPrice: '49000',
    limitPrice: '48990',
    reduceOnly: true,
  });
  await relay.goOn(120);
  expect(told()).toEqual([]);
  gapTo('BTC_USDT', '48000');
  await relay.goOn(300);

  expect(told()).toHaveLength(1);
});

describe('A stop that took the place of the stop-loss, and rests at its limit price,', () => {
  const stop = {
    action: 'sell',
    orderType: 'stop_limit',
    quantity: '0.1',
    stopPrice: '49000',
    limitPrice: '48990',
    reduceOnly: true,
  };
  const placed: Readonly<Record<string, (on?: 'spot') => Promise<void>>> = {
    'with the command of the alarm': async () => {
      await relay.goOn(90);
      expect((await relay.say(alertIn(String(told()[0]?.['whatToDo'])))).status).toBe('placed');
    },
    'by an alert': async (on) => {
      await relay.say({ ...stop, ...(on === 'spot' ? { quantity: '0.0999' } : {}) });
    },
    'by hand': async (on) => {
      const client = await relay.services.exchangeFor('main');
      const order = {
        market: 'BTC_USDT',
        side: 'sell',
        activationPrice: parseDecimal('49000'),
        price: parseDecimal('48990'),
        clientOrderId: '',
      } as const;
      if (on === 'spot') await client.call(spotStopLimit, { ...order, amount: parseDecimal('0.0999') });
      else await client.call(stopLimit, { ...order, amount: parseDecimal('0.1'), reduceOnly: true });
    },
  };

  test.each(Object.keys(placed))('placed %s: the alarm says so, and closes', async (how) => {
    relay = await openKeptRelay({ settings: settingsOf({ protection: 'alarm' }) });
    const messages = listMessages();
    await relay.say({ ...entry, stopLoss: '49000' });
    await relay.goOn(30);
    await relay.cancelByHand('sell 0.1 stop 49000');
    await placed[how]?.();
    await relay.goOn(30);
    gapTo('BTC_USDT', '48000');
    await relay.goOn(120);
    expect(await relay.open()).toContain('sell 0.1 stop 49000, reduces');

    expect(told().at(-1)).toMatchObject({ whatToDo: 'npx relay close BTC_USDT --account main' });
    expect(messages.at(-1)).toMatch(/: stop order \d+ at 49000 was triggered, and has not filled whole/);

    relay.setPrice('48000');
    expect((await relay.say({ action: 'close', maxSlippage: '1%' })).status).toBe('placed');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  });

  test.each(Object.keys(placed))('placed %s on spot: the alarm says so, and sells', async (how) => {
    const messages = await buyOnSpot('0', '49000');
    Object.assign(relay.services, { settings: settingsOf({ ...spot, protection: 'alarm' }) });
    await relay.cancelByHand('sell 0.0999 stop 49000');
    await placed[how]?.('spot');
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.0999 stop 49000']);
    gapTo('BTC_USDT', '48000');
    await relay.goOn(200);

    expect(messages.at(-1)).toMatch(/: stop order \d+ at 49000 was triggered, and has not filled whole/);
    const command = String(told().at(-1)?.['whatToDo']);
    const [, orderId] =
      /^npx relay cancel BTC_USDT --order-id (\d+) --account main; echo /.exec(command) ?? [];
    await (await relay.services.exchangeFor('main')).call(cancelOrder, {
      market: 'BTC_USDT',
      orderId: Number(orderId),
    });
    relay.setPrice('48000');
    expect((await relay.say(alertIn(command))).status).toBe('placed');
    await relay.goOn(30);
    expect(await relay.open()).toEqual([]);
  });

  test('placed by hand on spot for what is held besides: it is none of the buy', async () => {
    const messages = await buyOnSpot('0.0999', '45000');
    await placed['by hand']?.('spot');
    await relay.cancelByHand('sell 0.0999 stop 45000');
    gapTo('BTC_USDT', '48000');
    await relay.goOn(200);

    expect(messages.at(-1)).toMatch(/the stop-loss of order \d+ at 45000 is not among the open orders/);
    expect(told().at(-1)?.['whatToDo']).toMatch(/^echo /);
  });
});
