import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { startProcess } from './bench-process.ts';
import { followRelay, type RelayTarget } from './load.ts';
import { createAlert, nameAccounts, nameBases, type Size } from './workload.ts';

/** What one signal costs the relay when so many wait, from the post to the outcome. */
export interface WaitingFigures {
  readonly what: string;
  /** CPU time per signal in milliseconds, round by round, by the number of signals that wait at once. */
  readonly cpuMs: ReadonlyMap<number, readonly number[]>;
}

export const fewWaiting = 10;
export const manyWaiting = 10_000;
const rounds = 3;
/** How often a few signals wait in one round. */
const fewTimes = 200;
/** Posts side by side. */
const postsInFlight = 64;
/** Thousands of signals of one market take their time, one after the other. */
const timeoutMs = 1_800_000;
/** The exchange takes this many orders in ten seconds. */
const limitWindowMs = 10_500;

interface Spot {
  readonly account: string;
  readonly base: string;
}

/** Signals that wait behind each other in one market, and signals that each wait in a market of their own. */
export async function measureWaiting(folder: string): Promise<readonly WaitingFigures[]> {
  const small: Size = { accounts: 8, markets: 8 };
  const large: Size = { accounts: 100, markets: 100 };
  return [
    await measureOne(folder, 'in one market', small, [{ account: 'a', base: 'BTC' }]),
    await measureOne(folder, 'in as many markets', large, spotsOf(large)),
  ];
}

function spotsOf({ accounts, markets }: Size): readonly Spot[] {
  const names = nameBases(markets);
  return nameAccounts(accounts).flatMap((account) => names.map((base) => ({ account, base })));
}

async function measureOne(
  folder: string,
  what: string,
  size: Size,
  spots: readonly Spot[],
): Promise<WaitingFigures> {
  const exchange = await startProcess('exchange-stub.ts', [String(size.markets)]);
  const path = join(folder, `waiting-${spots.length}`);
  const server = await startProcess('relay-server.ts', [exchange.url, path, JSON.stringify(size)]);
  const { secretsPath } = locateDataFolder(path);
  const relay = await followRelay(server, secretsPath, nameAccounts(size.accounts), timeoutMs);
  let count = 0;

  /** Lets so many signals wait while the exchange holds the first orders back; resolves when all are placed. */
  async function letWait(waiting: number): Promise<void> {
    await exchange.ask('hold');
    const batch = Array.from({ length: waiting }, (_, nth) => {
      count += 1;
      return { ...(spots[nth % spots.length] as Spot), id: `order-${count}` };
    });
    const placed = await sendAll(relay, batch);
    await exchange.ask('release');
    await Promise.all(placed);
  }

  async function measure(waiting: number, times: number): Promise<number> {
    await setTimeout(limitWindowMs);
    const before = await server.ask('cpu');
    for (let time = 0; time < times; time += 1) await letWait(waiting);
    const after = await server.ask('cpu');
    return (after.processMicros - before.processMicros) / 1000 / (waiting * times);
  }

  await letWait(1000);
  const cpuMs = new Map<number, number[]>([
    [fewWaiting, []],
    [manyWaiting, []],
  ]);
  for (let round = 0; round < rounds; round += 1)
    for (const [waiting, measured] of cpuMs)
      measured.push(await measure(waiting, waiting === fewWaiting ? fewTimes : 1));
  await server.stop();
  await exchange.stop();
  return { what, cpuMs };
}

interface Waiter extends Spot {
  readonly id: string;
}

/** Resolves once all are accepted, with promises that resolve when they are placed. */
async function sendAll(relay: RelayTarget, batch: readonly Waiter[]): Promise<readonly Promise<number>[]> {
  const placed: Promise<number>[] = [];
  const waiters = batch.values();
  async function keepSending(): Promise<void> {
    for (const { account, base, id } of waiters) {
      const sent = relay.send({ account, id, alert: createAlert(id, base, 'stop_limit'), status: 'placed' });
      placed.push(sent.written);
      await sent.answered;
    }
  }
  await Promise.all(Array.from({ length: postsInFlight }, keepSending));
  return placed;
}
