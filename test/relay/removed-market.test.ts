import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { limit } from '../../lib/exchange/endpoints/limit.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { override } from '../support/override.ts';
import { testConfig } from '../support/world.ts';

const { main, ...others } = testConfig.accounts;
const { ETH_USDT } = main.markets;
const onMargin = { ...main.markets, BTC_USDT: { tradesOn: 'margin' } };
const onSpot = { ...main.markets, BTC_USDT: { tradesOn: 'spot' } };
const account = { ...main, maxSlippage: '1%', allowUnguardedMarket: true };
function settingsOf(markets: object) {
  return parseConfig({ ...testConfig, accounts: { main: { ...account, markets }, ...others } }).settings;
}

/** The owner takes a market out of the account's markets, or changes it, while a position of the relay stands there. */
let relay: KeptRelay;
afterEach(() => relay.close());

async function open(markets: object, market: 'BTC_USDT' | 'BTC_PERP' = 'BTC_USDT'): Promise<void> {
  relay = await openKeptRelay({ settings: settingsOf(markets), market });
}

/** As after a restart with another configuration. */
function configure(markets: object): void {
  Object.assign(relay.services, { settings: settingsOf(markets) });
}

function removeAccount(): void {
  const { settings } = parseConfig({ ...testConfig, accounts: others });
  Object.assign(relay.services, { settings });
}

const protectFailed = () => relay.alarms.filter(({ name }) => name === 'protection_failed');

async function goOnForMinutes(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await relay.goOn(60);
    await reconcileSignals(relay.services);
  }
}

const buy = { action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '49000' };
const parts = [
  { price: '51000', share: '50%' },
  { price: '52000', share: '50%' },
];

describe('What protects a position still fits it after its market', () => {
  test.each([
    ['was removed, on margin', onMargin, { ETH_USDT }, 'BTC_USDT'],
    ['was removed, on futures', onMargin, { ETH_USDT }, 'BTC_PERP'],
    ['was changed to trade on spot', onMargin, onSpot, 'BTC_USDT'],
  ] as const)('%s', async (_, before, after, market) => {
    await open(before, market);
    await relay.say({ ...buy, takeProfits: parts });
    await relay.goOn(30);
    expect(await relay.held()).toBe('0.1');

    configure(after);
    relay.fill('51000', '0.05');
    await relay.goOn(60);

    expect(await relay.held()).toBe('0.05');
    expect(await relay.open()).toEqual(['sell 0.05 at 52000, reduces', 'sell 0.05 stop 49000, reduces']);
    expect(relay.alarms).toEqual([]);
  });

  test('was removed: a trailing stop-loss follows the price', async () => {
    await open(onMargin);
    await relay.say({ ...buy, stopLoss: '2%', trailing: '2%' });
    await relay.goOn(30);

    configure({ ETH_USDT });
    relay.setPrice('55000');
    await relay.goOn(60);

    expect(await relay.open()).toEqual(['sell 0.1 stop 53900, reduces']);
  });

  test.each([
    ['was removed, on spot', { ETH_USDT }],
    ['was changed from spot to margin', onMargin],
  ])('%s: a buy that fills later gets its stop-loss', async (_, after) => {
    await open(onSpot);
    await relay.say({ ...buy, orderType: 'limit', limitPrice: '49500' });

    configure(after);
    relay.fill('49500', '0.1');
    await relay.goOn(60);

    expect(await relay.open()).toEqual([expect.stringMatching(/^sell 0\.09\d* stop 49000$/)]);
    expect(relay.alarms).toEqual([]);
  });

  test('was removed: what a stop-loss has opened is closed again', async () => {
    await open(onMargin);
    await relay.say(buy);
    await relay.goOn(30);

    configure({ ETH_USDT });
    await relay.byHand('sell', '0.1');
    relay.setPrice('48900');
    await goOnForMinutes(3);

    expect(await relay.held()).toBe('flat');
  });
});

