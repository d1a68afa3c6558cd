import { Agent, request as issueRequest, type RequestOptions } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { type BenchProcess, readMonotonicMs } from './bench-process.ts';
import { createRelayLog, type RelayLog } from './relay-log.ts';
import { accounts, type BenchKind, createAlert, groupOfPlace } from './workload.ts';

/** A server that receives alerts. */
export interface Target {
  readonly process: BenchProcess;
  /** Posts one alert, and resolves when its order is placed and its outcome is written. */
  place(place: number, kind: BenchKind): Promise<Passage>;
}

/** One alert on its way. Times are those of `readMonotonicMs`. */
export interface Passage {
  readonly clientOrderId: string;
  readonly postedAtMs: number;
  /** The sender has the response. */
  readonly answeredAtMs: number;
  /** The outcome is on the disk. The references without a disk: they have answered. */
  readonly writtenAtMs: number;
}

/** Milliseconds since the post of the alert. */
export interface Latency {
  readonly answeredMs: number;
  /** Until the exchange had received the order. */
  readonly orderedMs: number;
  readonly writtenMs: number;
}

/** One measured run of many orders. */
export interface Run {
  readonly cpuMicrosPerOrder: number;
  readonly mainThreadMicrosPerOrder: number;
  readonly ordersPerSecond: number;
  readonly latencies: readonly Latency[];
}

/** How a run is loaded. */
export interface Load {
  readonly orders: number;
  readonly inFlight: number;
  readonly kind?: BenchKind;
}

export type MeasureRun = (target: Target, load: Load) => Promise<Run>;

/** Keeps the given number of orders in flight: each place posts its next order as soon as its last is written. */
export function createRuns(exchange: BenchProcess): MeasureRun {
  return async (target, { orders, inFlight, kind = 'stop_limit' }) => {
    const passages: Passage[] = [];
    let started = 0;
    async function keepPlacing(place: number): Promise<void> {
      while (started < orders) {
        started += 1;
        passages.push(await target.place(place, kind));
      }
    }
    await exchange.ask('take-arrivals');
    const before = await target.process.ask('cpu');
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: inFlight }, (_, place) => keepPlacing(place)));
    const tookMs = performance.now() - startedAt;
    const after = await target.process.ask('cpu');
    const arrivals = new Map(await exchange.ask('take-arrivals'));
    return {
      cpuMicrosPerOrder: (after.processMicros - before.processMicros) / orders,
      mainThreadMicrosPerOrder: (after.mainThreadMicros - before.mainThreadMicros) / orders,
      ordersPerSecond: orders / (tookMs / 1000),
      latencies: passages.map((passage) => latencyOf(passage, arrivals)),
    };
  };
}

/** @throws Error when the exchange did not receive the order */
function latencyOf(passage: Passage, arrivals: ReadonlyMap<string, number>): Latency {
  const { clientOrderId, postedAtMs, answeredAtMs, writtenAtMs } = passage;
  const orderedAtMs = arrivals.get(clientOrderId);
  if (orderedAtMs === undefined) throw new Error(`order ${clientOrderId} did not reach the exchange`);
  return {
    answeredMs: answeredAtMs - postedAtMs,
    orderedMs: orderedAtMs - postedAtMs,
    writtenMs: writtenAtMs - postedAtMs,
  };
}

/** A reference answers when it has placed the order, and takes the client order id from the path. */
export function followReference(process: BenchProcess): Target {
  const post = createPoster(process.url);
  let count = 0;
  return {
    process,
    async place(place, kind) {
      count += 1;
      const id = `order-${count}`;
      const alert = createAlert(id, groupOfPlace(place).base, kind);
      const clientOrderId = clientOrderIdOf(process.url, id);
      const postedAtMs = readMonotonicMs();
      await post(`/${clientOrderId}`, alert);
      const answeredAtMs = readMonotonicMs();
      return { clientOrderId, postedAtMs, answeredAtMs, writtenAtMs: answeredAtMs };
    },
  };
}

/** An alert, and the status that its signal should get. */
export interface PostedSignal {
  readonly account: string;
  readonly id: string;
  readonly alert: string;
  readonly status: string;
}

/** A relay under measurement. */
export interface RelayTarget extends Target {
  readonly log: RelayLog;
  /** Posts any alert, and resolves when the outcome of its signal is written. */
  post(signal: PostedSignal): Promise<Passage>;
}

/** The relay answers once the signal is stored. When the outcome is written, its log says so. */
export async function followRelay(
  process: BenchProcess,
  secretsPath: string,
  accountNames = accounts,
): Promise<RelayTarget> {
  const paths = new Map<string, string>();
  const secrets = createFileSecrets(secretsPath);
  for (const account of accountNames) {
    const [token] = await secrets.webhookTokens(account);
    paths.set(account, `/signals/${account}/${token}`);
  }
  const send = createPoster(process.url);
  const log = createRelayLog();
  process.onLine((line) => log.hear(line));

  async function post(signal: PostedSignal): Promise<Passage> {
    const { account, id, alert, status } = signal;
    const written = log.waitFor(id, status).then(readMonotonicMs);
    const postedAtMs = readMonotonicMs();
    const answered = send(paths.get(account) ?? '', alert).then(readMonotonicMs);
    const [answeredAtMs, writtenAtMs] = await Promise.all([answered, written]);
    return { clientOrderId: clientOrderIdOf(account, id), postedAtMs, answeredAtMs, writtenAtMs };
  }

  let count = 0;
  return {
    process,
    log,
    post,
    place(place, kind) {
      count += 1;
      const { account, base } = groupOfPlace(place);
      const id = `order-${count}`;
      return post({ account, id, alert: createAlert(id, base, kind), status: 'placed' });
    },
  };
}

function createPoster(url: string) {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true });
  const base: RequestOptions = { hostname, port, agent, method: 'POST' };
  return (path: string, body: string): Promise<void> =>
    new Promise((resolve, reject) => {
      issueRequest({ ...base, path, headers: { 'content-type': 'text/plain' } }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 202) resolve();
          else reject(new Error(`an alert was answered with HTTP ${response.statusCode}`));
        });
      })
        .on('error', reject)
        .end(body);
    });
}

/** Each market order reads the order book once. */
const ordersPer10s: Readonly<Record<BenchKind, number>> = {
  stop_limit: stopLimit.requestsPer10s,
  market: orderBook.requestsPer10s,
};

/** Keeps one relay clear of the exchange's limits, at which it would wait, and be measured waiting. */
export function pace(measureRun: MeasureRun): MeasureRun {
  const windowMs = 10_000;
  let recent: { readonly endedAt: number; readonly orders: number; readonly kind: BenchKind }[] = [];

  function hasRoom(orders: number, kind: BenchKind): boolean {
    recent = recent.filter(({ endedAt }) => endedAt > performance.now() - windowMs);
    const ofKind = recent.filter((run) => run.kind === kind);
    return ofKind.reduce((sum, run) => sum + run.orders, orders) <= ordersPer10s[kind];
  }

  return async (target, load) => {
    const { orders, kind = 'stop_limit' } = load;
    while (!hasRoom(orders, kind)) await setTimeout(100);
    const run = await measureRun(target, load);
    recent.push({ endedAt: performance.now(), orders, kind });
    return run;
  };
}
