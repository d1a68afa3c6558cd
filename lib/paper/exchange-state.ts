import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';

import type { OrderStatus, OrderType, PositionSide, Side } from '../model/order.ts';
import { paperAccounts } from './accounts.ts';
import { createMainAccountState, type MainAccountState } from './main-account.ts';
import { paperMarkets } from './markets.ts';

export type ActivationCondition = 'gte' | 'lte';

/** The stop-loss and take-profit prices of an order, which are placed when it fills. */
export interface PlannedPrices {
  readonly otoId: number;
  readonly stopLoss: Decimal | null;
  readonly takeProfit: Decimal | null;
}

/** An order of the paper exchange. The fields that are not readonly change over its life. */
export interface PaperOrder {
  readonly orderId: number;
  readonly account: string;
  readonly clientOrderId: string;
  readonly market: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly amount: Decimal;
  readonly price: Decimal;
  readonly activationPrice: Decimal | null;
  readonly activationCondition: ActivationCondition | null;
  readonly stp: string;
  /** The position that it changes. `BOTH` except on a perpetual market in hedge mode. */
  readonly positionSide: PositionSide;
  readonly createdAtMs: number;
  readonly oto: PlannedPrices | null;
  /** The id of its OCO pair while both legs are open, else null. */
  ocoId: number | null;
  /** Whether it is in the order book. A stop-limit order enters the book on activation. */
  activated: boolean;
  /** Its time priority among orders at the same price; set when it enters the book. */
  arrival: number;
  status: OrderStatus;
  endReason: string | null;
  updatedAtMs: number;
  remaining: Decimal;
  filled: Decimal;
  filledNotional: Decimal;
  fee: Decimal;
  /** The part of `remaining`, in base units, for which funds are reserved. */
  heldAmount: Decimal;
  /** The reserved funds, in the quote currency; for a spot sell order in base units. */
  reserved: Decimal;
}

/** A stop-loss and a take-profit. When one is executed or cancelled, the other is cancelled. */
export interface OcoPair {
  readonly ocoId: number;
  readonly account: string;
  readonly market: string;
  readonly stopLossId: number;
  readonly takeProfitId: number;
  isOpen: boolean;
}

export interface Balance {
  available: Decimal;
  reserved: Decimal;
}

/**
 * A perpetual position: long above zero, short below. `margin` is its notional at opening, in the quote
 * currency.
 */
export interface Position {
  readonly market: string;
  readonly side: PositionSide;
  amount: Decimal;
  margin: Decimal;
}

export interface CollateralAccount {
  /** Ticker → collateral balance. */
  readonly balances: Map<string, Balance>;
  /** One per market; in hedge mode two. */
  readonly positions: Map<string, Position>;
  /**
   * In hedge mode a perpetual market has a long and a short position; otherwise one position of either sign.
   */
  isHedged: boolean;
}

/** The whole state of the exchange. Only commands change it, in place. */
export interface ExchangeState {
  /** Market → last price. */
  readonly prices: Map<string, Decimal>;
  readonly accounts: Map<string, CollateralAccount>;
  /** Ticker → the profit of the counterparty, which is the other side of every trade. */
  readonly counterparty: Map<string, Decimal>;
  /** Ticker → trading fees charged. */
  readonly fees: Map<string, Decimal>;
  /** Every order ever placed, oldest first. */
  readonly orders: Map<number, PaperOrder>;
  readonly open: Map<number, PaperOrder>;
  readonly pairs: Map<number, OcoPair>;
  /** Orders by account, market and client order id, oldest first. */
  readonly byClientOrderId: Map<string, PaperOrder[]>;
  /**
   * The orders that requests created, in order of acceptance. Take-profits and stop-losses are not included.
   */
  readonly acceptedOrderIds: number[];
  readonly mainAccount: MainAccountState;
  nextId: number;
  nextArrival: number;
}

/** Above 32 bits, like the ids of the live service. */
const firstId = 10_000_000_001;

export function createExchangeState(): ExchangeState {
  return {
    prices: new Map([...paperMarkets.values()].map((market) => [market.name, market.startPrice])),
    accounts: new Map(
      paperAccounts.map(({ name, collateral }) => [name, createCollateralAccount(collateral)]),
    ),
    counterparty: new Map(),
    fees: new Map(),
    orders: new Map(),
    open: new Map(),
    pairs: new Map(),
    byClientOrderId: new Map(),
    acceptedOrderIds: [],
    mainAccount: createMainAccountState(),
    nextId: firstId,
    nextArrival: 1,
  };
}

function createCollateralAccount(collateral: Readonly<Record<string, string>>): CollateralAccount {
  const balances = Object.entries(collateral).map(
    ([ticker, amount]) => [ticker, { available: parseDecimal(amount), reserved: zero }] as const,
  );
  return { balances: new Map(balances), positions: new Map(), isHedged: false };
}

export function takeId(state: ExchangeState): number {
  const id = state.nextId;
  state.nextId += 1;
  return id;
}

/** The last price of a market. Commands name only markets that were checked to exist. */
export function lastPriceOf(state: ExchangeState, market: string): Decimal {
  return state.prices.get(market) ?? zero;
}

export function collateralAccountOf(state: ExchangeState, account: string): CollateralAccount {
  const collateralAccount = state.accounts.get(account);
  if (collateralAccount === undefined)
    throw new RangeError(
      `the paper exchange has no account "${account}"; it has ${[...state.accounts.keys()].join(', ')}`,
    );
  return collateralAccount;
}

export function balanceOf(state: ExchangeState, account: string, ticker: string): Balance {
  const { balances } = collateralAccountOf(state, account);
  const balance = balances.get(ticker) ?? { available: zero, reserved: zero };
  balances.set(ticker, balance);
  return balance;
}

type PositionName = Pick<PaperOrder, 'account' | 'market' | 'positionSide'>;

/** The position that an order changes, read-only. A position that was never opened is returned as empty. */
export function positionOf(
  state: ExchangeState,
  { account, market, positionSide: side }: PositionName,
): Readonly<Position> {
  const position = collateralAccountOf(state, account).positions.get(positionKeyOf(market, side));
  return position ?? { market, side, amount: zero, margin: zero };
}

/** The position that a fill changes; creates it if there is none. */
export function positionToChange(
  state: ExchangeState,
  { account, market, positionSide: side }: PositionName,
): Position {
  const { positions } = collateralAccountOf(state, account);
  const key = positionKeyOf(market, side);
  const position = positions.get(key) ?? { market, side, amount: zero, margin: zero };
  positions.set(key, position);
  return position;
}

function positionKeyOf(market: string, side: PositionSide): string {
  return side === 'BOTH' ? market : `${market} ${side}`;
}

/** Whether an order can only reduce its position: in hedge mode, a sell of a long or a buy of a short. */
export function closesOnly({ side, positionSide }: Pick<PaperOrder, 'side' | 'positionSide'>): boolean {
  return side === 'sell' ? positionSide === 'LONG' : positionSide === 'SHORT';
}

export interface ClientOrderKey {
  readonly account: string;
  readonly market: string;
  readonly clientOrderId: string;
}

/** Every order, open or ended, with this client order id; oldest first. */
export function ordersByClientOrderId(state: ExchangeState, key: ClientOrderKey): readonly PaperOrder[] {
  return state.byClientOrderId.get(clientOrderKeyOf(key)) ?? [];
}

export function clientOrderKeyOf(key: ClientOrderKey): string {
  return `${key.account} ${key.market} ${key.clientOrderId}`;
}
