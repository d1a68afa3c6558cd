import type { Decimal } from '../base/decimal.ts';
import type { Account, MarketLimits, TradingGround } from '../model/account.ts';
import type {
  OrderKindName,
  OrderRequest,
  PositionSide,
  Side,
  StpMode,
  TriggerSide,
} from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type {
  DecimalText,
  OrderSize,
  OwnPart,
  PercentText,
  PriceOrDistance,
  SignalOf,
  TakeProfitPart,
} from '../model/signal.ts';

/** The fields of an alert that describe an order, besides its side and kind. */
const orderFieldNames = [
  'quantity',
  'quoteQuantity',
  'quantityPercent',
  'of',
  'stopPrice',
  'limitPrice',
  'maxSlippage',
  'stopLoss',
  'takeProfit',
  'takeProfits',
  'trailing',
  'positionSide',
  'reduceOnly',
  'postOnly',
  'ioc',
  'stp',
  'expectTrigger',
] as const;
export type OrderFieldName = (typeof orderFieldNames)[number];

/** The fields that every kind of order takes. */
const sharedFieldNames = [
  'quantity',
  'quoteQuantity',
  'quantityPercent',
  'of',
  'stopLoss',
  'takeProfit',
  'takeProfits',
  'trailing',
  'positionSide',
  'reduceOnly',
  'stp',
] as const satisfies readonly OrderFieldName[];
type SharedFieldName = (typeof sharedFieldNames)[number];

/** The fields that only some kinds of orders take. */
export type KindFieldName = Exclude<OrderFieldName, SharedFieldName>;

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
  readonly maxSlippage?: PercentText;
  readonly stopLoss?: PriceOrDistance;
  readonly takeProfit?: PriceOrDistance;
  readonly takeProfits?: readonly TakeProfitPart[];
  readonly trailing?: PercentText;
  readonly positionSide?: PositionSide;
  readonly reduceOnly?: boolean;
  readonly postOnly?: boolean;
  readonly ioc?: boolean;
  readonly stp?: StpMode;
  readonly expectTrigger?: TriggerSide;
}

/** The values that every kind of order takes, without those of other kinds. */
export function sharedValues(values: OrderValues) {
  const { side, size, stopLoss, takeProfit, takeProfits, trailing, positionSide, reduceOnly, stp } = values;
  return {
    action: 'order' as const,
    side,
    size,
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
    ...(takeProfits === undefined ? {} : { takeProfits }),
    ...(trailing === undefined ? {} : { trailing }),
    ...(positionSide === undefined ? {} : { positionSide }),
    ...(reduceOnly === undefined ? {} : { reduceOnly }),
    ...(stp === undefined ? {} : { stp }),
  };
}

/** What a kind needs to know to set the prices of an order. */
export interface DraftContext {
  readonly account: Account;
  readonly tradesOn: TradingGround;
  /** The best price of the other side of the book; null unless the kind {@link OrderKind.takesFromBook}. */
  readonly oppositePrice: Decimal | null;
  /** Whether the size is an amount of the quote currency. */
  readonly isQuoteSize: boolean;
  /** Rounds to the market's price step, down for a buy and up for a sell. */
  readonly roundPrice: (price: Decimal) => Decimal;
}

/** An order before it is sized: its type, flags and own prices, rounded. */
export interface Draft extends Pick<OrderRequest, 'type' | 'price' | 'activationPrice' | 'postOnly' | 'ioc'> {
  /** The price at which one base unit is valued. A size in the quote currency is divided by it. */
  readonly unitPrice: Decimal;
  /** The price at which it is expected to fill. Distances of stop-loss and take-profit are measured from it. */
  readonly entryPrice: Decimal;
}

export type Drafted =
  | { readonly ok: true; readonly draft: Draft }
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

/**
 * Everything that the relay knows about one kind of order.
 *
 * Members that take an order or a signal are methods: their parameters are bivariant, so that code which
 * handles any kind can call them.
 *
 * @see DECISIONS 88
 */
export interface OrderKind<Name extends OrderKindName = OrderKindName> {
  readonly name: Name;
  /** For display: `stop-limit order`. */
  readonly title: string;
  /** The values of an alert's `orderType` that mean this kind, in lower case without spaces, dashes and underscores. */
  readonly words: readonly string[];
  /** Which fields its alerts must, may and must not have, of those that not every kind takes. */
  readonly fields: Readonly<Record<KindFieldName, FieldRule>>;

  /** Why the account's settings refuse every order of this kind; null when they do not. */
  checkAccount(account: Account): Complaint | null;
  /** Builds the signal of an alert; undefined when a required field is missing. */
  createSignal(values: OrderValues): OwnPart<SignalOf<Name>> | undefined;
  /** Sets the order's type and its own prices. */
  draftOrder(signal: SignalOf<Name>, context: DraftContext): Drafted;
  /** Null when the order has no price to compare the limit price with. */
  limitDistance(order: OrderRequest): LimitDistance | null;
  /** What the order waits for; null where it waits for no price. */
  trigger(signal: SignalOf<Name>): Trigger | null;
  /** Whether its prices, its size or its worth depend on the best prices of the order book. */
  takesFromBook(signal: SignalOf<Name>, limits: Pick<MarketLimits, 'maxNotional'>): boolean;
  /** Whether a part that does not fill at once must not rest in the book. */
  mustNotRest(signal: SignalOf<Name>): boolean;

  /** The prices of a signal in short, for a table: `at 60000`. */
  summarise(signal: SignalOf<Name>): string;
  /** The prices of a signal in full, one text for each price. */
  describePrices(signal: SignalOf<Name>): readonly string[];
  /** The prices of an order as part of a sentence: `at limit 60000`. */
  describeOrderPrices(order: OrderRequest): string;
}
