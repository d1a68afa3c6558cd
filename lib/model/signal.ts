import type { Json } from '../base/json.ts';
import {
  isMarkedReducing,
  type OrderKindName,
  type PositionSide,
  type Side,
  type StpMode,
  type TriggerSide,
} from './order.ts';

/**
 * A decimal in plain notation. Signals are stored as JSON, so their numbers stay text until they are sized.
 */
export type DecimalText = string;

/** A part of something: a decimal in plain notation and a per cent sign, for example `2.5%`. */
export type PercentText = `${string}%`;

/** A price, or its distance from the price at which the order is expected to fill. */
export type PriceOrDistance = DecimalText | PercentText;

/** A take-profit of a part. All shares of one signal come to 100 % at most. */
export interface TakeProfitPart {
  readonly price: PriceOrDistance;
  readonly share: PercentText;
}

/** One instruction, in the relay's own terms: of an alert, but for {@link ProtectSignal}. */
export type Signal =
  | OrderSignal
  | PositionSignal
  | ProtectPositionSignal
  | ProtectSignal
  | CancelSignal
  | CancelAllSignal;

interface SignalBase {
  /** As the alert wrote it, for example `BTCUSDT.P`. */
  readonly ticker: string;
  /** The exchange's name, for example `BTC_PERP`. */
  readonly market: string;
  /** When the alert fired; null when the alert does not say so and carries its own id instead. */
  readonly timeMs: number | null;
  /** The highest age of the alert when its order is sent; null: the configured age, from its arrival on. */
  readonly maxLagMs: number | null;
  readonly strategy?: string;
  readonly interval?: string;
  readonly comment?: string;
  readonly extras?: Json;
  /** What the alert says besides and what decides nothing: each value as text, by the key that the alert wrote. */
  readonly info?: Readonly<Record<string, string>>;
}

/** The fields of every signal, whatever its action. */
export type CommonPart = Pick<Signal, keyof SignalBase>;
/** The further fields of signals of one action, or of one kind of order. */
export type OwnPart<Variant extends Signal> = Variant extends Signal
  ? Omit<Variant, keyof SignalBase>
  : never;

/** An order to place. A new kind of order is a new variant of this union. */
export type OrderSignal = StopLimitSignal | LimitSignal | MarketSignal | StopMarketSignal;

/** The variant of one kind of order. */
export type SignalOf<Name extends OrderKindName> = Extract<OrderSignal, { readonly orderType: Name }>;

interface OrderSignalBase extends SignalBase {
  readonly action: 'order';
  readonly side: Side;
  readonly size: OrderSize;
  readonly stopLoss?: PriceOrDistance;
  readonly takeProfit?: PriceOrDistance;
  /** Instead of one: each for its share of what the order fills. The relay places them once it has filled. */
  readonly takeProfits?: readonly TakeProfitPart[];
  /** How far behind the best price since the fill the relay moves the stop-loss; it begins at this distance. */
  readonly trailing?: PercentText;
  readonly positionSide?: PositionSide;
  readonly reduceOnly?: boolean;
  readonly stp?: StpMode;
  /** The price that the fills are compared with. It changes nothing about the order. */
  readonly referencePrice?: DecimalText;
  /** What the alert says of the position before and after the order. Another one is told, and decides nothing. */
  readonly told?: ToldPosition;
  /** The position that the alert presumes: with another one, the order is denied. */
  readonly requirePosition?: PositionState;
  /**
   * What the account does about another position than the presumed one, besides denying the order; absent: nothing. A
   * signal that closes the position may then be stored before this one: see {@link CloseSignal.unless}.
   */
  readonly onMismatch?: Exclude<MismatchRule, 'deny'>;
}

export interface ToldPosition {
  readonly before?: PositionState;
  readonly after?: 'flat';
}

export interface StopLimitSignal extends OrderSignalBase {
  readonly orderType: 'stop_limit';
  readonly stopPrice: DecimalText;
  /** Null: the account's limit offset beyond the stop price. */
  readonly limitPrice: DecimalText | null;
  /** Where the stop price must lie, seen from the last price; absent: wherever it lies. */
  readonly expectTrigger?: TriggerSide;
}

export interface LimitSignal extends OrderSignalBase {
  readonly orderType: 'limit';
  readonly limitPrice: DecimalText;
  readonly postOnly?: boolean;
  readonly ioc?: boolean;
}

export interface MarketSignal extends OrderSignalBase {
  readonly orderType: 'market';
  /** How far beyond the best opposite price it may fill; absent: as far as the account allows. */
  readonly maxSlippage?: PercentText;
  /** As in a close. */
  readonly worstPrice?: DecimalText;
}

