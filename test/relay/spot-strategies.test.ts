import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { readEndings } from '../../lib/reports/read-endings.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { testConfig } from '../support/world.ts';

/** Two strategies trade one spot market: the sale of the one takes nothing that the other has bought with a stop-loss. */
const main = {
  mode: 'live',
  maxSlippage: '0.5%',
  allowUnguardedMarket: true,
  markets: { BTC_USDT: { tradesOn: 'spot' } },
};

let relay: Aftermath;
let count = 0;
async function open(account: object = {}): Promise<void> {
  count = 0;
  const { settings } = parseConfig({ ...testConfig, accounts: { main: { ...main, ...account } } });
  relay = await openAftermath('live', undefined, undefined, settings);
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
}
beforeEach(() => open());
afterEach(() => relay.close());

const goOn = (seconds: number) => relay.goOn(seconds);

/** What the owner holds besides what was bought. */
async function holdBesides(btc: string): Promise<void> {
  const { BTC } = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  const whole = parseDecimal(btc)
    .plus(BTC?.available ?? '0')
    .plus(BTC?.freeze ?? '0');
  relay.paper.control.setFunds('main', 'spot', 'BTC', whole);
}

async function send(strategy: string | null, members: object): Promise<Entry> {
  count += 1;
  relay.clock.advance(1000);
  const signal = {
    ticker: 'BTCUSDT',
    id: `s${count}`,
    ...(strategy === null ? {} : { strategy }),
    ...members,
  };
  await relay.receiveAll(JSON.stringify(signal));
  await relay.runLine();
  return await relay.entry(`s${count}`);
}

async function standing(): Promise<readonly string[]> {
  const { orders } = await listOpenOrders(await relay.services.exchangeFor('main'), 'BTC_USDT', {});
  return orders
    .map(
      ({ side, remaining, activationPrice, price }) =>
        `${side} ${formatDecimal(remaining)} ${activationPrice === undefined ? 'at' : 'stop'} ${formatDecimal(activationPrice ?? price)}`,
    )
    .sort();
}

async function held(): Promise<string> {
  const { BTC } = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  return formatDecimal(BTC?.available.plus(BTC.freeze) ?? parseDecimal('0'));
}

const noteOf = ({ steps }: Entry) => steps.at(-1)?.note ?? '';

const unguarded = { action: 'buy', orderType: 'market', quantity: '0.1' };
const buy = { ...unguarded, stopLoss: '48000' };
const buyLower = { ...buy, stopLoss: '47000' };
const restingBuy = { ...buy, orderType: 'limit', limitPrice: '49000' };
const sell = { action: 'sell', orderType: 'market', quantity: '0.1' };
const limitSale = { ...sell, orderType: 'limit', limitPrice: '62000' };
const stopOfA = 'sell 0.0999 stop 48000';
const stopOfB = 'sell 0.0999 stop 47000';

const sales = [
  ['at market', sell],
  ['at a limit', limitSale],
  ['at a stop-limit', { ...sell, orderType: 'stop_limit', stopPrice: '45000', limitPrice: '44900' }],
  ['at a stop-market', { ...sell, orderType: 'stop_market', stopPrice: '45000' }],
  ['in the quote currency', { ...limitSale, quantity: undefined, quoteQuantity: '6200' }],
  ['in per cent', { ...sell, quantity: undefined, quantityPercent: '100%' }],
  ['as an exit', { ...sell, action: 'exit_long' }],
] as const;

