import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkDataFolder } from '../../../infra/local/check-data-folder.ts';
import { startLocalRelay } from '../../../infra/local/local-relay.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { openSqlite } from '../../../lib/base/sqlite.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import { createDataFolder, type DataFolder, readRun } from '../../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../../lib/host/file-secrets.ts';
import type { Entry } from '../../../lib/ledger/entry.ts';
import { createSqliteLedger } from '../../../lib/ledger/sqlite-ledger.ts';
import { paperKeysOf } from '../../../lib/paper/engine/accounts.ts';
import { startPaperExchange } from '../../../lib/paper/server/server.ts';
import { createListeningLog } from '../../support/listening-log.ts';
import { ledgerScripts, queueScripts } from '../../support/older-scripts.ts';
import { testConfig } from '../../support/world.ts';

let folder: DataFolder;
/** What the test started and did not stop. */
let running: (() => Promise<void>) | null = null;
beforeEach(() => {
  folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-folder-')));
});
afterEach(async () => {
  await running?.();
  rmSync(folder.path, { recursive: true });
});

function runIn(path: string, ...scripts: readonly string[]): void {
  const database = new DatabaseSync(path);
  for (const script of scripts) database.exec(script);
  database.close();
}

const versionsTable =
  'CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID';

/** An order as the first releases' journals stored it: without a kind, and with null for a missing stop-loss or take-profit. */
const oldEntry = {
  prices: { BTC_USDT: '60000' },
  command: {
    kind: 'create',
    atMs: 1_790_000_000_000,
    account: 'main',
    order: {
      market: 'BTC_USDT',
      side: 'buy',
      amount: '0.01',
      price: '61500',
      activationPrice: '61000',
      stopLoss: null,
      takeProfit: null,
      clientOrderId: 'old',
      stp: 'no',
    },
  },
};

/** The signal that placed it, as the ledger of the first release stored it. */
const oldSignal = {
  action: 'order',
  orderType: 'stop_limit',
  ticker: 'BTCUSDT',
  market: 'BTC_USDT',
  timeMs: null,
  maxLagMs: null,
  side: 'buy',
  size: { unit: 'stock', quantity: '0.01' },
  stopPrice: '61000',
  limitPrice: '61500',
};
/** The id of every paper exchange's first order, until there were order types. */
const oldOrderId = 10_000_000_001;

/** A data folder as an earlier release left it, with a ledger of the given version. */
function writeOlderFolder(version: number): void {
  const insertEntry = `INSERT INTO entries (account, signal_id, status, fingerprint, created_at_ms, updated_at_ms, steps)
    VALUES ('main', 'refused-1', 'invalid', 'f1', 1, 1, '[{"status":"invalid","atMs":1,"note":"as it was"}]')`;
  const insertPlaced = `INSERT INTO entries (account, signal_id, status, signal, market, client_order_id, fingerprint,
      created_at_ms, updated_at_ms, steps, order_id, order_open)
    VALUES ('main', 'placed-1', 'placed', '${JSON.stringify(oldSignal)}', 'BTC_USDT', 'old', 'f2',
      2, 2, '[{"status":"placed","atMs":2,"note":"as it was"}]', ${oldOrderId}, 1)`;
  runIn(
    folder.databasePath,
    'PRAGMA journal_mode = WAL',
    ...ledgerScripts.slice(0, version),
    ...queueScripts,
    versionsTable,
    `INSERT INTO schema_versions VALUES ('ledger', ${version}), ('queue', 1)`,
    insertEntry,
    insertPlaced,
  );
  const journal = 'CREATE TABLE paper_journal (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT';
  const insertOrder = `INSERT INTO paper_journal (entry) VALUES ('${JSON.stringify(oldEntry)}')`;
  // Before there were versions of stores, the first journal kept one of its own.
  runIn(
    folder.paperPath,
    journal,
    insertOrder,
    ...(version === 1
      ? ['PRAGMA user_version = 1']
      : [versionsTable, "INSERT INTO schema_versions VALUES ('paper journal', 1)"]),
  );
  writeFileSync(
    folder.secretsPath,
    JSON.stringify({
      main: { webhookTokens: ['a-token-of-an-older-release'], exchangeKeys: paperKeysOf('main') },
    }),
  );
  writeFileSync(folder.runPath, JSON.stringify({ relayUrl: 'http://127.0.0.1:1' }));
  writeFileSync(folder.logPath, 'a line of an older release\n');
}

