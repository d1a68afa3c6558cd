import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, receive, refusal } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
let folder: string;
let paper: PaperExchange;
let post: Post;

const open = () =>
  startPaperExchange({
    port: 0,
    dialect: 'live',
    clock,
    walk: false,
    journalPath: join(folder, 'paper.sqlite'),
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paper-exits-'));
  paper = await open();
  post = createPost(paper.url);
});

afterEach(async () => {
  await paper.close();
  rmSync(folder, { recursive: true });
});

const limitPath = '/api/v4/order/collateral/limit';
const entry = { market: 'BTC_USDT', side: 'buy', amount: '1', stopLoss: '55000', takeProfit: '66000' };

const noExits = { stopLoss: undefined, takeProfit: undefined };

const placeEntry = (fields: object) => post(limitPath, { ...entry, price: '59000', ...fields });
const trade = (price: string, volume?: string) =>
  paper.control.setPrice(
    'BTC_USDT',
    parseDecimal(price),
    volume === undefined ? undefined : parseDecimal(volume),
  );

/** Every order that the exchange made: what it is, how much, and whether it stands. */
const exits = () =>
  paper.control
    .state()
    .orders.filter(({ side }) => side === 'sell')
    .map(({ type, amount, status }) => [type, amount, status]);

const positions = () => paper.control.state().accounts['main']?.positions;
const openPairs = () => paper.control.state().ocos.filter(({ isOpen }) => isOpen);

describe('exits that are made at the first fill', () => {
  beforeEach(() => void paper.control.setExits({ madeAt: 'first_fill' }));

  test('stand as one pair for each fill, of its amount', async () => {
    await placeEntry({});

    trade('59000', '0.4');
    expect(exits()).toEqual([
      ['stop_limit', '0.4', 'open'],
      ['limit', '0.4', 'open'],
    ]);
    trade('59000');

    expect(exits()).toEqual([
      ['stop_limit', '0.4', 'open'],
      ['limit', '0.4', 'open'],
      ['stop_limit', '0.6', 'open'],
      ['limit', '0.6', 'open'],
    ]);
    expect(openPairs()).toHaveLength(2);
  });

  test('stand while the rest of their entry waits, which is still listed with its planned prices', async () => {
    await placeEntry({});
    trade('59000', '0.4');

    const { body } = await post('/api/v4/conditional-orders', { market: 'BTC_USDT' });

    expect(body).toMatchObject({
      total: 2,
      records: [
        { type: 'oco', stopLoss: { amount: '0.4' } },
        { type: 'oto', stopLossPrice: '55000', conditionalOrder: { left: '0.6' } },
      ],
    });
  });

  test('fire for the filled part, and the next fill gets new ones', async () => {
    await placeEntry({});
    trade('59000', '0.4');
    trade('66000');
    expect(positions()).toEqual({});

    trade('59000');

    expect(positions()).toMatchObject({ BTC_USDT: { amount: '0.6' } });
    expect(exits()).toEqual([
      ['stop_limit', '0.4', 'cancelled'],
      ['limit', '0.4', 'filled'],
      ['stop_limit', '0.6', 'open'],
      ['limit', '0.6', 'open'],
    ]);
  });

  test('are not made again when the entry is cancelled', async () => {
    const { body } = await placeEntry({});
    trade('59000', '0.4');

    const { orderId } = body as { orderId: number };
    await post('/api/v4/order/cancel', { market: 'BTC_USDT', orderId });

    expect(exits()).toHaveLength(2);
  });

  test('are made once for what a market order takes from each level of the book', async () => {
    await post('/api/v4/order/collateral/market', { ...entry, amount: '1.5' });

    expect(exits()).toEqual([
      ['stop_limit', '1', 'open'],
      ['limit', '1', 'open'],
      ['stop_limit', '0.5', 'open'],
      ['limit', '0.5', 'open'],
    ]);
  });

  test('cover what was filled before the setting was changed', async () => {
    paper.control.setExits({ madeAt: 'end' });
    await placeEntry({});
    trade('59000', '0.4');
    paper.control.setExits({ madeAt: 'first_fill' });

    trade('59000', '0.1');
    paper.control.setExits({ madeAt: 'end' });
    trade('59000', '0.2');
    trade('59000');

    expect(exits().map(([, amount]) => amount)).toEqual(['0.5', '0.5', '0.5', '0.5']);
  });
});

