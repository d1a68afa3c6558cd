import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { spotSettings } from '../support/spot-settings.ts';

/** A strategy sells each buy itself, also one whose stop-loss has sold it already. */
let relay: Aftermath;
let count = 0;
/** Called before each request. */
let onRequest: (path: string) => void;
beforeEach(async () => {
  count = 0;
  onRequest = () => undefined;
  relay = await openAftermath('live', (_, path) => onRequest(path), undefined, spotSettings);
  hold('0');
});
afterEach(() => relay.close());

function hold(btc: string): void {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(btc));
}

function lag(endpoint: string): void {
  relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 5_000, probability: 1 });
}

const runLine = () => relay.runLine();

async function send(members: object): Promise<Entry> {
  count += 1;
  relay.clock.advance(1000);
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: `s${count}`, ...members }));
  await runLine();
  return await relay.entry(`s${count}`);
}

async function goOn(seconds: number, step = 3): Promise<void> {
  for (let passed = 0; passed < seconds; passed += step) {
    relay.clock.advance(step * 1000);
    await relay.follow();
    await runLine();
  }
}

async function standing(): Promise<readonly string[]> {
  const { orders } = await listOpenOrders(await relay.services.exchangeFor('main'), 'BTC_USDT', {});
  return orders
    .map(
      ({ side, remaining, activationPrice, price }) =>
        `${side} ${formatDecimal(remaining)} ${formatDecimal(activationPrice ?? price)}`,
    )
    .sort();
}

async function held(): Promise<string> {
  const { BTC } = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  return formatDecimal(BTC?.available.plus(BTC.freeze) ?? parseDecimal('0'));
}

const noteOf = ({ steps }: Entry) => steps.at(-1)?.note ?? '';

const buy = { action: 'buy', orderType: 'market', quantity: '0.1' };
const sell = { action: 'sell', orderType: 'market', quantity: '0.1' };
const next = ['sell 0.0999 45000'];

describe('After the stop-loss of the first of two spot buys has sold it', () => {
  beforeEach(async () => {
    await send({ ...buy, stopLoss: '48000' });
    await send({ ...buy, stopLoss: '45000' });
    await goOn(12);
    relay.setPrice('47900');
    await goOn(6);
    expect(await standing()).toEqual(next);
  });

  test.each([
    ['at market', {}],
    [
      'in the quote currency',
      { quantity: undefined, orderType: 'limit', limitPrice: '47900', quoteQuantity: '4790' },
    ],
    ['at a limit', { orderType: 'limit', limitPrice: '50000' }],
  ])(
    'a sale of it %s sells nothing, says why, and leaves the other one with its stop-loss',
    async (_, how) => {
      const sold = await send({ ...sell, ...how });
      await goOn(30);

      expect(sold.status).toBe('satisfied');
      expect(noteOf(sold)).toContain('of "s1" has sold');
      expect([await held(), await standing()]).toEqual(['0.0999', next]);
      expect(relay.alarms).toEqual([]);
    },
  );

  test('the sale after that one sells the other buy', async () => {
    await send(sell);
    const second = await send(sell);
    await goOn(30);

    expect(second.status).toBe('placed');
    expect([await held(), await standing()]).toEqual(['0', []]);
  });

  test('a sale of both sells the other one alone, and says so', async () => {
    const sold = await send({ ...sell, quantity: '0.2' });
    const sending = sold.steps.find(({ status }) => status === 'sending');
    await goOn(30);

    expect(sold.status).toBe('placed');
    expect(sending?.note).toContain('of "s1" has sold 0.0999 of it already');
    expect([await held(), await standing()]).toEqual(['0', []]);
  });

  test('sales of its parts sell nothing until they are more than it', async () => {
    const parts = [await send({ ...sell, quantity: '0.04' }), await send({ ...sell, quantity: '0.06' })];
    const next = await send({ ...sell, quantity: '0.03' });

    expect([...parts, next].map(({ status }) => status)).toEqual(['satisfied', 'satisfied', 'placed']);
    expect(await held()).toBe('0.0699');
  });

  test('a sale of it hours later sells nothing either', async () => {
    await goOn(2 * 3600, 60);
    const sold = await send(sell);

    expect(sold.status).toBe('satisfied');
    expect(await standing()).toEqual(next);
  });

  test('a sale of a share of what is held sells that', async () => {
    const sold = await send({ ...sell, quantity: undefined, quantityPercent: '100%' });

    expect(sold.status).toBe('placed');
    expect(await held()).toBe('0');
  });

  test('sales of shares of what is held note nothing of what was sold before them', async () => {
    await goOn(12);
    for (const quantityPercent of ['10%', '20%'])
      expect(await send({ ...sell, quantity: undefined, quantityPercent })).toMatchObject({
        status: 'placed',
      });

    expect(await relay.services.facts.read('main', 'stops answered in BTC_USDT')).toBeNull();
  });

  test('a sale of it leaves what the owner holds besides', async () => {
    hold('0.5999');
    const sold = await send(sell);
    await goOn(30);

    expect(sold.status).toBe('satisfied');
    expect([await held(), await standing()]).toEqual(['0.5999', next]);
  });
});

