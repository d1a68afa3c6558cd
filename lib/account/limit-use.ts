import type { Alarms } from '../base/alarms.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { Pause } from '../ledger/ledger.ts';
import { checkPause } from '../limits/check-order.ts';
import { type LimitUse, unused } from '../limits/risk-limit.ts';
import { listRiskUse, riskNeedsOf } from '../limits/risk-limits.ts';
import type { Account } from '../model/account.ts';
import { readDayFills } from './day-profit.ts';
import { type AccountServices, readExposure } from './read-exposure.ts';
import { readPositions } from './read-positions.ts';
import { riskFactsOf } from './risk-facts.ts';
import { describeUncounted, findUncounted, listEndedLately } from './uncounted.ts';
import { describeUnpriced, findUnpriced, parseHeld } from './unpriced.ts';
import { createUsdtPrices } from './usdt-prices.ts';

export interface LimitReport {
  /** When positions and orders were read; null when no limit needs them. */
  readonly readAtMs: number | null;
  readonly limits: readonly LimitUse[];
  /** What could not be counted; while there is any, only reductions are sent. */
  readonly unknown: readonly string[];
}

interface ReportServices extends AccountServices {
  readonly facts: AccountFacts;
  readonly alarms: Alarms;
  readonly log: Log;
}

/**
 * Reads how much of each limit of growing risk is used.
 *
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readLimitUse(
  services: ReportServices,
  account: Account,
  client: ExchangeClient,
  limits: SendOptions,
): Promise<LimitReport> {
  const pause = await services.ledger.readPause(account.name);
  const needs = riskNeedsOf(account, null);
  const held = needs?.deals ? parseHeld(await services.facts.read(account.name, 'positions')) : null;
  const prices = createUsdtPrices(client, limits);
  const read = needs?.holdings
    ? await readExposure(services, account, { client, limits, prices, market: null })
    : null;
  const source = { client, options: limits };
  const [day, ended] = needs?.deals
    ? await Promise.all([readDayFills(services, account, source), listEndedLately(source)])
    : [null, []];
  const facts = await riskFactsOf({ read, day }, prices, services.clock.nowMs());
  const unpriced =
    day === null
      ? []
      : findUnpriced(
          account,
          day,
          held,
          read?.reading ?? (await readPositions({ client, clock: services.clock, limits })),
        );
  return {
    readAtMs: read?.reading.readAtMs ?? null,
    limits: [...(pause === null ? [] : [describePause(pause)]), ...listRiskUse(facts, account)],
    unknown: [
      ...(read?.unknown ?? []),
      ...describeUnpriced(unpriced),
      ...(day === null ? [] : describeUncounted(findUncounted(day, ended, read?.open ?? []))),
    ],
  };
}

function describePause(pause: Pause): LimitUse {
  return {
    ...unused('pause'),
    limit: 'running',
    used: 'paused',
    sinceMs: pause.sinceMs,
    denies: checkPause(pause)?.message ?? '',
  };
}
