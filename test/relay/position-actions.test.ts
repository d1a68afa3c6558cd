import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { listAccountDeals } from '../../lib/exchange/list-account.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Account, MarketLimits } from '../../lib/model/account.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
let alerts = 0;

beforeEach(async () => {
  relay = await openAftermath();
  alerts = 0;
});

afterEach(() => relay.close());

function alertWith(members: object): string {
  alerts += 1;
  return JSON.stringify({
    ticker: 'BTCUSDT',
    id: `s${alerts}`,
    maxSlippage: '0.5%',
    ...members,
  });
}

/** The signed position of the market at the exchange. */
async function heldAmount(): Promise<string> {
  const client = await relay.services.exchangeFor('main');
  const { records } = await client.call(openPositions, { market: 'BTC_USDT' });
  const [position] = records;
  return position === undefined ? '0' : formatDecimal(position.amount);
}

/** Receives the alert and executes all of its legs. @returns the entries, oldest first */
async function send(members: object): Promise<readonly Entry[]> {
  await relay.receiveAll(alertWith(members));
  const id = `s${alerts}`;
  const reduce = await relay.services.ledger.read({ account: 'main', signalId: `${id}:reduce` });
  await relay.execute(id);
  const entry = await relay.entry(id);
  return reduce === null ? [entry] : [await relay.entry(`${id}:reduce`), entry];
}

const statusesOf = (entries: readonly Entry[]) => entries.map(({ status }) => status);
const noteOf = (entry: Entry | undefined) => entry?.steps.at(-1)?.note;

/** An order that fills at once; afterwards every list has come through. */
async function order(
  action: 'buy' | 'sell',
  quantity: string,
  members: object = {},
): Promise<Entry | undefined> {
  const [entry] = await send({ action, orderType: 'market', quantity, ...members });
  relay.clock.advance(longestPositionLagMs + 1);
  return entry;
}

function changeAccount(changes: Partial<Account>): void {
  const { settings } = relay.services;
  const { main } = settings.accounts;
  if (main === undefined) throw new Error('expected an account');
  Object.assign(relay.services, {
    settings: { ...settings, accounts: { ...settings.accounts, main: { ...main, ...changes } } },
  });
}

/** The orders that were sent: side, amount, whether they only reduce, how much of them filled. */
const sentOrders = () =>
  relay.paper.control
    .state()
    .orders.toSorted((one, other) => one.orderId - other.orderId)
    .map(({ side, amount, reduceOnly, filled }) => [side, amount, reduceOnly, filled]);
const openIds = () =>
  relay.paper.control
    .state()
    .orders.filter(({ status }) => status === 'open')
    .map(({ orderId }) => orderId);
const creates = () => relay.asked.filter((path) => path.includes('/order/collateral/')).length;

describe('a target', () => {
  test('opens, enlarges, reduces, turns and closes the position, and sends nothing when it is reached', async () => {
    const seen: (readonly [string, readonly string[], string])[] = [];
    for (const target of ['0.1', '0.3', '0.2', '0.2', '-0.1', 'flat', '0']) {
      const statuses = statusesOf(await send({ target }));
      seen.push([target, statuses, await heldAmount()]);
    }

    expect(seen).toEqual([
      ['0.1', ['satisfied', 'placed'], '0.1'],
      ['0.3', ['satisfied', 'placed'], '0.3'],
      ['0.2', ['placed', 'satisfied'], '0.2'],
      ['0.2', ['satisfied', 'satisfied'], '0.2'],
      ['-0.1', ['placed', 'placed'], '-0.1'],
      ['flat', ['placed'], '0'],
      ['0', ['satisfied'], '0'],
    ]);
  });

  test('of the equity or of an amount of the quote currency is sized on what is read', async () => {
    const quote = await send({ targetQuote: '-5000' });

    expect(statusesOf(quote)).toEqual(['satisfied', 'placed']);
    expect(await heldAmount()).toBe('-0.1');
    const equity = await send({ target: '5%' });
    expect(statusesOf(equity)).toEqual(['placed', 'placed']);
    expect(await heldAmount()).toBe('1.949989');
    expect(statusesOf(await send({ target: '5%' }))).toEqual(['satisfied', 'satisfied']);
  });

  test('that differs by less than a step or than the least order counts as reached', async () => {
    await send({ target: '0.1' });

    const [reduce, open] = await send({ target: '0.1000009' });

    expect(statusesOf([reduce, open] as Entry[])).toEqual(['satisfied', 'satisfied']);
    const [, larger] = await send({ target: '0.100001' });
    expect(larger?.status).toBe('satisfied');
    expect(noteOf(larger)).toMatch(/less than an order may have|too little for an order/);
    expect(creates()).toBe(1);
  });

  test('turns the position by closing it, seeing it flat and opening, never by one larger order', async () => {
    await send({ target: '0.2' });

    await send({ marketPosition: 'short', marketPositionSize: '0.3' });

    expect(sentOrders()).toEqual([
      ['buy', '0.2', false, '0.2'],
      ['sell', '0.2', true, '0.2'],
      ['sell', '0.3', false, '0.3'],
    ]);
  });

  test('heals what lost alerts left out with the next one', async () => {
    for (let number = 1; number <= 20; number += 1) {
      const members = { target: String((number % 7) - 3) === '0' ? 'flat' : `${((number % 7) - 3) / 10}` };
      // Every second alert is lost.
      if (number % 2 === 0) await send(members);
    }

    expect(await heldAmount()).toBe('0.3');
  });

  test('opens nothing more than the account allows', async () => {
    const [, open] = await send({ target: '3' });

    expect(open).toMatchObject({ status: 'denied' });
    expect(open?.steps.at(-1)?.evidence).toMatchObject({ rule: 'max_amount', limit: '2', actual: '3' });
    expect(creates()).toBe(0);
  });

  test('closes what several entries made, however large it is', async () => {
    await order('buy', '1.5');
    await order('buy', '1.5');

    const [entry] = await send({ target: 'flat' });

    expect(entry).toMatchObject({ status: 'placed' });
    expect(await heldAmount()).toBe('0');
  });

  test('protects what it opens', async () => {
    await send({ target: '0.1', stopLoss: '2%', takeProfit: '4%' });

    expect(openIds()).toHaveLength(2);
  });
});