describe('While strategy A holds what it bought with a stop-loss, and the owner nothing besides', () => {
  beforeEach(async () => {
    expect(await send('a', buy)).toMatchObject({ status: 'placed' });
    await goOn(12);
  });

  test.each(sales)('a sale %s of strategy B, whose buy rests unfilled, sells nothing', async (_, sale) => {
    expect(await send('b', restingBuy)).toMatchObject({ status: 'placed' });
    await goOn(12);
    const exit = await send('b', sale);

    expect(exit.status).toBe('denied');
    expect(noteOf(exit)).toContain(
      'strategy "b" has nothing to sell beside the 0.0999 BTC of strategy "a", bought with a stop-loss; nothing was sold',
    );
    await goOn(60);
    expect([await held(), await standing()]).toEqual(['0.0999', ['buy 0.1 at 49000', stopOfA]]);
    expect(await send('a', sell)).toMatchObject({ status: 'placed' });
    expect(await held()).toBe('0');
  });

  test.each([
    ['was denied', { ...buy, stopLoss: '51000' }, 'denied'],
    ['was refused', { ...buy, quantity: '1000' }, 'rejected'],
  ])('a sale of strategy B, whose buy %s, sells nothing', async (_, refused, status) => {
    if (status === 'rejected') relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-limit' });
    const bought = status === 'rejected' ? { ...refused, quantity: '0.1' } : refused;
    expect(await send('b', bought)).toMatchObject({ status });
    const exit = await send('b', sell);
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['denied', '0.0999', [stopOfA]]);
  });

  test('a sale of strategy B of more than has filled of its buy sells nothing, and one of that sells it', async () => {
    await send('b', { ...restingBuy, stopLoss: '47000' });
    await goOn(12);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49000'), parseDecimal('0.04'));
    relay.setPrice('50000');
    await goOn(12);
    const whole = await send('b', sell);
    expect([whole.status, await held()]).toEqual(['denied', '0.13986']);
    expect(noteOf(whole)).toContain('strategy "b" has no more than 0.03996 BTC to sell');
    const part = await send('b', { ...sell, quantity: '0.04' });
    await goOn(30);

    expect([part.status, await held(), await standing()]).toEqual([
      'placed',
      '0.0999',
      ['buy 0.06 at 49000', stopOfA],
    ]);
  });

  test('a sale of strategy B sells nothing of what a buy of A has bought whose outcome is not known', async () => {
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-limit' });
    expect(await send('a', buyLower)).toMatchObject({ status: 'unknown' });
    await goOn(12);
    const exit = await send('b', sell);
    expect([exit.status, await held()]).toEqual(['denied', '0.1998']);
    expect(noteOf(exit)).toContain('of which what "s2" has bought is not known yet');
    await relay.reconcile();
    await goOn(30);

    expect(await standing()).toEqual([stopOfB, stopOfA]);
  });

  test('while the balance cannot be read, a sale of strategy B sells what it has bought and no more', async () => {
    await send('b', buyLower);
    await goOn(12);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'trade-balance', probability: 1 });
    const tooMuch = await send('b', { ...limitSale, quantity: '0.1998' });
    const exit = await send('b', { ...sell, quantity: '0.0999' });
    relay.paper.control.clearFaults();
    await goOn(30);

    expect([tooMuch.status, exit.status, await held()]).toEqual(['denied', 'placed', '0.0999']);
    expect(noteOf(tooMuch)).toContain('the spot balance could not be read');
    expect(await standing()).toEqual([stopOfA]);
  });

  test('what the owner holds beside a buy of A whose outcome is not known is sold by strategy B', async () => {
    await holdBesides('0.2');
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-limit' });
    await send('a', buyLower);
    const exit = await send('b', sell);

    expect([exit.status, await held()]).toEqual(['placed', '0.2998']);
  });

  test.each([
    ['with a stop-loss', buyLower, [stopOfB, stopOfA]],
    ['without one', unguarded, [stopOfA]],
  ])('a sale of more than strategy B bought %s sells nothing of A', async (_, bought, standingStops) => {
    await send('b', bought);
    await goOn(12);
    const tooMuch = await send('b', { ...sell, quantity: '0.2' });
    await goOn(12);
    expect([tooMuch.status, await held()]).toEqual(['denied', '0.1998']);
    expect(noteOf(tooMuch)).toContain('strategy "b" has no more than 0.0999 BTC to sell');
    expect(await standing()).toEqual(standingStops);
    const exit = await send('b', sell);
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.0999', [stopOfA]]);
  });

  test('a sale in per cent of strategy B sells its own share alone', async () => {
    await send('b', buyLower);
    await goOn(12);
    const half = await send('b', { ...sell, quantity: undefined, quantityPercent: '50%' });
    await goOn(12);
    expect([half.status, await standing()]).toEqual(['placed', ['sell 0.04995 stop 47000', stopOfA]]);
    const rest = await send('b', { ...sell, quantity: undefined, quantityPercent: '100%' });
    await goOn(30);

    expect([rest.status, await held(), await standing()]).toEqual(['placed', '0.0999', [stopOfA]]);
  });

  test('a second exit of strategy B, which has sold its buy, sells nothing', async () => {
    await send('b', buyLower);
    await goOn(12);
    await send('b', sell);
    const second = await send('b', sell);
    await goOn(30);

    expect([second.status, await held(), await standing()]).toEqual(['denied', '0.0999', [stopOfA]]);
  });

  test.each([
    ['with a stop-loss', buyLower],
    ['without one', unguarded],
  ])(
    'what strategy B has just bought %s is sold while the balance does not show it yet',
    async (_, bought) => {
      relay.paper.control.addFault({
        fault: 'read_lag',
        endpoint: 'trade-balance',
        delayMs: 8_000,
        probability: 1,
      });
      await send('b', bought);
      const exit = await send('b', sell);
      relay.paper.control.clearFaults();
      await goOn(30);

      expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.0999', [stopOfA]]);
    },
  );

  test('what a buy of strategy B has filled is sold before anybody has followed it', async () => {
    await send('b', { ...restingBuy, stopLoss: '45000' });
    await goOn(12);
    relay.setPrice('48900');
    const exit = await send('b', sell);
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.0999', [stopOfA]]);
  });

  test('what a buy of strategy B has filled is sold once the balance shows it, before anybody has followed it', async () => {
    await send('b', { ...restingBuy, stopLoss: '45000' });
    await goOn(30);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'trade-balance',
      delayMs: 3_000,
      probability: 1,
    });
    relay.setPrice('48900');
    const exit = await send('b', sell);
    relay.paper.control.clearFaults();
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.0999', [stopOfA]]);
  });

  test('a sale of strategy B sells nothing right after a resting sale of A was cancelled, before anybody has followed that', async () => {
    expect(await send('a', limitSale)).toMatchObject({ status: 'placed' });
    await goOn(30);
    expect(await send('a', { action: 'cancel_all' })).toMatchObject({ status: 'cancelled' });
    const exit = await send('b', sell);
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['denied', '0.0999', [stopOfA]]);
  });

  test('a sale of strategy B that nothing can show late is denied at once', async () => {
    await goOn(30);
    const sentAtMs = relay.clock.nowMs() + 1000;
    const exit = await send('b', sell);

    expect([exit.status, relay.clock.nowMs() - sentAtMs]).toEqual(['denied', 0]);
  });

  test('what strategy B has bought is sold, although A was sold by hand after its stop-loss was cancelled by hand', async () => {
    await send('b', buyLower);
    await goOn(12);
    const [stop] = (
      await listOpenOrders(await relay.services.exchangeFor('main'), 'BTC_USDT', {})
    ).orders.filter(({ activationPrice }) => activationPrice?.eq('48000') === true);
    const client = await relay.services.exchangeFor('main');
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
    await holdBesides('-0.0999');
    await goOn(12);
    const exit = await send('b', sell);
    await goOn(30);

    expect([exit.status, await held()]).toEqual(['placed', '0']);
  });

  test('what strategy B buys without a stop-loss and sells again, ten times, leaves the stop-loss of A, and nothing in sight', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect(await send('b', unguarded)).toMatchObject({ status: 'placed' });
      await goOn(12);
      expect(await send('b', sell)).toMatchObject({ status: 'placed' });
      await goOn(12);
      expect([await held(), await standing()]).toEqual(['0.0999', [stopOfA]]);
    }
    await goOn(120);

    const followed = await relay.services.executions.followed('main', 100);
    expect(followed.map(({ signalId }) => signalId.split(':')[0])).toEqual(['s1', 's1']);
    expect(relay.alarms).toEqual([]);
  });

  test('all of an old buy of strategy B is sold in per cent when the stop-loss of A has sold, which nobody has followed', async () => {
    await send('b', unguarded);
    await goOn(12);
    relay.clock.advance(20 * 60_000);
    await relay.follow();
    for (let other = 0; other < 26; other += 1) await send('c', { ...unguarded, quantity: '1000' });
    relay.clock.advance(20 * 60_000);
    await relay.follow();
    relay.setPrice('47900');
    const exit = await send('b', { ...sell, quantity: undefined, quantityPercent: '100%' });
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0', []]);
  });

  test('a sale of strategy B leaves the stop-loss of A that came from the command of the alarm', async () => {
    await send('b', buyLower);
    await goOn(12);
    const client = await relay.services.exchangeFor('main');
    const { orders } = await listOpenOrders(client, 'BTC_USDT', {});
    const stop = orders.find(({ activationPrice }) => activationPrice?.eq('48000') === true);
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
    await goOn(90);
    const command = String(relay.alarms.at(-1)?.['whatToDo']);
    relay.clock.advance(1000);
    await relay.receiveAll(/echo '(.*)' \|/.exec(command)?.[1] ?? '');
    await relay.runLine();
    await goOn(12);
    expect(await standing()).toEqual([stopOfB, stopOfA]);
    const tooMuch = await send('b', { ...sell, quantity: '0.2' });
    expect([tooMuch.status, await standing()]).toEqual(['denied', [stopOfB, stopOfA]]);
    const exit = await send('b', sell);
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.0999', [stopOfA]]);
  });

  test('a sale that names no strategy may sell it', async () => {
    const exit = await send(null, sell);
    await goOn(30);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0', []]);
  });
});

