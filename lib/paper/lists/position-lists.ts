import { type Decimal, floorToStep, formatDecimal, hundred, zero } from '../../base/decimal.ts';
import { openPositions } from '../../exchange/endpoints/open-positions.ts';
import { summaryOf } from '../engine/collateral.ts';
import { collateralAccountOf, type ExchangeState } from '../engine/exchange-state.ts';
import { marketNamed } from '../engine/markets.ts';
import type { EndedPosition, Position, PositionEvent, Turnover } from '../engine/position-records.ts';
import { marginOf, unrealizedPnlOf } from '../engine/positions.ts';
import { checkAnyMarket, pageOf } from '../requests/paging.ts';
import {
  createReadRoute,
  type Reply,
  type RequestContext,
  type Route,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { readingEndpoint } from '../requests/served-endpoint.ts';
import { checkFundingQuery, checkPositionsQuery, isWithin } from './history-query.ts';
import { hasComeThrough } from './list-lag.ts';

/**
 * The positions of an account, open and closed, under the wire names of the live service. There is no funding and no
 * liquidation on the paper exchange.
 *
 * @see https://docs.whitebit.com/api-reference/collateral-trading/open-positions
 * @see https://docs.whitebit.com/api-reference/collateral-trading/positions-history
 * @see https://docs.whitebit.com/api-reference/collateral-trading/closed-position-pnl
 * @see https://docs.whitebit.com/api-reference/collateral-trading/funding-history
 */
export const positionLists: readonly Route[] = [
  createReadRoute(openPositions, serveOpenPositions),
  createReadRoute(
    readingEndpoint('positions-history', '/v4/collateral-account/positions/history'),
    servePositionEvents,
  ),
  createReadRoute(
    readingEndpoint('closed-pnl', '/v4/collateral-account/positions/closed-pnl'),
    serveClosedPositions,
  ),
  createReadRoute(readingEndpoint('funding-history', '/v4/collateral-account/funding-history'), ({ read }) =>
    serveChecked(checkFundingQuery(read), (page) => succeed({ records: [], ...page })),
  ),
];

/** Prices that are averages are cut to these decimals. */
const averagePlaces = 8;
const noLiquidation = { liquidationPrice: null, liquidationState: null } as const;

function serveOpenPositions(context: RequestContext): Reply {
  const { read } = context;
  return serveChecked(checkAnyMarket(read), (market) => {
    const asked = listPositions(context).filter((position) => market === null || position.market === market);
    return succeed(asked.map((position) => describePosition(context, position)));
  });
}

/** The open positions as the list shows them: after every fill that has come through. */
function listPositions(context: RequestContext): readonly Position[] {
  const { account, trading, lagMs } = context;
  const { state } = trading;
  const open = [...collateralAccountOf(state, account).positions.values()];
  if (lagMs === 0) return open;
  const events = state.positionEvents.filter((event) => event.account === account);
  const late = new Set(
    events.filter(({ atMs }) => !hasComeThrough(context, atMs)).map(({ positionId }) => positionId),
  );
  const shown = new Map<number, PositionEvent>();
  for (const event of events) if (hasComeThrough(context, event.atMs)) shown.set(event.positionId, event);
  const earlier = [...shown.values()].filter(
    ({ positionId, amount }) => late.has(positionId) && !amount.eq(zero),
  );
  return [...open.filter(({ positionId }) => !late.has(positionId)), ...earlier.map(positionAfter)];
}

const noTurnover: Turnover = { amount: zero, notional: zero };

/** The position as it was after an event. Its earlier profits are not kept with events, and count as zero. */
function positionAfter({
  positionId,
  market,
  side,
  openedAtMs,
  atMs,
  amount,
  basePrice,
}: PositionEvent): Position {
  return {
    ...{ positionId, market, side, openedAtMs, amount, basePrice },
    modifiedAtMs: atMs,
    realizedPnl: zero,
    fees: zero,
    entered: noTurnover,
    exited: noTurnover,
  };
}

/** `pnl` is the profit of the parts that were closed, `unrealizedPnl` that of the open amount. */
function describePosition({ account, trading: { state }, showsTpsl }: RequestContext, position: Position) {
  const unrealizedPnl = unrealizedPnlOf(state, position);
  const notional = position.amount.abs().times(position.basePrice);
  return {
    positionId: position.positionId,
    market: position.market,
    openDate: position.openedAtMs / 1000,
    modifyDate: position.modifiedAtMs / 1000,
    amount: formatDecimal(position.amount),
    basePrice: formatDecimal(position.basePrice.round(averagePlaces)),
    ...noLiquidation,
    pnl: formatDecimal(position.realizedPnl.round(averagePlaces)),
    unrealizedPnl: formatDecimal(unrealizedPnl.round(averagePlaces)),
    pnlPercent: formatDecimal(unrealizedPnl.times(hundred).div(notional).round(2)),
    margin: formatDecimal(marginOf(collateralAccountOf(state, account), position)),
    freeMargin: formatDecimal(summaryOf(state, account).freeMargin),
    funding: '0',
    unrealizedFunding: '0',
    positionSide: position.side,
    tpsl: showsTpsl || state.exitSettings.showsAttached ? describeExits(state, account, position) : null,
  };
}

/**
 * The newest stop-loss and take-profit of the position that an entry made. Likely, not certain: the documents name the
 * fields, not which exits are among them.
 */
function describeExits(state: ExchangeState, account: string, { market, amount, side }: Position) {
  const exits = [...state.open.values()].filter(
    (order) =>
      order.account === account &&
      order.market === market &&
      order.parentId !== null &&
      order.side === (amount.gt(zero) ? 'sell' : 'buy') &&
      order.positionSide === side,
  );
  const stop = exits.findLast(({ activationPrice }) => activationPrice !== null);
  const profit = exits.findLast(({ activationPrice }) => activationPrice === null);
  if (stop === undefined && profit === undefined) return null;
  return {
    takeProfitId: profit?.orderId ?? null,
    takeProfit: profit === undefined ? '' : formatDecimal(profit.price ?? zero),
    stopLossId: stop?.orderId ?? null,
    stopLoss: stop === undefined ? '' : formatDecimal(stop.activationPrice ?? zero),
  };
}

/** Newest first. */
function servePositionEvents({ account, read, atMs, trading }: RequestContext): Reply {
  return serveChecked(checkPositionsQuery(read, atMs), (query) => {
    const events = trading.state.positionEvents.filter(
      (event) =>
        event.account === account &&
        (query.market === null || event.market === query.market) &&
        (query.positionId === null || event.positionId === query.positionId) &&
        isWithin(query, event.atMs),
    );
    return succeed(pageOf(events.reverse(), query).map(describeEvent));
  });
}

function describeEvent(event: PositionEvent) {
  return {
    positionId: event.positionId,
    market: event.market,
    openDate: event.openedAtMs / 1000,
    modifyDate: event.atMs / 1000,
    amount: formatDecimal(event.amount),
    basePrice: formatDecimal(event.basePrice.round(averagePlaces)),
    realizedFunding: '0',
    ...noLiquidation,
    orderDetail: {
      id: event.orderId,
      tradeAmount: formatDecimal(event.tradeAmount),
      price: formatDecimal(event.tradePrice),
      tradeFee: formatDecimal(event.tradeFee),
      fundingFee: '0',
      realizedPnl: formatDecimal(event.realizedPnl.round(averagePlaces)),
    },
    side: event.side,
    isHedge: event.isHedged,
  };
}

/** Filters that only the list of events has. */
const eventFilters: ReadonlySet<string> = new Set(['market', 'positionId']);

/** The position that was closed last comes first. */
function serveClosedPositions({ account, read, atMs, trading }: RequestContext): Reply {
  const ofAllMarkets = (name: string) => (eventFilters.has(name) ? undefined : read(name));
  return serveChecked(checkPositionsQuery(ofAllMarkets, atMs), (query) => {
    const closed = trading.state.closedPositions.filter(
      (position) => position.account === account && isWithin(query, position.closedAtMs),
    );
    closed.sort((a, b) => b.closedAtMs - a.closedAtMs || b.positionId - a.positionId);
    return succeed(pageOf(closed, query).map(describeClosed));
  });
}

/** Trading fees are deducted from the gross profit. */
function describeClosed(position: EndedPosition) {
  const pnl = formatDecimal(position.realizedPnl.minus(position.fees).round(averagePlaces));
  return {
    positionId: position.positionId,
    market: position.market,
    grossPnl: pnl,
    netPnl: pnl,
    totalTradeFee: formatDecimal(position.fees),
    totalFunding: '0',
    avgEntryPrice: formatDecimal(averagePrice(position.market, position.entered)),
    avgExitPrice: formatDecimal(averagePrice(position.market, position.exited)),
    closedSize: formatDecimal(position.exited.amount),
    amount: '0',
    side: position.side,
    isHedge: position.isHedged,
    openDate: Math.floor(position.openedAtMs / 1000),
    closeDate: Math.floor(position.closedAtMs / 1000),
  };
}

function averagePrice(market: string, { amount, notional }: Turnover): Decimal {
  return amount.eq(zero) ? zero : floorToStep(notional.div(amount), marketNamed(market).priceStep);
}
