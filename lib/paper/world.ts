import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { OrderType } from '../exchange/dialect.ts';
import type { OrderStatus, PositionSide, Side } from '../model/order.ts';
import { paperAccounts } from './accounts.ts';
import { paperMarkets } from './markets.ts';
import { createTreasury, type Treasury } from './treasury.ts';

export type ActivationCondition = 'gte' | 'lte';

/** The exits of an order that will be placed when it fills. */
export interface PlannedPrices {
  readonly otoId: number;
  readonly stopLoss: Decimal | null;
  readonly takeProfit: Decimal | null;
}

/** An order of the paper exchange. What is not readonly changes as it lives. */
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
  /** The position it changes: `BOTH` except on a perpetual market in hedge mode. */
  readonly positionSide: PositionSide;
  readonly createdAtMs: number;
  readonly oto: PlannedPrices | null;
  /** The pair it is a leg of, while both legs are open. */
  ocoId: number | null;
  /** Whether it stands in the book; a stop-limit does so from its activation on. */
  activated: boolean;
  /** Its place in the queue of equal prices; set on entering the book. */
  arrival: number;
  status: OrderStatus;
  endReason: string | null;
  updatedAtMs: number;
  remaining: Decimal;
  filled: Decimal;
  filledNotional: Decimal;
  fee: Decimal;
  /** The part of `remaining`, in base units, that funds are held for. */
  heldAmount: Decimal;
  /** The funds held, in the quote currency or, for a spot sale, in base units. */
  reserved: Decimal;
}

/** Two exits of which the first to execute, or to be cancelled, ends the other. */
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

/** A perpetual position: long above zero, short below; `margin` is what its opening cost, in the quote currency. */
export interface Position {
  readonly market: string;
  readonly side: PositionSide;
  amount: Decimal;
  margin: Decimal;
}

export interface AccountBooks {
  /** Ticker → collateral balance. */
  readonly balances: Map<string, Balance>;
  /** One for each market, in hedge mode two. */
  readonly positions: Map<string, Position>;
  /** In hedge mode a perpetual market has a long and a short position beside each other; else one, of either sign. */
  isHedged: boolean;
}

/** All that the exchange knows. Commands change it in place; nothing else does. */
export interface World {
  /** Market → last price. */
  readonly prices: Map<string, Decimal>;
  readonly accounts: Map<string, AccountBooks>;
  /** Ticker → what the counterparty, the other side of every trade, has won. */
  readonly counterparty: Map<string, Decimal>;
  /** Ticker → fees taken. */
  readonly fees: Map<string, Decimal>;
  /** Every order there ever was, oldest first. */
  readonly orders: Map<number, PaperOrder>;
  readonly open: Map<number, PaperOrder>;
  readonly pairs: Map<number, OcoPair>;
  /** Orders by account, market and client order id, oldest first. */
  readonly byClientOrderId: Map<string, PaperOrder[]>;
  /** The orders that requests created, in the order they were accepted; exits are not among them. */
  readonly acceptedOrderIds: number[];
  readonly treasury: Treasury;
  nextId: number;
  nextArrival: number;
}

/** Beyond 32 bits, as the service's ids are. */
const firstId = 10_000_000_001;

export function createWorld(): World {
  return {
    prices: new Map([...paperMarkets.values()].map((market) => [market.name, market.startPrice])),
    accounts: new Map(paperAccounts.map(({ name, collateral }) => [name, createBooks(collateral)])),
    counterparty: new Map(),
    fees: new Map(),
    orders: new Map(),
    open: new Map(),
    pairs: new Map(),
    byClientOrderId: new Map(),
    acceptedOrderIds: [],
    treasury: createTreasury(),
    nextId: firstId,
    nextArrival: 1,
  };
}

function createBooks(collateral: Readonly<Record<string, string>>): AccountBooks {
  const balances = Object.entries(collateral).map(
    ([ticker, amount]) => [ticker, { available: parseDecimal(amount), reserved: zero }] as const,
  );
  return { balances: new Map(balances), positions: new Map(), isHedged: false };
}

export function takeId(world: World): number {
  const id = world.nextId;
  world.nextId += 1;
  return id;
}

/** The last price of a market; commands name only markets that were checked to exist. */
export function lastPriceOf(world: World, market: string): Decimal {
  return world.prices.get(market) ?? zero;
}

export function booksOf(world: World, account: string): AccountBooks {
  const books = world.accounts.get(account);
  if (books === undefined)
    throw new RangeError(
      `the paper exchange has no account "${account}"; it has ${[...world.accounts.keys()].join(', ')}`,
    );
  return books;
}

export function balanceOf(world: World, account: string, ticker: string): Balance {
  const { balances } = booksOf(world, account);
  const balance = balances.get(ticker) ?? { available: zero, reserved: zero };
  balances.set(ticker, balance);
  return balance;
}

type PositionName = Pick<PaperOrder, 'account' | 'market' | 'positionSide'>;

/** The position that an order is about, to be read only; one that was never opened is empty. */
export function positionOf(
  world: World,
  { account, market, positionSide: side }: PositionName,
): Readonly<Position> {
  const position = booksOf(world, account).positions.get(positionKeyOf(market, side));
  return position ?? { market, side, amount: zero, margin: zero };
}

/** The position that a fill is about to change. */
export function positionToChange(
  world: World,
  { account, market, positionSide: side }: PositionName,
): Position {
  const { positions } = booksOf(world, account);
  const key = positionKeyOf(market, side);
  const position = positions.get(key) ?? { market, side, amount: zero, margin: zero };
  positions.set(key, position);
  return position;
}

function positionKeyOf(market: string, side: PositionSide): string {
  return side === 'BOTH' ? market : `${market} ${side}`;
}

/** Whether an order can do nothing but make its position smaller: a sale of a long one, a purchase of a short one. */
export function closesOnly({ side, positionSide }: Pick<PaperOrder, 'side' | 'positionSide'>): boolean {
  return side === 'sell' ? positionSide === 'LONG' : positionSide === 'SHORT';
}

export interface ClientOrderKey {
  readonly account: string;
  readonly market: string;
  readonly clientOrderId: string;
}

/** Every order, open or ended, that carried this client order id; oldest first. */
export function ordersByClientOrderId(world: World, key: ClientOrderKey): readonly PaperOrder[] {
  return world.byClientOrderId.get(clientOrderKeyOf(key)) ?? [];
}

export function clientOrderKeyOf(key: ClientOrderKey): string {
  return `${key.account} ${key.market} ${key.clientOrderId}`;
}
