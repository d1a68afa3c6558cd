import { listRecent } from '../../account/read-position.ts';
import { readAnswers } from '../../account/rehearsed.ts';
import type { SeenPosition } from '../../account/seen-position.ts';
import { type Decimal, formatDecimal, maximum, minimum, sumOf, zero } from '../../base/decimal.ts';
import { type Json, toJson } from '../../base/json.ts';
import type { SendOptions } from '../../exchange/client.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import { listRecords } from '../../ledger/order-record.ts';
import { checkKept } from '../../limits/check-kept.ts';
import { checkDialect, checkOrder, denyMarket, limitsOf } from '../../limits/check-order.ts';
import { checkRegion } from '../../limits/check-region.ts';
import type { Account } from '../../model/account.ts';
import type { Market } from '../../model/market.ts';
import { isMarkedReducing, isQuoteSized, isSpotType, type SizedOrder } from '../../model/order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { type CountedFact, type ExitPrices, exitPricesOf, type StepFacts } from '../../model/step-facts.ts';
import { mustNotRest } from '../../orders/order-kinds.ts';
import { prepareOrder } from '../../orders/order-types.ts';
import { type SaleShares, sharesForSale } from '../../protection/spot-claims.ts';
import { countStopped } from '../../protection/stop-sales.ts';
import { boughtBefore } from '../../signals/bought-before.ts';
import { describeCut } from '../../signals/cut-sale.ts';
import { namesExits } from '../../signals/may-open.ts';
import { besideOthers } from '../../signals/size-from-account.ts';
import { type Sized, sizeOrder } from '../../signals/sizing.ts';
import { leastAt } from '../../signals/spot-stop.ts';
import {
  heldBy,
  noStops,
  readStopsOfSale,
  stopsToFree,
  withBefore,
  withStopped,
  withStopsFreed,
} from '../protect/free-balance.ts';
import type { ExecuteServices } from '../services.ts';
import {
  changeAction,
  deny,
  denyUnlisted,
  type LimitVerdict,
  type Plan,
  type PreparedAction,
} from './action.ts';
import { checkTrigger } from './judge-trigger.ts';
import { readLimits } from './order-limits.ts';
import { describeRequest, placeOrder } from './place-order.ts';
import {
  checkStopPlaceable,
  findNothingHeld,
  leaveToOthers,
  settleStop,
  soldAlready,
  waitForStop,
} from './plan-spot.ts';
import { type DatedReadings, describeReadings, readForOrder } from './read-market.ts';

/**
 * Reads what the order is priced and sized on, sizes it, checks it against the account's limits and builds its
 * request.
 *
 * @param basis `reduces`: the relay itself has sized the order on the position that it reduces. The largest order of the
 * account does not hold for it: several entries may have made the position, and nothing may lock the owner into it. A
 * position: the order was planned on it.
 * @throws ExchangeError when the exchange cannot be read
 */