describe('After the stop-loss of the only spot buy has sold it', () => {
  beforeEach(async () => {
    await send({ ...buy, stopLoss: '48000', strategy: 'a' });
    await goOn(12);
    relay.setPrice('47900');
    await goOn(6);
  });

  test('the sale of a later buy sells that', async () => {
    await send({ ...buy, stopLoss: '45000', strategy: 'a' });
    const sold = await send({ ...sell, strategy: 'a' });

    expect(sold.status).toBe('placed');
    expect([await held(), await standing()]).toEqual(['0', []]);
  });

  test.each([[3], [50 * 60]])(
    'a sale of it %s seconds later sells nothing that the owner holds besides',
    async (seconds) => {
      hold('1');
      await goOn(seconds, seconds > 60 ? 60 : 3);
      const sold = await send({ ...sell, strategy: 'a' });

      expect([sold.status, await held()]).toEqual(['satisfied', '1']);
      expect(noteOf(sold)).toContain('of "s1" has sold');
      expect(await send({ ...sell, strategy: 'a' })).toMatchObject({ status: 'placed' });
    },
  );

  test('a sale of another strategy sells what the owner holds besides', async () => {
    hold('1');
    const sold = await send({ ...sell, strategy: 'b' });

    expect([sold.status, await held()]).toEqual(['placed', '0.9']);
  });

  test('nothing is followed any more after two hours', async () => {
    await goOn(2 * 3600, 60);

    expect(await relay.services.executions.followed('main', 100)).toEqual([]);
  });
});

describe('After the stop-loss of the second of two spot buys has sold it, and the first is held', () => {
  beforeEach(async () => {
    await send({ ...buy, quantity: '0.05', stopLoss: '40000', strategy: 'h' });
    await send({ ...buy, stopLoss: '48000', strategy: 'b' });
    await goOn(12);
    relay.setPrice('47900');
    await goOn(6);
  });

  test.each([
    // The sale of a strategy takes the fee of its buy from no other one.
    ['of the same strategy', 'b', 'b', '0.04995'],
    ['of no strategy', undefined, undefined, '0.04985'],
    ['of no strategy, with the sale of one', undefined, 'b', '0.04995'],
    ['of a strategy, with a sale of none', 'c', undefined, '0.04985'],
  ])('the sale of a later buy %s sells that', async (_, bought, sold, left) => {
    await goOn(60, 3);
    await send({ ...buy, stopLoss: '45000', strategy: bought });
    await goOn(12);
    const exit = await send({ ...sell, strategy: sold });
    await goOn(12);

    expect([exit.status, await held()]).toEqual(['placed', left]);
  });

  test('the sale of a later buy sells that when the buy in between is not read any more', async () => {
    await send({ ...buy, stopLoss: '45000', strategy: 'b' });
    await goOn(12);
    await send({ ...sell, strategy: 'b' });
    await goOn(3 * 3600, 60);
    const sold = await send({ ...sell, quantity: '0.05', strategy: 'h' });

    expect(sold.status).toBe('placed');
  });

  test('a later buy of another strategy leaves it to the sale of its own', async () => {
    await send({ ...buy, stopLoss: '45000', strategy: 'c' });
    await goOn(12);
    const late = await send({ ...sell, strategy: 'b' });
    const exit = await send({ ...sell, strategy: 'c' });

    expect([late.status, exit.status]).toEqual(['satisfied', 'placed']);
  });
});

test('What alerts have asked to sell of a stop-loss counts after hundreds of sales while another buy is held', async () => {
  await send({ ...buy, stopLoss: '49900' });
  await send({ ...buy, stopLoss: '49800' });
  await send({ ...buy, stopLoss: '45000' });
  await goOn(12);
  relay.setPrice('49790');
  await goOn(6);
  expect(await standing()).toEqual(next);
  expect(await send({ ...sell, quantity: '0.0999' })).toMatchObject({ status: 'satisfied' });
  for (let sale = 0; sale < 205; sale += 1) await send({ ...sell, quantity: '0.0002' });
  expect(await send({ ...sell, quantity: '0.0589' })).toMatchObject({ status: 'satisfied' });

  const sold = await send(sell);

  expect([sold.status, await held()]).toEqual(['placed', '0']);
});

