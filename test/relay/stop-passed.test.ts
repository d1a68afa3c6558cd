import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { alertIn } from '../support/commands.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { testConfig } from '../support/world.ts';

/** Where the missing stop-loss can be placed no more, the alarm has the command that closes. */
const { main } = testConfig.accounts;
const settingsOf = (changes: object) => {
  const accounts = { ...testConfig.accounts, main: { ...main, maxSlippage: '1%', ...changes } };
  return parseConfig({ ...testConfig, accounts }).settings;
};
const spot = { markets: { BTC_USDT: { tradesOn: 'spot' } } };

let relay: KeptRelay;
afterEach(() => relay.close());

const command = () =>
  String(relay.alarms.filter(({ name }) => name === 'position_unprotected').at(-1)?.['whatToDo']);
const close = 'npx relay close BTC_USDT --account main';

async function openWithout(order: object, stop: string): Promise<void> {
  relay = await openKeptRelay({ settings: settingsOf({ protection: 'alarm' }) });
  await relay.say({ orderType: 'market', quantity: '0.1', ...order });
  await relay.goOn(30);
  await relay.cancelByHand(stop);
}

describe('The last price has reached the stop-loss', () => {
  test.each([
    ['a long', 'buy', '48000', '47000', 'sell'],
    ['a long, just so', 'buy', '48000', '48000', 'sell'],
    ['a short', 'sell', '52000', '53000', 'buy'],
  ])('of %s: the alarm closes', async (_, action, stopLoss, price, exit) => {
    await openWithout({ action, stopLoss }, `${exit} 0.1 stop ${stopLoss}`);
    relay.setPrice(price);
    await relay.goOn(90);

    expect(command()).toBe(close);
    expect((await relay.say({ action: 'close', maxSlippage: '1%' })).status).toBe('placed');
    expect(await relay.held()).toBe('flat');
  });

  test('on spot: the alarm sells what was bought', async () => {
    relay = await openKeptRelay({ settings: settingsOf(spot) });
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
    await relay.say({ action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' });
    await relay.goOn(30);
    Object.assign(relay.services, { settings: settingsOf({ ...spot, protection: 'alarm' }) });
    await relay.cancelByHand('sell 0.0999 stop 48000');
    relay.setPrice('47000');
    await relay.goOn(200);

    expect(alertIn(command())).toEqual({
      ticker: 'BTCUSDT',
      action: 'sell',
      orderType: 'market',
      quantity: '0.0999',
    });
    expect((await relay.say(alertIn(command()))).status).toBe('placed');
  });

  test.each([
    ['and nobody can read it', '47000', true],
    ['not', '49000', false],
  ])('%s: the alarm has the stop-loss', async (_, price, isUnread) => {
    await openWithout({ action: 'buy', stopLoss: '48000' }, 'sell 0.1 stop 48000');
    if (isUnread) relay.paper.control.addFault({ fault: 'refuse', endpoint: 'ticker', probability: 1 });
    relay.setPrice(price);
    await relay.goOn(90);

    expect(alertIn(command())).toMatchObject({ orderType: 'stop_limit', stopPrice: '48000' });
  });
});

describe('What has no stop-loss is too small for one', () => {
  const resting = {
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49500',
    quantity: '0.01',
    stopLoss: '48000',
  };

  test('beside more of its position: the alarm closes', async () => {
    relay = await openKeptRelay({ settings: settingsOf({}) });
    await relay.say(resting);
    relay.fill('49500', '0.004');
    await relay.goOn(60);
    Object.assign(relay.services, { settings: settingsOf({ protection: 'alarm' }) });
    relay.fill('49500', '0.0001');
    await relay.goOn(130);

    expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', amount: '0.0001' }]);
    expect(command()).toBe(close);
    expect((await relay.say({ action: 'close', maxSlippage: '1%' })).status).toBe('placed');
    expect(await relay.held()).toBe('flat');
  });

  test('and all of its position is: the alarm says where to close', async () => {
    relay = await openKeptRelay({ settings: settingsOf({ protection: 'alarm' }) });
    await relay.say(resting);
    relay.fill('49500', '0.0001');
    await relay.goOn(90);

    expect((await relay.say({ action: 'close', maxSlippage: '1%' })).status).toBe('denied');
    expect(command()).toBe(
      '0.0001 in BTC_USDT is too small for an order: close the position on the website of the exchange',
    );
  });

  test('and can be sold at the price of now: the alarm closes', async () => {
    relay = await openKeptRelay({ settings: settingsOf({ protection: 'alarm' }) });
    await relay.say(resting);
    relay.fill('49500', '0.000105');
    await relay.goOn(90);

    expect(command()).toBe(close);
    expect((await relay.say({ action: 'close', maxSlippage: '1%' })).status).toBe('placed');
  });

  test('on spot, since the price fell: the alarm says how it can be sold', async () => {
    relay = await openKeptRelay({ settings: settingsOf(spot) });
    await relay.say({ action: 'buy', orderType: 'market', quantity: '0.000108', stopLoss: '48000' });
    await relay.goOn(30);
    Object.assign(relay.services, { settings: settingsOf({ ...spot, protection: 'alarm' }) });
    await relay.cancelByHand('sell 0.000107 stop 48000');
    relay.setPrice('40000');
    await relay.goOn(200);

    const sale = { action: 'sell', orderType: 'market', quantity: '0.000107' };
    expect((await relay.say(sale)).status).toBe('denied');
    expect(command()).toBe(
      '0.000107 in BTC_USDT is too small for an order: sell it together with more of the same, or keep it',
    );
  });
});
