import { resultOf } from '../../account/check-loss.ts';
import { type DayFills, readDayFills, realisedBy } from '../../account/day-profit.ts';
import { ownOrderOf, saysItReduces } from '../../account/own-orders.ts';
import { pauseOnLoss } from '../../account/pause-on-loss.ts';
import { countOwn, type ExposureReading, listOwn, readExposure } from '../../account/read-exposure.ts';
import { createUsdtPrices, type UsdtPrices } from '../../account/usdt-prices.ts';
import { type Decimal, formatDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import { limitsOf } from '../../limits/check-order.ts';
import {
  type CountedOrder,
  checkOpenNotional,
  checkPosition,
  onlyReduces,
} from '../../limits/counted-holdings.ts';
import { checkCoolDown, checkDailyLoss } from '../../limits/replay-fills.ts';
import { checkTradingWindow } from '../../limits/trading-windows.ts';
import type { Account, TradingGround } from '../../model/account.ts';
import { currenciesInName } from '../../model/market.ts';
import { isMarkedReducing, type SizedOrder } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import type { OrderSignal } from '../../model/signal.ts';
import type { ExecuteServices } from '../services.ts';
import type { LimitVerdict } from './action.ts';

/** The limits of growing risk, as they were read for one order. */
export interface LimitsForOrder {
  /** When the reading began; null when nothing was read from the exchange. */
  readonly readAtMs: number | null;
  /** @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable` */
  check(sized: SizedOrder): Promise<LimitVerdict>;
}

/**
 * Reads what the limits of growing risk need for an order in this market. An account without such limits causes no request,
 * and neither does an order that can only reduce: a list that cannot be read must not stop it.
 *
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readLimits(
  services: ExecuteServices,
  account: Account,
  target: LimitedOrder,
  client: ExchangeClient,
): Promise<LimitsForOrder> {
  const needs = saysItReduces(target.signal, target.tradesOn)
    ? null
    : needsOf(account, target.market, client);
  // One request follows another, and all of them together take no longer than one reading for an order.
  const timeoutMs = services.exchangeTimeoutMs / 2;
  const limits = { timeoutMs, endByMs: services.clock.nowMs() + timeoutMs };
  const prices = createUsdtPrices(client, limits);
  const [read] = await Promise.all([
    needs && readExposure(services, account, { client, limits, prices, market: needs.ordersOf }),
    // The check needs it: it is read beside the others, within their time.
    needs && prices.rateOf(currenciesInName(target.market).quote),
  ]);
  // After the positions: what was closed in between counts as realised, where the other order would miss it.
  const day =
    needs?.fills && read !== null
      ? await readDayFills(services, account, { client, options: limits, reading: read.reading })
      : null;
  return {
    readAtMs: read?.reading.readAtMs ?? null,
    check: (sized) =>
      checkAll({ services, account, isSpot: target.tradesOn === 'spot', prices, read, day }, sized),
  };
}

/** An order that the limits hold for, before it is sized. */
interface LimitedOrder {
  readonly market: string;
  readonly tradesOn: TradingGround;
  readonly signal: OrderSignal;
}

/** What must be read besides the positions, which every limit needs: they say whether an order only reduces one. */
interface Needs {
  readonly fills: boolean;
  /** The market whose open orders are read; null: all markets. */
  readonly ordersOf: string | null;
}

/** @returns null when nothing must be read */
function needsOf(account: Account, market: string, { dialect }: ExchangeClient): Needs | null {
  const { limits } = account;
  const maxPosition = limitsOf(account, market)?.maxPosition ?? null;
  // In the other dialect nothing can be read, and an account can have trading windows alone.
  if ((limits === undefined && maxPosition === null) || dialect !== 'live') return null;
  const needsAll = (limits?.maxOpenNotional ?? null) !== null;
  return {
    fills: (limits?.maxDailyLoss ?? limits?.coolDownMs ?? null) !== null,
    ordersOf: needsAll ? null : market,
  };
}

interface LimitFacts {
  readonly services: ExecuteServices;
  readonly account: Account;
  readonly isSpot: boolean;
  readonly prices: UsdtPrices;
  readonly read: ExposureReading | null;
  readonly day: DayFills | null;
}

async function checkAll(known: LimitFacts, sized: SizedOrder): Promise<LimitVerdict> {
  const { account, read, isSpot } = known;
  if (read === null) return checkUnread(known, sized);
  const rate = await known.prices.rateOf(currenciesInName(sized.order.market).quote);
  const notional = rate === null ? null : sized.notional.times(rate);
  const checked = { sized, notional: notional ?? zero, isSpot };
  const reduces = onlyReduces(checked, read.exposure);
  const { order, baseAmount } = sized;
  const counted = {
    side: order.side,
    amount: formatDecimal(baseAmount),
    notional: notional === null ? null : formatDecimal(notional),
    onlyReduces: reduces,
  };
  if (reduces) return { ...passing(true), counted };
  const limits = account.limits;
  const denial =
    denyUnknown(account, [
      ...(rate === null ? ['the value of the order in USDT is not known'] : []),
      ...read.unknown,
    ]) ??
    checkPosition(checked, read.exposure, account) ??
    checkOpenNotional(checked, read.exposure, limits?.maxOpenNotional ?? null) ??
    (await checkDay(known, read)) ??
    checkCoolDown(lastLossOf(known, read), limits?.coolDownMs ?? null, known.services.clock.nowMs());
  const checkTime = (nowMs: number) => (limits === undefined ? null : checkTradingWindow(limits, nowMs));
  return {
    denial: denial ?? checkTime(known.services.clock.nowMs()),
    reduces,
    counted,
    checkTime,
    checkOthers: () => checkOthers(known, read, sized, checked.notional),
  };
}

/** Only time can limit an order for which nothing was read. */
function checkUnread({ account, isSpot, services }: LimitFacts, { order }: SizedOrder): LimitVerdict {
  const reduces = isMarkedReducing(order) || (isSpot && order.side === 'sell');
  const { limits } = account;
  if (reduces || limits === undefined) return passing(reduces);
  const checkTime = (nowMs: number) => checkTradingWindow(limits, nowMs);
  return { ...passing(reduces), denial: checkTime(services.clock.nowMs()), checkTime };
}

function passing(reduces: boolean): LimitVerdict {
  return { denial: null, reduces, counted: null, checkTime: () => null, checkOthers: async () => null };
}

/** What cannot be counted might exceed a limit. */
function denyUnknown({ name }: Account, unknown: readonly string[]): Denial | null {
  if (unknown.length === 0) return null;
  const all = unknown.join('; ');
  return {
    rule: 'limit_not_known',
    limit: 'known positions and orders',
    actual: all,
    message: `the limits of account ${name} cannot be checked: ${all}; orders that only reduce a position are still sent`,
  };
}

function lastLossOf({ day }: LimitFacts, { reading }: ExposureReading): number | null {
  return day === null ? null : realisedBy(day, reading.positions).lastLossAtMs;
}

/** At the limit the account is paused, whoever finds it first. */
async function checkDay(
  { services, account, day, prices }: LimitFacts,
  { floating, reading }: ExposureReading,
): Promise<Denial | null> {
  const most = account.limits?.maxDailyLoss ?? null;
  if (most === null || day === null) return null;
  const result = await resultOf(day, { positions: reading.positions, floating }, prices);
  if (typeof result === 'string')
    return denyUnknown(account, [`the value of ${result} in USDT is not known`]);
  const denial = checkDailyLoss(result, most);
  if (denial !== null) await pauseOnLoss(services, account.name, denial);
  return denial;
}

/** Two orders that were planned at the same time did not see each other; now each is stored, so at least one does. */
async function checkOthers(
  { services, account, prices }: LimitFacts,
  { exposure, seen }: ExposureReading,
  sized: SizedOrder,
  notional: Decimal,
): Promise<Denial | null> {
  const most = account.limits?.maxOpenNotional ?? null;
  if (most === null) return null;
  const others = (await listOwn(services, account, null)).filter(
    ({ signalId, clientOrderId }) => !seen.has(signalId) && clientOrderId !== sized.order.clientOrderId,
  );
  const orders: CountedOrder[] = [];
  for (const other of others.flatMap((entry) => ownOrderOf(account, entry) ?? [])) {
    const counted = await countOwn(other, prices);
    if (typeof counted === 'string') return denyUnknown(account, [counted]);
    orders.push(counted);
  }
  const all = { positions: exposure.positions, orders: [...exposure.orders, ...orders] };
  return checkOpenNotional({ sized, notional, isSpot: false }, all, most);
}
