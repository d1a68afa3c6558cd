import { formatDecimal } from '../../base/decimal.ts';
import { type Json, toJson } from '../../base/json.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import { checkDialect, checkOrder, denyMarket, limitsOf } from '../../limits/check-order.ts';
import { checkRegion } from '../../limits/check-region.ts';
import type { Account } from '../../model/account.ts';
import type { Market } from '../../model/market.ts';
import type { SizedOrder } from '../../model/order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { exitPricesOf, type StepFacts } from '../../model/step-facts.ts';
import { prepareOrder } from '../../orders/order-types.ts';
import { describeCut } from '../../signals/cut-sale.ts';
import { sizeOrder } from '../../signals/sizing.ts';
import type { ExecuteServices } from '../services.ts';
import { deny, denyUnlisted, type LimitVerdict, type Plan } from './action.ts';
import { checkTrigger } from './judge-trigger.ts';
import { readLimits } from './order-limits.ts';
import { describeRequest, placeOrder } from './place-order.ts';
import { type DatedReadings, describeReadings, readForOrder } from './read-market.ts';

/**
 * Reads what the order is priced and sized on, sizes it, checks it against the account's limits and builds its
 * request.
 *
 * @param effect `reduces`: the relay itself has sized the order on the position that it reduces. The largest order of the
 * account does not hold for it: several entries may have made the position, and nothing may lock the owner into it.
 * @throws ExchangeError when the exchange cannot be read
 */
export async function planOrder(
  services: ExecuteServices,
  account: Account,
  signal: OrderSignal,
  clientOrderId: string,
  effect: 'any' | 'reduces' = 'any',
): Promise<Plan> {
  const market = await services.markets.find(signal.market);
  if (market === null) return denyUnlisted(signal.market);
  const traded = limitsOf(account, market.name);
  if (traded === null) return { verdict: 'denied', denial: denyMarket(market.name, account) };
  const { tradesOn } = traded;
  const client = await services.exchangeFor(account.name);
  const unsupported = checkDialect(signal.orderType, tradesOn, client.dialect);
  if (unsupported !== null) return { verdict: 'denied', denial: unsupported };
  if (signal.size.unit === 'percent' && client.dialect !== 'live') return denyShare(client.dialect);
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const reader = { client, clock: services.clock, limits };
  const [readings, atRisk] = await Promise.all([
    readForOrder(reader, signal, market, traded),
    readLimits(services, account, { market: market.name, tradesOn, signal }, client),
  ]);
  const sized = sizeOrder(signal, { market, account, tradesOn, readings, clientOrderId });
  if (!sized.ok) return { verdict: 'denied', denial: sized.denial, ...evidenceFor(services, readings, null) };
  const risk = await atRisk.check(sized);
  const denial =
    checkRegion(sized.order, account) ??
    (effect === 'reduces' ? null : checkOrder(sized, account)) ??
    risk.denial ??
    (await checkTrigger(client, signal, limits));
  if (denial !== null) return { verdict: 'denied', denial, ...evidenceFor(services, readings, sized) };
  const request = prepareOrder(client, sized.order);
  return {
    verdict: 'ready',
    action: {
      isOrder: true,
      // Described for a dry run alone: an order that is sent would parse its own fields for nothing.
      get requests() {
        return [describeRequest(request)];
      },
      ...noteOn(readings, sized, market),
      ...evidenceFor(services, readings, sized, risk),
      ...oldestOf(readings, atRisk),
      limits: risk,
      send: (options) => placeOrder(client, request, { signal, order: sized.order }, options),
    },
  };
}

/** What the operator should know of a sale whose size depends on the spot balance. */
function noteOn(
  { unread }: DatedReadings,
  { cutFrom, baseAmount }: SizedOrder,
  market: Market,
): { readonly note?: string } {
  if (cutFrom !== undefined) return { note: describeCut(cutFrom, baseAmount, market) };
  if (unread === undefined) return {};
  return { note: `the spot balance could not be read, so the amount is as asked: ${unread}` };
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
    ...(sized === null || !hasExits(sized) ? {} : { exits: exitPricesOf(sized.order) }),
    ...(counted === null ? {} : { counted }),
  };
  const facts: StepFacts = {
    ...(sized === null ? {} : { amount: formatDecimal(sized.baseAmount), exits: exitPricesOf(sized.order) }),
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

function hasExits({ order: { stopLoss, takeProfit } }: SizedOrder): boolean {
  return stopLoss !== undefined || takeProfit !== undefined;
}
