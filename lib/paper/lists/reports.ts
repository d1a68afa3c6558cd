import { formatDecimal, zero } from '../../base/decimal.ts';
import { type Dialect, orderTypeWord } from '../../exchange/dialect.ts';
import { statusWord } from '../../exchange/status-words.ts';
import { totalOf } from '../engine/collateral.ts';
import {
  collateralAccountOf,
  type ExchangeState,
  isSpotOrder,
  type OcoPair,
  type PaperOrder,
} from '../engine/exchange-state.ts';
import { marketNamed } from '../engine/markets.ts';
import { marginOf } from '../engine/positions.ts';
import { feeAssetOf } from '../engine/settlement.ts';

/** A response under the model's names. The dialect renames its keys on the wire. */
export type WireReport = Readonly<Record<string, unknown>>;

function toSeconds(timeMs: number): number {
  return timeMs / 1000;
}

/** The fields that every report of an order has. Lists show the price 0 for an order without a limit. */
function reportOrder(order: PaperOrder, dialect: Dialect): WireReport {
  return {
    orderId: order.orderId,
    clientOrderId: order.clientOrderId,
    market: order.market,
    side: order.side,
    type: orderTypeWord(dialect, order.type),
    timestamp: toSeconds(order.createdAtMs),
    dealMoney: formatDecimal(order.filledNotional),
    dealStock: formatDecimal(order.filled),
    amount: formatDecimal(order.amount),
    left: formatDecimal(order.remaining),
    dealFee: formatDecimal(order.fee),
    price: formatDecimal(order.price ?? zero),
    status: statusWord(dialect, order.status, order.endReason ?? undefined),
    stp: order.stp,
    ...(isSpotOrder(order) ? { feeAsset: feeAssetOf(order) } : reportPositionSide(order, dialect)),
  };
}

function reportPositionSide({ statedSide, reduceOnly }: PaperOrder, dialect: Dialect): WireReport {
  return dialect === 'live' ? { positionSide: statedSide, reduceOnly } : { positionSide: statedSide };
}

/**
 * The response to a create. An order without a limit price has none in it. For a stop the live service also reports the
 * trigger's direction.
 */
export function reportCreated(order: PaperOrder, dialect: Dialect): WireReport {
  const { price, ...report } = reportOrder(order, dialect);
  const stop = {
    activationPrice: formatActivationPrice(order),
    ...(dialect === 'live' ? reportTrigger(order) : {}),
  };
  return {
    ...report,
    ...(order.price === null ? {} : { price }),
    ...(order.activationPrice === null ? reportFlags(order) : stop),
    ...reportPlanned(order),
  };
}

/** Only limit orders have flags. */
function reportFlags({ price, postOnly, ioc }: PaperOrder): WireReport {
  return price === null ? {} : { postOnly, ioc, rpi: false };
}

function formatActivationPrice(order: PaperOrder): string {
  return order.activationPrice === null ? '0' : formatDecimal(order.activationPrice);
}

function reportTrigger(order: PaperOrder): WireReport {
  return { activationCondition: order.activationCondition, activated: order.activated ? 1 : 0 };
}

/** A stop-loss or take-profit that was not requested is an empty text. */
function reportPlanned({ oto }: PaperOrder): WireReport {
  if (oto === null) return {};
  const { otoId, stopLoss, takeProfit } = oto;
  return {
    oto: {
      otoId,
      stopLoss: stopLoss === null ? '' : formatDecimal(stopLoss),
      takeProfit: takeProfit === null ? '' : formatDecimal(takeProfit),
    },
  };
}

/** The response to a cancellation. */
export function reportCancelled(order: PaperOrder, dialect: Dialect): WireReport {
  return {
    ...reportOrder(order, dialect),
    postOnly: order.postOnly,
    ioc: order.ioc,
    rpi: false,
    ...(dialect === 'live' ? reportStop(order) : {}),
  };
}

/** An order of the open-orders list, which only the live service has. */
export function reportOpen(order: PaperOrder): WireReport {
  return {
    ...reportOrder(order, 'live'),
    feeAsset: feeAssetOf(order),
    postOnly: order.postOnly,
    ioc: order.ioc,
    rpi: false,
    ...reportStop(order),
    ...reportPlanned(order),
  };
}

/** An open order in a response whose request has the trigger price in camel case, and the response itself in snake case. */
export function reportReplaced(order: PaperOrder): WireReport {
  const { activationPrice, ...report } = reportOpen(order);
  return activationPrice === undefined ? report : { ...report, activation_price: activationPrice };
}

/** An order of the history, which only the live service has. It stands under its market, and does not repeat it. */
export function reportEnded(order: PaperOrder): WireReport {
  const { orderId, timestamp, left, market, stp, ...report } = reportOrder(order, 'live');
  return {
    ...report,
    feeAsset: feeAssetOf(order),
    id: orderId,
    createdAt: timestamp,
    endedAt: toSeconds(order.updatedAtMs),
    postOnly: order.postOnly,
    ioc: order.ioc,
    rpi: false,
    ...reportStop(order),
  };
}

/** An order inside a record of the conditional list. */
function reportLeg(order: PaperOrder, dialect: Dialect): WireReport {
  return {
    ...reportOrder(order, dialect),
    mtime: toSeconds(order.updatedAtMs),
    postOnly: order.postOnly,
    ...reportStop(order),
    ...(dialect === 'documented' ? reportFeeRates(order) : {}),
  };
}

