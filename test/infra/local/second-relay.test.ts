import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type LocalRelay, startLocalRelay } from '../../../infra/local/local-relay.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import { RelayError } from '../../../lib/base/errors.ts';
import { openSqlite } from '../../../lib/base/sqlite.ts';
import { backUpFolder, restoreFolder } from '../../../lib/host/backup.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import { createDataFolder, type DataFolder } from '../../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../../lib/host/file-secrets.ts';
import { createSqliteLedger } from '../../../lib/ledger/sqlite-ledger.ts';
import { paperKeysOf } from '../../../lib/paper/engine/accounts.ts';
import { type PaperExchange, startPaperExchange } from '../../../lib/paper/server/server.ts';
import { createListeningLog, type ListeningLog } from '../../support/listening-log.ts';
import { testConfig } from '../../support/world.ts';

const { settings } = parseConfig(testConfig);
const buy = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '60000' };

/** A relay as it runs with `--live`, and what the test sees of it. */
interface Live {
  readonly folder: DataFolder;
  readonly relay: LocalRelay;
  readonly listening: ListeningLog;
}

describe('a relay on a copied folder', () => {
  let place: string;
  let paper: PaperExchange;
  const running: Live[] = [];
  beforeEach(async () => {
    place = mkdtempSync(join(tmpdir(), 'relay-second-'));
    paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
    paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  });
  afterEach(async () => {
    for (const { relay } of running.splice(0)) await relay.close();
    await paper.close();
    rmSync(place, { recursive: true });
  });

  async function start(name: string, address = paper.url, exchangeTimeoutMs = 10_000): Promise<Live> {
    const folder = createDataFolder(join(place, name));
    completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);
    const listening = createListeningLog();
    const relay = await startLocalRelay({
      port: 0,
      folder,
      settings,
      exchange: { address, dialect: 'live', isPaper: false },
      exchangeTimeoutMs,
      followEveryMs: 3_600_000,
      clock: systemClock,
      log: listening.log,
    });
    const live = { folder, relay, listening };
    running.push(live);
    return live;
  }

  async function post({ folder, relay }: Live, id: string, more: object = {}): Promise<number> {
    const [token] = await createFileSecrets(folder.secretsPath).webhookTokens('main');
    const url = `${relay.url}/signals/main/${token}`;
    return (await fetch(url, { method: 'POST', body: JSON.stringify({ id, ...buy, ...more }) })).status;
  }

  async function withLedger<T>(
    { folder }: Live,
    use: (ledger: ReturnType<typeof createSqliteLedger>) => Promise<T>,
  ): Promise<T> {
    const file = openSqlite(folder.databasePath);
    try {
      return await use(createSqliteLedger(file));
    } finally {
      file.close();
    }
  }

  /** The relay runs in this process: while it has a transaction open, only a turn of the event loop ends it. */
  async function resume(live: Live, name: string): Promise<void> {
    for (;;)
      try {
        return await withLedger(live, (ledger) => ledger.writePause(name, null));
      } catch (error) {
        if (!(error instanceof RelayError) || error.code !== 'store_unavailable') throw error;
        await setImmediate();
      }
  }

  async function settled(live: Live, signalId: string): Promise<string> {
    for (;;) {
      const line = live.listening.nextLine();
      const entry = await withLedger(live, (ledger) => ledger.read({ account: 'main', signalId }));
      if (entry !== null && !['accepted', 'sending'].includes(entry.status)) return entry.status;
      await line;
    }
  }

  async function placeOrder(live: Live, id: string): Promise<string> {
    expect(await post(live, id)).toBe(202);
    return await settled(live, id);
  }

  async function copy({ folder }: Live, name: string): Promise<void> {
    const to = createDataFolder(join(place, name));
    await backUpFolder(folder, to.databasePath, { withSecrets: false, clock: systemClock });
    copyFileSync(folder.secretsPath, to.secretsPath);
  }

  const alarmsOf = ({ listening }: Live) =>
    listening.lines
      .filter(({ facts }) => facts['alarmName'] === 'second_relay')
      .map(({ facts }) => facts['orders']);
  const pauseOf = (live: Live) => withLedger(live, (ledger) => ledger.readPause('main'));

  test('stops, with one alarm, when the exchange shows an order that its ledger does not know', async () => {
    const first = await start('first');
    expect(await placeOrder(first, 'before-the-copy')).toBe('placed');
    await copy(first, 'second');
    const second = await start('second');
    await second.relay.lookForOthers();
    expect([await pauseOf(second), await pauseOf(first)]).toEqual([null, null]);

    expect(await placeOrder(first, 'after-the-copy')).toBe('placed');
    await second.relay.lookForOthers();
    await second.relay.lookForOthers();

    expect(alarmsOf(second)).toEqual(['10000000002 in BTC_USDT']);
    expect(await pauseOf(second)).toMatchObject({
      kind: 'everything',
      reason: expect.stringContaining(
        '1 order(s) of another relay on account main, such as order 10000000002',
      ),
    });
    expect(await withLedger(second, (ledger) => ledger.readPause('slow'))).toMatchObject({
      kind: 'everything',
    });
    expect(await placeOrder(second, 'by-the-copy')).toBe('denied');
    await first.relay.lookForOthers();
    expect([await pauseOf(first), alarmsOf(first)]).toEqual([null, []]);
  });

  test('that is older than what ended since then sends nothing after its start', async () => {
    const first = await start('first');
    await placeOrder(first, 'before-the-copy');
    await copy(first, 'second');
    await placeOrder(first, 'after-the-copy');
    paper.control.setPrice('BTC_USDT', parseDecimal('60010'));
    await first.relay.close();
    running.splice(0);

    const second = await start('second');

    expect(await placeOrder(second, 'by-the-copy')).toBe('denied');
  });

  test('that was restored does not send again what the lost relay had sent after the backup', async () => {
    const first = await start('first');
    const backup = join(place, 'backup.db');
    await backUpFolder(first.folder, backup, { withSecrets: true, clock: systemClock });
    await placeOrder(first, 'after-the-backup');
    // It has ended, so the exchange would take its name again.
    paper.control.setPrice('BTC_USDT', parseDecimal('60010'));
    await first.relay.close();
    running.splice(0);
    const accounts = Object.keys(settings.accounts);
    await restoreFolder(createDataFolder(join(place, 'restored')), backup, { accounts, clock: systemClock });
    const restored = await start('restored');
    await restored.relay.lookForOthers();
    for (const name of accounts) await resume(restored, name);

    expect(await placeOrder(restored, 'after-the-backup')).toBe('placed');
    expect(paper.control.state().orders.map(({ status }) => status)).toEqual(['filled']);
    expect(await placeOrder(restored, 'new')).toBe('placed');
    expect(paper.control.state().orders).toHaveLength(2);
  });

  test('that was restored places no take-profits beside those of the lost relay', async () => {
    const first = await start('first');
    const takeProfits = [
      { price: '62000', share: '50%' },
      { price: '63000', share: '50%' },
    ];
    expect(await post(first, 'entry', { takeProfits })).toBe(202);
    expect(await settled(first, 'entry')).toBe('placed');
    const backup = join(place, 'backup.db');
    await backUpFolder(first.folder, backup, { withSecrets: true, clock: systemClock });
    paper.control.setPrice('BTC_USDT', parseDecimal('60010'));
    const orders = () => paper.control.state().orders;
    while (orders().length < 3) {
      await first.relay.follow();
      await setImmediate();
    }
    await first.relay.close();
    running.splice(0);
    const accounts = Object.keys(settings.accounts);
    await restoreFolder(createDataFolder(join(place, 'restored')), backup, { accounts, clock: systemClock });
    const restored = await start('restored');
    await restored.relay.lookForOthers();
    await restored.relay.follow();
    for (const name of accounts) await resume(restored, name);
    await restored.relay.follow();

    expect(await placeOrder(restored, 'new')).toBe('placed');
    expect(orders().map(({ side, status }) => `${side} ${status}`)).toEqual([
      'buy filled',
      'sell open',
      'sell open',
      'buy open',
    ]);
    const ofEntry = await withLedger(restored, (ledger) => ledger.findByPrefix('main', 'entry:target', 10));
    expect(ofEntry.map(({ status }) => status)).toEqual(['placed', 'placed']);
  });

  test('goes on after its owner has resumed it, until a further order comes', async () => {
    const first = await start('first');
    await placeOrder(first, 'before-the-copy');
    await copy(first, 'second');
    await placeOrder(first, 'after-the-copy');
    const second = await start('second');
    await second.relay.lookForOthers();
    for (const name of ['main', 'slow']) await resume(second, name);

    await second.relay.lookForOthers();
    expect(await pauseOf(second)).toBeNull();
    await placeOrder(first, 'later');
    await second.relay.lookForOthers();

    expect(await pauseOf(second)).toMatchObject({ kind: 'everything' });
    expect(alarmsOf(second)).toHaveLength(2);
  });

  test('sends nothing before it has seen what the exchange shows, and is not ready', async () => {
    const blind = await start('blind', 'http://127.0.0.1:1', 200);
    await blind.relay.lookForOthers();

    expect(await post(blind, 'too-early')).toBe(202);
    while (!blind.listening.lines.some(({ message }) => message === 'signal waits'))
      await blind.listening.nextLine();
    const ready = await fetch(`${blind.relay.url}/ready`);

    expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'not_ready', heldAccounts: 2 }]);
    expect(
      await withLedger(blind, (ledger) => ledger.read({ account: 'main', signalId: 'too-early' })),
    ).toMatchObject({
      status: 'accepted',
    });
  });
});