describe('a close', () => {
  test('of a part and then of the rest leaves no position', async () => {
    await order('buy', '0.4');

    const [half] = await send({ action: 'close', quantity: '50%' });
    expect([half?.status, await heldAmount()]).toEqual(['placed', '0.2']);
    const [rest] = await send({ action: 'close' });

    expect([rest?.status, await heldAmount()]).toEqual(['placed', '0']);
    expect(sentOrders().slice(1)).toEqual([
      ['sell', '0.2', true, '0.2'],
      ['sell', '0.2', true, '0.2'],
    ]);
  });

  test('without a position sends nothing and is done', async () => {
    const [entry] = await send({ action: 'close' });

    expect(entry).toMatchObject({ status: 'satisfied' });
    expect(noteOf(entry)).toBe('BTC_USDT has no open position');
    expect(creates()).toBe(0);
  });

  test('cancels the stop-loss and take-profit of the entry, and nothing else with keepEntries', async () => {
    await order('buy', '0.2', { stopLoss: '2%', takeProfit: '4%' });
    await send({
      action: 'sell',
      orderType: 'limit',
      quantity: '0.05',
      limitPrice: '60000',
      maxSlippage: undefined,
    });
    await send({
      action: 'sell',
      orderType: 'limit',
      quantity: '0.05',
      limitPrice: '61000',
      reduceOnly: true,
      maxSlippage: undefined,
    });
    relay.clock.advance(longestPositionLagMs + 1);
    const [stop, profit, plain] = openIds();

    const [entry] = await send({ action: 'close', keepEntries: true });

    expect(openIds()).toEqual([plain]);
    expect(entry?.steps.at(-1)?.evidence).toMatchObject({
      cancelledExits: expect.arrayContaining([stop, profit]),
      leftExits: [],
    });
    expect(noteOf(entry)).toMatch(/; orders that only protected it are cancelled: OCO \d+$/);
  });

  test('that the exchange cut to what was left cancels the stop-loss, too', async () => {
    await order('buy', '0.2', { stopLoss: '2%' });
    relay.clock.advance(longestPositionLagMs + 1);
    await order('sell', '0.1');
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 5000, endpoint: 'open-positions', count: 1 });

    const [entry] = await send({ action: 'close' });

    expect(entry?.status).toBe('placed');
    expect(openIds()).toEqual([]);
  });

  test('of a part leaves the stop-loss where it is', async () => {
    await order('buy', '0.2', { stopLoss: '2%' });

    await send({ action: 'close', quantity: '50%' });

    expect(openIds()).toHaveLength(1);
  });

  test('whose exits cannot be read says so, with an alarm', async () => {
    await order('buy', '0.2', { stopLoss: '2%' });
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });

    const [entry] = await send({ action: 'close' });

    expect(entry?.status).toBe('placed');
    expect(relay.alarms.map(({ name }) => name)).toEqual(['orders_left_open']);
    expect(entry?.steps.at(-1)?.evidence).toMatchObject({ leftExits: null });
  });

  test('of a position that has gone since it was read is refused by the exchange, and says so', async () => {
    await order('buy', '0.2');
    await order('sell', '0.2');
    // As long as a list is doubted that is older than the relay's own order.
    relay.clock.advance(2 * longestPositionLagMs);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 3 * longestPositionLagMs + 2,
    });

    const [entry] = await send({ action: 'close' });

    expect(entry?.status).toBe('rejected');
    expect(await heldAmount()).toBe('0');
  });
});

describe('the stops of a closed position', () => {
  const exits = { stopLoss: '2%', takeProfit: '4%' };
  /** Places an order by hand while the request that creates the next order is on its way. */
  function tradeBeforeNextOrder(side: 'buy' | 'sell', amount: string): void {
    let isDone = false;
    const { exchangeFor } = relay.services;
    Object.assign(relay.services, {
      exchangeFor: async (account: string) => {
        const client = await exchangeFor(account);
        const prepare: typeof client.prepare = (endpoint, params) => {
          const prepared = client.prepare(endpoint, params);
          if (endpoint.name !== 'limit' || isDone) return prepared;
          isDone = true;
          const send: typeof prepared.send = async (options) => {
            await client.call(marketEndpoint, {
              market: 'BTC_USDT',
              side,
              amount: parseDecimal(amount),
              clientOrderId: 'by-hand',
            });
            return await prepared.send(options);
          };
          return { ...prepared, send };
        };
        return override(client, { prepare });
      },
    });
  }

  test('go, too, when the owner has reduced the position meanwhile, and the exchange cuts the close', async () => {
    await order('buy', '0.2', exits);
    tradeBeforeNextOrder('sell', '0.05');

    const [entry] = await send({ action: 'close' });

    expect([entry?.status, await heldAmount(), openIds()]).toEqual(['placed', '0', []]);
  });

  test('go, too, when the owner has closed the position meanwhile, and nothing is left to reduce', async () => {
    await order('buy', '0.2', exits);
    tradeBeforeNextOrder('sell', '0.2');

    const [entry] = await send({ action: 'close' });

    expect([entry?.status, await heldAmount(), openIds()]).toEqual(['rejected', '0', []]);
    expect(noteOf(entry)).toContain('orders that only protected it are cancelled');
  });

  test('go, too, when the response to the entry was lost, and a lookup found it', async () => {
    relay.paper.control.addFault({ fault: 'rate_429_after', endpoint: 'limit' });
    const [, entry] = await send({ target: '0.2', ...exits });
    expect(noteOf(entry)).toContain('found at the exchange');

    const [close] = await send({ target: 'flat' });

    expect([close?.status, await heldAmount(), openIds()]).toEqual(['placed', '0', []]);
  });

  test('go, too, when fills alone have proved the entry', async () => {
    const entry = { action: 'buy', orderType: 'limit', quantity: '0.1', stopLoss: '2%' };
    await relay.receiveAll(alertWith({ ...entry, limitPrice: '50500', maxSlippage: undefined }));
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });
    await relay.execute('s1');
    for (const endpoint of ['open-order', 'ended-order'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 600_000, probability: 1 });
    for (let minute = 0; minute < 3 && (await relay.entry('s1')).status === 'unknown'; minute += 1) {
      relay.clock.advance(60_000);
      await relay.reconcile();
    }
    relay.paper.control.clearFaults();
    expect(noteOf(await relay.entry('s1'))).toContain('which no list shows');

    relay.clock.advance(longestPositionLagMs + 1);
    await send({ action: 'close' });

    expect(openIds()).toEqual([]);
  });

  test('go, and what the owner placed at the price of one of them stays', async () => {
    await order('buy', '0.2', { takeProfit: '52000' });
    await relay.follow();
    const client = await relay.services.exchangeFor('main');
    await client.call(limitEndpoint, {
      market: 'BTC_USDT',
      side: 'sell',
      amount: parseDecimal('0.05'),
      price: parseDecimal('52000'),
      clientOrderId: '',
    });

    await send({ action: 'close' });

    expect(openIds()).toHaveLength(1);
  });

  test('go in hedge mode, too, when only their side says that they reduce', async () => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    relay.paper.control.setHedgeMode('main', true);
    const perp = { ticker: 'BTCUSDT.P', positionSide: 'LONG' };
    const stop = { orderType: 'stop_limit', stopPrice: '49000', limitPrice: '48900', maxSlippage: undefined };
    for (const members of [
      { action: 'buy', orderType: 'market', quantity: '0.02' },
      { action: 'sell', quantity: '0.02', ...stop },
      { action: 'close' },
    ]) {
      await relay.receiveAll(alertWith({ ...perp, ...members }));
      await executeSignal(relay.services, { account: 'main', signalId: `s${alerts}`, market: 'BTC_PERP' });
      relay.clock.advance(longestPositionLagMs + 1);
    }

    expect([(await relay.entry('s3')).status, openIds()]).toEqual(['placed', []]);
  });

  test('are waited for while the list may not show them yet', async () => {
    await send({ target: '0.2', ...exits });
    relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-order', delayMs: 60_000, count: 1 });
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'conditional-orders',
      delayMs: 60_000,
      count: 1,
    });

    const [entry] = await send({ target: 'flat' });

    expect([entry?.status, await heldAmount(), openIds()]).toEqual(['placed', '0', []]);
    expect(relay.alarms).toEqual([]);
  });

  test('that no list shows in time are cancelled by following', async () => {
    await send({ target: '0.2', ...exits });
    for (const endpoint of ['open-order', 'conditional-orders'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 60_000, probability: 1 });

    const [entry] = await send({ target: 'flat' });

    expect(entry?.status).toBe('placed');
    expect(noteOf(entry)).toContain('that no list shows yet is cancelled once one does');
    await relay.goOn(90);
    expect([openIds(), await heldAmount(), relay.alarms]).toEqual([[], '0', []]);
  });
});

