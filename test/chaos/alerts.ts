import type { Side } from '../../lib/model/order.ts';

/** One instruction of a planned alert. Every order has a price of its own, so that no doubled one can hide. */
export type PlannedSignal = PlannedOrder | PlannedCancel;

export interface PlannedOrder {
  readonly action: 'order';
  /** Null: the alert's bytes are its identity. */
  readonly id: string | null;
  readonly ticker: string;
  readonly market: string;
  readonly side: Side;
  /** In stock units; this and the prices are decimals as text, without trailing zeros. */
  readonly amount: string;
  readonly stopPrice: string;
  readonly limitPrice: string;
  readonly exits: { readonly stopLoss: string; readonly takeProfit: string } | null;
}

export interface PlannedCancel {
  readonly action: 'cancel' | 'cancel_all';
  readonly id: string | null;
  readonly ticker: string;
  readonly market: string;
  /** The id of the signal whose order is to go; null for all of the market. */
  readonly target: string | null;
}

/** What is wrong with an alert that the relay has to refuse. */
export type Flaw = 'misspelt' | 'cut_short';

/** One alert, and how its sender behaves beyond what every sender does. */
export interface PlannedAlert {
  /** Makes the bytes of every alert its own. */
  readonly number: number;
  /** After the beginning of the run. */
  readonly atMs: number;
  readonly account: string;
  readonly signals: readonly PlannedSignal[];
  readonly flaw: Flaw | null;
  /** The same bytes come once more, so long after a response; null: they do not. */
  readonly copyAfterResponseMs: number | null;
  /** The same, after a connection that broke or hung. */
  readonly copyAfterSilenceMs: number | null;
}

/** Travels in every alert; a log that holds it has quoted a body. */
export const bodyMark = 'mark-of-a-raw-body-5d41';

/** The bytes of an alert that fires now, as TradingView would post them. */
export function writeBody({ number, signals, flaw }: PlannedAlert, nowMs: number): string {
  const time = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  const items = signals.map((signal) => ({ ...fieldsOf(signal), time, comment: `${bodyMark} ${number}` }));
  const [first, ...others] = items;
  const all = flaw === 'misspelt' ? [{ ...first, stoplos: '1' }, ...others] : items;
  const text = JSON.stringify(all.length === 1 ? all[0] : all);
  return flaw === 'cut_short' ? text.slice(0, -2) : text;
}

function fieldsOf(signal: PlannedSignal): Record<string, string> {
  const { ticker } = signal;
  const named = signal.id === null ? {} : { id: signal.id };
  if (signal.action === 'order') {
    const { side, amount, stopPrice, limitPrice, exits } = signal;
    return { ...named, ticker, action: side, quantity: amount, stopPrice, limitPrice, ...exits };
  }
  return {
    ...named,
    ticker,
    action: signal.action,
    ...(signal.target === null ? {} : { signalId: signal.target }),
  };
}