function reportStop(order: PaperOrder): WireReport {
  if (order.activationPrice === null) return {};
  return { activationPrice: formatActivationPrice(order), ...reportTrigger(order) };
}

function reportFeeRates(order: PaperOrder): WireReport {
  const { takerFeeRate, makerFeeRate } = marketNamed(order.market);
  return { takerFee: formatDecimal(takerFeeRate), makerFee: formatDecimal(makerFeeRate) };
}

/** The filter of a list of conditional orders. */
export interface ConditionalScope {
  readonly account: string;
  /** Null means all markets. */
  readonly market: string | null;
  /** Whether the list already shows the order. A pair is shown once its stop-loss is. */
  readonly isListed: (order: PaperOrder) => boolean;
}

/** An account's open pairs and its open orders with a planned take-profit or stop-loss, newest first. */
export function reportConditional(
  state: ExchangeState,
  scope: ConditionalScope,
  dialect: Dialect,
): readonly WireReport[] {
  const primaries = [...state.open.values()].filter(
    (order) => order.oto !== null && isInScope(scope, order) && scope.isListed(order),
  );
  const records = [
    ...listPairs(state, scope).map((pair) => ({ id: pair.ocoId, ...reportPair(state, pair, dialect) })),
    ...primaries.map((order) => ({ id: order.oto?.otoId ?? 0, ...reportPrimary(order, dialect) })),
  ];
  return records.sort((a, b) => b.id - a.id);
}

function isInScope(scope: ConditionalScope, item: { account: string; market: string }): boolean {
  return item.account === scope.account && (scope.market === null || item.market === scope.market);
}

/** Newest first. */
function listPairs(state: ExchangeState, scope: ConditionalScope): readonly OcoPair[] {
  const isListed = ({ stopLossId }: OcoPair) => {
    const stopLoss = state.orders.get(stopLossId);
    return stopLoss !== undefined && scope.isListed(stopLoss);
  };
  return [...state.pairs.values()]
    .filter((pair) => pair.isOpen && isInScope(scope, pair) && isListed(pair))
    .sort((a, b) => b.ocoId - a.ocoId);
}

/**
 * A pair and its two legs, in the form of the conditional list.
 *
 * @param reportMore what another list tells of a leg besides
 */
function reportPair(
  state: ExchangeState,
  pair: OcoPair,
  dialect: Dialect,
  reportMore: (leg: PaperOrder) => WireReport = () => ({}),
): WireReport {
  const leg = (orderId: number) => {
    const order = state.orders.get(orderId);
    return order === undefined ? null : { ...reportLeg(order, dialect), ...reportMore(order) };
  };
  return { type: 'oco', stopLoss: leg(pair.stopLossId), takeProfit: leg(pair.takeProfitId) };
}

function reportPrimary(order: PaperOrder, dialect: Dialect): WireReport {
  const price = (leg: 'stopLoss' | 'takeProfit') => {
    const value = order.oto?.[leg] ?? null;
    return value === null ? '' : formatDecimal(value);
  };
  return {
    type: 'oto',
    stopLossPrice: price('stopLoss'),
    takeProfitPrice: price('takeProfit'),
    conditionalOrder: dialect === 'live' ? reportReplaced(order) : reportLeg(order, dialect),
  };
}

/** The open pairs of an account in the list that has nothing else, newest first. */
export function reportPairs(
  state: ExchangeState,
  scope: ConditionalScope,
  dialect: Dialect,
): readonly WireReport[] {
  return listPairs(state, scope).map((pair) => reportListedPair(state, pair, dialect));
}

/** A pair as the list of pairs and its cancellation report it. */
export function reportListedPair(state: ExchangeState, pair: OcoPair, dialect: Dialect): WireReport {
  const { type, ...legs } = reportPair(state, pair, dialect, (leg) => ({ feeAsset: feeAssetOf(leg) }));
  return { id: pair.ocoId, ...legs };
}

/** A pair as its create reports it. */
export function reportCreatedPair(state: ExchangeState, pair: OcoPair, dialect: Dialect): WireReport {
  const { type, ...legs } = reportPair(state, pair, dialect, (leg) => ({
    ...reportFeeRates(leg),
    // The pair has it, not its legs.
    reduceOnly: undefined,
  }));
  return { id: pair.ocoId, reduceOnly: state.orders.get(pair.stopLossId)?.reduceOnly ?? false, ...legs };
}

/** The collateral balances. Margin and reserved funds stay in the balance and reduce the available amount. */
export function reportCollateral(state: ExchangeState, account: string): readonly WireReport[] {
  const collateral = collateralAccountOf(state, account);
  return [...collateral.balances].map(([asset, balance]) => {
    const margin = [...collateral.positions.values()]
      .filter(({ market }) => marketNamed(market).quote === asset)
      .reduce((sum, position) => sum.plus(marginOf(collateral, position)), zero);
    const available = formatDecimal(balance.available.minus(margin));
    return {
      asset,
      balance: formatDecimal(totalOf(balance)),
      borrow: '0',
      availableWithoutBorrow: available,
      availableWithBorrow: available,
    };
  });
}