describe('While a resting buy of strategy B has just filled, before anybody has followed it', () => {
  const fill = () => relay.setPrice('49000');

  test.each(sales)('a sale %s of strategy A, which has bought nothing, sells nothing', async (_, sale) => {
    await send('b', restingBuy);
    await goOn(12);
    fill();

    expect(await send('a', sale)).toMatchObject({ status: 'denied' });
    await goOn(30);
    expect([await held(), await standing()]).toEqual(['0.0999', [stopOfA]]);
  });

  test.each([
    ['in per cent', { ...sell, quantity: undefined, quantityPercent: '100%' }],
    ['at market', sell],
  ])('a sale %s of strategy A sells what that has bought', async (_, sale) => {
    await send('a', buyLower);
    await goOn(12);
    await send('b', restingBuy);
    await goOn(12);
    fill();

    expect(await send('a', sale)).toMatchObject({ status: 'placed' });
    await goOn(30);
    expect([await held(), await standing()]).toEqual(['0.0999', [stopOfA]]);
  });
});

test('A sale of a strategy may sell what was bought without a name', async () => {
  await send(null, buy);
  await goOn(12);
  const exit = await send('b', sell);
  await goOn(30);

  expect([exit.status, await held(), await standing()]).toEqual(['placed', '0', []]);
});