export async function planOrder(
  services: ExecuteServices,
  account: Account,
  signal: OrderSignal,
  clientOrderId: string,
  basis: 'any' | 'reduces' | SeenPosition = 'any',
): Promise<Plan> {
  const market = await services.markets.find(signal.market);
  if (market === null) return denyUnlisted(signal.market);
  const traded = limitsOf(account, market.name);
  if (traded === null) return { verdict: 'denied', denial: denyMarket(market.name, account) };
  const { tradesOn } = traded;
  const client = await services.exchangeFor(account.name);
  const unsupported = checkDialect(signal.orderType, tradesOn, client.dialect);
  const isOwn = basis === 'reduces';
  const denied =
    unsupported ??
    checkKept(signal, account, client.dialect) ??
    (isOwn || tradesOn !== 'spot' ? null : await checkStopPlaceable(services, account, signal));
  if (denied !== null) return { verdict: 'denied', denial: denied };
  if (signal.size.unit === 'percent' && client.dialect !== 'live') return denyShare(client.dialect);
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const reader = { client, clock: services.clock, limits };
  // What protects a position cancels itself what it takes the place of.
  const [plain, stops, atRisk] = await Promise.all([
    readForOrder(reader, signal, market, { ...traded, isCut: !isOwn }),
    isOwn ? noStops : readStopsOfSale(services, account, client, signal, clientOrderId, limits),
    readLimits(services, account, { market: market.name, tradesOn, signal }, client),
  ]);
  const unsettled = await settleStop(services, client, signal, stops.records);
  if (unsettled === 'settled') return await planOrder(services, account, signal, clientOrderId, basis);
  if (unsettled !== null) return unsettled;
  const shares = sharesForSale(market.name, signal.strategy, stops.records);
  const held = withOthers(withHeld(plain, heldBy(stops.holding)), shares);
  const sizeOf = (wanted: OrderSignal, on: DatedReadings) =>
    sizeOrder(wanted, { market, account, tradesOn, readings: on, clientOrderId });
  const whole = sizeOf(signal, held);
  const name = { account: account.name, market: market.name, clientOrderId };
  if (whole.ok && stops.doubt !== null) return waitForStop(stops.doubt);
  const asked = whole.ok ? (whole.cutFrom ?? whole.baseAmount) : zero;
  const stopped = countStopped({ signal, amount: asked }, stops.sold, stops.records, market);
  if (stopped?.rest === null) return soldAlready(services, name, stopped, stops.records);
  const size = (on: DatedReadings) => sizeOf(stopped?.rest ?? signal, on);
  const first = stopped === null ? whole : size(held);
  const readings = isOwn ? held : await withBought(services, account.name, held, first);
  const sized = readings === held ? first : size(readings);
  const ofOthers = leaveToOthers(
    { signal, market, shares, records: stops.records },
    readings,
    sized,
    services,
  );
  if (ofOthers !== null) return ofOthers;
  const ofEmpty = findNothingHeld({ signal, market, records: stops.records }, readings, services);
  if (!sized.ok) {
    const denial = { ...sized.denial, ...ofEmpty };
    return { verdict: 'denied', denial, ...evidenceFor(services, readings, null) };
  }
  const risk = await atRisk.check(sized, typeof basis === 'string' ? null : basis);
  if (!isOwn && (risk.mustReduce === true || (await mustReduce(signal, sized, account, risk)))) {
    const reduction = { ...signal, reduceOnly: true } as const;
    return withCounted(await planOrder(services, account, reduction, clientOrderId, basis), risk.counted);
  }
  const denial =
    checkRegion(sized.order, account) ??
    (isOwn ? null : checkOrder(sized, account)) ??
    risk.denial ??
    (await checkTrigger(client, signal, limits, async () => {
      const answers = await readAnswers(services.facts, account.name, tradesOn);
      return answers.triggersBySide;
    }));
  if (denial !== null) return { verdict: 'denied', denial, ...evidenceFor(services, readings, sized) };
  const request = prepareOrder(client, sized.order);
  const sendLess = (amount: Decimal, options: SendOptions) => {
    const order = { ...sized.order, amount };
    return placeOrder(client, prepareOrder(client, order), { signal, order }, options);
  };
  const action: PreparedAction = {
    isOrder: true,
    order: sized.order,
    // Described for a dry run alone: an order that is sent would parse its own fields for nothing.
    get requests() {
      return [describeRequest(request)];
    },
    ...noteOn(readings, sized, market),
    ...withBound(withSpotFact(evidenceFor(services, readings, sized, risk), sized, market), sized, {
      isGuarded: isOwn && mustNotRest(signal),
    }),
    ...oldestOf(readings, atRisk),
    limits: risk,
    send: async (options) => {
      const outcome = await placeOrder(client, request, { signal, order: sized.order }, options);
      return { ...outcome, ...ofEmpty };
    },
  };
  const holding = readings.holding?.of === 'spot' ? readings.holding : null;
  const free = holding === null ? zero : holding.available.minus(holding.ofStops ?? zero);
  const sale = {
    ...name,
    market,
    signal,
    amount: sized.baseAmount,
    counted: stopped?.parts ?? [],
    records: stops.records,
    sendLess,
  };
  const toFree = stopsToFree(sale, free, stops.holding);
  const stopsFreed = withStopsFreed(services, client, sale, toFree, action);
  const freed = withBefore(services, sale, stops.before, stopsFreed);
  if (stopped === null) return { verdict: 'ready', action: freed };
  return { verdict: 'ready', action: withStopped(services, sale, stopped, freed) };
}

/** No limit counts an order that is planned as one that only reduces, but its entry does not say that it is one: later orders must know it. */
export function withCounted(plan: Plan, counted: CountedFact | null): Plan {
  return counted === null ? plan : changeAction(plan, ({ facts }) => ({ facts: { ...facts, counted } }));
}

/**
 * Whether only an order that opens would be denied, and this one reduces by its size. What it is against is read only then. The
 * position may be gone when it arrives, so it must be sent as one that only reduces.
 */
async function mustReduce(
  signal: OrderSignal,
  sized: SizedOrder,
  account: Account,
  { readReduces }: LimitVerdict,
): Promise<boolean> {
  if (isMarkedReducing(sized.order) || namesExits(signal)) return false;
  if (checkOrder(sized, account) === null || checkOrder(sized, account, true) !== null) return false;
  return (await readReduces?.()) === true;
}

/** What the relay's own stop-losses hold can be sold, too. A balance from before they held it shows it as available already. */
function withHeld(readings: DatedReadings, held: Decimal): DatedReadings {
  const { holding } = readings;
  if (holding?.of !== 'spot') return readings;
  const ofStops = minimum(held, holding.frozen ?? held);
  if (ofStops.eq(zero)) return readings;
  return { ...readings, holding: { ...holding, available: holding.available.plus(ofStops), ofStops } };
}

/** What a sale leaves to the other strategies. Its own share it sells in any case: where less is held, theirs may be what is gone. */
function withOthers(readings: DatedReadings, { own, others }: SaleShares): DatedReadings {
  const { holding } = readings;
  if (holding?.of !== 'spot' || others.size === 0) return readings;
  const beside = maximum(holding.available.minus(own), zero);
  return { ...readings, holding: { ...holding, ofOthers: minimum(sumOf(others.values()), beside) } };
}

