import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createDataFolder, type DataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { completeFileSecrets } from '../../lib/host/file-secrets.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Signal, StopLimitSignal } from '../../lib/model/signal.ts';
import { acceptOne } from '../support/accept-one.ts';

/** The folder of a relay that is not running, with a few signals in its ledger. */
export interface StoredSignals {
  readonly folder: DataFolder;
  readonly ledger: Ledger;
  remove(): void;
}

/** 2026-11-20 10:00:00 UTC. */
export const startMs = 1_795_168_800_000;

export const buySignal: StopLimitSignal = {
  action: 'order',
  orderType: 'stop_limit',
  ticker: 'BTCUSDT',
  market: 'BTC_USDT',
  timeMs: startMs - 1500,
  maxLagMs: 60_000,
  side: 'buy',
  size: { unit: 'base', quantity: '0.01' },
  stopPrice: '60500',
  limitPrice: '60560',
  stopLoss: '59000',
  strategy: 'breakout',
};

export async function storeSignals(): Promise<StoredSignals> {
  const folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-cli-')));
  completeFileSecrets(folder.secretsPath, ['main', 'rehearsal'], () => ({
    apiKey: 'key-of-this-test',
    apiSecret: 'secret-of-this-test',
  }));
  // Nobody listens on port 1.
  writeRun(folder, { relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1', dialect: 'live' });
  const file = openSqlite(folder.databasePath);
  const ledger = createSqliteLedger(file);
  await storePlaced(ledger);
  await storeDenied(ledger);
  await storeRefused(ledger);
  await storeDryRun(ledger);
  await storeCancels(ledger);
  return {
    folder,
    ledger,
    remove() {
      file.close();
      rmSync(folder.path, { recursive: true });
    },
  };
}

async function storePlaced(ledger: Ledger): Promise<void> {
  const key = { account: 'main', signalId: 'demo-1' };
  await acceptOne(
    ledger,
    { ...key, signal: buySignal, clientOrderId: 'tr-1', fingerprint: 'f1', atMs: startMs },
    null,
  );
  await ledger.start(key, { status: 'sending', atMs: startMs + 12, note: 'on its way' }, null);
  await ledger.move(key, {
    from: 'sending',
    step: {
      status: 'placed',
      atMs: startMs + 57,
      note: 'held',
      evidence: { order: { orderId: 10000000001 } },
    },
    orderId: 10_000_000_001,
    orderOpen: true,
  });
}

/** Its note holds an escape sequence, as a hostile exchange's text could. */
async function storeDenied(ledger: Ledger): Promise<void> {
  const key = { account: 'main', signalId: 'demo-2' };
  const signal: Signal = { ...buySignal, size: { unit: 'quote', quoteQuantity: '500' }, limitPrice: null };
  const atMs = startMs + 1000;
  await acceptOne(ledger, { ...key, signal, clientOrderId: 'tr-2', fingerprint: 'f2', atMs }, null);
  await ledger.move(key, {
    from: 'accepted',
    step: {
      status: 'denied',
      atMs: atMs + 3,
      note: 'too much \u001b[31m',
      evidence: { rule: 'max_notional', limit: '400', actual: '500' },
    },
  });
}

/** One that could not be read at all, one by its own id, and one under the id of a signal that was taken. */
async function storeRefused(ledger: Ledger): Promise<void> {
  const base = { account: 'main', fingerprint: 'f3' };
  await ledger.refuse({
    ...base,
    signalId: 'refused-1',
    step: { status: 'invalid', atMs: startMs + 2000, note: 'the alert is not valid JSON: it ends' },
  });
  await ledger.refuse({
    ...base,
    signalId: 'late-1@refused-0123456789ab',
    step: {
      status: 'invalid',
      atMs: startMs + 2100,
      note: 'the alert was too late',
      evidence: { code: 'stale', ticker: 'SOLUSDT', issues: [] },
    },
  });
  await ledger.refuse({
    ...base,
    signalId: 'demo-2@refused-ba9876543210',
    step: {
      status: 'invalid',
      atMs: startMs + 2200,
      note: 'the alert was refused: stoplos: "stoplos" is not a field of an alert',
      evidence: { code: 'invalid_signal', ticker: 'BTCUSDT', issues: [] },
    },
  });
}

async function storeDryRun(ledger: Ledger): Promise<void> {
  const key = { account: 'rehearsal', signalId: 'demo-1' };
  const atMs = startMs + 3000;
  await acceptOne(
    ledger,
    { ...key, signal: buySignal, clientOrderId: 'tr-3', fingerprint: 'f1', atMs },
    null,
  );
  await ledger.move(key, { from: 'accepted', step: { status: 'dry_run', atMs, note: 'would have gone' } });
}

async function storeCancels(ledger: Ledger): Promise<void> {
  const base = { ticker: 'BTCUSDT', market: 'BTC_USDT', timeMs: null, maxLagMs: null };
  const cancels: readonly Signal[] = [
    { ...base, action: 'cancel', target: { by: 'orderId', orderId: 42 } },
    { ...base, action: 'cancel', target: { by: 'clientOrderId', clientOrderId: 'tr-1' } },
    { ...base, action: 'cancel', target: { by: 'signalId', signalId: 'demo-1' } },
    { ...base, action: 'cancel_all' },
  ];
  for (const [index, signal] of cancels.entries())
    await acceptOne(
      ledger,
      {
        account: 'main',
        signalId: `cancel-${index + 1}`,
        signal,
        clientOrderId: null,
        fingerprint: 'f4',
        atMs: startMs + 4000 + index,
      },
      null,
    );
}
