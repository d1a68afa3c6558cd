import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { testConfig } from '../support/world.ts';

/** What a stop-loss should have closed is closed at market. In a thin book that order fills in part, and its rest ends. */
let relay: KeptRelay;
/** Called with each request for an order that takes at once. */
let beforeOrder: () => void;
beforeEach(async () => {
  beforeOrder = () => undefined;
  const markets = { BTC_USDT: { tradesOn: 'margin' } } as const;
  const main = { ...testConfig.accounts.main, maxSlippage: '0.5%', markets };
  relay = await openKeptRelay({
    settings: parseConfig({ ...testConfig, accounts: { ...testConfig.accounts, main } }).settings,
    onRequest(path) {
      if (path === '/api/v4/order/collateral/limit') beforeOrder();
    },
  });
  relay.paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('100000000'));
});
afterEach(() => relay.close());

/** Of 30, an order at market within 0.5 % closes 5.4. */
const buy = { action: 'buy', orderType: 'limit', limitPrice: '49900', quantity: '30' };

async function enter(exits: object): Promise<void> {
  await relay.say({ ...buy, ...exits });
  relay.setPrice('49900');
}

const failures = () => relay.alarms.filter(({ name }) => name === 'protection_failed');

/** The orders at market with which the relay closed something, oldest first. */
async function sales(): Promise<readonly string[]> {
  const { entries } = await relay.services.ledger.list({ account: 'main', limit: 100, oldestFirst: true });
  return entries.flatMap(({ steps }) => {
    const order = steps.find(({ status }) => status === 'sending')?.facts?.protective;
    return order?.orderType === 'market' ? [`${order.side} ${order.amount}`] : [];
  });
}

describe.each([
  ['that lists cancelled orders', true],
  ['that lists no cancelled orders', false],
])('At an exchange %s', (_, isListed) => {
  beforeEach(() => relay.paper.control.listCancelled('main', isListed));

  test.each([
    ['that the exchange has made', {}, null],
    ['that a protect has asked for', { stopLoss: '48000' }, '49000'],
  ])(
    'the rest of a stop-loss %s is sold with the next orders, and told once',
    async (_stop, changed, asked) => {
      await enter({ stopLoss: '49000', ...changed });
      await relay.goOn(30);
      if (asked !== null) await relay.say({ action: 'protect', stopLoss: asked });
      await relay.goOn(30);

      relay.setPrice('47000');
      await relay.goOn(3);
      expect([await relay.held(), await relay.open()]).toEqual(['24.6', []]);
      await relay.goOn(180);

      expect(await relay.held()).toBe('flat');
      expect(await sales()).toEqual(['sell 30', 'sell 24.6', 'sell 19.2', 'sell 13.8', 'sell 8.4', 'sell 3']);
      expect(relay.alarmNames()).toEqual(['protection_failed']);
      expect(failures()).toMatchObject([{ market: 'BTC_USDT', closed: '5.4', left: '24.6' }]);
    },
  );
});

test('the rest of one whose price was passed before it could stand is sold, too', async () => {
  relay.paper.control.setExits({ madeAt: 'never' });
  await enter({ stopLoss: '49000' });
  await relay.goOn(3);
  relay.setPrice('47000');
  await relay.goOn(120);

  expect(await relay.held()).toBe('flat');
  expect(await sales()).toHaveLength(6);
  expect(relay.alarmNames()).toEqual(['protection_failed']);
});

test('the rest of a short position is bought back', async () => {
  await relay.say({ ...buy, action: 'sell', limitPrice: '50100', stopLoss: '51000' });
  relay.setPrice('50100');
  await relay.goOn(30);
  relay.setPrice('53000');
  await relay.goOn(120);

  expect([await relay.held(), relay.alarmNames()]).toEqual(['flat', ['protection_failed']]);
});

test('once the price has come back, the rest has a stop-loss again', async () => {
  await enter({ stopLoss: '49000' });
  await relay.goOn(30);
  relay.setPrice('47000');
  await relay.goOn(3);
  relay.setPrice('49900');
  await relay.goOn(180);

  expect([await relay.held(), await relay.open()]).toEqual(['24.6', ['sell 24.6 stop 49000, reduces']]);
  expect(await sales()).toEqual(['sell 30']);
  expect(relay.alarmNames()).toEqual(['protection_failed']);
});

test('while the book takes nothing, it is tried less and less often, and told', async () => {
  await enter({ stopLoss: '49000' });
  await relay.goOn(30);
  relay.setPrice('47000');
  let price = parseDecimal('47000');
  // The price falls beyond the bound of each order before that arrives.
  beforeOrder = () => {
    price = price.times('0.98').round(0);
    relay.setPrice(price.toFixed());
  };
  await relay.goOn(180);

  expect([await relay.held(), await relay.open()]).toEqual(['30', []]);
  expect(await sales()).toEqual(Array.from({ length: 6 }, () => 'sell 30'));
  expect(relay.alarmNames()).toEqual(['protection_failed', 'position_unprotected']);
  expect(failures()).toMatchObject([{ closed: '0', left: '30' }]);
  beforeOrder = () => undefined;
  await relay.goOn(600);

  expect(await relay.held()).toBe('flat');
});

test('a stop-loss that the owner cancels for the rest stays cancelled', async () => {
  await enter({ stopLoss: '49000' });
  await relay.goOn(30);
  relay.setPrice('47000');
  await relay.goOn(3);
  relay.setPrice('49900');
  await relay.goOn(30);
  await relay.cancelByHand('sell 24.6 stop 49000, reduces');
  await relay.goOn(180);

  expect([await relay.held(), await relay.open()]).toEqual(['24.6', []]);
  expect(relay.alarmNames()).toEqual(['protection_failed', 'position_unprotected']);
});

test('what a stop-loss has turned is closed with several orders, and no more than that', async () => {
  await enter({ stopLoss: '49000', quantity: '15' });
  await relay.goOn(30);
  await relay.byHand('sell', '15');
  relay.setPrice('48900');
  expect(await relay.held()).toBe('-15');
  for (let minute = 0; minute < 8; minute += 1) {
    await relay.goOn(60);
    await reconcileSignals(relay.services);
  }
  await relay.goOn(15);

  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  expect(await sales()).toEqual(['buy 15', 'buy 8.4', 'buy 1.8']);
});

test('the rest of a take-profit goes at once when its stop-loss has closed what was left', async () => {
  await relay.say({ action: 'buy', quantity: '1', stopLoss: '49000', takeProfit: '51000' });
  await relay.goOn(30);
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('51001'), parseDecimal('0.4'));
  await relay.goOn(30);
  expect(await relay.held()).toBe('0.6');

  relay.setPrice('48900');
  await relay.goOn(6);

  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  expect(relay.alarmNames()).toEqual([]);
});