describe('a reverse', () => {
  test('closes, and opens the same size on the other side', async () => {
    await order('buy', '0.2');

    expect(statusesOf(await send({ action: 'reverse' }))).toEqual(['placed', 'placed']);
    expect(await heldAmount()).toBe('-0.2');
    expect(statusesOf(await send({ action: 'reverse', quoteQuantity: '25000' }))).toEqual([
      'placed',
      'placed',
    ]);
    expect(await heldAmount()).toMatch(/^0\.49/);
  });

  test('without a position is denied in both legs', async () => {
    const [reduce, open] = await send({ action: 'reverse' });

    expect([reduce?.status, open?.status]).toEqual(['denied', 'denied']);
    expect(reduce?.steps.at(-1)?.evidence).toMatchObject({ rule: 'no_position' });
    expect(noteOf(open)).toContain('which reduces the position first, ended as denied');
    expect(creates()).toBe(0);
  });

  test('is resumed after a crash between its legs', async () => {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith({ action: 'reverse' }));
    await relay.execute('s2:reduce');
    expect(await heldAmount()).toBe('0');

    // The worker died before the second leg, whose message is delivered again, and then once more.
    await relay.execute('s2');
    await relay.execute('s2');

    expect(await heldAmount()).toBe('-0.2');
    expect(creates()).toBe(3);
  });

  test('whose close has an unknown outcome opens only when that is settled', async () => {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith({ action: 'reverse' }));
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });

    await expect(relay.execute('s2')).rejects.toMatchObject({ code: 'position_awaited' });
    expect((await relay.entry('s2:reduce')).status).toBe('unknown');
    await expect(relay.execute('s2')).rejects.toMatchObject({ code: 'position_awaited' });
    expect(creates()).toBe(2);
    await relay.reconcile();
    expect((await relay.entry('s2:reduce')).status).toBe('placed');
    relay.clock.advance(longestPositionLagMs + 1);
    await relay.execute('s2');

    expect([(await relay.entry('s2')).status, await heldAmount()]).toEqual(['placed', '-0.2']);
  });

  test('whose close never arrived is denied, with the position that is left', async () => {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith({ action: 'reverse', maxLag: 900, time: relay.clock.nowMs() }));
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit' });
    await expect(relay.execute('s2')).rejects.toMatchObject({ code: 'position_awaited' });

    await relay.reconcileFor(12);
    await relay.execute('s2');

    expect((await relay.entry('s2:reduce')).status).toBe('not_placed');
    expect(noteOf(await relay.entry('s2'))).toBe(
      'the position of BTC_USDT must be flat before another one is opened, and is long 0.2; nothing was opened',
    );
    expect(await heldAmount()).toBe('0.2');
  });

  test('that waited until it was stale names what it waited for', async () => {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith({ action: 'reverse' }));
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit' });
    await expect(relay.execute('s2')).rejects.toMatchObject({ code: 'position_awaited' });

    relay.clock.advance(61_000);
    await relay.execute('s2');

    expect(await relay.entry('s2')).toMatchObject({ status: 'denied' });
    expect(noteOf(await relay.entry('s2'))).toContain(
      'the outcome of signal "s2:reduce" is not known (unknown)',
    );
  });

  test('whose close filled in part is denied, with what is left', async () => {
    await order('buy', '2');

    const [reduce, open] = await send({ action: 'reverse', maxSlippage: '0.05%' });

    expect(reduce?.status).toBe('placed');
    expect(open?.status).toBe('denied');
    expect(open?.steps.at(-1)?.evidence).toMatchObject({ rule: 'position_not_closed', limit: 'flat' });
    expect(creates()).toBe(2);
  });

  test('can be withdrawn as a whole while it waits', async () => {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith({ action: 'reverse' }));
    await relay.receiveAll(alertWith({ action: 'cancel', signalId: 's2', maxSlippage: undefined }));
    await relay.execute('s3');

    expect(statusesOf([await relay.entry('s2:reduce'), await relay.entry('s2')])).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect(await heldAmount()).toBe('0.2');
  });
});