/** Starts paper exchange and relay on the folder, as `npm start` does. */
async function startOnFolder() {
  const { settings } = parseConfig(testConfig);
  checkDataFolder(folder);
  completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);
  const paper = await startPaperExchange({
    port: 0,
    dialect: 'live',
    walk: false,
    journalPath: folder.paperPath,
  });
  const { log, nextLine } = createListeningLog();
  const relay = await startLocalRelay({
    port: 0,
    folder,
    settings,
    exchange: { address: paper.url, dialect: 'live', isPaper: true },
    exchangeTimeoutMs: 2_000,
    clock: systemClock,
    log,
  });
  const file = openSqlite(folder.databasePath);
  const ledger = createSqliteLedger(file);
  running = async () => {
    running = null;
    file.close();
    await relay.close();
    await paper.close();
  };
  return {
    paper,
    ledger,
    /** Posts an alert, and waits for its outcome. */
    async send(signalId: string, fields: object): Promise<Entry> {
      const [token] = await createFileSecrets(folder.secretsPath).webhookTokens('main');
      const body = JSON.stringify({ id: signalId, ticker: 'BTCUSDT', ...fields });
      await fetch(`${relay.url}/signals/main/${token}`, { method: 'POST', body });
      for (;;) {
        const line = nextLine();
        const entry = await ledger.read({ account: 'main', signalId });
        if (entry !== null && !['accepted', 'sending'].includes(entry.status)) return entry;
        await line;
      }
    },
    close: running,
  };
}

describe.each([1, 2])('a data folder of an older release, with a ledger of version %i,', (version) => {
  test('is upgraded and keeps its ledger, secrets and log', async () => {
    writeOlderFolder(version);

    const started = await startOnFolder();
    const { entries } = await started.ledger.list({ limit: 10 });
    await started.close();

    expect(entries.map(({ signalId, status }) => [signalId, status])).toEqual([
      ['placed-1', 'placed'],
      ['refused-1', 'invalid'],
    ]);
    expect(await createFileSecrets(folder.secretsPath).webhookTokens('main')).toEqual([
      'a-token-of-an-older-release',
    ]);
    expect(readRun(folder)).toBeNull();
    expect(readFileSync(folder.logPath, 'utf8')).toBe('a line of an older release\n');
    // What this release made of it, it can open again.
    checkDataFolder(folder);
  });
});

describe('the paper exchange of an older release', () => {
  const order = { action: 'buy', orderType: 'limit', quantity: '0.01', limitPrice: '50000' };

  test('starts afresh and says so, once', async () => {
    writeOlderFolder(2);

    const first = await startOnFolder();
    const { orders } = first.paper.control.state();
    await first.close();
    const second = await startOnFolder();
    await second.close();

    expect(orders).toEqual([]);
    expect([first.paper.wasEmptied, second.paper.wasEmptied]).toEqual([true, false]);
  });

  test('has new order ids: cancelling an order of before says that it is not open, and harms no other', async () => {
    writeOlderFolder(2);
    const { paper, ledger, send } = await startOnFolder();
    const placed = await send('new-1', order);

    const undo = await send('undo', { action: 'cancel', signalId: 'placed-1' });

    expect(placed).toMatchObject({ status: 'placed', orderOpen: true });
    expect(placed.orderId).toBeGreaterThan(oldOrderId);
    expect(undo).toMatchObject({ status: 'rejected' });
    expect(undo.steps.at(-1)?.note).toBe(
      'the order is not open: it was filled, cancelled before, or never placed',
    );
    expect(paper.control.state().orders.map(({ status }) => status)).toEqual(['open']);
    expect(await ledger.read({ account: 'main', signalId: 'placed-1' })).toMatchObject({
      status: 'placed',
      orderOpen: false,
    });
  });

  test('leaves no order that counts as open, once a cancel_all or the reconciler has read the open orders', async () => {
    writeOlderFolder(2);
    const { ledger, send } = await startOnFolder();
    await send('new-1', order);

    const all = await send('all', { action: 'cancel_all' });

    expect(all).toMatchObject({ status: 'cancelled' });
    expect(await ledger.openOrders('main', 'BTC_USDT', 10)).toEqual([]);
  });
});

