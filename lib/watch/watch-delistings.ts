import { dayMs } from '../base/time-zone.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { markets as marketsEndpoint } from '../exchange/endpoints/markets.ts';
import type { RepeatedAlarms } from './watch-alarms.ts';

/** How the keys of these alarms begin. */
export const delistedKey = 'delisted ';
/** Once an hour, away from the full hour, at which snapshots are taken. */
const atMinute = 17;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

interface Watch {
  readonly startedAtMs: number;
  readonly options: SendOptions;
  readonly alarms: RepeatedAlarms;
}

/**
 * Raises an alarm for each market in which something is open and that the exchange plans to take off, or lists no more:
 * once a day, and every hour during the last day.
 *
 * @param markets those in which something is open
 * @returns whether the exchange's list was read in this run
 * @throws ExchangeError when it cannot be read
 */
export async function watchDelistings(
  client: ExchangeClient,
  markets: readonly string[],
  { startedAtMs, options, alarms }: Watch,
): Promise<boolean> {
  if (markets.length === 0 || Math.floor(startedAtMs / minuteMs) % 60 !== atMinute) return false;
  const listed = await client.call(marketsEndpoint, {}, options);
  const byName = new Map(listed.map((market) => [market.name, market]));
  for (const name of new Set(markets)) {
    const market = byName.get(name);
    if (market !== undefined && market.delistedAtMs === undefined) continue;
    const delistedAtMs = market?.delistedAtMs ?? null;
    const when = delistedAtMs === null ? null : new Date(delistedAtMs).toISOString();
    const message =
      when === null
        ? 'something is open in a market that the exchange does not list any more: look at `npx relay positions` and `npx relay orders`'
        : 'something is open in a market that the exchange will take off, and it cancels what is open then: close the position and cancel the orders before';
    const isSoon = delistedAtMs === null || delistedAtMs - startedAtMs < dayMs;
    // Less than an hour and a day, because a run may be some seconds early.
    const everyMs = (isSoon ? hourMs : dayMs) - hourMs / 2;
    alarms.raise(
      `${delistedKey}${name} ${when}`,
      { name: 'market_delisted', message },
      { market: name, delistedAt: when },
      everyMs,
    );
  }
  return true;
}
