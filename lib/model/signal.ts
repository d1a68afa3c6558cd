import type { Json } from '../base/json.ts';
import type { OrderKindName, PositionSide, Side, StpMode, TriggerSide } from './order.ts';

/**
 * A decimal in plain notation. Signals are stored as JSON, so their numbers stay text until they are sized.
 */
export type DecimalText = string;

/** A part of something: a decimal in plain notation and a per cent sign, for example `2.5%`. */
export type PercentText = `${string}%`;

/** A price, or its distance from the price at which the order is expected to fill. */
export type PriceOrDistance = DecimalText | PercentText;

/** One instruction of an alert, in the relay's own terms. */
export type Signal = OrderSignal | CancelSignal | CancelAllSignal;

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
  readonly positionSide?: PositionSide;
  readonly reduceOnly?: boolean;
  readonly stp?: StpMode;
  /** The price that the fills are compared with. It changes nothing about the order. */
  readonly referencePrice?: DecimalText;
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

export interface CancelSignal extends SignalBase {
  readonly action: 'cancel';
  readonly target: CancelTarget;
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
}

export type CancelScope = 'own' | 'market';