test('A sale of strategy B sells nothing of what A has bought in the quote currency, before anybody has followed it', async () => {
  await relay.close();
  await open({ maxSlippage: null });
  const ofQuote = { ...buy, quantity: undefined, quoteQuantity: '5000' };
  expect(await send('a', ofQuote)).toMatchObject({ status: 'placed' });
  const exit = await send('b', sell);
  await goOn(30);

  expect([exit.status, await held(), await standing()]).toEqual(['denied', '0.0999', [stopOfA]]);
});

test('A sale of strategy B is not denied for a buy of A in the quote currency that rests, beyond what that can buy', async () => {
  await relay.close();
  await open({ maxSlippage: null });
  await holdBesides('0.2');
  const resting = { ...buy, quantity: undefined, quoteQuantity: '5000', orderType: 'stop_market' };
  await send('a', { ...resting, stopPrice: '51000' });
  await goOn(12);
  const exit = await send('b', { ...sell, quantity: '0.09' });
  await goOn(30);

  expect(exit.status).toBe('placed');
});

test('A sale of strategy B sells nothing of what A has bought in the quote currency, which has ended and whose deals are not listed yet', async () => {
  await relay.close();
  await open({ maxSlippage: null });
  const ofQuote = { ...buy, quantity: undefined, quoteQuantity: '5000' };
  await send('a', { ...ofQuote, orderType: 'stop_market', stopPrice: '51000' });
  await goOn(12);
  for (const endpoint of ['executed-history', 'order-deals'])
    relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 9_000, probability: 1 });
  relay.setPrice('51000');
  relay.clock.advance(1_000);
  await relay.follow();
  const exit = await send('b', { ...sell, quantity: '0.09' });
  relay.paper.control.clearFaults();
  await goOn(30);

  expect([exit.status, await standing()]).toEqual([
    'denied',
    [expect.stringMatching(/^sell 0\.09\d* stop 48000$/)],
  ]);
});

test('A sale of strategy B sells nothing of A whose stop-loss does not stand yet', async () => {
  await send('a', restingBuy);
  await goOn(12);
  relay.setPrice('48900');
  relay.clock.advance(1000);
  await relay.follow();
  const exit = await send('b', sell);
  await goOn(30);

  expect([exit.status, await held(), await standing()]).toEqual(['denied', '0.0999', [stopOfA]]);
});

