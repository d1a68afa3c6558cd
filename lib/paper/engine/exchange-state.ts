import { type Decimal, parseDecimal, zero } from '../../base/decimal.ts';
import {
  isSpotType,
  type OrderStatus,
  type OrderType,
  type PositionSide,
  type Side,
  type StpMode,
} from '../../model/order.ts';
import { type PaperAccount, paperAccounts } from './accounts.ts';
import { type ExitSettings, usualExitSettings } from './exit-settings.ts';
import { createMainAccountState, type MainAccountState } from './main-account.ts';
import { paperMarkets } from './markets.ts';
import type { EndedPosition, Position, PositionEvent } from './position-records.ts';
import type { SpotReading } from './spot-history.ts';
import type { HourOfTrades, MinuteOfTrades, PaperDeal, PublicTrade } from './trade-records.ts';

/** The stop-loss and take-profit prices of an order, which are placed when it fills. */
export interface PlannedExits {
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
  /** A type that begins with `spot_` trades the spot balance, every other one the collateral account. */
  readonly type: OrderType;
  /** In base units; in quote units for an order that is sized in them (see `isQuoteSized`). */
  readonly amount: Decimal;
  /** The limit price; null for an order without one. */
  readonly price: Decimal | null;
  readonly activationPrice: Decimal | null;
  /** Whether the trigger waits for a price at or above it (`gte`), or at or below it (`lte`). */
  readonly activationCondition: 'gte' | 'lte' | null;
  readonly postOnly: boolean;
  readonly ioc: boolean;
  /** Never opens or enlarges a position. */
  readonly reduceOnly: boolean;
  readonly stp: StpMode;
  /** The position that it changes. `BOTH` except on a perpetual market in hedge mode. */
  readonly positionSide: PositionSide;
  /** The position side that reports show: on a margin pair of the written API, the one that the request named. */
  readonly statedSide: PositionSide;
  readonly createdAtMs: number;
  /** The order whose stop-loss or take-profit it is, else null. */
  readonly parentId: number | null;
  readonly oto: PlannedExits | null;
  /** The id of its OCO pair while both legs are open, else null. */
  ocoId: number | null;
  /** Whether its trigger, if it has one, was reached. An activated order with a limit price is in the book. */
  activated: boolean;
  /** Its time priority among orders at the same price; set when it enters the book. */
  arrival: number;
  status: OrderStatus;
  endReason: string | null;
  updatedAtMs: number;
  /** In the units of `amount`. */
  remaining: Decimal;
  /** In base units. */
  filled: Decimal;
  filledNotional: Decimal;
  /** In units of the fee asset: the base currency for a spot buy, else the quote currency. */
  fee: Decimal;
  /** The base units for which its stop-loss and take-profit were placed. */
  exitAmount: Decimal;
  /** The part of `remaining` for which funds are reserved. */
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
  /** Set aside for open orders. */
  reserved: Decimal;
}

/** Margin and futures trading. The margin of positions is not taken out of the balances. */
export interface CollateralAccount {
  /** Ticker → collateral balance. */
  readonly balances: Map<string, Balance>;
  /** Only positions that are open: one per market, in hedge mode two per perpetual. See `positionKeyOf`. */
  readonly positions: Map<string, Position>;
  /**
   * In hedge mode a perpetual market has a long and a short position; otherwise one position of either sign.
   */
  isHedged: boolean;
  /** One of `leverages`; a market's own maximum can be lower. */
  leverage: number;
}

/** One account of the exchange; its main balance is in `mainAccount`. */
export interface TradingAccount {
  /** Ticker → the balance that spot orders trade. */
  readonly spot: Map<string, Balance>;
  /** What they were after each command that changed them, oldest first; the oldest may be forgotten. */
  readonly spotHistory: SpotReading[];
  readonly collateral: CollateralAccount;
}

