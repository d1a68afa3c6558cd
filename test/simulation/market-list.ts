import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import type { MarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import { rollWhole } from './dice.ts';
import { currentInvocation, type Process } from './process.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/**
 * Records signals that wait for the market list although their process has already found the market in it.
 */
export function createWatchedCatalogue({ stage }: Process, catalogue: MarketCatalogue): MarketCatalogue {
  const { loop, history } = stage;
  const held = new Set<string>();
  return {
    async find(name) {
      const isHeld = held.has(name);
      const startedAtMs = loop.nowMs;
      try {
        const market = await catalogue.find(name);
        if (market !== null) held.add(name);
        return market;
      } finally {
        const key = currentInvocation()?.key ?? null;
        const waitedMs = loop.nowMs - startedAtMs;
        if (isHeld && waitedMs > 0 && key !== null) history.heldUp.push({ key, waitedMs });
      }
    },
  };
}

const longestAgeMs = 2 * 24 * 3_600_000;

/**
 * Stores a copy of the list as an earlier process would have left it, mostly so old that it must be
 * refreshed.
 */
export async function leaveOldCopy({ stage, exchange, copies }: SimulatedWorld): Promise<void> {
  const { loop, random, history } = stage;
  const request = { baseUrl: '', method: 'GET', path: marketList.path.live, headers: {}, body: null };
  const timeouts = { connectTimeoutMs: 0, timeoutMs: 0 };
  const { body } = await exchange.serve({ ...request, ...timeouts }, loop.nowMs, 0);
  const markets = marketList.result.parse(JSON.parse(body));
  const readAtMs = loop.nowMs - rollWhole(random, 0, longestAgeMs);
  await copies.save({ readAtMs, markets });
  history.keptMarkets.push({ atMs: readAtMs, names: markets.map(({ name }) => name) });
}
