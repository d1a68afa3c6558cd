import { type Decimal, formatDecimal } from '../base/decimal.ts';
import type { OrderType } from '../exchange/dialect.ts';
import type { OrderStatus, PositionSide, Side } from '../model/order.ts';
import { type PaperFeeRecord, type PaperInterestPayment, paperAccounts } from './accounts.ts';
import { booksOf, type OcoPair, type PaperOrder, type World } from './world.ts';

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
  readonly price: string;
  readonly activationPrice: string | null;
  readonly filled: string;
  readonly filledNotional: string;
  readonly fee: string;
  readonly reserved: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface AccountState {
  readonly main: Readonly<Record<string, string>>;
  readonly collateral: Readonly<Record<string, { readonly available: string; readonly reserved: string }>>;
  readonly hedgeMode: boolean;
  /** Market, in hedge mode with the side (`BTC_PERP LONG`) → signed amount in base units, and margin in the quote currency. */
  readonly positions: Readonly<Record<string, { readonly amount: string; readonly margin: string }>>;
}

/** Everything the paper exchange knows, as plain JSON. */
export interface PaperState {
  /** Market → last price. */
  readonly prices: Readonly<Record<string, string>>;
  /** Account → balances. */
  readonly accounts: Readonly<Record<string, AccountState>>;
  /** Every order there ever was, oldest first. */
  readonly orders: readonly OrderState[];
  readonly ocos: readonly OcoPair[];
  /** Orders that were placed with exits; `isOpen` while the exits are still to come. */
  readonly otos: readonly OtoState[];
  /** How many creates were accepted. */
  readonly acceptedCreates: number;
  /** The orders those creates made, in the order they were accepted. */
  readonly acceptedOrderIds: readonly number[];
  /** Ticker → what the counterparty, the other side of every trade, has won. */
  readonly counterparty: Readonly<Record<string, string>>;
  /** Ticker → fees taken. */
  readonly fees: Readonly<Record<string, string>>;
  /** Ticker → what moving it costs. */
  readonly feeTable: Readonly<Record<string, PaperFeeRecord>>;
  /** Partner account → its interest payments, newest first. */
  readonly payments: Readonly<Record<string, readonly PaperInterestPayment[]>>;
}

export interface OtoState {
  readonly otoId: number;
  readonly orderId: number;
  readonly stopLoss: string | null;
  readonly takeProfit: string | null;
  readonly isOpen: boolean;
}

/** A copy: it stays as it is while the exchange goes on. */
export function describeWorld(world: World): PaperState {
  const orders = [...world.orders.values()];
  return {
    prices: describeDecimals(world.prices),
    accounts: Object.fromEntries(paperAccounts.map(({ name }) => [name, describeAccount(world, name)])),
    orders: orders.map(describeOrder),
    ocos: [...world.pairs.values()].map((pair) => ({ ...pair })),
    otos: orders.flatMap((order) => describeOto(world, order)),
    acceptedCreates: world.acceptedOrderIds.length,
    acceptedOrderIds: [...world.acceptedOrderIds],
    counterparty: describeDecimals(world.counterparty),
    fees: describeDecimals(world.fees),
    feeTable: Object.fromEntries(world.treasury.fees),
    payments: Object.fromEntries([...world.treasury.payments].map(([name, paid]) => [name, [...paid]])),
  };
}

function describeDecimals(values: ReadonlyMap<string, Decimal>): Record<string, string> {
  return Object.fromEntries([...values].map(([key, value]) => [key, formatDecimal(value)]));
}

function describeAccount(world: World, name: string): AccountState {
  const main = describeDecimals(world.treasury.main.get(name) ?? new Map());
  const { balances, positions, isHedged } = booksOf(world, name);
  const collateral = [...balances].map(([ticker, { available, reserved }]) => [
    ticker,
    { available: formatDecimal(available), reserved: formatDecimal(reserved) },
  ]);
  const held = [...positions].map(([market, { amount, margin }]) => [
    market,
    { amount: formatDecimal(amount), margin: formatDecimal(margin) },
  ]);
  return {
    main,
    collateral: Object.fromEntries(collateral),
    hedgeMode: isHedged,
    positions: Object.fromEntries(held),
  };
}

function describeOrder(order: PaperOrder): OrderState {
  const { heldAmount, arrival, stp, oto, ocoId, activationCondition, ...shown } = order;
  return {
    ...shown,
    amount: formatDecimal(order.amount),
    remaining: formatDecimal(order.remaining),
    price: formatDecimal(order.price),
    activationPrice: formatOptional(order.activationPrice),
    filled: formatDecimal(order.filled),
    filledNotional: formatDecimal(order.filledNotional),
    fee: formatDecimal(order.fee),
    reserved: formatDecimal(order.reserved),
  };
}

function describeOto(world: World, { oto, orderId }: PaperOrder): OtoState[] {
  if (oto === null) return [];
  const { otoId, stopLoss, takeProfit } = oto;
  return [
    {
      otoId,
      orderId,
      stopLoss: formatOptional(stopLoss),
      takeProfit: formatOptional(takeProfit),
      isOpen: world.open.has(orderId),
    },
  ];
}

function formatOptional(value: Decimal | null): string | null {
  return value === null ? null : formatDecimal(value);
}
