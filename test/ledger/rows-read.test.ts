import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from '@jest/globals';
import { createSqliteFile } from '../../lib/base/sqlite.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import { createSqliteLine } from '../../lib/queue/sqlite-line.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { runMinute } from '../../lib/relay/settle/run-minute.ts';
import { copyEnded } from '../bench/fill-ledger.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** Signals, fills, arrivals and facts that the relay has when it begins. */
const sizes = [200, 4_000] as const;

let relay: Aftermath | null = null;
afterEach(async () => {
  await relay?.close();
  relay = null;
});

interface Counted {
  readonly database: DatabaseSync;
  /** Rows of growing tables that were read since the last call. */
  take(): number;
}

/** A database in memory that counts each row that a statement looks at, whether the statement then wants it or not. */
function openCounted(): Counted {
  const database = new DatabaseSync(':memory:');
  let rows = 0;
  database.function('looked_at', { varargs: true }, () => {
    rows += 1;
    return 1;
  });
  const prepare = database.prepare.bind(database);
  database.prepare = (sql) => prepare(countRowsIn(sql));
  return {
    database,
    take() {
      const taken = rows;
      rows = 0;
      return taken;
    },
  };
}

/** The statement with a first condition that SQLite asks of every row: no index answers it. */
function countRowsIn(sql: string): string {
  return sql.replace(reading, (_, read: string, table: string, where: string | undefined) => {
    const condition = `looked_at(${table}.${table === 'entries' ? 'seq' : 'account'})`;
    return `${read} WHERE ${condition}${where === undefined ? '' : ' AND '}`;
  });
}

/** `FROM table` or `UPDATE table SET …`, and the word WHERE if it follows. */
const reading =
  /((?:FROM|UPDATE) (entries|fills|arrivals|account_facts)\b(?: INDEXED BY \w+| SET [\s\S]+?(?=\s+WHERE\s))?)(\s+WHERE\s)?/g;

async function openHistory(size: number): Promise<{ readonly relay: Aftermath; readonly counted: Counted }> {
  const counted = openCounted();
  const { database } = counted;
  const opened = await openAftermath('live', undefined, createSqliteFile(database));
  relay = opened;
  const { services } = opened;
  await opened.send(buyAlert({ id: 'old-1' }));
  await opened.send(JSON.stringify({ id: 'old-2', ticker: 'BTCUSDT', action: 'cancel', signalId: 'old-1' }));
  await opened.send(JSON.stringify({ id: 'old-3', ticker: 'BTCUSDT', action: 'cancel', signalId: 'none' }));
  await opened.follow();
  copyEnded(database, size, noonMs - size * minuteMs);
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${size})`;
  database.exec(`${numbers} INSERT INTO fills SELECT 'main', 'BTC_USDT', 1000000 + n, n, ${noonMs} - n * 60000, 's', '{}'
    FROM numbers;
    ${numbers} INSERT INTO arrivals SELECT 'main', n, ${noonMs} - n * 60000, '[]' FROM numbers;
    ${numbers} INSERT INTO account_facts SELECT 'main', 'strategy of ' || n, '{}' FROM numbers;`);
  Object.assign(services, {
    settings: settingsWith({ maxOrdersPerMinute: 50, maxSlippage: '1%' }, { maxPosition: '10' }),
  });
  opened.clock.advance(10 * minuteMs);
  counted.take();
  return { relay: opened, counted };
}

async function rowsOfSteps(size: number): Promise<Readonly<Record<string, number>>> {
  const { relay: own, counted } = await openHistory(size);
  const { services, file, clock } = own;
  const { ledger, executions } = services;
  const rows: Record<string, number> = {};
  const step = async (name: string, run: () => unknown) => {
    await run();
    rows[name] = counted.take();
  };
  const alert = (fields: object) => JSON.stringify({ ticker: 'BTCUSDT', ...fields });
  const market = { orderType: 'market', quantity: '0.01' };
  const execute = (signalId: string) =>
    executeSignal(services, { account: 'main', signalId, market: 'BTC_USDT' });

  await step('receive an order', () => own.receive(buyAlert()));
  await step('receive it again', () => own.receive(buyAlert()));
  await step('execute it', () => execute('buy-1'));
  await step('receive without id and time', () => own.receive(buyAlert({ id: undefined })));
  await step('refuse', () => own.receive(alert({ id: 'r', action: 'jump' })).catch(() => undefined));
  await step('cancel', () => own.send(alert({ id: 'c', action: 'cancel', signalId: 'buy-1' })));
  await step('enter', () => own.send(alert({ id: 'e', action: 'buy', ...market })));
  await step('follow', () => own.follow());
  clock.advance(minuteMs);
  await step('minute', () => runMinute(services, null));
  await step('close', () => own.send(alert({ id: 'x', action: 'close' })));
  await step('target', async () => {
    await own.receiveAll(alert({ id: 't', action: 'target', target: '0.02' }));
    await execute('t:reduce');
    await execute('t');
  });
  await step('cancel all', () => own.send(alert({ id: 'a', action: 'cancel_all' })));
  await step('lose a response', () =>
    own.send(buyAlert({ id: 'lost' }), { fault: 'drop_after', endpoint: 'stop-limit' }),
  );
  await step('minutes of lookups', () => own.reconcileFor(5));
  await step('start again', () => createSqliteLine(file, { clock, maxDeliveries: 3 }));
  await step('dead letters', async () => {
    const letters = createSqliteDeadLetters(file);
    await letters.redrive();
    letters.count();
  });
  for (const status of [undefined, 'accepted', 'sending', 'placed', 'denied', 'unknown'] as const)
    for (const account of [undefined, 'main'])
      for (const oldestFirst of [true, false])
        await step(`list ${status} of ${account}, ${oldestFirst ? 'oldest' : 'newest'} first`, () =>
          ledger.list({
            limit: 10,
            oldestFirst,
            ...(status === undefined ? {} : { status }),
            ...(account === undefined ? {} : { account }),
          }),
        );
  await step('find by prefix', () => ledger.findByPrefix('main', 'buy', 10));
  await step('find refusals', () => readRefusals(ledger, 'main', 'r'));
  await step('find an order', () => ledger.findOrder('main', 'BTC_USDT', 1));
  await step('fills', () =>
    executions.listFills({ account: 'main', fromMs: noonMs - 3_600_000, untilMs: noonMs, limit: 10 }),
  );
  return rows;
}

test('no step reads more rows of a long history than of a short one', async () => {
  const [few, many] = sizes;
  const short = await rowsOfSteps(few);
  await relay?.close();
  const long = await rowsOfSteps(many);

  expect(long).toEqual(short);
  // What is read of the few that are under way or followed; more is no fault, but worth a look.
  expect(short).toMatchObject({ minute: 3, 'list denied of main, newest first': 11, fills: 11 });
});

test('the count sees a list in the order of time that has to look for its rows', async () => {
  const { counted } = await openHistory(sizes[0]);
  const inOrder = `SELECT * FROM entries WHERE account = ? AND order_open > 0 AND status = 'placed'
    ORDER BY created_at_ms, seq LIMIT 10`;

  counted.database.prepare(inOrder).all('main');

  expect(counted.take()).toBe(sizes[0]);
});