describe('While strategy A holds what it bought with a stop-loss, and the owner 1 besides', () => {
  beforeEach(async () => {
    await holdBesides('1');
    await send('a', buy);
    await goOn(12);
  });

  test.each([
    ['at market', sell, '0.9999', [stopOfA]],
    ['in per cent', { ...sell, quantity: undefined, quantityPercent: '50%' }, '0.5999', [stopOfA]],
    ['of all of that', { ...sell, quantity: '1' }, '0.0999', [stopOfA]],
    ['at a limit', limitSale, '1.0999', ['sell 0.1 at 62000', stopOfA]],
  ])(
    'a sale %s of strategy B, which bought nothing, sells that, and A keeps its stop-loss',
    async (_, sale, left, orders) => {
      await send('b', restingBuy);
      const exit = await send('b', sale);
      await goOn(60);

      expect([exit.status, await held()]).toEqual(['placed', left]);
      expect(await standing()).toEqual(['buy 0.1 at 49000', ...orders].sort());
      relay.setPrice('62100');
      await goOn(60);
      expect(await standing()).toContain(stopOfA);
      expect(relay.alarms).toEqual([]);
    },
  );

  test('a sale of more than that sells nothing', async () => {
    const exit = await send('b', { ...sell, quantity: '1.05' });
    await goOn(12);

    expect([exit.status, await held(), await standing()]).toEqual(['denied', '1.0999', [stopOfA]]);
  });

  test('a sale of more than strategy B bought sells its own and that', async () => {
    await send('b', buyLower);
    await goOn(12);
    const exit = await send('b', { ...sell, quantity: '0.2' });
    await goOn(60);

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.9998', [stopOfA]]);
    expect(await send('a', sell)).toMatchObject({ status: 'placed' });
    await goOn(30);
    expect([await held(), await standing()]).toEqual(['0.8998', []]);
  });

  test('a stop-loss of A that sells after A has sold the same sells what A bought since', async () => {
    const atStop = { ...sell, orderType: 'stop_market', stopPrice: '48500', quantity: '0.0999' };
    expect(await send('a', atStop)).toMatchObject({ status: 'placed' });
    relay.setPrice('48400');
    expect(await send('a', buyLower)).toMatchObject({ status: 'placed' });
    relay.clock.advance(1000);
    relay.setPrice('47900');
    await goOn(120);

    expect([await held(), await standing()]).toEqual(['1', []]);
    // What it buys later is its own again.
    await send('a', buyLower);
    await goOn(30);
    expect([await held(), await standing()]).toEqual(['1.0999', [stopOfB]]);
    await goOn(3600);
    expect(await standing()).toEqual([stopOfB]);
  });
});

test.each([
  ['spot', true],
  ['margin', false],
])(
  'a sale of another strategy is shown as no close of what this one bought, in a market that is now on %s',
  async (_, isSpot) => {
    await send('a', buy);
    await goOn(10);
    await holdBesides('1');
    await send('b', sell);
    await goOn(10);
    const { ledger, executions, clock } = relay.services;
    const sources = {
      ...{ ledger, executions, isSpot: () => isSpot },
      firstOf: async () => null,
      heldOf: async () => (isSpot ? null : parseDecimal('0')),
    };

    const told = await readEndings(
      sources,
      [await relay.entry('s1'), await relay.entry('s2')],
      clock.nowMs(),
    );

    expect(told.map((ending) => [ending?.state, ending?.profit])).toEqual([
      ['open', null],
      ['reduced', null],
    ]);
  },
);

test('A sale of strategy A that rests holds nothing of what A buys after it', async () => {
  await holdBesides('0.1');
  expect(await send('a', { ...limitSale, quantity: '0.05' })).toMatchObject({ status: 'placed' });
  expect(await send('a', buy)).toMatchObject({ status: 'placed' });
  await goOn(12);

  const exit = await send('b', { ...sell, quantity: undefined, quantityPercent: '100%' });
  await goOn(30);

  expect([exit.status, await held(), await standing()]).toEqual([
    'placed',
    '0.1499',
    ['sell 0.05 at 62000', stopOfA],
  ]);
});

test('What a resting sale of strategy B holds is not sold twice, after B has bought and sold beside it', async () => {
  await send('a', buy);
  await goOn(30);
  await send('b', unguarded);
  await goOn(30);
  const resting = await send('b', { ...limitSale, quantity: '0.0999' });
  await goOn(30);
  await send('b', unguarded);
  await goOn(30);
  const first = await send('b', { ...sell, quantity: '0.0999' });
  await goOn(30);
  const second = await send('b', { ...sell, quantity: '0.05' });

  expect([resting, first, second].map(({ status }) => status)).toEqual(['placed', 'placed', 'denied']);
  expect(await standing()).toEqual(['sell 0.0999 at 62000', stopOfA]);
});

test('A sale of strategy A that rests holds nothing of what A buys after it, after A has sold another buy beside it', async () => {
  await send('a', buy);
  await goOn(30);
  const resting = await send('a', { ...limitSale, quantity: '0.0999' });
  await goOn(30);
  await send('a', unguarded);
  await goOn(30);
  const sold = await send('a', { ...sell, quantity: '0.0999' });
  await goOn(30);
  await send('a', buy);
  await goOn(30);
  const ofB = await send('b', { ...sell, quantity: '0.05' });

  expect([resting, sold, ofB].map(({ status }) => status)).toEqual(['placed', 'placed', 'denied']);
  expect(await standing()).toEqual(['sell 0.0999 at 62000', stopOfA]);
});
