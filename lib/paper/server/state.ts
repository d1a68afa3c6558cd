import { type Decimal, formatDecimal } from '../../base/decimal.ts';
import type { OrderStatus, OrderType, PositionSide, Side } from '../../model/order.ts';
import { type PaperFeeRecord, type PaperInterestPayment, paperAccounts } from '../engine/accounts.ts';
import {
  type Balance,
  type ExchangeState,
  type OcoPair,
  type PaperOrder,
  tradingAccountOf,
} from '../engine/exchange-state.ts';
import type { ExitSettings } from '../engine/exit-settings.ts';
import { marginOf } from '../engine/positions.ts';

/** One order as {@link PaperState} shows it; decimals are text. */
export interface OrderState {
  readonly orderId: number;
  readonly account: string;
  readonly clientOrderId: string;
  readonly market: string;
  readonly side: Side;
  readonly positionSide: PositionSide;
  readonly type: OrderType;
  readonly status: OrderStatus;
  readonly endReason: string | null;
  readonly activated: boolean;
  readonly amount: string;
  readonly remaining: string;
  /** Null for an order without a limit price. */
  readonly price: string | null;
  readonly activationPrice: string | null;
  readonly postOnly: boolean;
  readonly ioc: boolean;
  readonly reduceOnly: boolean;
  readonly filled: string;
  readonly filledNotional: string;
  readonly fee: string;
  readonly reserved: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

interface BalanceState {
  readonly available: string;
  readonly reserved: string;
}

interface PositionState {
  readonly positionId: number;
  /** In base units: long above zero, short below. */
  readonly amount: string;
  readonly basePrice: string;
  /** In the quote currency, at the account's leverage. */
  readonly margin: string;
}

export interface AccountState {
  readonly main: Readonly<Record<string, string>>;
  readonly spot: Readonly<Record<string, BalanceState>>;
  readonly collateral: Readonly<Record<string, BalanceState>>;
  readonly leverage: number;
  readonly hedgeMode: boolean;
  /** Market, in hedge mode with the side (`BTC_PERP LONG`) → open position. */
  readonly positions: Readonly<Record<string, PositionState>>;
}

/** The whole state of the paper exchange, as plain JSON. */
export interface PaperState {
  /** Market → last price. */
  readonly prices: Readonly<Record<string, string>>;
  /** Account → balances. */
  readonly accounts: Readonly<Record<string, AccountState>>;
  /** Every order ever placed, oldest first. */
  readonly orders: readonly OrderState[];
  readonly ocos: readonly OcoPair[];
  /** Orders with a planned stop-loss or take-profit; `isOpen` while the order is open. */
  readonly otos: readonly OtoState[];
  /** The number of accepted creates. */
  readonly acceptedCreates: number;
  /** The ids of the orders that those creates made, in order of acceptance. */
  readonly acceptedOrderIds: readonly number[];
  /** Ticker → the profit of the counterparty, which is the other side of every trade. */
  readonly counterparty: Readonly<Record<string, string>>;
  /** Ticker → trading fees charged. */
  readonly fees: Readonly<Record<string, string>>;
  /** Ticker → transfer fees. */
  readonly feeTable: Readonly<Record<string, PaperFeeRecord>>;
  /** Partner account → its interest payments, newest first. */
  readonly payments: Readonly<Record<string, readonly PaperInterestPayment[]>>;
  readonly exitSettings: ExitSettings;
}

export interface OtoState {
  readonly otoId: number;
  readonly orderId: number;
  readonly stopLoss: string | null;
  readonly takeProfit: string | null;
  readonly isOpen: boolean;
}

/** Returns a copy that later commands do not change. */
export function describeState(state: ExchangeState): PaperState {
  const orders = [...state.orders.values()];
  return {
    prices: describeDecimals(state.prices),
    accounts: Object.fromEntries(paperAccounts.map(({ name }) => [name, describeAccount(state, name)])),
    orders: orders.map(describeOrder),
    ocos: [...state.pairs.values()].map((pair) => ({ ...pair })),
    otos: orders.flatMap((order) => describeOto(state, order)),
    acceptedCreates: state.acceptedOrderIds.length,
    acceptedOrderIds: [...state.acceptedOrderIds],
    counterparty: describeDecimals(state.counterparty),
    fees: describeDecimals(state.fees),
    feeTable: Object.fromEntries(state.mainAccount.transferFees),
    payments: Object.fromEntries([...state.mainAccount.payments].map(([name, paid]) => [name, [...paid]])),
    exitSettings: state.exitSettings,
  };
}

function describeDecimals(values: ReadonlyMap<string, Decimal>): Record<string, string> {
  return Object.fromEntries([...values].map(([key, value]) => [key, formatDecimal(value)]));
}

function describeAccount(state: ExchangeState, name: string): AccountState {
  const { spot, collateral } = tradingAccountOf(state, name);
  const positions = [...collateral.positions].map(([key, position]) => [
    key,
    {
      positionId: position.positionId,
      amount: formatDecimal(position.amount),
      basePrice: formatDecimal(position.basePrice),
      margin: formatDecimal(marginOf(collateral, position)),
    },
  ]);
  return {
    main: describeDecimals(state.mainAccount.balances.get(name) ?? new Map()),
    spot: describeBalances(spot),
    collateral: describeBalances(collateral.balances),
    leverage: collateral.leverage,
    hedgeMode: collateral.isHedged,
    positions: Object.fromEntries(positions),
  };
}

function describeBalances(balances: ReadonlyMap<string, Balance>): Record<string, BalanceState> {
  return Object.fromEntries(
    [...balances].map(([ticker, { available, reserved }]) => [
      ticker,
      { available: formatDecimal(available), reserved: formatDecimal(reserved) },
    ]),
  );
}

function describeOrder(order: PaperOrder): OrderState {
  const {
    heldAmount,
    exitAmount,
    arrival,
    stp,
    oto,
    ocoId,
    parentId,
    activationCondition,
    statedSide,
    ...shown
  } = order;
  return {
    ...shown,
    amount: formatDecimal(order.amount),
    remaining: formatDecimal(order.remaining),
    price: formatOptional(order.price),
    activationPrice: formatOptional(order.activationPrice),
    filled: formatDecimal(order.filled),
    filledNotional: formatDecimal(order.filledNotional),
    fee: formatDecimal(order.fee),
    reserved: formatDecimal(order.reserved),
  };
}

function describeOto(state: ExchangeState, { oto, orderId }: PaperOrder): OtoState[] {
  if (oto === null) return [];
  const { otoId, stopLoss, takeProfit } = oto;
  return [
    {
      otoId,
      orderId,
      stopLoss: formatOptional(stopLoss),
      takeProfit: formatOptional(takeProfit),
      isOpen: state.open.has(orderId),
    },
  ];
}

function formatOptional(value: Decimal | null): string | null {
  return value === null ? null : formatDecimal(value);
}