describe('A stop-loss that no rule lets the relay place', () => {
  beforeEach(async () => {
    await open(onMargin);
    await relay.say({ ...buy, takeProfits: parts });
    await relay.goOn(30);
    relay.fill('51000', '0.05');
  });

  async function ask(): Promise<string> {
    for (;;) {
      relay.clock.advance(3000);
      await relay.follow();
      const [waiting] = await relay.services.ledger.waiting('main', 'BTC_USDT', 1);
      if (waiting !== undefined) return waiting.signalId;
    }
  }

  test('is an alarm when its account was removed', async () => {
    const signalId = await ask();
    removeAccount();
    await relay.execute(signalId);

    expect(await relay.entry(signalId)).toMatchObject({ status: 'denied' });
    expect(protectFailed()).toMatchObject([{ signalId, market: 'BTC_USDT' }]);
    expect(await relay.failuresTold()).toEqual([]);
  });

  test('is an alarm when the exchange lists its market no more, once for all tries', async () => {
    const markets = override(relay.services.markets, { find: async () => null });
    Object.assign(relay.services, { markets });
    await relay.goOn(600);

    expect(protectFailed()).toHaveLength(1);
    expect(await relay.failuresTold()).toEqual([]);
  });

  test('is an alarm before its outcome is stored', async () => {
    const signalId = await ask();
    removeAccount();
    const died = new RelayError('store_unavailable', 'the process died here');
    const ledger = override(relay.services.ledger, { move: () => Promise.reject(died) });

    await expect(relay.executeWith({ ...relay.services, ledger }, signalId)).rejects.toBe(died);

    expect(protectFailed()).toHaveLength(1);
  });
});

describe('In a market that was removed', () => {
  beforeEach(async () => {
    await open(onMargin);
    await relay.say({ ...buy, takeProfits: parts });
    await relay.say({ ...buy, orderType: 'limit', limitPrice: '45000', stopLoss: undefined });
    await relay.goOn(30);
    configure({ ETH_USDT });
  });

  test('an alert closes the position, with what protects it', async () => {
    expect(await relay.say({ action: 'close' })).toMatchObject({ status: 'placed' });
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  });

  test('an alert reduces the position, also as an order that only reduces', async () => {
    await relay.say({ action: 'close', quantity: '20%' });
    await relay.say({ action: 'sell', orderType: 'market', quantity: '0.03', reduceOnly: true });

    expect(await relay.held()).toBe('0.05');
  });

  test('an alert cancels what rests', async () => {
    expect(await relay.say({ action: 'cancel', signalId: 's2' })).toMatchObject({ status: 'cancelled' });
  });

  test.each([
    ['buys', { ...buy, stopLoss: undefined }],
    ['sells without saying that it only reduces', { action: 'sell', orderType: 'market', quantity: '0.1' }],
    ['opens a target', { marketPosition: 'long', marketPositionSize: '0.2' }],
  ])('an alert that %s is denied', async (_, members) => {
    expect(await relay.say(members)).toMatchObject({ status: 'denied' });
    expect(await relay.held()).toBe('0.1');
  });

  test('the positions are watched, although no other market has any', async () => {
    configure({ ETH_USDT: { tradesOn: 'spot' } });
    await reconcileSignals(relay.services);

    expect(await relay.services.facts.read('main', 'positions')).toMatchObject({
      positions: [{ market: 'BTC_USDT' }],
    });
  });
});

test('In a market in which the relay has sent no order of late, a close of what stands there is sent', async () => {
  await open({ ETH_USDT });
  const client = await relay.services.exchangeFor('main');
  const [amount, price] = [parseDecimal('0.01'), parseDecimal('60000')];
  await client.call(limit, { market: 'BTC_USDT', side: 'buy', amount, price, clientOrderId: '' });
  relay.clock.advance(30_000);

  expect(await relay.say({ action: 'close', maxSlippage: '1%' })).toMatchObject({ status: 'placed' });
  expect(await relay.say({ action: 'close', maxSlippage: '1%' })).toMatchObject({ status: 'satisfied' });
  expect(await relay.say({ action: 'buy', quantity: '0.01', maxSlippage: '1%' })).toMatchObject({
    status: 'denied',
  });
});

test('In such a market, a close for an account that trades on spot alone is denied with what to do', async () => {
  await open({ ETH_USDT: { tradesOn: 'spot' } });

  const { status, steps } = await relay.say({ action: 'close' });

  expect(status).toBe('denied');
  expect(steps.at(-1)?.note).toContain(
    "account main may trade ETH_USDT, not BTC_USDT; add it to the account's markets in relay.config.ts",
  );
});
