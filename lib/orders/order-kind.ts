import type { Decimal } from '../base/decimal.ts';
import type { ExchangeClient, PreparedRequest } from '../exchange/client.ts';
import type { Endpoint } from '../exchange/endpoint.ts';
import type { OrderField } from '../exchange/fields.ts';
import type { Account } from '../model/account.ts';
import type {
  Order,
  OrderKindName,
  orderSchemas,
  PositionSide,
  RequestOf,
  Side,
  TriggerSide,
} from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { DecimalText, OrderSize, OwnPart, SignalOf } from '../model/signal.ts';

/** The fields of an alert that describe an order, besides its side and kind. */
export const orderFieldNames = [
  'quantity',
  'quoteQuantity',
  'stopPrice',
  'limitPrice',
  'stopLoss',
  'takeProfit',
  'positionSide',
  'expectTrigger',
] as const;
export type OrderFieldName = (typeof orderFieldNames)[number];

/** What is wrong with an alert, and how to correct it. */
export interface Complaint {
  readonly message: string;
  readonly hint: string;
}

/** Whether an alert of a kind must, may or must not have a field. */
export type FieldRule =
  | { readonly use: 'optional' }
  | {
      readonly use: 'required';
      /** Returns null when the account's settings replace the missing field. */
      readonly complain: (account: Account) => Complaint | null;
    }
  | { readonly use: 'forbidden'; readonly complaint: Complaint };

/** The parsed order fields of an alert; a field that it does not have is absent. */
export interface OrderValues {
  readonly side: Side;
  readonly size: OrderSize;
  readonly stopPrice?: DecimalText;
  readonly limitPrice?: DecimalText;
  readonly stopLoss?: DecimalText;
  readonly takeProfit?: DecimalText;
  readonly positionSide?: PositionSide;
  readonly expectTrigger?: TriggerSide;
}

/** The fields of every request; its other fields, with the name of its kind, are its draft. */
type SharedFields =
  | 'market'
  | 'side'
  | 'amount'
  | 'stopLoss'
  | 'takeProfit'
  | 'positionSide'
  | 'clientOrderId';

/** An order before it is sized: its kind and its own prices, rounded. */
export type DraftOf<Name extends OrderKindName> = {
  [Kind in Name]: Omit<RequestOf<Kind>, SharedFields>;
}[Name];

export type Drafted<Name extends OrderKindName> =
  | { readonly ok: true; readonly draft: DraftOf<Name> }
  | { readonly ok: false; readonly denial: Denial };

/** The prices that are compared with the account's `maxLimitDistance`. */
export interface LimitDistance {
  readonly limitPrice: Decimal;
  readonly reference: Decimal;
  /** For example `stop price`. */
  readonly referenceName: string;
}

/** The trigger price of an order, and the side of the last price on which its alert expects it; null: either side. */
export interface Trigger {
  readonly stopPrice: DecimalText;
  readonly expected: TriggerSide | null;
}

/** The fields that requests and responses share, but `positionSide`, which depends on the account's mode. */
export type ComparedField<Name extends OrderKindName = OrderKindName> = {
  [Kind in Name]: Exclude<keyof RequestOf<Kind> & keyof Order, 'positionSide'>;
}[Name];

/** The endpoint that creates orders of these kinds. Its parameters are the fields of the order. */
export type CreateEndpoint<Name extends OrderKindName> = Endpoint<
  (typeof orderSchemas)[Name],
  typeof OrderField
>;

/**
 * Everything that the relay knows about one kind of order.
 *
 * Members that take an order or a signal are methods: their parameters are bivariant, so that code which
 * handles any kind can call them.
 */
export interface OrderKind<Name extends OrderKindName = OrderKindName> {
  readonly name: Name;
  /** For display: `stop-limit order`. */
  readonly title: string;
  /** The values of an alert's `orderType` that mean this kind, in lower case. */
  readonly words: readonly string[];
  /**
   * Which fields its alerts must, may and must not have; if both sizes are optional, one of them is required.
   */
  readonly fields: Readonly<Record<OrderFieldName, FieldRule>>;
  readonly endpoint: CreateEndpoint<Name>;
  /**
   * Whether it can fill before any list shows it. Once it has filled, its client order id is free again, and
   * the exchange would accept the same order a second time.
   */
  readonly mayFillAtOnce: boolean;
  /** The fields that must be the same in the request and in the response, if the response has them. */
  readonly compared: readonly ComparedField<Name>[];

  /** Builds the signal of an alert; undefined when a required field is missing. */
  createSignal(values: OrderValues): OwnPart<SignalOf<Name>> | undefined;
  /**
   * Sets the order's own prices.
   *
   * @param roundPrice rounds to the market's price step, down for a buy and up for a sell
   */
  draftOrder(
    signal: SignalOf<Name>,
    account: Account,
    roundPrice: (price: Decimal) => Decimal,
  ): Drafted<Name>;
  /** The price at which one base unit is valued; an amount of the quote currency is divided by it. */
  valuationPrice(draft: DraftOf<Name>): Decimal;
  /** Null when the order has no price to compare the limit price with. */
  limitDistance(order: RequestOf<Name>): LimitDistance | null;
  /** What the order waits for; null where it waits for no price. */
  trigger(signal: SignalOf<Name>): Trigger | null;
  /** Builds the request that places it; nothing is sent yet. */
  prepare(client: ExchangeClient, order: RequestOf<Name>): PreparedRequest<Order>;

  /** The prices of a signal in short, for a table: `at 60000`. */
  summarise(signal: SignalOf<Name>): string;
  /** The prices of a signal in full, one text for each price. */
  describePrices(signal: SignalOf<Name>): readonly string[];
  /** An order as part of a sentence: `buy 0.01 BTC_USDT at 60000`. */
  describeOrder(order: RequestOf<Name>): string;
}
