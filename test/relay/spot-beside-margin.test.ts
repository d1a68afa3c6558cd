import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import { spotStopMarket } from '../../lib/exchange/endpoints/spot-stop-market.ts';
import { stopMarket } from '../../lib/exchange/endpoints/stop-market.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { testConfig } from '../support/world.ts';

/** The owner has orders in a market that are of another account, or of another side, than the position of the relay. */
const { main } = testConfig.accounts;
function settingsOf(changes: object) {
  const accounts = { ...testConfig.accounts, main: { ...main, maxSlippage: '1%', ...changes } };
  return parseConfig({ ...testConfig, accounts }).settings;
}

let relay: KeptRelay;
async function open(changes: object = {}, market: 'BTC_USDT' | 'BTC_PERP' = 'BTC_USDT'): Promise<void> {
  relay = await openKeptRelay({ settings: settingsOf(changes), market });
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
}
afterEach(() => relay.close());

const exchange = () => relay.services.exchangeFor('main');
const buy = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };

async function stopOnSpot(price: string, amount: string): Promise<void> {
  await (await exchange()).call(spotStopMarket, {
    market: 'BTC_USDT',
    side: 'sell',
    amount: parseDecimal(amount),
    activationPrice: parseDecimal(price),
    clientOrderId: '',
  });
}

describe('A stop of the owner on spot protects nothing on margin:', () => {
  beforeEach(async () => {
    await open();
    await stopOnSpot('49000', '0.1');
    await relay.goOn(12);
  });

  test('a "protect" places the stop-loss that it asks for', async () => {
    await relay.say(buy);
    await relay.goOn(12);
    await relay.say({ action: 'protect', stopLoss: '48000' });
    await relay.goOn(60);

    expect(await relay.open()).toEqual(['sell 0.1 stop 48000, reduces', 'sell 0.1 stop 49000']);
  });

  test('it is not taken for the stop-loss that the exchange makes at the same price', async () => {
    await relay.say({ ...buy, stopLoss: '49000' });
    await stopOnSpot('49000', '0.1');
    await relay.goOn(60);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual([
      'flat',
      ['sell 0.1 stop 49000', 'sell 0.1 stop 49000'],
    ]);
  });

  test('with "alarm", the missing stop-loss is told', async () => {
    await relay.close();
    await open({ protection: 'alarm' });
    await stopOnSpot('49000', '0.1');
    await relay.say({ ...buy, stopLoss: '48000' });
    await relay.goOn(12);
    await relay.cancelByHand('sell 0.1 stop 48000');
    await relay.goOn(90);

    expect(relay.alarmNames()).toEqual(['position_unprotected']);
  });
});

test('A stop of the owner on margin stops out no coins on spot', async () => {
  await open({ allowUnguardedMarket: true, markets: { BTC_USDT: { tradesOn: 'spot' } } });
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
  await (await exchange()).call(stopMarket, {
    market: 'BTC_USDT',
    side: 'sell',
    amount: parseDecimal('0.1'),
    activationPrice: parseDecimal('49000'),
    clientOrderId: '',
  });
  await relay.say({ action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' });
  await relay.goOn(60);

  expect(await relay.open()).toEqual(['sell 0.0999 stop 48000', 'sell 0.1 stop 49000']);
});

test('In hedge mode, a stop of the owner that opens a short protects no long', async () => {
  await open({}, 'BTC_PERP');
  relay.paper.control.setHedgeMode('main', true);
  await relay.say({ ...buy, positionSide: 'LONG' });
  await relay.goOn(12);
  await (await exchange()).call(stopMarket, {
    market: 'BTC_PERP',
    side: 'sell',
    amount: parseDecimal('0.1'),
    activationPrice: parseDecimal('49000'),
    positionSide: 'SHORT',
    clientOrderId: '',
  });
  await relay.say({ action: 'protect', positionSide: 'LONG', stopLoss: '48000' });
  await relay.goOn(60);

  expect(await relay.open()).toContain('sell 0.1 stop 48000, reduces');
});

test('A sale of the owner on spot does not hide what a stop-loss has turned', async () => {
  await open();
  await relay.say({ ...buy, stopLoss: '49000' });
  await relay.goOn(30);
  await relay.byHand('sell', '0.1');
  relay.setPrice('48900');
  expect(await relay.held()).toBe('-0.1');
  await (await exchange()).call(spotStockMarket, {
    market: 'BTC_USDT',
    side: 'sell',
    amount: parseDecimal('0.3'),
    clientOrderId: '',
  });
  for (let minute = 0; minute < 4; minute += 1) {
    await relay.goOn(60);
    await reconcileSignals(relay.services);
  }
  await relay.goOn(15);

  expect(await relay.held()).toBe('flat');
});