describe('While nobody has followed yet how the stop-loss of the first of two spot buys ended', () => {
  beforeEach(async () => {
    await send({ ...buy, stopLoss: '48000' });
    await send({ ...buy, stopLoss: '45000' });
    await goOn(12);
    relay.setPrice('47900');
  });

  test('a sale of it looks that up, and sells nothing', async () => {
    const sold = await send(sell);

    expect(sold.status).toBe('satisfied');
    expect(await standing()).toEqual(next);
    await goOn(30);
    const second = await send(sell);
    expect(second.status).toBe('placed');
    expect(await held()).toBe('0');
  });

  test('a sale of it that cannot look that up is denied, and says why', async () => {
    lag('ended-order');
    lag('executed-history');
    const sold = await send(sell);

    expect(sold.status).toBe('denied');
    expect(noteOf(sold)).toContain('is not listed any more, and how it ended is not known yet');
    expect(await standing()).toEqual(next);
  });
});

test('While no list shows yet that a stop-loss was placed and has sold, two sales of its buy sell nothing that is held besides', async () => {
  hold('1');
  relay.paper.control.addFault({ fault: 'read_lag', delayMs: 7_000, probability: 1 });
  await send({ ...buy, stopLoss: '48000' });
  await goOn(3);
  relay.setPrice('47900');
  const first = await send({ ...sell, quantity: '0.04' });
  const second = await send({ ...sell, quantity: '0.06' });

  // All that was bought, without its fee, is sold by the stop-loss.
  expect(await held()).toBe('1');
  expect(['not_sent', 'denied', 'satisfied']).toContain(first.status);
  expect(['not_sent', 'denied', 'satisfied']).toContain(second.status);
});

test('The sale of a later buy sells that while nobody has followed yet how the stop-loss of the first one ended', async () => {
  await send({ ...buy, stopLoss: '48000' });
  await goOn(12);
  relay.setPrice('47900');
  await send({ ...buy, stopLoss: '45000' });
  const sold = await send(sell);

  expect([sold.status, await held()]).toEqual(['placed', '0']);
});