export interface StopMarketSignal extends OrderSignalBase {
  readonly orderType: 'stop_market';
  readonly stopPrice: DecimalText;
  readonly expectTrigger?: TriggerSide;
}

/** The size: a base amount, a quote amount, or a share of what the account holds when the order is planned. */
export type OrderSize =
  | { readonly unit: 'base'; readonly quantity: DecimalText }
  | { readonly unit: 'quote'; readonly quoteQuantity: DecimalText }
  | {
      readonly unit: 'percent';
      readonly quantityPercent: PercentText;
      /**
       * `balance`: of the free collateral; on a spot market of the available quote for a buy, of the available base for
       * a sell. `position`: of the open position, which the order only reduces.
       */
      readonly of: 'balance' | 'position';
    };

export type PositionName = 'long' | 'short';
/** What an account holds of a market in one-way mode. */
export type PositionState = PositionName | 'flat';

/**
 * What becomes of the position when an alert presumes another one. `deny`: nothing. `resync`: it is brought to what the
 * alert presumes, if that is flat. `flatten`: it is closed, and the order of the alert is denied.
 */
export const mismatchRules = ['deny', 'resync', 'flatten'] as const;
export type MismatchRule = (typeof mismatchRules)[number];

/**
 * A signal about the position of a market. Its order, one at most, is sized on the position when it is due.
 *
 * A reversal, and a target that is not flat, may need two orders, so they are stored as two signals: the leg that reduces
 * the position comes first, and the leg that opens or enlarges one waits for its outcome.
 */
export type PositionSignal = CloseSignal | ReverseSignal | TargetSignal;

/** The one that only reduces a position, and the one that only opens or enlarges it. */
export type Leg = 'reduce' | 'open';

interface PositionSignalBase extends SignalBase {
  /** How far beyond the best opposite price its order may fill; absent: as far as the account allows. */
  readonly maxSlippage?: PercentText;
  readonly stp?: StpMode;
  /** As in an order. */
  readonly referencePrice?: DecimalText;
  /** Whether the resting entries of the market stay when its order closes all of the position; absent: they are cancelled. */
  readonly keepEntries?: true;
}

interface OpeningSignalBase extends PositionSignalBase {
  readonly leg: Leg;
  /** Of the leg that opens alone. */
  readonly stopLoss?: PriceOrDistance;
  /** Of the leg that opens alone. */
  readonly takeProfit?: PriceOrDistance;
  /** Of the leg that opens alone, as in an order. */
  readonly takeProfits?: readonly TakeProfitPart[];
  /** Of the leg that opens alone. */
  readonly trailing?: PercentText;
}

/** Closes the position, or a part of it. */
export interface CloseSignal extends PositionSignalBase {
  readonly action: 'close';
  /** Absent: all of it. */
  readonly part?: PercentText;
  /** The position that the alert closes; with another one, or none, nothing is sent. Absent: whichever there is. */
  readonly only?: PositionName;
  /** The position to close, in hedge mode. */
  readonly positionSide?: PositionSide;
  /** Of a further try: what the one before has left, in base units. An entry that was sent since keeps what it has. */
  readonly atMost?: DecimalText;
  /** Of a further try: a position that was opened later than this, on the exchange's clock, is another one. */
  readonly openedByMs?: number;
  /** Of a further try: the bound of the first one, beyond which none may fill. */
  readonly worstPrice?: DecimalText;
  /** Nothing is closed when this is the position: the order that is stored after this signal presumes it. */
  readonly unless?: PositionState;
}

/** Closes the position, and opens one of the other side. */
export interface ReverseSignal extends OpeningSignalBase {
  readonly action: 'reverse';
  /** Of the new position; absent: the size of the one that is closed. */
  readonly size?: OrderSize;
}

/** Brings the position to a wanted one. */
export interface TargetSignal extends OpeningSignalBase {
  readonly action: 'target';
  readonly target: PositionTarget;
}

/** The wanted position. Numbers are signed, below zero for a short position, and never zero. */
export type PositionTarget =
  /** No position. It needs one leg alone, the one that reduces. */
  | { readonly unit: 'flat' }
  | { readonly unit: 'base'; readonly quantity: DecimalText }
  | { readonly unit: 'quote'; readonly quoteQuantity: DecimalText }
  /** A share of the equity of the collateral account. */
  | { readonly unit: 'percent'; readonly percentOfEquity: PercentText };

/**
 * Says what protects the open position of a market from now on, in place of what its entries asked for. It places no order
 * itself: its orders are signals of their own.
 */
