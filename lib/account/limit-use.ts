import type { Alarms } from '../base/alarms.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import type { ContestedFacts } from '../ledger/account-facts.ts';
import type { Pause } from '../ledger/ledger.ts';
import { checkPause } from '../limits/check-order.ts';
import { type LimitUse, unused } from '../limits/risk-limit.ts';
import { listRiskUse, riskNeedsOf } from '../limits/risk-limits.ts';
import { describeSpotGaps } from '../limits/spot-gaps.ts';
import type { Account } from '../model/account.ts';
import type { AccountServices } from './read-exposure.ts';
import { readRisk, riskFactsOf } from './risk-facts.ts';
import { createUsdtPrices } from './usdt-prices.ts';

export interface LimitReport {
  /** When positions and orders were read; null when no limit needs them. */
  readonly readAtMs: number | null;
  readonly limits: readonly LimitUse[];
  /** What could not be counted; while there is any, only reductions are sent. */
  readonly unknown: readonly string[];
  /** What the limits leave out, one sentence each. */
  readonly uncounted: readonly string[];
}

interface ReportServices extends AccountServices {
  readonly facts: ContestedFacts;
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
  const prices = createUsdtPrices(client, limits);
  const risk = needs && (await readRisk(services, account, needs, { client, limits, prices, market: null }));
  const facts = await riskFactsOf(risk, account, prices, services.clock.nowMs());
  return {
    readAtMs: risk?.exposure.reading.readAtMs ?? null,
    limits: [...(pause === null ? [] : [describePause(pause)]), ...listRiskUse(facts, account)],
    unknown: risk?.unknown ?? [],
    uncounted: describeSpotGaps(account),
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