/** Every file with its content. */
function fingerprint(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder.path)
      .sort()
      .map((name) => [name, hash('sha256', readFileSync(join(folder.path, name)))]),
  );
}

describe('a data folder that this release cannot read', () => {
  test.each([
    ['ledger', 'databasePath', 'its ledger has version 99, and this release reads at most version 10'],
    ['queue', 'databasePath', 'its queue has version 99, and this release reads at most version 1'],
    [
      'market-copies',
      'databasePath',
      'its market-copies has version 99, and this release reads at most version 1',
    ],
    ['snapshots', 'databasePath', 'its snapshots has version 99, and this release reads at most version 1'],
    ['positions', 'databasePath', 'its positions has version 99, and this release reads no version of it'],
    [
      'paper journal',
      'paperPath',
      'its paper journal has version 99, and this release reads at most version 3',
    ],
  ] as const)(
    'because a newer one wrote its %s is refused, and nothing in it is touched',
    (store, place, reason) => {
      writeOlderFolder(2);
      runIn(folder[place], `INSERT OR REPLACE INTO schema_versions VALUES ('${store}', 99)`);
      const before = fingerprint();

      expect(() => checkDataFolder(folder)).toThrow(
        expect.objectContaining({
          code: 'data_folder_newer',
          message: `a newer release wrote the data folder "${folder.path}": ${reason}; nothing was started and nothing was changed`,
        }),
      );

      expect(fingerprint()).toEqual(before);
    },
  );

  test.each([
    ['databasePath', 'store_unavailable', 'cannot be read (Error: file is not a database)'],
    ['paperPath', 'store_unavailable', 'cannot be read (Error: file is not a database)'],
    ['secretsPath', 'secrets_missing', 'cannot be read as JSON'],
  ] as const)(
    'because its %s is something else is refused, and nothing in it is touched',
    (place, code, reason) => {
      writeOlderFolder(2);
      writeFileSync(
        folder[place],
        'something else, and much longer than the head of a database would be'.repeat(9),
      );
      const before = fingerprint();

      expect(() => checkDataFolder(folder)).toThrow(
        expect.objectContaining({ code, message: expect.stringContaining(reason) }),
      );

      expect(fingerprint()).toEqual(before);
    },
  );

  test('whose secrets have a field that only a newer release knows is refused with its path', () => {
    writeOlderFolder(2);
    const secrets = { main: { webhookTokens: [], exchangeKeys: null, vault: 'x' } };
    writeFileSync(folder.secretsPath, JSON.stringify(secrets));

    expect(() => checkDataFolder(folder)).toThrow(
      expect.objectContaining({
        code: 'secrets_missing',
        issues: [expect.objectContaining({ path: 'main' })],
      }),
    );
  });

  test('shows it in a write-ahead log that a killed relay left behind', () => {
    writeOlderFolder(2);
    const killed = new DatabaseSync(folder.databasePath);
    killed.exec("UPDATE schema_versions SET version = 99 WHERE store = 'ledger'");
    const log = readFileSync(`${folder.databasePath}-wal`);
    const database = readFileSync(folder.databasePath);
    killed.close();
    writeFileSync(folder.databasePath, database);
    writeFileSync(`${folder.databasePath}-wal`, log);

    expect(() => checkDataFolder(folder)).toThrow(expect.objectContaining({ code: 'data_folder_newer' }));
  });

  test('an empty data folder is accepted', () => {
    expect(() => checkDataFolder(folder)).not.toThrow();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