describe('without exits after a partial fill', () => {
  beforeEach(() => void paper.control.setExits({ afterPartial: false }));

  test.each([
    ['cancelled', () => placeEntry({})],
    // The limit reaches one level of the book.
    ['ended at once', () => placeEntry({ amount: '1.5', price: '60000', ioc: true })],
  ])('an entry that is %s has none', async (_, place) => {
    await place();
    trade('59000', '0.4');
    await post('/api/v4/order/cancel/all', { market: 'BTC_USDT' });

    expect(positions()).toHaveProperty('BTC_USDT');
    expect(exits()).toEqual([]);
  });

  test('an entry that filled completely has its own', async () => {
    await placeEntry({});

    trade('59000', '0.4');
    trade('59000');

    expect(exits()).toEqual([
      ['stop_limit', '1', 'open'],
      ['limit', '1', 'open'],
    ]);
  });
});

test('an entry that ended at once after a partial fill has exits for that part by default', async () => {
  await placeEntry({ amount: '1.5', price: '60000', ioc: true });

  expect(exits()).toEqual([
    ['stop_limit', '1', 'open'],
    ['limit', '1', 'open'],
  ]);
});

describe('exits that only reduce', () => {
  beforeEach(() => void paper.control.setExits({ reduceOnly: true }));

  test('say so in the lists, and end with the position that they protect', async () => {
    await placeEntry({});
    trade('59000');
    const listed = await post('/api/v4/orders', { market: 'BTC_USDT' });

    const close = { market: 'BTC_USDT', side: 'sell', amount: '1' };
    await post('/api/v4/order/collateral/market', close);

    expect(listed.body).toMatchObject([
      { side: 'sell', type: 'margin limit', reduceOnly: true },
      { side: 'sell', type: 'margin stop limit', reduceOnly: true },
    ]);
    expect(exits().slice(0, 2)).toEqual([
      ['stop_limit', '1', 'cancelled'],
      ['limit', '1', 'cancelled'],
    ]);
    expect(paper.control.state().orders[1]?.endReason).toBe('AUTO_CANCELED_REDUCE_ONLY');
  });

  test('never turn a position that was made smaller', async () => {
    await placeEntry({});
    trade('59000');
    await post('/api/v4/order/collateral/market', { market: 'BTC_USDT', side: 'sell', amount: '0.7' });

    trade('54900');

    expect(positions()).toEqual({});
    expect(paper.control.state().orders[1]).toMatchObject({ filled: '0.3', status: 'cancelled' });
  });
});

test('exits that may open turn a position that was made smaller, as by default', async () => {
  await placeEntry({});
  trade('59000');
  await post('/api/v4/order/collateral/market', { market: 'BTC_USDT', side: 'sell', amount: '0.7' });

  trade('54900');

  expect(positions()).toMatchObject({ BTC_USDT: { amount: '-0.7' } });
});

describe('a stop-loss at market', () => {
  beforeEach(() => void paper.control.setExits({ stopKind: 'market' }));

  test('closes the position in a gap that a limit would miss', async () => {
    await placeEntry({});
    trade('59000');
    const listed = await post('/api/v4/conditional-orders', { market: 'BTC_USDT' });

    trade('50000');

    expect(listed.body).toMatchObject({
      records: [
        { stopLoss: { type: 'trigger margin market', price: '0', amount: '1', activationPrice: '55000' } },
      ],
    });
    expect(positions()).toEqual({});
    expect(exits()).toEqual([
      ['stop_market', '1', 'filled'],
      ['limit', '1', 'cancelled'],
    ]);
  });
});

