import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Log, LogFacts } from '../../lib/base/log.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { createTransport, type Transport } from '../../lib/exchange/transport.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { tradedMarkets } from '../../lib/model/settings.ts';
import type { FaultRequest } from '../../lib/paper/faults.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server.ts';
import { createSqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { executeSignal } from '../../lib/relay/execute-signal.ts';
import { createMarketCatalogue } from '../../lib/relay/market-catalogue.ts';
import { createOverloadWatch } from '../../lib/relay/overload.ts';
import { type Receipt, receiveSignal } from '../../lib/relay/receive-signal.ts';
import {
  type ReconcileServices,
  type Reconciliation,
  reconcileSignals,
} from '../../lib/relay/reconcile-signals.ts';
import type { ExecuteServices, ReceiveServices } from '../../lib/relay/services.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { testConfig } from './world.ts';

export type AftermathServices = ReceiveServices & ExecuteServices & ReconcileServices;

/** The relay's stories over a real store and a real exchange, which share a clock that is moved by hand. */
export interface Aftermath {
  readonly clock: ManualClock;
  readonly paper: PaperExchange;
  /** The wire to it. */
  readonly transport: Transport;
  /** Where ledger and queue are kept, for a test that writes into it behind their backs. */
  readonly file: SqliteFile;
  /** What the stories run on; a test may put another part in its place. */
  readonly services: AftermathServices;
  /** What each alarm said, oldest first. */
  readonly alarms: readonly LogFacts[];
  /** The paths that were asked for at the exchange, oldest first. */
  readonly asked: string[];
  /** Takes the alert in, which holds one signal. */
  receive(alert: string): Promise<EntryKey>;
  /** Takes in an alert of several signals. */
  receiveAll(alert: string): Promise<void>;
  /** Carries out one signal of the account. */
  execute(signalId: string): Promise<void>;
  /** The same with another part in the place of one. */
  executeWith(services: ExecuteServices, signalId: string): Promise<void>;
  /** Takes the alert in and carries its one signal out, on an exchange with that fault. */
  send(alert: string, fault?: FaultRequest): Promise<Entry>;
  /** Looks after what was left behind, and fails if the exchange was asked for anything but lists. */
  reconcile(services?: ReconcileServices): Promise<Reconciliation>;
  /** Does so every minute, for so many minutes from now on; the first time at once. */
  reconcileFor(minutes: number): Promise<void>;
  entry(signalId: string): Promise<Entry>;
  setPrice(price: string): void;
  close(): Promise<void>;
}

export const noonMs = 1_790_000_000_000;
export const minuteMs = 60_000;
const token = 'a-token-of-this-test';
const lists = [
  '/api/v4/orders',
  '/api/v4/trade-account/order/history',
  '/api/v4/conditional-orders',
  '/api/v4/orders/conditional',
];

/** @param onRequest called before each request goes on the wire */
export async function openAftermath(
  dialect: Dialect = 'live',
  onRequest: (clock: ManualClock) => void = () => undefined,
): Promise<Aftermath> {
  const clock = createManualClock(noonMs);
  const paper = await startPaperExchange({ port: 0, dialect, clock, walk: false });
  const asked: string[] = [];
  const transport = createWatchedTransport((path) => {
    asked.push(path);
    onRequest(clock);
  });
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  // Pauses before retries come to whole milliseconds, as a real clock's time does.
  const random = () => 0;
  const client = createExchangeClient({ address: paper.url, dialect, credentials, clock, random, transport });
  const file = openSqlite(':memory:');
  const ledger = createSqliteLedger(file);
  const copies = createSqliteMarketCopies(file, paper.url);
  const alarms: LogFacts[] = [];
  const silence = () => undefined;
  const { settings } = parseConfig(testConfig);
  const log: Log = {
    info: silence,
    warn: silence,
    error: (_, facts) => (facts['alarm'] === true ? void alarms.push(facts) : undefined),
  };
  const services: AftermathServices = {
    clock,
    log,
    settings,
    ledger,
    queue: createSqliteQueue(file, { maxReceives: 5, clock }),
    webhookTokens: async () => [token],
    heldSecrets: async () => [token, 'paper-secret'],
    overload: createOverloadWatch(),
    markets: createMarketCatalogue({
      client,
      clock,
      log,
      copies,
      traded: tradedMarkets(settings),
      timeoutMs: 2_000,
    }),
    isPaperExchange: false,
    exchangeTimeoutMs: 2_000,
    exchangeFor: async () => client,
  };

  async function entry(signalId: string): Promise<Entry> {
    const found = await ledger.read({ account: 'main', signalId });
    if (found === null) throw new Error(`there is no signal "${signalId}"`);
    return found;
  }

  async function reconcile(withServices: ReconcileServices = services): Promise<Reconciliation> {
    const before = asked.length;
    const done = await reconcileSignals(withServices);
    const meddling = asked.slice(before).filter((path) => !lists.includes(path));
    if (meddling.length > 0) throw new Error(`the reconciler asked for ${meddling.join(', ')}`);
    return done;
  }

  function takeIn(alert: string): Promise<Receipt> {
    return receiveSignal(services, { account: 'main', token, body: Buffer.from(alert) });
  }

  async function receive(alert: string): Promise<EntryKey> {
    const { signalId } = (await takeIn(alert)).body as { signalId: string };
    return { account: 'main', signalId };
  }

  paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  // Read before any fault strikes, as in a relay that has been up for a second.
  await services.markets.find('BTC_USDT');
  return {
    clock,
    paper,
    transport,
    file,
    services,
    alarms,
    asked,
    entry,
    reconcile,
    receive,
    async receiveAll(alert) {
      await takeIn(alert);
    },
    async execute(signalId) {
      await executeSignal(services, { account: 'main', signalId });
    },
    async executeWith(withServices, signalId) {
      await executeSignal(withServices, { account: 'main', signalId });
    },
    async send(alert, fault) {
      const key = await receive(alert);
      if (fault !== undefined) paper.control.addFault(fault);
      await executeSignal(services, key);
      return await entry(key.signalId);
    },
    async reconcileFor(minutes) {
      for (let minute = 0; minute <= minutes; minute += 1) {
        if (minute > 0) clock.advance(minuteMs);
        await reconcile();
      }
    },
    setPrice: (price) => paper.control.setPrice('BTC_USDT', parseDecimal(price)),
    async close() {
      transport.close();
      await paper.close();
      file.close();
    },
  };
}

function createWatchedTransport(onRequest: (path: string) => void): Transport {
  const transport = createTransport();
  return {
    async send(request) {
      onRequest(request.path);
      return await transport.send(request);
    },
    close: () => transport.close(),
  };
}