describe('A cancellation that comes while a signal waits', () => {
  /** The second signal waits for the position; its cancellation is in line behind it. */
  async function waitThenCancel(cancellation: object, waiting: object = { action: 'close' }): Promise<void> {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith(waiting));
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-positions', probability: 1 });
    await expect(relay.execute('s2')).rejects.toMatchObject({ code: 'position_awaited' });
    await relay.receiveAll(alertWith({ maxSlippage: undefined, ...cancellation }));
    relay.paper.control.clearFaults();
    relay.clock.advance(longestPositionLagMs);
  }

  test('withdraws it before it is tried again, where it names it', async () => {
    await waitThenCancel({ action: 'cancel', signalId: 's2' });
    await relay.execute('s2');

    expect((await relay.entry('s2')).status).toBe('cancelled');
    expect([await heldAmount(), creates()]).toEqual(['0.2', 1]);
    await relay.execute('s3');
    expect((await relay.entry('s3')).status).toBe('cancelled');
    expect(relay.alarms).toEqual([]);
  });

  test.each([
    ['the close', ['s2', 's3']],
    ['the cancellation', ['s3']],
  ])(
    'leaves it where it names all orders of its market, and is carried out after it (%s comes again first)',
    async (_, order) => {
      await waitThenCancel({ action: 'cancel_all' });
      for (const id of order) await relay.execute(id);

      expect((await relay.entry('s2')).status).toBe('placed');
      expect((await relay.entry('s3')).status).toBe('cancelled');
      expect([await heldAmount(), relay.alarms]).toEqual(['0', []]);
    },
  );

  test.each([
    ['a reversal', { action: 'reverse' }],
    ['a close of a part', { action: 'close', quantityPercent: '50%' }],
  ])('withdraws %s, where it names all orders of its market', async (_, waiting) => {
    await waitThenCancel({ action: 'cancel_all' }, waiting);
    await relay.execute('s3');

    expect((await relay.entry('s2')).status).toBe('cancelled');
    expect((await relay.entry('s3')).status).toBe('cancelled');
    expect(await heldAmount()).toBe('0.2');
  });

  test('withdraws it between two readings of the position', async () => {
    await order('buy', '0.2');
    await relay.receiveAll(alertWith({ action: 'close' }));
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-positions', probability: 1 });
    const { clock } = relay;
    const sleep = async (durationMs: number) => {
      await relay.receiveAll(alertWith({ maxSlippage: undefined, action: 'cancel', signalId: 's2' }));
      relay.paper.control.clearFaults();
      await clock.sleep(durationMs);
    };
    Object.assign(relay.services, { clock: override(clock, { sleep }) });
    await relay.execute('s2');

    expect([(await relay.entry('s2')).status, (await relay.entry('s3')).status]).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect(creates()).toBe(1);
  });
});

test.each([
  ['an exit', { action: 'close' }, '0'],
  ['an order', { action: 'buy', orderType: 'market', quantity: '0.1' }, '0.3'],
])(
  'A cancel_all does not withdraw %s of its own alert, however late that is executed',
  async (_, first, left) => {
    await order('buy', '0.2');
    relay.clock.advance(longestPositionLagMs);
    const both = [first, { action: 'cancel_all', scope: 'market', maxSlippage: undefined }];
    await relay.receiveAll(
      JSON.stringify(both.map((one, place) => ({ ...JSON.parse(alertWith(one)), id: `late-${place}` }))),
    );
    relay.clock.advance(5000);
    await relay.execute('late-0');
    await relay.execute('late-1');

    expect((await relay.entry('late-0')).status).toBe('placed');
    expect(await heldAmount()).toBe(left);
  },
);

describe('a fill of an order that had rested', () => {
  const resting = { action: 'buy', orderType: 'limit', limitPrice: '49000', maxSlippage: undefined };

  /** The order has rested for minutes and is filled now; the list of positions shows it 3 s later. */
  async function restAndFill(members: object = {}, amount?: string): Promise<void> {
    await send({ ...resting, quantity: '0.2', ...members });
    relay.clock.advance(1000);
    await relay.follow();
    relay.clock.advance(300_000);
    const most = amount === undefined ? undefined : parseDecimal(amount);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49000'), most);
    relay.clock.advance(500);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 3_000,
      probability: 1,
    });
  }

  test.each([
    ['in part', '0.15', '0.15'],
    ['whole', undefined, '0.2'],
  ])('is waited for after a cancellation that found it filled (%s)', async (_, amount, filled) => {
    await restAndFill({}, amount);
    await send({ action: 'cancel_all', maxSlippage: undefined });
    expect(await heldAmount()).toBe('0');

    await expect(send({ action: 'flat' })).rejects.toMatchObject({ code: 'position_awaited' });
    relay.clock.advance(longestPositionLagMs);
    await relay.execute('s3');

    const flat = await relay.entry('s3');
    expect(flat.status).toBe('placed');
    expect(flat.steps.find(({ status }) => status === 'sending')?.evidence).toMatchObject({
      position: { amount: filled },
    });
    relay.clock.advance(longestPositionLagMs);
    expect(await heldAmount()).toBe('0');
  });

  test.each([
    ['a close', { action: 'close' }, '0'],
    ['a target', { target: '0.2' }, '0.2'],
  ])('is waited for by %s once it is followed', async (_, members, left) => {
    await restAndFill();
    await relay.follow();

    await send(members);

    relay.clock.advance(longestPositionLagMs);
    expect(await heldAmount()).toBe(left);
  });

  test('makes an alert that presumes a flat position wrong', async () => {
    await restAndFill();
    await relay.follow();

    const [entry] = await send({
      action: 'buy',
      orderType: 'market',
      quantity: '0.1',
      requirePosition: 'flat',
    });

    expect(entry?.steps.at(-1)?.evidence).toMatchObject({ rule: 'position_mismatch' });
  });

  test('says nothing about a later close of this relay, whatever is followed then', async () => {
    await restAndFill({ stopLoss: '44000' });
    relay.paper.control.clearFaults();
    await relay.follow();
    relay.clock.advance(1_800_000);
    await send({ action: 'close' });
    relay.clock.advance(3_000);
    await relay.follow();
    relay.clock.advance(1_000);
    const slept = relay.clock.sleptMs.length;
    relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-positions', delayMs: 5_000, count: 2 });

    expect(statusesOf(await send({ target: '0.2' }))).toEqual(['satisfied', 'placed']);
    expect(await heldAmount()).toBe('0.2');
    expect(relay.clock.sleptMs.length - slept).toBe(2);
  });

  test('does not hide a stop-loss that was hit before the last order', async () => {
    await order('buy', '0.1', { stopLoss: '49500' });
    await order('buy', '0.2', { stopLoss: '45000' });
    await relay.follow();
    relay.setPrice('49500');
    relay.clock.advance(1_500);
    await send({ action: 'buy', orderType: 'market', quantity: '0.1' });
    relay.clock.advance(1_000);
    await relay.follow();
    relay.clock.advance(1_000);
    relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-positions', delayMs: 2_500, count: 2 });

    await send({ target: '0.4' });

    relay.clock.advance(longestPositionLagMs);
    expect(await heldAmount()).toBe('0.4');
  });

  test('is not waited for again when a cancellation only repeats what is known', async () => {
    await restAndFill({}, '0.15');
    relay.paper.control.clearFaults();
    await relay.follow();
    relay.clock.advance(60_000);
    await send({ action: 'cancel_all', maxSlippage: undefined });
    const slept = relay.clock.sleptMs.length;

    expect(statusesOf(await send({ action: 'flat' }))).toEqual(['placed']);
    expect([await heldAmount(), relay.clock.sleptMs.length]).toEqual(['0', slept]);
  });

  test('is not waited for when a cancellation found the order unfilled', async () => {
    await order('buy', '0.1');
    await send({ ...resting, quantity: '0.2' });
    relay.clock.advance(1_000);
    await send({ action: 'cancel_all', maxSlippage: undefined });
    const slept = relay.clock.sleptMs.length;

    expect(statusesOf(await send({ action: 'flat' }))).toEqual(['placed']);
    expect([await heldAmount(), relay.clock.sleptMs.length]).toEqual(['0', slept]);
  });

  test('keeps its stop-loss until it is closed, too', async () => {
    await order('buy', '0.1', { stopLoss: '45000' });
    await restAndFill({ stopLoss: '44000' });
    await relay.follow();

    const [close] = await send({ action: 'close' });

    expect([close?.status, openIds()]).toEqual(['placed', []]);
    relay.clock.advance(longestPositionLagMs);
    expect(await heldAmount()).toBe('0');
  });
});

