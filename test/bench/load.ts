import { Agent, request as issueRequest, type RequestOptions } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import type { BenchProcess } from './bench-process.ts';
import { accounts, type BenchKind, createAlert, groupOfPlace } from './workload.ts';

/** A server that takes alerts, and how its doing is followed. */
export interface Target {
  readonly process: BenchProcess;
  /** Posts one alert; resolves when its order is placed, with how long it took. */
  place(place: number, kind: BenchKind): Promise<Passage>;
}

/** Milliseconds from the post to the response, and to the order that is placed and written down. */
export interface Passage {
  readonly answeredMs: number;
  readonly placedMs: number;
}

/** One measured run of many orders. */
export interface Run {
  readonly cpuMicrosPerOrder: number;
  readonly ordersPerSecond: number;
  readonly passages: readonly Passage[];
}

/** Keeps the given number of orders in flight, each place posting its next as soon as its last is placed. */
export async function measureRun(
  target: Target,
  orders: number,
  inFlight: number,
  kind: BenchKind = 'stop_limit',
): Promise<Run> {
  const passages: Passage[] = [];
  let started = 0;
  async function keepPlacing(place: number): Promise<void> {
    while (started < orders) {
      started += 1;
      passages.push(await target.place(place, kind));
    }
  }
  const cpuBefore = await target.process.readCpuMicros();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, (_, place) => keepPlacing(place)));
  const tookMs = performance.now() - startedAt;
  const cpuMicros = (await target.process.readCpuMicros()) - cpuBefore;
  return {
    cpuMicrosPerOrder: cpuMicros / orders,
    ordersPerSecond: orders / (tookMs / 1000),
    passages,
  };
}

/** The bare server has placed the order when it answers. */
export function followBare(process: BenchProcess): Target {
  const post = createPoster(process.url);
  let count = 0;
  return {
    process,
    async place(place, kind) {
      count += 1;
      const alert = createAlert(`order-${count}`, groupOfPlace(place).base, kind);
      const startedAt = performance.now();
      await post('/', alert);
      const tookMs = performance.now() - startedAt;
      return { answeredMs: tookMs, placedMs: tookMs };
    },
  };
}

/** The relay answers once the signal is stored; that its order is placed and written down, its log says. */
export async function followRelay(process: BenchProcess, secretsPath: string): Promise<Target> {
  const secrets = createFileSecrets(secretsPath);
  const paths = new Map<string, string>();
  for (const account of accounts)
    paths.set(account, `/signals/${account}/${(await secrets.webhookTokens(account))[0]}`);
  const post = createPoster(process.url);
  const waiting = new Map<string, PromiseWithResolvers<number>>();
  process.onLine((line) => hearLine(line, waiting));
  let count = 0;
  return {
    process,
    async place(place, kind) {
      count += 1;
      const { account, base } = groupOfPlace(place);
      const id = `order-${count}`;
      const placed = Promise.withResolvers<number>();
      waiting.set(id, placed);
      const alert = createAlert(id, base, kind);
      const startedAt = performance.now();
      await post(paths.get(account) ?? '', alert);
      const answeredMs = performance.now() - startedAt;
      return { answeredMs, placedMs: (await placed.promise) - startedAt };
    },
  };
}

/** Anything but an order on its way or placed would make this a measurement of something else. */
function hearLine(line: string, waiting: Map<string, PromiseWithResolvers<number>>): void {
  const { message, signalId = '' } = JSON.parse(line) as { message: string; signalId?: string };
  // The reconciler runs each minute, beside the orders.
  if (message === 'signal accepted' || message === 'scheduled run done') return;
  if (message === 'signal placed') waiting.get(signalId)?.resolve(performance.now());
  else for (const { reject } of waiting.values()) reject(new Error(`the relay placed no order: ${line}`));
  waiting.delete(signalId);
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

/** Keeps the relay clear of the exchange's limits, at which it would wait, and be measured waiting. */
export function createPacer(): typeof measureRun {
  const windowMs = 10_000;
  let recent: { readonly endedAt: number; readonly orders: number; readonly kind: BenchKind }[] = [];

  function hasRoom(orders: number, kind: BenchKind): boolean {
    recent = recent.filter(({ endedAt }) => endedAt > performance.now() - windowMs);
    const ofKind = recent.filter((run) => run.kind === kind);
    return ofKind.reduce((sum, run) => sum + run.orders, orders) <= ordersPer10s[kind];
  }

  return async (target, orders, inFlight, kind = 'stop_limit') => {
    while (!hasRoom(orders, kind)) await setTimeout(100);
    const run = await measureRun(target, orders, inFlight, kind);
    recent.push({ endedAt: performance.now(), orders, kind });
    return run;
  };
}
