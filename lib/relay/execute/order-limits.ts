import { wholeOrderOf } from '../../account/own-orders.ts';
import { pauseOnLoss } from '../../account/pause-on-loss.ts';
import {
  countOwn,
  type ExposureReading,
  listOwnAndFilled,
  readExposure,
} from '../../account/read-exposure.ts';
import { type RiskReading, readRisk, riskFactsOf } from '../../account/risk-facts.ts';
import type { SeenPosition } from '../../account/seen-position.ts';
import { createUsdtPrices, type UsdtPrices } from '../../account/usdt-prices.ts';
import { formatDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import { ifRead } from '../../exchange/errors.ts';
import type { Entry } from '../../ledger/entry.ts';
import {
  type CheckedOrder,
  type CountedOrder,
  isFilledNow,
  onlyReduces,
  withoutOpposed,
  withPlanned,
} from '../../limits/counted-holdings.ts';
import { denyUnknown, type RiskFacts } from '../../limits/risk-limit.ts';
import { checkRisk, checkRiskAgain, judgesAgain, riskNeedsOf } from '../../limits/risk-limits.ts';
import type { Account, TradingGround } from '../../model/account.ts';
import { currenciesInName } from '../../model/market.ts';
import { isMarkedReducing, type SizedOrder } from '../../model/order.ts';
import { type Denial, withoutOrder } from '../../model/outcome.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { namesExits, saysItReduces } from '../../signals/may-open.ts';
import type { ExecuteServices } from '../services.ts';
import type { BegunOrder, LimitVerdict } from './action.ts';

/** The limits of growing risk, as they were read for one order. */
export interface LimitsForOrder {
  /** When the reading began; null when nothing was read from the exchange. */
  readonly readAtMs: number | null;
  /**
   * @param planned the position that the order was planned on; null: on none
   * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
   */
  check(sized: SizedOrder, planned: SeenPosition | null): Promise<LimitVerdict>;
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
  const wanted = saysItReduces(target.signal, target.tradesOn) ? null : riskNeedsOf(account, target.market);
  const needs = client.dialect === 'live' ? wanted : null;
  const isBlind = needs === null && (wanted?.holdings === true || wanted?.deals === true);
  // One request follows another, and all of them together take no longer than one reading for an order.
  const timeoutMs = services.exchangeTimeoutMs / 2;
  const limits = { timeoutMs, endByMs: services.clock.nowMs() + timeoutMs };
  const prices = createUsdtPrices(client, limits);
  const market = needs?.allMarkets ? null : target.market;
  const [risk] = await Promise.all([
    needs && readRisk(services, account, needs, { client, limits, prices, market }),
    // The check needs it: it is read beside the others, within their time.
    needs && prices.rateOf(currenciesInName(target.market).quote),
  ]);
  const isSpot = target.tradesOn === 'spot';
  return {
    readAtMs: risk?.exposure.reading.readAtMs ?? null,
    check: (sized, planned) =>
      checkAll(
        { services, account, client, isSpot, isBlind, hasExits: namesExits(target.signal), prices, risk },
        sized,
        planned,
      ),
  };
}

/** An order that the limits hold for, before it is sized. */
interface LimitedOrder {
  readonly market: string;
  readonly tradesOn: TradingGround;
  readonly signal: OrderSignal;
}

interface KnownForOrder {
  readonly services: ExecuteServices;
  readonly account: Account;
  readonly client: ExchangeClient;
  readonly isSpot: boolean;
  /** Whether the account has limits that need lists which this dialect does not have. */
  readonly isBlind: boolean;
  readonly hasExits: boolean;
  readonly prices: UsdtPrices;
  readonly risk: RiskReading | null;
}

async function checkAll(
  known: KnownForOrder,
  sized: SizedOrder,
  planned: SeenPosition | null,
): Promise<LimitVerdict> {
  const { services, account, risk, isSpot, prices } = known;
  if (risk === null) return checkUnread(known, sized);
  const rate = await prices.rateOf(currenciesInName(sized.order.market).quote);
  const notional = rate === null ? null : sized.notional.times(rate);
  const checked = { sized, notional: notional ?? zero, isSpot };
  const read = risk.exposure.exposure;
  const exposure = planned === null ? read : withPlanned(read, checked, planned.amount);
  const reduces = onlyReduces(checked, exposure);
  const { order, baseAmount } = sized;
  const counted = {
    side: order.side,
    amount: formatDecimal(baseAmount),
    notional: notional === null ? null : formatDecimal(notional),
    onlyReduces: reduces,
  };
  const unknown = denyUnknown(account, [
    ...(rate === null ? ['the value of the order in USDT is not known'] : []),
    ...risk.unknown,
  ]);
  // Before the order arrives, the position that it is to reduce may be closed.
  const judged = reduces ? withoutOpposed(exposure, order) : exposure;
  const judge = async (): Promise<LimitVerdict> => {
    const facts = { ...(await riskFactsOf(risk, account, prices, services.clock.nowMs())), exposure: judged };
    const denial = unknown ?? checkRisk(checked, facts, account);
    // At the limit the account is paused, whoever finds it first.
    if (denial?.rule === 'max_daily_loss') await pauseOnLoss(services, account.name, denial);
    return {
      denial,
      reduces: false,
      counted,
      checkTime: (nowMs) => checkRiskAgain('time', checked, { ...facts, nowMs }, account),
      checkOthers: (begun) =>
        checkOthers(known, { ...risk.exposure, exposure: judged }, checked, facts, begun),
    };
  };
  // No limit denies it: it can be sent as one that only reduces.
  if (!reduces || known.hasExits) return await judge();
  const verdict = await ifRead(judge());
  if (verdict === null || verdict.denial !== null) return { ...passing(true), counted, mustReduce: true };
  // Before one that rests fills, the position may be closed.
  return isFilledNow(order) ? { ...passing(false), counted, readReduces: async () => true } : verdict;
}

/** Only time can limit an order for which nothing was read. */
function checkUnread(known: KnownForOrder, sized: SizedOrder): LimitVerdict {
  const { account, isSpot, isBlind, client, services } = known;
  const reduces = isMarkedReducing(sized.order) || (isSpot && sized.order.side === 'sell');
  if (reduces) return passing(true);
  const checked = { sized, notional: zero, isSpot };
  const unread = { exposure: null, day: null, lastLossAtMs: null };
  const checkTime = (nowMs: number) => checkRiskAgain('time', checked, { ...unread, nowMs }, account);
  return {
    ...passing(false),
    denial:
      checkTime(services.clock.nowMs()) ??
      denyUnknown(
        account,
        isBlind ? [`in the dialect "${client.dialect}" the exchange lists neither positions nor fills`] : [],
      ),
    checkTime,
    ...(known.hasExits ? {} : { readReduces: () => readReduces(known, checked) }),
  };
}

async function readReduces(
  { services, account, client, prices }: KnownForOrder,
  checked: CheckedOrder,
): Promise<boolean> {
  const { order } = checked.sized;
  // Before one that rests fills, the position may be closed.
  if (client.dialect !== 'live' || !isFilledNow(order)) return false;
  const timeoutMs = services.exchangeTimeoutMs / 2;
  const limits = { timeoutMs, endByMs: services.clock.nowMs() + timeoutMs };
  const scope = { client, limits, prices, market: order.market, listsAll: false };
  const read = await ifRead(readExposure(services, account, scope));
  // The value of a position, or another position, does not matter; an order that fills first may close this one.
  return read !== null && read.unknownOrders.length === 0 && onlyReduces(checked, read.exposure);
}

function passing(reduces: boolean): LimitVerdict {
  return { denial: null, reduces, counted: null, checkTime: () => null, checkOthers: async () => null };
}

/** How often an order looks again at others that may yield to it, and the pause before each look. */
const mostLooks = 20;
const lookPauseMs = 100;

/**
 * Two orders that were planned at the same time did not see each other; now each is stored, so at least one does. What the
 * other one has filled since is in no reading, so all of it counts, also when it has ended.
 *
 * Where there is no room for all, those that were stored later yield, or two that see each other would both be denied: an
 * order gives way at once to what was stored before it or sent, and waits for the outcome of what is begun and was stored
 * later. Only an outcome that proves that nothing was sent makes room. So whatever the order of storing, as two clocks may
 * see it, no two orders go on that do not fit together.
 */
async function checkOthers(
  known: KnownForOrder,
  { exposure, seen }: ExposureReading,
  checked: CheckedOrder,
  facts: RiskFacts,
  { entry, waitUntilMs }: BegunOrder,
): Promise<Denial | null> {
  const { services, account } = known;
  if (!judgesAgain('others', account, checked)) return null;
  const judge = async (others: readonly Entry[]): Promise<Denial | null> => {
    const orders = await countWhole(known, others);
    if (typeof orders === 'string') return denyUnknown(account, [orders]);
    const together = { positions: exposure.positions, orders: [...exposure.orders, ...orders] };
    return checkRiskAgain('others', checked, { ...facts, exposure: together }, account);
  };
  const { entries } = await listOwnAndFilled(services, account, null);
  let others = entries.filter(({ signalId }) => !seen.has(signalId) && signalId !== entry.signalId);
  for (let looks = 0; ; looks += 1) {
    const denial = await judge(others);
    if (denial === null) return null;
    const staying = others.filter((other) => !mayYield(other, entry));
    const isLast = looks >= mostLooks || services.clock.nowMs() >= waitUntilMs;
    const lasting = isLast || staying.length === others.length ? denial : await judge(staying);
    if (lasting !== null) return lasting;
    await services.clock.sleep(lookPauseMs);
    const again = others.map(async (other) =>
      mayYield(other, entry) ? ((await services.ledger.read(other)) ?? other) : other,
    );
    others = (await Promise.all(again)).filter(({ status }) => !withoutOrder.has(status));
  }
}

/** Whether an order that is begun was stored later than this one, so that it yields unless it has been sent. */
function mayYield(other: Entry, { createdAtMs, signalId }: BegunOrder['entry']): boolean {
  if (other.status !== 'sending') return false;
  if (other.createdAtMs !== createdAtMs) return other.createdAtMs > createdAtMs;
  return other.signalId > signalId;
}

/** @returns a text when it is not known how much one of them is worth */
async function countWhole(
  { account, prices }: KnownForOrder,
  entries: readonly Entry[],
): Promise<readonly CountedOrder[] | string> {
  const orders: CountedOrder[] = [];
  for (const other of entries.flatMap((entry) => wholeOrderOf(account, entry) ?? [])) {
    const counted = await countOwn(other, prices);
    if (typeof counted === 'string') return counted;
    orders.push(counted);
  }
  return orders;
}
