import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Command } from '../../lib/paper/engine/engine.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, secondKey } from './paper-client.ts';

let folder: string;
let journalPath: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paper-journal-'));
  journalPath = join(folder, 'paper.sqlite');
});

afterEach(() => {
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

const clock = createManualClock(1_790_000_000_000);
const open = (): Promise<PaperExchange> =>
  startPaperExchange({ port: 0, dialect: 'live', clock, walk: false, journalPath });

const createPath = '/api/v4/order/collateral/stop-limit';
const order = { market: 'BTC_USDT', side: 'buy', amount: '1', price: '61500', activation_price: '61000' };

/** Some of every kind of command. */
async function tradeForAWhile(paper: PaperExchange): Promise<void> {
  const post = createPost(paper.url);
  paper.control.setPrice('BTC_USDT', parseDecimal('60100'));
  await post(createPath, { ...order, stopLoss: '60000', takeProfit: '64000', clientOrderId: 'a' });
  await post(createPath, { ...order, clientOrderId: 'b' }, secondKey);
  await post(createPath, { ...order, market: 'BTC_PERP', side: 'sell', clientOrderId: 'c' });
  paper.control.setPrice('BTC_USDT', parseDecimal('61200'), parseDecimal('1.5'));
  await post('/api/v4/order/cancel', { market: 'BTC_USDT', clientOrderId: 'b' }, secondKey);
  paper.control.setPrice('ETH_USDT', parseDecimal('3100'));
  paper.control.setFunds('main', 'spot', 'SOL', parseDecimal('7'));
  paper.control.setLeverage('main', 5);
  await post('/api/v4/order/market', { market: 'ETH_USDT', side: 'buy', amount: '500' });
  await post('/api/v4/order/new', { market: 'ETH_USDT', side: 'sell', amount: '1', price: '4000' });
  await post('/api/v4/order/cancel/all', { type: ['spot'] });
  await post('/api/v4/order/collateral/market', { market: 'SOL_USDT', side: 'sell', amount: '3' });
  await post('/api/v4/collateral-account/position/close', { market: 'SOL_USDT', positionId: 30_000_000_003 });
  paper.control.setPrice('BTC_PERP', parseDecimal('61700'));
}

describe('a journal', () => {
  test('restores the whole state after a restart', async () => {
    const first = await open();
    await tradeForAWhile(first);
    const before = first.control.state();
    await first.close();

    const second = await open();
    const after = second.control.state();
    await createPost(second.url)(createPath, { ...order, activation_price: '61300' });

    expect(before.orders.map(({ status }) => status)).toEqual([
      'filled',
      'cancelled',
      'filled',
      'open',
      'open',
      'filled',
      'cancelled',
      'filled',
      'filled',
    ]);
    expect(after).toEqual(before);
    expect(second.control.state().acceptedOrderIds).toHaveLength(7);
    await second.close();
  });

  test('holds every acknowledged command, even if the exchange is never closed', async () => {
    const first = await open();
    await tradeForAWhile(first);
    await createPost(first.url)(createPath, { ...order, activation_price: '70000', clientOrderId: 'last' });
    const before = first.control.state();

    const second = await open();

    expect(second.control.state()).toEqual(before);
    await second.close();
    await first.close();
  });

  test('has no entry for trades that affected no order, but keeps their price', async () => {
    const first = await open();
    for (const price of ['60100', '60200', '60300']) first.control.setPrice('BTC_USDT', parseDecimal(price));
    // This order is compared with 60300: its direction shows that the price was kept.
    await createPost(first.url)(createPath, { ...order, activation_price: '60250' });
    first.control.setPrice('SOL_USDT', parseDecimal('155'));
    await first.close();

    const database = new DatabaseSync(journalPath);
    const lines = database.prepare('SELECT entry FROM paper_journal').all();
    database.close();
    const second = await open();

    expect(lines).toHaveLength(2);
    expect(second.control.state()).toMatchObject({ prices: { BTC_USDT: '60300', SOL_USDT: '155' } });
    second.control.setPrice('BTC_USDT', parseDecimal('60200'));
    expect(second.control.state().orders[0]).toMatchObject({ status: 'filled' });
    await second.close();
  });

  test('has no entry for refused commands', async () => {
    const first = await open();
    await createPost(first.url)(createPath, { ...order, amount: '100' });
    await first.close();

    const database = new DatabaseSync(journalPath);
    expect(database.prepare('SELECT entry FROM paper_journal').all()).toEqual([]);
    database.close();
  });
});

test('a journal that is begun later gives higher order ids', async () => {
  const laterPath = join(folder, 'later.sqlite');
  const idOfFirstOrder = async (paper: PaperExchange) => {
    await createPost(paper.url)(createPath, order);
    const [first] = paper.control.state().orders;
    await paper.close();
    return first?.orderId ?? 0;
  };

  const earlierId = await idOfFirstOrder(await open());
  const later = createManualClock(clock.nowMs() + 1000);
  const laterId = await idOfFirstOrder(
    await startPaperExchange({ port: 0, dialect: 'live', clock: later, walk: false, journalPath: laterPath }),
  );

  expect([earlierId, laterId]).toEqual([32_774_400_001, 32_774_401_001]);
});

describe('a journal of an older release', () => {
  test('is emptied, because its commands would give another state now', async () => {
    const first = await open();
    const fresh = first.control.state();
    await tradeForAWhile(first);
    await first.close();
    // As version 2 wrote it: a kind instead of a type.
    damage(`UPDATE paper_journal SET entry = json_remove(
              json_insert(entry, '$.command.order.kind', 'stop_limit'), '$.command.order.type')
            WHERE json_extract(entry, '$.command.kind') = 'create'`);
    damage('UPDATE schema_versions SET version = 2');

    const second = await open();

    expect(second.control.state()).toEqual(fresh);
    expect([first.wasEmptied, second.wasEmptied]).toEqual([false, true]);
    await second.close();
  });
});

function damage(statement: string): void {
  const database = new DatabaseSync(journalPath);
  database.exec(statement);
  database.close();
}

const newOrder = {
  type: 'stop_limit',
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('1'),
  price: parseDecimal('61500'),
  activationPrice: parseDecimal('61000'),
  clientOrderId: '',
  stp: 'no',
} as const;

describe('a journal that cannot be used', () => {
  test.each([
    [
      'of a newer release',
      'UPDATE schema_versions SET version = 9',
      'have version 9, and this release knows version 3',
    ],
    [
      'with an entry that is not JSON',
      "INSERT INTO paper_journal (entry) VALUES ('{')",
      'its entry 1 cannot be read; move the file away to start afresh',
    ],
    [
      'with an entry that has no effect',
      `INSERT INTO paper_journal (entry) VALUES
       ('{"prices":{},"command":{"kind":"cancel","atMs":1,"account":"main","market":"BTC_USDT","orderId":1}}')`,
      'its entry 1 has no effect when replayed; move the file away to start afresh',
    ],
  ])('%s is refused with the reason', async (_, statement, reason) => {
    await (await open()).close();
    damage(statement);

    const opened = open();

    await expect(opened).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(opened).rejects.toThrow(reason);
  });

  test('because a write failed stops trading, and nothing is acknowledged', async () => {
    const trading = openTrading(journalPath);
    damage('DROP TABLE paper_journal');
    const create = { kind: 'create', atMs: 1, account: 'main', order: newOrder } as const;

    const { stored } = trading.execute(create);

    await expect(stored).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(() => trading.execute(create)).toThrow('the paper exchange lost its journal');
    await trading.close();
  });

  test.each(['activationPrice', 'stp', 'side'])(
    'is prevented: an order without its %s is refused before it changes anything',
    async (field) => {
      const trading = openTrading(journalPath);
      const order = { ...newOrder, [field]: undefined };
      const create = { kind: 'create', atMs: 1, account: 'main', order } as unknown as Command;

      expect(() => trading.execute(create)).toThrow(
        new RegExp(`the journal cannot keep this command: .*\\n.*order\\.${field}`),
      );

      expect(trading.state.orders.size).toBe(0);
      await trading.close();
      await openTrading(journalPath).close();
    },
  );

  test('breaks the connections of order requests', async () => {
    const paper = await open();
    damage('DROP TABLE paper_journal');
    const post = createPost(paper.url);

    await expect(post(createPath, order)).rejects.toThrow('fetch failed');
    await expect(post(createPath, order)).rejects.toThrow('fetch failed');
    const price = { method: 'POST', body: '{"market":"BTC_USDT","price":"1"}' };
    await expect(fetch(`${paper.url}/control/price`, price)).rejects.toThrow('fetch failed');
    expect((await post('/api/v4/main-account/balance')).status).toBe(200);
    await paper.close();
  });

  test('stops the price walk, not the process', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const paper = await startPaperExchange({ port: 0, dialect: 'live', clock, journalPath });
    const trade = () => jest.advanceTimersByTime(1000);
    trade();
    damage('DROP TABLE paper_journal');
    await expect(createPost(paper.url)(createPath, order)).rejects.toThrow('fetch failed');
    const before = paper.control.state().prices;

    trade();
    trade();

    expect(paper.control.state().prices).toEqual(before);
    await paper.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});