describe('a reading of the position', () => {
  test("that may lag behind this relay's own order is read again until it agrees", async () => {
    await send({ target: '0.2' });
    relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-positions', delayMs: 5_000, count: 2 });

    expect(statusesOf(await send({ target: '0.3' }))).toEqual(['satisfied', 'placed']);
    expect(await heldAmount()).toBe('0.3');
  });

  test.each([
    [0, 'waits', '0'],
    [1, 'counts', '0.2'],
  ])(
    '%i ms after the longest doubt, without the position that the last order left, %s',
    async (lateMs, result, left) => {
      await send({ action: 'buy', orderType: 'market', quantity: '0.2' });
      // So long a list is doubted that lacks the position which the order left.
      relay.clock.advance(3 * longestPositionLagMs + lateMs);
      await relay.receiveAll(alertWith({ action: 'close' }));
      relay.paper.control.addFault({
        fault: 'read_lag',
        endpoint: 'open-positions',
        delayMs: 60_000,
        count: 1,
      });

      const before = relay.clock.sleptMs.length;
      await relay.execute('s2');

      expect(relay.clock.sleptMs.length > before ? 'waits' : 'counts').toBe(result);
      expect(await heldAmount()).toBe(left);
    },
  );

  describe.each([
    ['is reached', '0.2'],
    ['differs by less than the least order', '0.200001'],
  ])('of a target that %s', (_, target) => {
    /** Executes the second leg with a store that takes so long after the reading. */
    async function executeAfter(ageMs: number): Promise<void> {
      await send({ target: '0.2', strategy: 'trend' });
      relay.clock.advance(longestPositionLagMs + 1);
      await relay.receiveAll(alertWith({ target, strategy: 'trend' }));
      await relay.execute('s2:reduce');
      const { facts } = relay.services;
      const slow = override(facts, {
        async read(account, name) {
          relay.clock.advance(ageMs);
          return await facts.read(account, name);
        },
      });
      await relay.executeWith({ ...relay.services, facts: slow }, 's2');
    }

    test('satisfies the signal when it is less than 5 seconds old', async () => {
      await executeAfter(4_999);

      expect((await relay.entry('s2')).status).toBe('satisfied');
    });

    test('makes it wait for another one when it is 5 seconds old', async () => {
      await expect(executeAfter(5_000)).rejects.toMatchObject({ code: 'position_awaited' });

      expect((await relay.entry('s2')).status).toBe('accepted');
      await relay.execute('s2');
      expect((await relay.entry('s2')).status).toBe('satisfied');
    });
  });

  test('that never agrees makes the signal wait without an end of its own', async () => {
    await send({ target: '0.2' });
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 60_000,
      probability: 1,
    });
    await relay.receiveAll(alertWith({ target: '0.3' }));

    await expect(relay.execute('s2')).rejects.toMatchObject({ code: 'position_awaited' });

    expect(statusesOf([await relay.entry('s2:reduce'), await relay.entry('s2')])).toEqual([
      'accepted',
      'accepted',
    ]);
    expect(creates()).toBe(1);
  });
});

describe('a position that the alert only tells', () => {
  const sent = (entry: Entry | undefined) => entry?.steps.find(({ status }) => status === 'sending')?.note;

  test('is told when it is another one, and the order is sent', async () => {
    await order('buy', '0.2');

    const entry = await order('buy', '0.1', { prev_market_position: 'flat' });

    expect(entry?.status).toBe('placed');
    expect(sent(entry)).toBe(
      'on its way to the exchange; the alert says that the position was flat, and it is long 0.2',
    );
  });

  test('is not told when it is as the alert says, nor where it is no position', async () => {
    await order('buy', '0.2');
    const [as, none] = [
      await order('buy', '0.1', { prev_market_position: 'long' }),
      await order('buy', '0.1', { prevMarketPosition: '{{strategy.prev_market_position}}' }),
    ];

    expect([sent(as), sent(none)]).toEqual(['on its way to the exchange', 'on its way to the exchange']);
  });

  test('leaves a rest when it is larger than an order that should leave none', async () => {
    await order('buy', '0.2');

    expect(sent(await order('sell', '0.1', { market_position: 'flat' }))).toBe(
      'on its way to the exchange; the alert says that the position is flat afterwards, and its size is less than long 0.2: a rest stays',
    );
  });

  test('decides where the account says so', async () => {
    changeAccount({ requirePosition: true });
    await order('buy', '0.2');

    const entry = await order('buy', '0.1', { prev_market_position: 'flat' });

    expect(entry?.steps.at(-1)).toMatchObject({
      status: 'denied',
      evidence: { rule: 'position_mismatch', limit: 'flat', actual: 'long 0.2' },
    });
  });

  test('that cannot be read stops nothing: the order is sent, and the ledger says so', async () => {
    await relay.begin();
    const { exchangeFor } = relay.services;
    Object.assign(relay.services, {
      exchangeFor: async (account: string) => {
        const client = await exchangeFor(account);
        const call: typeof client.call = async (endpoint, ...rest) => {
          if (endpoint.name === openPositions.name) throw new Error('no list of positions');
          return await client.call(endpoint, ...rest);
        };
        return override(client, { call });
      },
    });

    const entry = await order('buy', '0.1', { prev_market_position: 'flat' });

    expect(entry?.status).toBe('placed');
    expect(sent(entry)).toMatch(
      /^on its way to the exchange; the position could not be compared with what the alert says of it: /,
    );
  });
});

