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

/** The fields of an alert that say more of an order than its side and kind. */
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

/** What is wrong with an alert, and how to mend it. */
export interface Complaint {
  readonly message: string;
  readonly hint: string;
}

/** Whether an alert of a kind must, may or must not have a field. */
export type FieldRule =
  | { readonly use: 'optional' }
  | {
      readonly use: 'required';
      /** Null where the account's settings stand in for the field. */
      readonly complain: (account: Account) => Complaint | null;
    }
  | { readonly use: 'forbidden'; readonly complaint: Complaint };

/** What an alert said of an order, read; a field it did not have is absent. */
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

/** What every request has; the rest of it, with the name of its kind, is its draft. */
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

/** What the owner's largest limit distance is held against. */
export interface LimitDistance {
  readonly limitPrice: Decimal;
  readonly reference: Decimal;
  /** For example `stop price`. */
  readonly referenceName: string;
}

/** The price that wakes an order, and on which side of the last price its alert expects it; null: on either. */
export interface Trigger {
  readonly stopPrice: DecimalText;
  readonly expected: TriggerSide | null;
}

/** What a response tells of an order asked for. The side of the position it tells in the terms of the account's mode. */
export type ComparedField<Name extends OrderKindName = OrderKindName> = {
  [Kind in Name]: Exclude<keyof RequestOf<Kind> & keyof Order, 'positionSide'>;
}[Name];

/** The endpoint that creates orders of these kinds. Its parameters are the fields of the order. */
export type CreateEndpoint<Name extends OrderKindName> = Endpoint<
  (typeof orderSchemas)[Name],
  typeof OrderField
>;

/**
 * Everything the relay knows of one kind of order.
 *
 * What takes an order or a signal is written as a method, so that the kind of any order can be asked about that order.
 */
export interface OrderKind<Name extends OrderKindName = OrderKindName> {
  readonly name: Name;
  /** For people: `stop-limit order`. */
  readonly title: string;
  /** What an alert's `orderType` may call it, in lower case. */
  readonly words: readonly string[];
  /** What its alerts must, may and must not have; where both sizes are optional, one of them is required. */
  readonly fields: Readonly<Record<OrderFieldName, FieldRule>>;
  readonly endpoint: CreateEndpoint<Name>;
  /**
   * Whether it can be filled before any list shows it. Its client order id is free again then, and the exchange would
   * take the same order a second time.
   */
  readonly mayFillAtOnce: boolean;
  /** The fields of a response that must be those of the order asked for, where the response has them. */
  readonly compared: readonly ComparedField<Name>[];

  /** The signal of an alert; undefined when a required field is missing. */
  createSignal(values: OrderValues): OwnPart<SignalOf<Name>> | undefined;
  /**
   * Sets the order's own prices.
   *
   * @param roundPrice to the market's step, toward the side that costs less
   */
  draftOrder(
    signal: SignalOf<Name>,
    account: Account,
    roundPrice: (price: Decimal) => Decimal,
  ): Drafted<Name>;
  /** The price at which one base unit is valued; an amount of the quote currency is divided by it. */
  valuationPrice(draft: DraftOf<Name>): Decimal;
  /** Null where the relay knows no price to hold the limit price against. */
  limitDistance(order: RequestOf<Name>): LimitDistance | null;
  /** What the order waits for; null where it waits for no price. */
  trigger(signal: SignalOf<Name>): Trigger | null;
  /** Builds the request that places it; nothing is sent yet. */
  prepare(client: ExchangeClient, order: RequestOf<Name>): PreparedRequest<Order>;

  /** What a signal asks for beside side and size, for a line of a table: `at 60000`. */
  summarise(signal: SignalOf<Name>): string;
  /** The same in full, one text for each price. */
  describePrices(signal: SignalOf<Name>): readonly string[];
  /** An order in a sentence: `buy 0.01 BTC_USDT at 60000`. */
  describeOrder(order: RequestOf<Name>): string;
}
