import { parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { DueKey } from '../../lib/ledger/ledger.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import type { PaperExchange } from '../../lib/paper/server/server.ts';
import type { SqliteLine } from '../../lib/queue/sqlite-line.ts';
import { beginToCount } from '../../lib/relay/execute/begin-to-count.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { type Receipt, receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import type { ExecuteServices } from '../../lib/relay/services.ts';
import {
  type ReconcileServices,
  type Reconciliation,
  reconcileSignals,
} from '../../lib/relay/settle/reconcile-signals.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import type { RaisedAlarm } from './record-alarms.ts';
import { openServices, type RelayServices, token } from './relay-services.ts';

/** The relay's functions over a real store and a real exchange, which share a manual clock. */
export interface Aftermath {
  readonly clock: ManualClock;
  readonly paper: PaperExchange;
  /** The wire to it. */
  readonly transport: Transport;
  /** Where the ledger is kept, for a test that writes into it behind its back. */
  readonly file: SqliteFile;
  /** Its waiting signals, in the order of their delivery. */
  readonly line: SqliteLine;
  /** The services of these functions; a test may replace one. */
  readonly services: RelayServices;
  /** Those that were raised, oldest first. */
  readonly alarms: readonly RaisedAlarm[];
  /** The paths that were asked for at the exchange, oldest first. */
  readonly asked: string[];
  /** Receives an alert with one signal, of {@link market}. */
  receive(alert: string): Promise<DueKey>;
  /** Receives an alert with several signals. */
  receiveAll(alert: string): Promise<void>;
  /** Executes one signal of the account, in {@link market}. */
  execute(signalId: string): Promise<void>;
  /** The same with other services. */
  executeWith(services: ExecuteServices, signalId: string): Promise<void>;
  /** Executes what waits in the line of a market; absent: of {@link market}. */
  runLine(of?: string): Promise<void>;
  /** Follows for so long, and executes what that asks for. */
  goOn(seconds: number, of?: string): Promise<void>;
  /** Receives the alert and executes its one signal, on an exchange with that fault; what the account holds was read before. */
  send(alert: string, fault?: FaultRequest): Promise<Entry>;
  /** Looks after what was left behind, and fails if the exchange was asked for anything but lists. */
  reconcile(services?: ReconcileServices): Promise<Reconciliation>;
  /** Reads what the account holds, as before the first order of a relay. */
  begin(): Promise<void>;
  /** Follows placed orders, as one process that remembers what it has read. */
  follow(): Promise<void>;
  /** Does so every minute, for so many minutes from now on; the first time at once. */
  reconcileFor(minutes: number): Promise<void>;
  entry(signalId: string): Promise<Entry>;
  setPrice(price: string): void;
  close(): Promise<void>;
}

export const noonMs = 1_790_000_000_000;
export const minuteMs = 60_000;
/** How often one machine follows. */
const followSeconds = 3;
/** The market of its signals. */
const market = 'BTC_USDT';
/** What a lookup may cancel: the rest of an order that must not rest, and the exits of a position that it closed. */
const cancels = ['/api/v4/order/cancel', '/api/v4/order/conditional-cancel'];

const lists = [
  '/api/v4/orders',
  '/api/v4/trade-account/order/history',
  '/api/v4/trade-account/executed-history',
  '/api/v4/trade-account/order',
  '/api/v4/conditional-orders',
  '/api/v4/orders/conditional',
  '/api/v4/collateral-account/positions/open',
  '/api/v4/public/markets',
  '/api/v4/public/time',
];

/**
 * @param onRequest called before each request goes on the wire
 * @param file where the ledger is kept; absent: in memory
 * @param settings absent: the accounts of the test configuration
 */
export async function openAftermath(
  dialect: Dialect = 'live',
  onRequest: (clock: ManualClock, path: string) => void = () => undefined,
  file = openSqlite(':memory:'),
  settings?: Settings,
): Promise<Aftermath> {
  const clock = createManualClock(noonMs);
  const asked: string[] = [];
  const transport = createWatchedTransport((path) => {
    asked.push(path);
    onRequest(clock, path);
  });
  const { paper, services, line, raised, close } = await openServices({
    dialect,
    clock,
    transport,
    file,
    ...(settings === undefined ? {} : { settings }),
  });

  const follower = createFollower(services);

  async function entry(signalId: string): Promise<Entry> {
    const found = await services.ledger.read({ account: 'main', signalId });
    if (found === null) throw new Error(`there is no signal "${signalId}"`);
    return found;
  }

  async function reconcile(withServices: ReconcileServices = services): Promise<Reconciliation> {
    const before = asked.length;
    const done = await reconcileSignals(withServices);
    const meddling = asked.slice(before).filter((path) => ![...lists, ...cancels].includes(path));
    if (meddling.length > 0) throw new Error(`the reconciler asked for ${meddling.join(', ')}`);
    return done;
  }

  function takeIn(alert: string): Promise<Receipt> {
    return receiveSignal(services, { account: 'main', token, body: Buffer.from(alert) });
  }

  async function receive(alert: string): Promise<DueKey> {
    const { signalId } = (await takeIn(alert)).body as { signalId: string };
    return { account: 'main', signalId, market };
  }

  async function begin(): Promise<void> {
    const before = asked.length;
    const account = findAccount(services.settings, 'main');
    if (account === null) throw new Error('there is no account "main"');
    await beginToCount(services, account, clock.nowMs());
    asked.length = before;
  }

  const follow = () => follower.run(Number.POSITIVE_INFINITY);

  async function runLine(of = market): Promise<void> {
    for (;;) {
      const [first] = await services.ledger.waiting('main', of, 1);
      if (first === undefined) return;
      await executeSignal(services, { account: 'main', signalId: first.signalId, market: of });
    }
  }

  // Read before any fault strikes, as in a relay that has been up for a second.
  await services.markets.find(market);
  return {
    clock,
    paper,
    transport,
    file,
    line,
    services,
    alarms: raised,
    asked,
    entry,
    reconcile,
    begin,
    follow,
    runLine,
    async goOn(seconds, of) {
      for (let passed = 0; passed < seconds; passed += followSeconds) {
        clock.advance(followSeconds * 1000);
        await follow();
        await runLine(of);
      }
    },
    receive,
    async receiveAll(alert) {
      await takeIn(alert);
    },
    async execute(signalId) {
      await executeSignal(services, { account: 'main', signalId, market });
    },
    async executeWith(withServices, signalId) {
      await executeSignal(withServices, { account: 'main', signalId, market });
    },
    async send(alert, fault) {
      const key = await receive(alert);
      if (fault !== undefined) {
        await begin();
        paper.control.addFault(fault);
      }
      await executeSignal(services, key);
      return await entry(key.signalId);
    },
    async reconcileFor(minutes) {
      for (let minute = 0; minute <= minutes; minute += 1) {
        if (minute > 0) clock.advance(minuteMs);
        await reconcile();
      }
    },
    setPrice: (price) => paper.control.setPrice(market, parseDecimal(price)),
    close,
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