describe('an exchange that refuses reduce-only stops', () => {
  const sell = { market: 'BTC_USDT', side: 'sell', amount: '0.5', reduceOnly: true };
  const resting = { ...sell, price: '70000' };
  const stop = { ...sell, activation_price: '50000' };

  beforeEach(async () => {
    await post('/api/v4/order/collateral/market', { market: 'BTC_USDT', side: 'buy', amount: '1' });
    paper.control.setExits({ refusesReduceOnlyStops: true });
  });

  test.each([
    [limitPath, resting],
    ['/api/v4/order/collateral/stop-limit', { ...stop, price: '49000' }],
    ['/api/v4/order/collateral/trigger-market', stop],
  ])('refuses one at %s, until it is set back', async (path, fields) => {
    const refused = await post(path, fields);
    paper.control.setExits({ refusesReduceOnlyStops: false });

    expect(refused).toEqual(refusal('reduceOnly', 'ReduceOnly field is not available for this order type.'));
    expect((await post(path, fields)).status).toBe(200);
  });

  test.each([
    ['what fills at once', '/api/v4/order/collateral/market', sell],
    ['what is immediate or cancel', limitPath, { ...sell, price: '59000', ioc: true }],
    ['what may open, too', limitPath, { ...resting, reduceOnly: false }],
  ])('takes %s', async (_, path, fields) => {
    expect((await post(path, fields)).status).toBe(200);
  });

  test('makes its own exits reduce-only, if it is set to', async () => {
    paper.control.setExits({ reduceOnly: true });

    await placeEntry({ price: '60000' });

    expect(exits()).toHaveLength(2);
  });
});

describe('the list of positions', () => {
  const attached = async () => {
    const { body } = await post('/api/v4/collateral-account/positions/open');
    return (body as { tpsl: unknown }[]).map(({ tpsl }) => tpsl);
  };
  const idOf = (type: string) =>
    paper.control.state().orders.find((order) => order.type === type && order.side === 'sell')?.orderId;

  test('hides the exits, and shows them by id and price once it is set to', async () => {
    await placeEntry({});
    trade('59000');

    const hidden = await attached();
    paper.control.setExits({ showsAttached: true });
    const shown = await attached();

    expect(hidden).toEqual([null]);
    expect(shown).toEqual([
      {
        takeProfitId: idOf('limit'),
        takeProfit: '66000',
        stopLossId: idOf('stop_limit'),
        stopLoss: '55000',
      },
    ]);
  });

  test('shows none where none stand, and no orders that the owner placed', async () => {
    paper.control.setExits({ showsAttached: true });
    await placeEntry({ price: '60000', ...noExits });
    await post('/api/v4/order/collateral/limit', { ...entry, side: 'sell', price: '70000', ...noExits });

    expect(await attached()).toEqual([null]);
  });
});

describe('the route of the exits', () => {
  const control = async (body: unknown) =>
    receive(await fetch(`${paper.url}/control/exits`, { method: 'POST', body: JSON.stringify(body) }));
  const usual = {
    madeAt: 'end',
    afterPartial: true,
    reduceOnly: false,
    stopKind: 'limit',
    showsAttached: false,
    listsExits: true,
    refusesReduceOnlyStops: false,
    stopsWaitBy: 'price',
    takesUsedIds: false,
  };

  test('answers the settings, changes the given ones, and keeps them across a restart', async () => {
    const before = await control({});
    const changed = await control({ madeAt: 'first_fill', reduceOnly: true });
    const again = await control({ stopKind: 'market' });
    await placeEntry({});
    trade('59000', '0.4');
    const state = paper.control.state();
    await paper.close();

    paper = await open();

    expect(before).toEqual({ status: 200, body: usual });
    expect(changed.body).toEqual({ ...usual, madeAt: 'first_fill', reduceOnly: true });
    expect(again.body).toEqual({ ...usual, madeAt: 'first_fill', reduceOnly: true, stopKind: 'market' });
    expect(state.exitSettings).toEqual(again.body);
    expect(paper.control.state()).toEqual(state);
    expect(exits()).toEqual([
      ['stop_market', '0.4', 'open'],
      ['limit', '0.4', 'open'],
    ]);
  });

  test.each<[unknown, string]>([
    [{ madeAt: 'fill' }, 'expected one of "end"|"first_fill"'],
    [{ stopKind: 'stop' }, 'expected one of "limit"|"market"'],
    [{ afterPartial: 'on' }, 'expected boolean'],
    [{ reduceOnly: 1 }, 'reduceOnly'],
    [{ made: 'end' }, 'Unrecognized key: "made"'],
  ])('says what is wrong with %j', async (body, reason) => {
    expect(await control(body)).toEqual({
      status: 400,
      body: { error: expect.stringContaining(reason) },
    });
    expect(paper.control.state().exitSettings).toEqual(usual);
  });
});