describe('A sale whose stop-loss fills after the open orders were read, and before it is cancelled', () => {
  /** What the stop-loss of the first buy sells when it is about to be cancelled; absent: all of it. */
  function fireOnCancel(amount?: string): void {
    onRequest = (path) => {
      if (path !== '/api/v4/order/cancel') return;
      const part = amount === undefined ? undefined : parseDecimal(amount);
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('49890'), part);
      onRequest = (later) => {
        if (later === path) return;
        relay.setPrice('50000');
        onRequest = () => undefined;
      };
    };
  }

  beforeEach(async () => {
    await send({ ...buy, stopLoss: '49900' });
    await send({ ...buy, stopLoss: '45000' });
    await goOn(12);
  });

  test('sells nothing where that has sold all of it, and counts as its sale', async () => {
    fireOnCancel();
    const first = await send(sell);
    await goOn(30);
    expect([await held(), await standing()]).toEqual(['0.0999', next]);
    const second = await send(sell);
    await goOn(30);

    expect([first.status, second.status]).toEqual(['not_sent', 'placed']);
    expect(noteOf(first)).toContain('of "s1" has sold 0.0999 of it already');
    expect([await held(), await standing()]).toEqual(['0', []]);
  });

  test('sells the other buy where it is to sell both', async () => {
    fireOnCancel();
    const sold = await send({ ...sell, quantity: '0.2' });
    await goOn(30);

    expect(sold.status).toBe('placed');
    expect(noteOf(sold)).toContain('of "s1" has sold 0.0999 of it already');
    expect([await held(), await standing()]).toEqual(['0', []]);
    expect(relay.alarms).toEqual([]);
  });

  test.each([
    ['at market', {}],
    ['at a limit', { orderType: 'limit', limitPrice: '47000' }],
    ['as a share', { quantity: undefined, quantityPercent: '50%' }],
  ])('sells %s what is left of it where that has sold a part', async (_, how) => {
    fireOnCancel('0.04');
    const sold = await send({ ...sell, ...how });
    await goOn(30);

    expect(sold.status).toBe('placed');
    expect(noteOf(sold)).toContain('of "s1" has sold 0.04 of it already');
    const left = 'quantityPercent' in how ? '0.0999' : '0.0998';
    expect([await held(), await standing()]).toEqual([left, [`sell ${left} 45000`]]);
    expect(relay.alarms).toEqual([]);
    const second = await send(sell);
    await goOn(30);
    expect([second.status, await held(), await standing()]).toEqual(['placed', '0', []]);
  });

  test('sells nothing that the owner holds besides', async () => {
    hold('10');
    fireOnCancel();
    const sold = await send(sell);
    await goOn(30);

    expect(sold.status).toBe('not_sent');
    expect([await held(), await standing()]).toEqual(['9.9001', next]);
  });

  test.each([['10'], ['0.1998']])(
    'leaves what it did not have to sell to the next sale, of %s held',
    async (funds) => {
      hold(funds);
      fireOnCancel('0.05');
      const first = await send({ ...sell, quantity: '0.04' });
      expect(await standing()).toEqual(['sell 0.0499 49900', ...next]);
      await goOn(30);
      const second = await send({ ...sell, quantity: '0.03' });
      await goOn(30);

      expect([first.status, second.status]).toEqual(['not_sent', 'placed']);
      expect(await held()).toBe(formatDecimal(parseDecimal(funds).minus('0.07')));
    },
  );

  test('leaves no stop-loss on what the owner holds besides', async () => {
    hold('10');
    fireOnCancel('0.04');
    const sold = await send(sell);

    expect(sold.status).toBe('placed');
    expect(await standing()).toEqual(['sell 0.0998 45000']);
  });

  test('keeps what it has sold off its stop-loss where another one cannot be cancelled', async () => {
    await send({ ...buy, stopLoss: '49950' });
    await goOn(12);
    hold('10');
    for (const endpoint of ['ended-order', 'executed-history', 'order-deals'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 60_000, probability: 1 });
    onRequest = (path) => {
      if (path !== '/api/v4/order/cancel') return;
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('49940'), parseDecimal('0.04'));
      onRequest = (later) => {
        relay.setPrice('50000');
        if (later === path) relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order' });
        onRequest = () => undefined;
      };
    };
    const sold = await send({ ...sell, quantity: '0.3' });
    await goOn(12);

    expect(sold.status).toBe('not_sent');
    expect(noteOf(sold)).toContain('may still be open');
    expect([await held(), await standing()]).toEqual([
      '9.96',
      ['sell 0.0599 49950', 'sell 0.0999 49900', ...next].sort(),
    ]);
  });

  test('adds that to what it had sold before', async () => {
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49890'), parseDecimal('0.03'));
    fireOnCancel('0.04');
    const sold = await send(sell);
    await goOn(30);
    expect(await held()).toBe('0.0998');
    const second = await send(sell);
    await goOn(30);

    expect([sold.status, second.status, await held()]).toEqual(['placed', 'placed', '0']);
  });

  test('sells nothing, and says so, while no list shows what it has sold', async () => {
    fireOnCancel();
    lag('ended-order');
    lag('executed-history');
    const sold = await send({ ...sell, quantity: '0.2' });
    await goOn(30);

    expect(sold.status).toBe('not_sent');
    expect(noteOf(sold)).toContain('how much it has sold is not known');
    expect([await held(), await standing()]).toEqual(['0.0999', next]);
  });

  test('sells what is left once a list shows it', async () => {
    fireOnCancel();
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'ended-order',
      delayMs: 2_000,
      probability: 1,
    });
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'executed-history',
      delayMs: 2_000,
      probability: 1,
    });
    const sold = await send({ ...sell, quantity: '0.2' });
    await goOn(30);

    expect(sold.status).toBe('placed');
    expect([await held(), await standing()]).toEqual(['0', []]);
  });
});

describe('After a part of the stop-loss of the first of two spot buys has filled, which nobody has followed yet', () => {
  beforeEach(async () => {
    await send({ ...buy, stopLoss: '48000' });
    await send({ ...buy, stopLoss: '45000' });
    await goOn(12);
  });

  test.each([
    ['the owner holds more', '10', '9.8'],
    ['nothing else is held', '0.1998', '0'],
  ])('a sale of both sells what is left of them where %s', async (_, funds, left) => {
    hold(funds);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.04'));
    const sold = await send({ ...sell, quantity: '0.2' });
    expect(await standing()).toEqual([]);
    await goOn(30);

    expect(sold.status).toBe('placed');
    expect([await held(), await standing()]).toEqual([left, []]);
    expect(relay.alarms).toEqual([]);
  });

  test.each([1, 3, 6, 9])(
    'lists that lag %i s behind make nothing of it sold twice, by the relay or by a sale of both',
    async (seconds) => {
      hold('10');
      relay.clock.advance(10_000);
      relay.paper.control.addFault({ fault: 'read_lag', delayMs: 5_000, probability: 1 });
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.04'));
      await goOn(seconds, 1);
      const sold = await send({ ...sell, quantity: '0.2' });
      await goOn(12);
      relay.paper.control.clearFaults();
      await goOn(30);

      expect([sold.status, await standing()]).toEqual(['placed', []]);
      expect(parseDecimal(await held()).gte('9.8')).toBe(true);
    },
  );
});
