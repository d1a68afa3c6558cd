import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { Pause } from '../ledger/ledger.ts';
import { checkPause } from '../limits/check-order.ts';
import { openNotionalOf, positionAfter } from '../limits/counted-holdings.ts';
import { checkCoolDown, checkDailyLoss } from '../limits/replay-fills.ts';
import { checkTradingWindow, describeWindow, nextOpeningMs } from '../limits/trading-windows.ts';
import type { Account, RiskLimits } from '../model/account.ts';
import { currenciesInName } from '../model/market.ts';
import { sides } from '../model/order.ts';
import type { DealSource } from './account-deals.ts';
import { resultOf } from './check-loss.ts';
import { readDayFills, realisedBy } from './day-profit.ts';
import { type AccountServices, type ExposureReading, readExposure } from './read-exposure.ts';
import { createUsdtPrices, type UsdtPrices } from './usdt-prices.ts';

/** One limit of an account and how much of it is used; amounts are decimals in plain notation. */
export interface LimitUse {
  /** Its name in relay.config.ts; `pause` for the kill switch. */
  readonly name: string;
  /** What it holds for, for example a market and a side; null: the whole account. */
  readonly of: string | null;
  readonly limit: string;
  readonly used: string | null;
  readonly left: string | null;
  /** What the numbers are in, for example `USDT`. */
  readonly unit: string | null;
  /** Since when the use counts, or the state holds. */
  readonly sinceMs: number | null;
  /** Why an order would be denied now that enlarges what is at stake; null: it would not be. */
  readonly denies: string | null;
}

export interface LimitReport {
  /** When positions and orders were read; null when no limit needs them. */
  readonly readAtMs: number | null;
  readonly limits: readonly LimitUse[];
  /** What could not be counted; while there is any, only reductions are sent. */
  readonly unknown: readonly string[];
}

interface ReportServices extends AccountServices {
  readonly facts: AccountFacts;
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
  const uses = pause === null ? [] : [describePause(pause)];
  const { limits: own } = account;
  const bounded = Object.values(account.markets).some(({ maxPosition = null }) => maxPosition !== null);
  const isRead = bounded || (own?.maxOpenNotional ?? own?.maxDailyLoss ?? null) !== null;
  const prices = createUsdtPrices(client, limits);
  const read = isRead
    ? await readExposure(services, account, { client, limits, prices, market: null })
    : null;
  if (read !== null) uses.push(...listPositionUse(account, read), ...listNotionalUse(own, read));
  if (own !== undefined)
    uses.push(...(await listDayUse(services, account, own, read, { client, options: limits, prices })));
  if (own !== undefined) uses.push(...listWindowUse(own, services.clock.nowMs()));
  return { readAtMs: read?.reading.readAtMs ?? null, limits: uses, unknown: read?.unknown ?? [] };
}

function describePause(pause: Pause): LimitUse {
  return {
    ...ofAccount('pause'),
    limit: 'running',
    used: 'paused',
    sinceMs: pause.sinceMs,
    denies: checkPause(pause)?.message ?? '',
  };
}

function ofAccount(name: string) {
  return { name, of: null, used: null, left: null, unit: null, sinceMs: null, denies: null };
}

function listPositionUse({ markets }: Account, { exposure }: ExposureReading): readonly LimitUse[] {
  return Object.entries(markets).flatMap(([market, { maxPosition = null }]) =>
    maxPosition === null
      ? []
      : sides.map((side) => {
          const used = positionAfter({ market, side }, { amount: zero, fillsNow: false }, exposure);
          const denies = `a ${side} would enlarge the position beyond the limit`;
          return {
            ...ofAccount('maxPosition'),
            of: `${market} ${side}`,
            ...usage(maxPosition, used, (left) => (left.lte(zero) ? denies : null)),
            unit: currenciesInName(market).base,
          };
        }),
  );
}

function listNotionalUse(limits: RiskLimits | undefined, { exposure }: ExposureReading): readonly LimitUse[] {
  const most = limits?.maxOpenNotional ?? null;
  if (most === null) return [];
  const denies = 'any order would exceed it';
  return [
    {
      ...ofAccount('maxOpenNotional'),
      ...usage(most, openNotionalOf(exposure), (left) => (left.lte(zero) ? denies : null)),
      unit: 'USDT',
    },
  ];
}

function usage(limit: Decimal, used: Decimal, deny: (left: Decimal) => string | null) {
  const left = limit.minus(used);
  return {
    limit: formatDecimal(limit),
    used: formatDecimal(used.round(8)),
    left: formatDecimal((left.lt(zero) ? zero : left).round(8)),
    denies: deny(left),
  };
}

async function listDayUse(
  services: ReportServices,
  account: Account,
  { maxDailyLoss, coolDownMs }: RiskLimits,
  read: ExposureReading | null,
  { prices, ...source }: DealSource & { readonly prices: UsdtPrices },
): Promise<readonly LimitUse[]> {
  if (maxDailyLoss === null && coolDownMs === null) return [];
  const day = await readDayFills(services, account, {
    ...source,
    ...(read === null ? {} : { reading: read.reading }),
  });
  const nowMs = services.clock.nowMs();
  const uses: LimitUse[] = [];
  if (maxDailyLoss !== null && read !== null) {
    const result = await resultOf(
      day,
      { positions: read.reading.positions, floating: read.floating },
      prices,
    );
    const unit = 'USDT';
    uses.push(
      typeof result === 'string'
        ? {
            ...ofAccount('maxDailyLoss'),
            limit: formatDecimal(maxDailyLoss),
            unit,
            denies: `the value of ${result} in USDT is not known`,
          }
        : {
            ...ofAccount('maxDailyLoss'),
            ...usage(
              maxDailyLoss,
              result.realised.plus(result.floating).neg(),
              () => checkDailyLoss(result, maxDailyLoss)?.message ?? null,
            ),
            unit,
            sinceMs: day.sinceMs,
          },
    );
  }
  if (coolDownMs !== null) {
    const { lastLossAtMs } = realisedBy(day, []);
    const denial = checkCoolDown(lastLossAtMs, coolDownMs, nowMs);
    const leftMs = denial === null || lastLossAtMs === null ? 0 : lastLossAtMs + coolDownMs - nowMs;
    uses.push({
      ...ofAccount('coolDownAfterLoss'),
      limit: String(coolDownMs / 60_000),
      left: String(Math.ceil(leftMs / 60_000)),
      unit: 'minutes',
      sinceMs: lastLossAtMs,
      denies: denial?.message ?? null,
    });
  }
  return uses;
}

function listWindowUse(limits: RiskLimits, nowMs: number): readonly LimitUse[] {
  if (limits.tradingWindows === null) return [];
  const denial = checkTradingWindow(limits, nowMs);
  const opening = nextOpeningMs(limits, nowMs);
  return [
    {
      ...ofAccount('tradingWindows'),
      limit: `${limits.tradingWindows.map(describeWindow).join(', ')} (${limits.timeZone})`,
      used: denial === null ? 'open' : 'closed',
      left: denial === null || opening === null ? null : `opens ${new Date(opening).toISOString()}`,
      denies: denial?.message ?? null,
    },
  ];
}