export interface ProtectPositionSignal extends SignalBase {
  readonly action: 'protect_position';
  /** A price, its distance from the average entry price, or that price itself. Absent: as before. */
  readonly stopLoss?: PriceOrDistance | 'entry';
  readonly takeProfits?: readonly TakeProfitPart[];
  readonly trailing?: PercentText;
  /** The position that is meant, in hedge mode. */
  readonly positionSide?: PositionSide;
}

export const exitRoles = ['stop_loss', 'take_profit'] as const;
/** What an order does that only protects a position. */
export type ExitRole = (typeof exitRoles)[number];

/**
 * Makes one stop-loss or take-profit fit the part of a position that it protects. What that is, is worked out when the
 * signal is executed: it places one order that only reduces, or cancels what is too much, or finds that all fits.
 */
export interface ProtectSignal extends SignalBase {
  readonly action: 'protect';
  readonly role: ExitRole;
  /** The signal that asked for it: the entry whose part of the position is protected, or one about the whole position. */
  readonly of: string;
  /** Which one of several take-profits, from 1; absent: the only one. */
  readonly part?: number;
  /**
   * The exchange's id of the deal with which the exit of `of` turned the position: the signal closes what that opened, and
   * makes nothing fit. Absent: nothing was turned.
   */
  readonly turnedBy?: number;
  /** The position that is meant, in hedge mode. */
  readonly positionSide?: PositionSide;
}

/** Whether the signal may place an order. */
export function placesOrder(signal: Signal): signal is OrderSignal | PositionSignal | ProtectSignal {
  return signal.action === 'order' || signal.action === 'protect' || isPositionSignal(signal);
}

/** Whether the signal keeps what protects a position; false for one that closes what an exit has turned. */
export function isProtecting(signal: Signal | null): signal is ProtectSignal {
  return signal?.action === 'protect' && signal.turnedBy === undefined;
}

export function isCancellation(signal: Signal): signal is CancelSignal | CancelAllSignal {
  return signal.action === 'cancel' || signal.action === 'cancel_all';
}

export function isPositionSignal(signal: Signal): signal is PositionSignal {
  return signal.action === 'close' || signal.action === 'reverse' || signal.action === 'target';
}

/** Whether the signal is to close or to reduce a position. */
export function isReduction(signal: Signal): boolean {
  switch (signal.action) {
    case 'order':
      return isMarkedReducing(signal);
    case 'close':
      return true;
    case 'reverse':
    case 'target':
      return signal.leg === 'reduce';
    default:
      return false;
  }
}

/** Whether the signal wants no position, or none of the name that it closes. */
export function wantsNoPosition(signal: Signal): boolean {
  if (signal.action === 'target') return signal.target.unit === 'flat';
  if (signal.action !== 'close' || signal.unless !== undefined) return false;
  return signal.part === undefined || signal.part === '100%';
}

/** Whether it wants, besides, that nothing rests which could open one. */
export function wantsNothingOpen(signal: Signal): boolean {
  return wantsNoPosition(signal) && isPositionSignal(signal) && signal.keepEntries !== true;
}

/** Whether it closes what an order has left that was to close all of a position. */
export function isFurtherTry(signal: Signal): boolean {
  return signal.action === 'close' && signal.atMost !== undefined;
}

/**
 * Whether it goes on beside an order of unknown outcome once the list of positions must show what that has filled. A further try
 * closes no more than the first one was to close.
 */
export function passesUnknown(signal: Signal): boolean {
  return wantsNothingOpen(signal) || isFurtherTry(signal);
}

export interface CancelSignal extends SignalBase {
  readonly action: 'cancel';
  readonly target: CancelTarget;
  /** Of one that the relay itself makes: what stop-losses have sold of what the order was to sell. */
  readonly answers?: readonly AnsweredSale[];
}

export interface AnsweredSale {
  /** The signal whose stop-loss it is. */
  readonly of: string;
  readonly orderId: number;
  /** In base units. */
  readonly amount: DecimalText;
}

/** The order to cancel: by the exchange's id, its client order id, or the id of the signal that placed it. */
export type CancelTarget =
  | { readonly by: 'orderId'; readonly orderId: number }
  | { readonly by: 'clientOrderId'; readonly clientOrderId: string }
  | { readonly by: 'signalId'; readonly signalId: string };

export interface CancelAllSignal extends SignalBase {
  readonly action: 'cancel_all';
  /** `own`: the orders of this relay; `market`: every open order of the market, whoever placed it. Absent: `own`. */
  readonly scope?: CancelScope;
  /** Of the scope `market`: the ids of the signals before it in its alert that place orders in this market; absent: none. */
  readonly afterOrders?: readonly string[];
}

export type CancelScope = 'own' | 'market';