describe('a close of one side', () => {
  test('closes that side alone, and opens nothing', async () => {
    await order('buy', '0.2');
    const [other] = await send({ action: 'exit_short' });
    const heldBetween = await heldAmount();
    const [own] = await send({ action: 'close_long', sentiment: 'flat' });

    expect(other).toMatchObject({ status: 'satisfied' });
    expect(noteOf(other)).toBe('the position is long 0.2: there is no short one to close');
    expect([heldBetween, own?.status, await heldAmount()]).toEqual(['0.2', 'placed', '0']);
  });
});

describe('an order that presumes a position', () => {
  const presumes = (requirePosition: string) => ({ requirePosition });

  test('is sent when the position is that one', async () => {
    expect((await order('buy', '0.2', presumes('flat')))?.status).toBe('placed');
    expect((await order('buy', '0.1', presumes('long')))?.status).toBe('placed');
    expect((await order('sell', '0.1', { ...presumes('long'), reduceOnly: true }))?.status).toBe('placed');
    expect(await heldAmount()).toBe('0.2');
  });

  test('is denied with both positions when it is another one', async () => {
    await order('buy', '0.2');

    const entry = await order('buy', '0.1', presumes('short'));

    expect(entry?.steps.at(-1)).toMatchObject({
      status: 'denied',
      note: 'the alert presumes that the position of BTC_USDT is short, and it is long 0.2; nothing was sent',
      evidence: { rule: 'position_mismatch', limit: 'short', actual: 'long 0.2' },
    });
    expect(await heldAmount()).toBe('0.2');
  });

  test('is denied where the account flattens, after the position is closed', async () => {
    changeAccount({ onMismatch: 'flatten' });
    await order('buy', '0.2');

    const [leg, entry] = await send({
      action: 'buy',
      orderType: 'market',
      quantity: '0.1',
      ...presumes('flat'),
    });

    expect([leg?.status, entry?.status, await heldAmount()]).toEqual(['placed', 'denied', '0']);
    expect(noteOf(entry)).toContain('it was closed, and the order of the alert is not sent');
  });

  test('is sent where the account resynchronises, once the position is seen flat', async () => {
    changeAccount({ onMismatch: 'resync' });
    await order('buy', '0.2');

    const [leg, entry] = await send({
      action: 'buy',
      orderType: 'market',
      quantity: '0.1',
      ...presumes('flat'),
    });

    expect([leg?.status, entry?.status, await heldAmount()]).toEqual(['placed', 'placed', '0.1']);
    const long = await order('buy', '0.1', presumes('short'));
    expect(noteOf(long)).toContain("onMismatch: 'resync' can only bring about a flat position");
  });

  test('closes nothing when the position is the presumed one', async () => {
    changeAccount({ onMismatch: 'flatten' });
    await order('buy', '0.2');

    const entries = await send({ action: 'buy', orderType: 'market', quantity: '0.1', ...presumes('long') });

    expect(statusesOf(entries)).toEqual(['satisfied', 'placed']);
    expect(await heldAmount()).toBe('0.3');
  });
});

