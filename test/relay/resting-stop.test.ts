import { afterEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { parseConfig } from '../../lib/host/config.ts';
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
  const spot = { markets: { BTC_USDT: { tradesOn: 'spot' } } };
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
