import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type LocalRelay, startLocalRelay } from '../../../infra/local/local-relay.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import { openSqlite } from '../../../lib/base/sqlite.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import { createDataFolder, type DataFolder } from '../../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../../lib/host/file-secrets.ts';
import { createSqliteLedger } from '../../../lib/ledger/sqlite-ledger.ts';
import { paperKeysOf } from '../../../lib/paper/engine/accounts.ts';
import { type PaperExchange, startPaperExchange } from '../../../lib/paper/server/server.ts';
import { buyAlert } from '../../support/alerts.ts';
import { testConfig } from '../../support/world.ts';

/** Records every alarm and every log line of the relay. */
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

/** Starts the relay. @returns once the first reconciliation has ended */
async function start(): Promise<void> {
  const emitLine = () => void events.emit('line');
  relay = await startLocalRelay({
    port: 0,
    folder,
    settings: parseConfig(testConfig).settings,
    exchange: { address: paper.url, dialect: 'live', isPaper: true },
    exchangeTimeoutMs: 2_000,
    clock: systemClock,
    log: {
      info: emitLine,
      warn: emitLine,
      error(_, facts) {
        emitLine();
        if (facts['alarm'] === true) events.emit('alarm', facts);
      },
    },
  });
  await relay.reconcile();
}

/** Starts the relay and lets it send an order whose response is lost. */
async function loseResponse(): Promise<void> {
  await start();
  const alarm = once(events, 'alarm');
  paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
  await post('buy-1');
  await alarm;
}

async function post(id: string): Promise<void> {
  const [token] = await createFileSecrets(folder.secretsPath).webhookTokens('main');
  await fetch(`${relay.url}/signals/main/${token}`, { method: 'POST', body: buyAlert({ id }) });
}

async function readEntry(signalId = 'buy-1') {
  const file = openSqlite(folder.databasePath);
  const entry = await createSqliteLedger(file).read({ account: 'main', signalId });
  file.close();
  return entry;
}

/** The final status of the order. */
async function settledStatus(signalId: string) {
  for (;;) {
    const line = once(events, 'line');
    const status = (await readEntry(signalId))?.status ?? 'accepted';
    if (status !== 'accepted' && status !== 'sending') return status;
    await line;
  }
}

test('a local relay looks up an order whose response was lost when it is asked to reconcile', async () => {
  await loseResponse();

  await relay.reconcile();

  expect(await readEntry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: true });
  expect(paper.control.state().acceptedCreates).toBe(1);
});

test('a local relay looks up signals that the previous run left unknown as soon as it starts', async () => {
  await loseResponse();
  await relay.close();

  await start();

  expect(await readEntry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
  expect(paper.control.state().acceptedCreates).toBe(1);
});

test('a local relay that was killed while it sent tells once that the outcome is unknown', async () => {
  await loseResponse();
  await relay.close();
  const file = openSqlite(folder.databasePath);
  file.database.exec(
    "UPDATE entries SET status = 'sending', updated_at_ms = 1, look = NULL, look_due_at_ms = NULL",
  );
  file.close();
  const told: unknown[] = [];
  const note = ({ alarmName, signalId }: Record<string, unknown>) => void told.push([alarmName, signalId]);
  events.on('alarm', note);

  await start();
  await relay.reconcile();
  // It waits behind what the run before left in its market.
  await post('buy-2');
  expect(await settledStatus('buy-2')).toBe('placed');

  events.off('alarm', note);
  expect(told).toEqual([['outcome_unknown', 'buy-1']]);
  expect(await readEntry()).toMatchObject({ status: 'placed' });
});

test('a local relay that starts while the market list fails trades with the list that the previous run stored', async () => {
  await start();
  await post('buy-1');
  expect(await settledStatus('buy-1')).toBe('placed');
  await relay.close();
  paper.control.addFault({ fault: 'drop_before', endpoint: 'markets', probability: 1 });

  await start();
  await post('buy-2');

  expect(await settledStatus('buy-2')).toBe('placed');
});