describe('one strategy a market', () => {
  test('denies a second one until the position of the first is flat, from the first target on', async () => {
    await send({ target: '0.2', strategy: 'trend' });

    const second = await send({ target: '0.1', strategy: 'mean' });
    const plain = await order('buy', '0.1', { strategy: 'mean' });

    expect(statusesOf(second)).toEqual(['denied', 'denied']);
    expect(second[0]?.steps.at(-1)?.evidence).toMatchObject({
      rule: 'one_strategy_per_market',
      limit: 'trend',
      actual: 'mean',
    });
    expect(plain?.status).toBe('denied');
    expect(relay.alarms).toEqual([]);
    await send({ target: 'flat', strategy: 'trend' });
    expect(statusesOf(await send({ target: '0.1', strategy: 'mean' }))).toEqual(['satisfied', 'placed']);
    expect((await send({ target: '0.2', strategy: 'trend' }))[0]?.status).toBe('denied');
  });

  test('denies another one what protects the position, and not its own', async () => {
    await send({ target: '0.2', strategy: 'trend', stopLoss: '1%' });
    const protect = { action: 'protect', stopLoss: '10%', maxSlippage: undefined };

    const [others] = await send({ ...protect, strategy: 'mean' });

    expect(others?.status).toBe('denied');
    expect(others?.steps.at(-1)?.evidence).toMatchObject({
      rule: 'one_strategy_per_market',
      limit: 'trend',
      actual: 'mean',
    });
    expect(statusesOf(await send({ ...protect, strategy: 'trend' }))).toEqual(['satisfied']);
    expect(statusesOf(await send(protect))).toEqual(['satisfied']);
    changeAccount({ oneStrategyPerMarket: false });
    expect(statusesOf(await send({ ...protect, strategy: 'mean' }))).toEqual(['satisfied']);
  });

  describe('counts for what its owner has opened:', () => {
    const handOrder = async (side: 'buy' | 'sell', amount: string) => {
      const client = await relay.services.exchangeFor('main');
      const order = { market: 'BTC_USDT', side, amount: parseDecimal(amount), clientOrderId: '' };
      await client.call(marketEndpoint, order);
    };
    const lookAround = async () => {
      for (let minutes = 0; minutes < 3; minutes += 1) {
        relay.clock.advance(minuteMs);
        await relay.follow();
        await relay.reconcile();
      }
    };

    test('a position that was opened by hand after it was flat is nobody’s', async () => {
      await send({ target: '0.2', strategy: 'trend' });
      await send({ target: 'flat', strategy: 'trend' });
      await lookAround();
      await handOrder('buy', '0.3');
      const early = (await send({ target: '0.1', strategy: 'mean' }))[1];
      expect(noteOf(early)).toContain(
        'strategy "trend" has taken BTC_USDT, and its position is not flat (long 0.3)',
      );
      await lookAround();

      expect(statusesOf(await send({ target: '0.1', strategy: 'mean' }))).toEqual(['placed', 'satisfied']);
      expect(await heldAmount()).toBe('0.1');
      expect((await order('buy', '0.1', { strategy: 'trend' }))?.status).toBe('denied');
    });

    test('one that an alert without a strategy has opened since is nobody’s, too', async () => {
      await send({ target: '0.2', strategy: 'trend' });
      await send({ target: 'flat', strategy: 'trend' });
      await lookAround();
      await order('sell', '0.3');
      await lookAround();

      expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('placed');
    });

    test.each([
      ['opened and others have enlarged', ['trend', 'hand']],
      ['enlarged and others have opened', ['hand', 'trend']],
    ])('one that it has %s stays its own', async (_, openers) => {
      await send({ target: '0.2', strategy: 'trend' });
      await send({ target: 'flat', strategy: 'trend' });
      await lookAround();
      for (const opener of openers) {
        if (opener === 'hand') await handOrder('buy', '0.3');
        else await order('buy', '0.1', { strategy: opener });
        await lookAround();
      }

      expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('denied');
    });

    test('one that an order of it with an unknown outcome may have opened is not given away', async () => {
      await send({ target: '0.2', strategy: 'trend' });
      await send({ target: 'flat', strategy: 'trend' });
      await lookAround();
      relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', count: 1 });
      expect((await order('buy', '0.1', { strategy: 'trend' }))?.status).toBe('unknown');
      // Until the order is known, its deal is one of no signal.
      const client = await relay.services.exchangeFor('main');
      const deals = await listAccountDeals(client, noonMs, {});
      const newest = deals.toSorted((one, other) => other.atMs - one.atMs)[0];
      if (newest === undefined) throw new Error('the exchange lists no deal');
      const { market, id: dealId, atMs, orderId } = newest;
      const deal = {
        account: 'main',
        market,
        dealId,
        atMs,
        orderId,
        side: 'buy',
        signalId: '',
        role: 'other',
      } as const;
      const money = { amount: '0.1', price: '50000', notional: '5000', fee: '0', feeAsset: 'USDT' };
      await relay.services.executions.recordOthers([{ ...deal, ...money, liquidity: 'taker' }]);
      relay.clock.advance(longestPositionLagMs + 1);

      expect(statusesOf(await send({ target: 'flat', strategy: 'mean' }))).toEqual(['denied']);
      // Nothing was looked up or cancelled for it.
      expect((await relay.entry('s3')).status).toBe('unknown');
    });

    test('one beside which an entry of it rests is not given away', async () => {
      await send({ target: '0.2', strategy: 'trend' });
      await send({ target: 'flat', strategy: 'trend' });
      await lookAround();
      const resting = { action: 'buy', orderType: 'limit', limitPrice: '40000', quantity: '0.1' };
      await send({ ...resting, maxSlippage: undefined, strategy: 'trend' });
      await handOrder('buy', '0.3');
      await lookAround();

      expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('denied');
    });
  });

  test('is a market of its own on each side of hedge mode', async () => {
    relay.paper.control.setHedgeMode('main', true);
    changeAccount({ oneStrategyPerMarket: true });
    const open = async (positionSide: string, action: string, strategy: string) => {
      const fields = { ticker: 'BTCUSDT.P', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
      await relay.receiveAll(alertWith({ ...fields, action, positionSide, strategy }));
      await executeSignal(relay.services, { account: 'main', signalId: `s${alerts}`, market: 'BTC_PERP' });
      relay.clock.advance(longestPositionLagMs + 1);
      return (await relay.entry(`s${alerts}`)).status;
    };

    expect(await open('LONG', 'buy', 'trend')).toBe('placed');
    expect(await open('SHORT', 'sell', 'mean')).toBe('placed');
    expect(await open('LONG', 'buy', 'mean')).toBe('denied');
    expect(await open('LONG', 'buy', 'trend')).toBe('placed');
  });

  test('is held by an entry that rests, until that is cancelled', async () => {
    changeAccount({ oneStrategyPerMarket: true });
    const resting = { action: 'buy', orderType: 'limit', limitPrice: '40000', quantity: '0.1' };
    const [entry] = await send({ ...resting, maxSlippage: undefined, strategy: 'trend' });
    expect(entry?.status).toBe('placed');

    const denied = await order('buy', '0.1', { strategy: 'mean' });
    expect(denied?.steps.at(-1)).toMatchObject({
      status: 'denied',
      note: expect.stringContaining(`has an open order in BTC_USDT ("${entry?.signalId}")`),
    });
    expect(statusesOf(await send({ target: 'flat', strategy: 'mean' }))).toEqual(['satisfied']);
    expect((await order('buy', '0.1', { strategy: 'trend' }))?.status).toBe('placed');
    await send({ target: 'flat', strategy: 'trend' });

    expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('placed');
  });

  test('lets everyone close and reduce', async () => {
    await send({ target: '0.2', strategy: 'trend' });

    const reduction = await order('sell', '0.1', { strategy: 'mean', reduceOnly: true });

    expect(reduction?.status).toBe('placed');
    expect((await send({ action: 'close', strategy: 'mean' }))[0]?.status).toBe('placed');
    expect(await heldAmount()).toBe('0');
  });

  test.each(['resync', 'flatten'] as const)(
    'is not emptied for an order of another strategy that presumes it flat (%s)',
    async (onMismatch) => {
      changeAccount({ onMismatch });
      await send({ target: '0.2', strategy: 'trend' });
      relay.clock.advance(longestPositionLagMs + 1);

      const market = { action: 'buy', orderType: 'market', quantity: '0.1', requirePosition: 'flat' };
      const [leg, denied] = await send({ ...market, strategy: 'mean' });

      expect([leg?.status, denied?.status, await heldAmount()]).toEqual(['denied', 'denied', '0.2']);
      expect(noteOf(leg)).toContain('strategy "trend" has taken BTC_USDT');
      expect(statusesOf(await send({ ...market, strategy: 'trend' }))).toEqual([
        'placed',
        onMismatch === 'resync' ? 'placed' : 'denied',
      ]);
    },
  );

  test('is claimed by an order that is placed, not by one that is denied, rejected or not needed', async () => {
    await send({ target: '0.2', strategy: 'trend' });
    await send({ target: 'flat', strategy: 'trend' });

    await send({ target: 'flat', strategy: 'mean' });
    await order('buy', '0.00000001', { strategy: 'mean' });
    const limits = relay.services.settings.accounts['main']?.markets['BTC_USDT'] as MarketLimits;
    changeAccount({ markets: { BTC_USDT: { ...limits, maxAmount: null, maxNotional: null } } });
    const tooLarge = { action: 'buy', orderType: 'limit', limitPrice: '49000', quantity: '200' };
    const [refused] = await send({ ...tooLarge, maxSlippage: undefined, strategy: 'mean' });
    expect(refused?.status).toBe('rejected');

    expect(await relay.services.facts.read('main', 'strategy of BTC_USDT')).toMatchObject({
      strategy: 'trend',
    });
    expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('placed');
    expect(statusesOf(await send({ target: '0.1', strategy: 'trend' }))).toEqual(['denied', 'denied']);
  });

  test('is no rule of an account that says so, nor where no target is used', async () => {
    await order('buy', '0.2', { strategy: 'trend' });
    expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('placed');
    changeAccount({ oneStrategyPerMarket: false });
    await send({ target: '0.2', strategy: 'trend' });
    expect(statusesOf(await send({ target: '0.1', strategy: 'mean' }))).toEqual(['placed', 'satisfied']);
  });

  test('holds for plain orders in an account that says so', async () => {
    changeAccount({ oneStrategyPerMarket: true });
    await order('buy', '0.2', { strategy: 'trend' });

    expect((await order('buy', '0.1', { strategy: 'mean' }))?.status).toBe('denied');
    expect((await order('buy', '0.1', { strategy: 'trend' }))?.status).toBe('placed');
  });
});

test('a position action that depends on an unknown order of its market waits for it, and others behind it', async () => {
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });
  await send({ action: 'buy', orderType: 'market', quantity: '0.2' });
  await relay.receiveAll(alertWith({ action: 'close' }));
  await relay.receiveAll(alertWith({ action: 'buy', orderType: 'market', quantity: '0.1' }));

  await expect(relay.execute('s3')).rejects.toMatchObject({ code: 'position_awaited' });
  expect(statusesOf([await relay.entry('s2'), await relay.entry('s3')])).toEqual(['accepted', 'accepted']);
  await relay.reconcile();
  relay.clock.advance(longestPositionLagMs + 1);
  await relay.execute('s3');

  expect(statusesOf([await relay.entry('s2'), await relay.entry('s3')])).toEqual(['placed', 'placed']);
  expect(await heldAmount()).toBe('0.1');
});

