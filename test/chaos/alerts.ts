import type { OrderKindName, Side } from '../../lib/model/order.ts';

/**
 * One instruction of a planned alert. All orders have different limit prices, or without a limit price different
 * amounts, so that every duplicate is found.
 */
export type PlannedSignal = PlannedOrder | PlannedCancel | PlannedPosition;

export interface PlannedOrder {
  readonly action: 'order';
  /** Null: the signal id derives from the alert's bytes. */
  readonly id: string | null;
  readonly ticker: string;
  readonly market: string;
  readonly kind: OrderKindName;
  readonly side: Side;
  /** In base units; this and the prices are decimals as text, without trailing zeros. */
  readonly amount: string;
  /** Whether the amount is in quote units. */
  readonly isQuote: boolean;
  /** Null: the kind has none. */
  readonly stopPrice: string | null;
  readonly limitPrice: string | null;
  readonly reduceOnly: boolean;
  /** The fields that ask for a stop-loss and take-profits; null: none does. */
  readonly exits: Readonly<Record<string, unknown>> | null;
}

export interface PlannedCancel {
  readonly action: 'cancel' | 'cancel_all';
  readonly id: string | null;
  readonly ticker: string;
  readonly market: string;
  /** The id of the signal whose order is to be cancelled; null for all orders of the market. */
  readonly target: string | null;
}

/** Speaks of the position: closes all of it or a part, or changes what protects it. */
export interface PlannedPosition {
  readonly action: 'close' | 'protect';
  readonly id: string | null;
  readonly ticker: string;
  readonly market: string;
  readonly target: null;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The defect of an alert that the relay must refuse. */
export type Flaw = 'misspelt' | 'cut_short';

/** One alert, and the additional deliveries by its sender. */
export interface PlannedAlert {
  /** Part of the body, so that no two alerts have the same bytes. */
  readonly number: number;
  /** In milliseconds after the start of the run. */
  readonly atMs: number;
  readonly account: string;
  readonly signals: readonly PlannedSignal[];
  readonly flaw: Flaw | null;
  /** The same bytes are sent once more this long after a response; null: they are not. */
  readonly copyAfterResponseMs: number | null;
  /**
   * The same bytes are sent once more this long after a connection that broke or hung; null: they are not.
   */
  readonly copyAfterSilenceMs: number | null;
}

/** Part of every alert; a log that contains it has quoted a body. */
export const bodyMark = 'mark-of-a-raw-body-5d41';

/** The body of an alert that fires now, as TradingView would post it. */
export function writeBody({ number, signals, flaw }: PlannedAlert, nowMs: number): string {
  const time = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  const items = signals.map((signal) => ({ ...fieldsOf(signal), time, comment: `${bodyMark} ${number}` }));
  const [first, ...others] = items;
  const all = flaw === 'misspelt' ? [{ ...first, stoplos: '1' }, ...others] : items;
  const text = JSON.stringify(all.length === 1 ? all[0] : all);
  return flaw === 'cut_short' ? text.slice(0, -2) : text;
}

function fieldsOf(signal: PlannedSignal): Record<string, unknown> {
  const { ticker } = signal;
  const named = signal.id === null ? {} : { id: signal.id };
  if (signal.action === 'order') {
    const { kind, side, amount, isQuote, stopPrice, limitPrice, reduceOnly, exits } = signal;
    return {
      ...named,
      ticker,
      action: side,
      orderType: kind,
      ...(isQuote ? { quoteQuantity: amount } : { quantity: amount }),
      ...(stopPrice === null ? {} : { stopPrice }),
      ...(limitPrice === null ? {} : { limitPrice }),
      ...(reduceOnly ? { reduceOnly } : {}),
      ...exits,
    };
  }
  if (signal.action === 'close' || signal.action === 'protect')
    return { ...named, ticker, action: signal.action, ...signal.fields };
  return {
    ...named,
    ticker,
    action: signal.action,
    ...(signal.target === null ? {} : { signalId: signal.target }),
  };
}