/** The whole state of the exchange. Only commands change it, in place. */
export interface ExchangeState {
  /** Market → last price. */
  readonly prices: Map<string, Decimal>;
  readonly accounts: Map<string, TradingAccount>;
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
   * The orders that requests created, in order of acceptance: one for each create, of a pair its stop-loss. Not
   * included: the exits that the exchange makes, and what a modification replaced an order by.
   */
  readonly acceptedOrderIds: number[];
  /** Every fill of an account's order, oldest first. */
  readonly deals: PaperDeal[];
  /** Market → its newest trades, newest first. */
  readonly publicTrades: Map<string, PublicTrade[]>;
  /** Market → its trades of the last 24 hours, added up by hour, oldest first. */
  readonly activity: Map<string, HourOfTrades[]>;
  /** Market → its trades of the newest minutes with trades, oldest first. */
  readonly minutes: Map<string, MinuteOfTrades[]>;
  /** Every change of a position, oldest first. */
  readonly positionEvents: PositionEvent[];
  /** In the order in which they were closed. */
  readonly closedPositions: EndedPosition[];
  readonly mainAccount: MainAccountState;
  exitSettings: ExitSettings;
  nextId: number;
  nextArrival: number;
  nextDealId: number;
  nextPositionId: number;
  /** Public trades have ids of their own: a trade that met no order is not kept across a restart. */
  nextPublicTradeId: number;
}

/** Above 32 bits, like the ids of the live service. */
export const leastOrderId = 10_000_000_001;

const firstIds = {
  nextDealId: 20_000_000_001,
  nextPositionId: 30_000_000_001,
  nextPublicTradeId: 40_000_000_001,
};

export function createExchangeState(firstOrderId = leastOrderId): ExchangeState {
  return {
    prices: new Map([...paperMarkets.values()].map((market) => [market.name, market.startPrice])),
    accounts: new Map(paperAccounts.map((account) => [account.name, createTradingAccount(account)])),
    counterparty: new Map(),
    fees: new Map(),
    orders: new Map(),
    open: new Map(),
    pairs: new Map(),
    byClientOrderId: new Map(),
    acceptedOrderIds: [],
    deals: [],
    publicTrades: new Map(),
    activity: new Map(),
    minutes: new Map(),
    positionEvents: [],
    closedPositions: [],
    mainAccount: createMainAccountState(),
    exitSettings: usualExitSettings,
    nextId: firstOrderId,
    ...firstIds,
    nextArrival: 1,
  };
}

function createTradingAccount({ spot, collateral }: PaperAccount): TradingAccount {
  return {
    spot: createBalances(spot),
    spotHistory: [{ atMs: Number.NEGATIVE_INFINITY, balances: createBalances(spot) }],
    collateral: { balances: createBalances(collateral), positions: new Map(), isHedged: false, leverage: 1 },
  };
}

function createBalances(amounts: Readonly<Record<string, string>>): Map<string, Balance> {
  return new Map(
    Object.entries(amounts).map(
      ([ticker, amount]) => [ticker, { available: parseDecimal(amount), reserved: zero }] as const,
    ),
  );
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

/** @throws RangeError for an account that the exchange does not have */
export function tradingAccountOf(state: ExchangeState, account: string): TradingAccount {
  const found = state.accounts.get(account);
  if (found === undefined)
    throw new RangeError(
      `the paper exchange has no account "${account}"; it has ${[...state.accounts.keys()].join(', ')}`,
    );
  return found;
}

/** @throws as {@link tradingAccountOf} does */
export function collateralAccountOf(state: ExchangeState, account: string): CollateralAccount {
  return tradingAccountOf(state, account).collateral;
}

/** The spot or collateral balance of a ticker, as a part of the state; it is created if there is none. */
export function balanceToChange(balances: Map<string, Balance>, ticker: string): Balance {
  const balance = balances.get(ticker) ?? { available: zero, reserved: zero };
  balances.set(ticker, balance);
  return balance;
}

/** Whether an order trades the spot balance instead of the collateral account. */
export function isSpotOrder({ type }: Pick<PaperOrder, 'type'>): boolean {
  return isSpotType(type);
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