/** Of a sale that asks for more than is available, how much was bought before it decides what the fees have taken. */
async function withBought(
  services: ExecuteServices,
  account: string,
  readings: DatedReadings,
  sized: Sized,
): Promise<DatedReadings> {
  const { holding } = readings;
  if (holding?.of !== 'spot' || !sized.ok || sized.order.side === 'buy') return readings;
  const { order, baseAmount } = sized;
  if (baseAmount.lte(besideOthers(holding))) return readings;
  const { entries } = await listRecent(services, account, order.market);
  const bought = boughtBefore(listRecords(entries), order.market, baseAmount);
  return { ...readings, holding: { ...holding, boughtBefore: bought } };
}

/** What the operator should know of a sale whose size depends on the spot balance. */
function noteOn(
  { unread, holding }: DatedReadings,
  { cutFrom, baseAmount, keptStop }: SizedOrder,
  market: Market,
): { readonly note?: string } {
  if (keptStop !== undefined)
    return {
      note: `the relay places its stop-loss at ${formatDecimal(keptStop)} for what it has bought, once it has filled`,
    };
  if (cutFrom !== undefined) return { note: describeCut(cutFrom, baseAmount, holding, market) };
  if (unread === undefined) return {};
  return { note: `the spot balance could not be read, so the amount is as asked: ${unread}` };
}

/** What the rest of an order on spot is counted by. */
function withSpotFact<Told extends { readonly facts: StepFacts }>(
  told: Told,
  { order, keptStop }: SizedOrder,
  market: Market,
): Told {
  if (!isSpotType(order.type)) return told;
  const spot = {
    amountStep: formatDecimal(market.amountStep),
    least: formatDecimal(leastAt(keptStop ?? null, market)),
    ...(isQuoteSized(order) ? { isQuoteSized: true as const } : {}),
  };
  return { ...told, facts: { ...told.facts, spot } };
}

/** What the further tries of a close are bound by. */
function withBound<Told extends { readonly facts: StepFacts }>(
  told: Told,
  { order: { price } }: SizedOrder,
  { isGuarded }: { readonly isGuarded: boolean },
): Told {
  if (!isGuarded || price === undefined) return told;
  return { ...told, facts: { ...told.facts, bound: formatDecimal(price) } };
}

/** The prices of the exits that are sent with an order, or that the relay places when it has filled. */
function plannedExits({ order, keptStop }: SizedOrder): ExitPrices {
  return exitPricesOf(keptStop === undefined ? order : { stopLoss: keptStop });
}

/** The written API has no endpoint that shows what an account holds for trading. */
function denyShare(dialect: Dialect): Plan {
  return deny(
    'size_not_in_dialect',
    'quantity or quoteQuantity',
    'a per cent',
    `in the dialect "${dialect}" the exchange does not show what a per cent is a share of; nothing was sent. Write "quantity" or "quoteQuantity", or set the exchange's dialect in relay.config.ts to "live" if that is what it speaks`,
  );
}

/** When the oldest reading began that the order depends on. */
function oldestOf(...readings: readonly { readonly readAtMs: number | null }[]): {
  readonly readAtMs?: number;
} {
  const times = readings.flatMap(({ readAtMs }) => readAtMs ?? []);
  return times.length === 0 ? {} : { readAtMs: Math.min(...times) };
}

/** What the order was priced and sized on, the result, and the prices of its exits; nothing when there is none of these. */
function evidenceFor(
  { clock }: ExecuteServices,
  readings: DatedReadings,
  sized: SizedOrder | null,
  { counted }: Pick<LimitVerdict, 'counted'> = { counted: null },
): { readonly evidence?: Json; readonly facts: StepFacts } {
  const evidence = {
    ...(readings.readAtMs === null
      ? {}
      : {
          sizedOn: describeReadings(readings, clock.nowMs()),
          ...(sized === null ? {} : describeSized(sized)),
        }),
    ...(sized === null || !hasExits(sized) ? {} : { exits: plannedExits(sized) }),
    ...(counted === null ? {} : { counted }),
  };
  const facts: StepFacts = {
    ...(sized === null ? {} : { amount: formatDecimal(sized.baseAmount), exits: plannedExits(sized) }),
    ...(counted === null ? {} : { counted }),
  };
  return { ...(Object.keys(evidence).length === 0 ? {} : { evidence: toJson(evidence) }), facts };
}

function describeSized({ order: { amount, price }, cutFrom }: SizedOrder) {
  return {
    ...(cutFrom === undefined ? {} : { cutFrom: formatDecimal(cutFrom) }),
    amount: formatDecimal(amount),
    ...(price === undefined ? {} : { price: formatDecimal(price) }),
  };
}

function hasExits(sized: SizedOrder): boolean {
  return Object.keys(plannedExits(sized)).length > 0;
}
