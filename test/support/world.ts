import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalRelay } from '../../infra/local/local-relay.ts';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { parseConfig, type RelayConfig, type SnapshotSettings } from '../../lib/host/config.ts';
import { createDataFolder, type DataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets, storeFileWay } from '../../lib/host/file-secrets.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { RequestChannelName, Ways } from '../../lib/notices/channels.ts';
import type { NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createListeningLog, type LoggedLine } from './listening-log.ts';

/** The whole local relay on free ports and a folder of its own, against a paper exchange that moves only by hand. */
export interface World {
  readonly paper: PaperExchange;
  readonly ledger: Ledger;
  readonly executions: Executions;
  readonly webhookUrl: string;
  readonly secretsPath: string;
  /** Every line the relay logged, with its level. */
  readonly logged: readonly LoggedLine[];
  post(body: string | Uint8Array, options?: { account?: string; contentType?: string }): Promise<Posted>;
  /** Runs the reconciler now instead of with the next minute. */
  reconcile(): Promise<void>;
  /** The entry, once nothing more will happen to it by itself. */
  settled(signalId: string, account?: string): Promise<Entry>;
  /** The entries whose ids begin so, once there are as many and nothing more will happen to any of them by itself. */
  settledBelow(prefix: string, count: number, account?: string): Promise<readonly Entry[]>;
  /** Reads now what became of the placed orders. The relay does not do so by itself here. */
  follow(): Promise<void>;
  /** Tells now what the ledger noted. The relay does not do so by itself here. */
  tell(): Promise<void>;
  setPrice(market: string, price: string, volume?: string): void;
  close(): Promise<void>;
}

export interface Posted {
  readonly status: number;
  readonly body: PostedBody;
}

export interface PostedBody {
  readonly signalId?: string;
  readonly status?: string;
  readonly duplicate?: boolean;
  readonly signals?: readonly PostedBody[];
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly issues: readonly { readonly path: string; readonly message: string; readonly hint: string }[];
  };
}

export const testConfig = {
  exchange: { address: 'http://127.0.0.1:1', dialect: 'live' },
  tickers: { BTCUSDT: 'BTC_USDT', ETHUSDT: 'ETH_USDT', SOLUSDT: 'SOL_USDT', 'BTCUSDT.P': 'BTC_PERP' },
  maxLagSeconds: 60,
  accounts: {
    main: {
      mode: 'live',
      limitOffset: '0.1%',
      markets: {
        BTC_USDT: { tradesOn: 'margin', maxAmount: '2', maxNotional: '200000' },
        ETH_USDT: { tradesOn: 'margin', sides: ['buy'] },
        BTC_PERP: { tradesOn: 'futures' },
      },
    },
    rehearsal: { mode: 'dry-run', markets: { BTC_USDT: { tradesOn: 'margin' } } },
    slow: {
      mode: 'live',
      markets: { BTC_USDT: { tradesOn: 'margin' } },
      maxOrdersPerMinute: 2,
      maxSignalsPerMinute: 4,
    },
  },
} satisfies RelayConfig;

export async function openWorld(options: {
  readonly dialect: Dialect;
  /** What the relay believes the exchange speaks, where that is wrong. */
  readonly relayDialect?: Dialect;
  readonly clock?: Clock;
  readonly exchangeTimeoutMs?: number;
  readonly settings?: Settings;
  readonly snapshots?: SnapshotSettings;
  /** Absent: nobody is told of anything. */
  readonly notices?: NoticeSettings;
  readonly ways?: Ways;
  /** Absent: the relay does not follow by itself. */
  readonly followEveryMs?: number;
  /** Where relay and paper exchange keep everything; absent: the relay in a folder that goes with the world. */
  readonly folder?: DataFolder;
}): Promise<World> {
  const { dialect, clock = systemClock, exchangeTimeoutMs = 10_000, snapshots } = options;
  const { settings = parseConfig(testConfig).settings } = options;
  const folder = options.folder ?? createDataFolder(mkdtempSync(join(tmpdir(), 'relay-world-')));
  completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);
  for (const [name, way] of Object.entries(options.ways ?? {}))
    storeFileWay(folder.secretsPath, name as RequestChannelName, way);
  const secrets = createFileSecrets(folder.secretsPath);
  const journal = options.folder === undefined ? {} : { journalPath: folder.paperPath };
  const paper = await startPaperExchange({ port: 0, dialect, clock, walk: false, ...journal });
  const { log, lines, nextLine } = createListeningLog();
  const relay = await startLocalRelay({
    port: 0,
    folder,
    settings,
    exchange: { address: paper.url, dialect: options.relayDialect ?? dialect, isPaper: true },
    exchangeTimeoutMs,
    followEveryMs: options.followEveryMs ?? 3_600_000,
    clock,
    log,
    tellEveryMs: 3_600_000,
    ...(snapshots === undefined ? {} : { snapshots }),
    ...(options.notices === undefined ? {} : { notices: options.notices }),
  });
  const file = openSqlite(folder.databasePath);
  const ledger = createSqliteLedger(file);
  const tokenOf = async (account: string) => (await secrets.webhookTokens(account))[0] ?? '';

  return {
    paper,
    ledger,
    executions: createSqliteExecutions(file),
    logged: lines,
    secretsPath: folder.secretsPath,
    webhookUrl: `${relay.url}/signals/main/${await tokenOf('main')}`,
    async post(body, { account = 'main', contentType = 'text/plain' } = {}) {
      const response = await fetch(`${relay.url}/signals/${account}/${await tokenOf(account)}`, {
        method: 'POST',
        body: body as string,
        headers: { 'content-type': contentType },
      });
      return { status: response.status, body: (await response.json()) as PostedBody };
    },
    reconcile: relay.reconcile,
    tell: relay.tell,
    async settled(signalId, account = 'main') {
      for (;;) {
        const line = nextLine();
        const entry = await ledger.read({ account, signalId });
        if (entry !== null && !['accepted', 'sending'].includes(entry.status)) return entry;
        await line;
      }
    },
    async settledBelow(prefix, count, account = 'main') {
      for (;;) {
        const line = nextLine();
        const entries = await ledger.findByPrefix(account, prefix, count + 1);
        const isDone = entries.every(({ status }) => status !== 'accepted' && status !== 'sending');
        if (entries.length >= count && isDone) return entries;
        await line;
      }
    },
    follow: () => relay.follow(),
    setPrice: (market, price, volume) =>
      paper.control.setPrice(
        market,
        parseDecimal(price),
        volume === undefined ? undefined : parseDecimal(volume),
      ),
    async close() {
      await relay.close();
      await paper.close();
      file.close();
      if (options.folder === undefined) rmSync(folder.path, { recursive: true });
    },
  };
}