describe('where there is no single position to speak of', () => {
  test('in hedge mode a close names its position, and a reverse and a target are denied', async () => {
    relay.paper.control.setHedgeMode('main', true);
    const futures = { ticker: 'BTCUSDT.P' };
    const open = async (positionSide: string, action: string) => {
      alerts += 1;
      await relay.receiveAll(
        JSON.stringify({
          ...futures,
          id: `s${alerts}`,
          ...{ action, positionSide, orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' },
        }),
      );
      await executeSignal(relay.services, { account: 'main', signalId: `s${alerts}`, market: 'BTC_PERP' });
      relay.clock.advance(longestPositionLagMs + 1);
      return await relay.entry(`s${alerts}`);
    };
    await open('LONG', 'buy');
    await open('SHORT', 'sell');
    const later = async (members: object) => {
      await relay.receiveAll(alertWith({ ...futures, ...members }));
      const id = `s${alerts}`;
      await executeSignal(relay.services, { account: 'main', signalId: id, market: 'BTC_PERP' });
      return await relay.entry(id);
    };

    expect((await later({ action: 'close' })).steps.at(-1)).toMatchObject({
      status: 'denied',
      note: expect.stringContaining('write "action": "close" with "positionSide": "LONG" or "SHORT"'),
    });
    expect((await later({ target: '0.1' })).status).toBe('denied');
    expect((await later({ action: 'reverse' })).status).toBe('denied');
    expect((await later({ action: 'close', positionSide: 'SHORT' })).status).toBe('placed');
    const client = await relay.services.exchangeFor('main');
    expect(await client.call(openPositions, { market: 'BTC_PERP' })).toMatchObject({
      records: [{ positionSide: 'LONG' }],
    });
  });

  test('in hedge mode a sell that names the long position is cut to it', async () => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    relay.paper.control.setHedgeMode('main', true);
    const long = { ticker: 'BTCUSDT.P', positionSide: 'LONG', orderType: 'market', maxSlippage: '0.5%' };
    for (const members of [
      { action: 'buy', quantity: '0.02' },
      { action: 'sell', quantity: '0.05' },
    ]) {
      await relay.receiveAll(alertWith({ ...long, ...members }));
      await executeSignal(relay.services, { account: 'main', signalId: `s${alerts}`, market: 'BTC_PERP' });
      relay.clock.advance(longestPositionLagMs + 1);
    }

    const client = await relay.services.exchangeFor('main');
    expect((await relay.entry(`s${alerts}`)).status).toBe('placed');
    expect(await client.call(openPositions, { market: 'BTC_PERP' })).toMatchObject({ records: [] });
  });

  test('in a market that trades on spot by now, it is denied with what to write', async () => {
    await relay.receiveAll(alertWith({ action: 'close' }));
    const { main } = relay.services.settings.accounts;
    changeAccount({
      markets: { BTC_USDT: { ...(main?.markets['BTC_USDT'] as MarketLimits), tradesOn: 'spot' } },
    });

    await relay.execute('s1');

    expect(noteOf(await relay.entry('s1'))).toBe(
      'BTC_USDT trades on spot, where there are no positions; instead of "close" write "sell" with "quantityPercent": "100%" to sell all of it',
    );
  });

  test('a dry run shows both legs as if the first had been sent', async () => {
    await order('buy', '0.2');
    changeAccount({ mode: 'dry-run' });

    const [reduce, open] = await send({ action: 'reverse' });

    expect([reduce?.status, open?.status, await heldAmount()]).toEqual(['dry_run', 'dry_run', '0.2']);
    const requestOf = (entry: Entry | undefined) => entry?.steps.at(-1)?.evidence;
    expect(requestOf(reduce)).toMatchObject({
      requests: [{ fields: { side: 'sell', amount: '0.2', reduceOnly: true } }],
    });
    expect(requestOf(open)).toMatchObject({ requests: [{ fields: { side: 'sell', amount: '0.2' } }] });
  });
});

test('in the documented dialect a position action is denied, because no list shows positions', async () => {
  await relay.close();
  relay = await openAftermath('documented');

  const [entry] = await send({ action: 'close' });

  expect(entry?.steps.at(-1)?.evidence).toMatchObject({
    rule: 'position_not_in_dialect',
    actual: 'documented',
  });
});
