import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type LocalRelay, startLocalRelay } from '../../../infra/local/local-relay.ts';
import { paperKeysOf } from '../../../infra/local/paper-keys.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import { openSqlite } from '../../../lib/base/sqlite.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import { createDataFolder, type DataFolder } from '../../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../../lib/host/file-secrets.ts';
import { createSqliteLedger } from '../../../lib/ledger/sqlite-ledger.ts';
import { type PaperExchange, startPaperExchange } from '../../../lib/paper/venue.ts';
import { buyAlert } from '../../support/alerts.ts';
import { testConfig } from '../../support/world.ts';

/** Tells of every alarm the relay raises. */
const events = new EventEmitter();
let folder: DataFolder;
let paper: PaperExchange;
let relay: LocalRelay;

beforeEach(async () => {
  folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-')));
  completeFileSecrets(folder.secretsPath, ['main'], paperKeysOf);
  paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
});
afterEach(async () => {
  await relay.close();
  await paper.close();
  rmSync(folder.path, { recursive: true });
});

/** @returns once it has gone through what it found */
async function start(): Promise<void> {
  const silence = () => undefined;
  relay = await startLocalRelay({
    port: 0,
    folder,
    settings: parseConfig(testConfig).settings,
    exchange: { address: paper.url, dialect: 'live' },
    exchangeTimeoutMs: 2_000,
    clock: systemClock,
    log: {
      info: silence,
      warn: silence,
      error: (_, facts) => (facts['alarm'] === true ? void events.emit('alarm') : undefined),
    },
  });
  await relay.reconcile();
}

/** Starts it, and has it send an order whose answer is lost. */
async function loseAnswer(): Promise<void> {
  await start();
  const alarm = once(events, 'alarm');
  const secrets = createFileSecrets(folder.secretsPath);
  const [token] = await secrets.webhookTokens('main');
  paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
  await fetch(`${relay.url}/signals/main/${token}`, { method: 'POST', body: buyAlert() });
  await alarm;
}

async function readEntry() {
  const file = openSqlite(folder.databasePath);
  const entry = await createSqliteLedger(file).read({ account: 'main', signalId: 'buy-1' });
  file.close();
  return entry;
}

test('a local relay looks for an order whose answer was lost, when it is asked to', async () => {
  await loseAnswer();

  await relay.reconcile();

  expect(await readEntry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: true });
  expect(paper.control.state().acceptedCreates).toBe(1);
});

test('a local relay looks for what the run before left unknown, as soon as it starts', async () => {
  await loseAnswer();
  await relay.close();

  await start();

  expect(await readEntry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
  expect(paper.control.state().acceptedCreates).toBe(1);
});
