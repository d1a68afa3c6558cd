import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { BalanceSnapshot, Period } from '../../lib/snapshots/snapshot-store.ts';
import { type BalanceKind, heldAmountOf } from '../export/balance-history.ts';
import { findGaps } from './find-gaps.ts';

/**
 * The amounts of a ticker within one pixel column, with their extremes, so that even a short spike stays
 * visible.
 */
export interface Span {
  readonly first: number;
  readonly least: number;
  readonly most: number;
  readonly last: number;
}

/** One ticker over time. Amounts become numbers only for drawing; those in texts stay exact decimals. */
export interface Trace {
  readonly ticker: string;
  readonly first: Decimal;
  readonly last: Decimal;
  readonly least: Decimal;
  readonly most: Decimal;
  /** Sorted by column, ascending. Columns without a snapshot are left out. */
  readonly spans: ReadonlyMap<number, Span>;
}

/** The data of a chart. */
export interface Traces {
  readonly period: Period;
  readonly columns: number;
  readonly snapshots: number;
  /** Sorted by ticker. */
  readonly traces: readonly Trace[];
  /** Periods without snapshots. */
  readonly gaps: readonly Period[];
}

export interface TraceOptions {
  readonly period: Period;
  readonly kind: BalanceKind;
  /** Null: all tickers that were held. */
  readonly tickers: readonly string[] | null;
  /** The number of pixel columns of the period. */
  readonly columns: number;
}

/** Reduces snapshots, oldest first, to what a chart with that many columns can show. */
export async function traceBalances(
  snapshots: AsyncIterable<BalanceSnapshot>,
  { period, kind, tickers, columns }: TraceOptions,
): Promise<Traces> {
  const slots: number[] = [];
  const seenColumns = new Set<number>();
  const drafts = new Map<string, TraceDraft>((tickers ?? []).map((ticker) => [ticker, new TraceDraft()]));
  for await (const { slotMs, [kind]: held } of snapshots) {
    // An unknown balance counts as a gap.
    if (held === null) continue;
    const column = columnAt(period, columns, slotMs);
    const fresh = tickers === null ? Object.keys(held).filter((ticker) => !drafts.has(ticker)) : [];
    for (const ticker of fresh) drafts.set(ticker, TraceDraft.ofNothing(seenColumns));
    for (const [ticker, draft] of drafts) draft.add(column, heldAmountOf(held, ticker) ?? zero);
    seenColumns.add(column);
    slots.push(slotMs);
  }
  const traces = [...drafts].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    period,
    columns,
    snapshots: slots.length,
    traces: slots.length === 0 ? [] : traces.map(([ticker, draft]) => draft.finish(ticker)),
    gaps: findGaps(slots, period),
  };
}

/** @returns the column of the time, counted from 0 */
export function columnAt({ fromMs, untilMs }: Period, columns: number, atMs: number): number {
  return Math.min(columns - 1, Math.floor(((atMs - fromMs) / (untilMs - fromMs)) * columns));
}

class TraceDraft {
  readonly #spans = new Map<number, Span>();
  #first: Decimal | null = null;
  #last = zero;
  #least = zero;
  #most = zero;

  /** A ticker that was not held at any snapshot of those columns. */
  static ofNothing(columns: Iterable<number>): TraceDraft {
    const draft = new TraceDraft();
    for (const column of columns) draft.add(column, zero);
    return draft;
  }

  add(column: number, amount: Decimal): void {
    if (this.#first === null) {
      this.#first = amount;
      this.#least = amount;
      this.#most = amount;
    }
    // Compared as decimals: as numbers, two different amounts may be equal.
    if (amount.lt(this.#least)) this.#least = amount;
    if (amount.gt(this.#most)) this.#most = amount;
    this.#last = amount;
    this.#spans.set(column, widen(this.#spans.get(column), Number(formatDecimal(amount))));
  }

  finish(ticker: string): Trace {
    return {
      ticker,
      first: this.#first ?? zero,
      last: this.#last,
      least: this.#least,
      most: this.#most,
      spans: this.#spans,
    };
  }
}

function widen(span: Span | undefined, value: number): Span {
  if (span === undefined) return { first: value, least: value, most: value, last: value };
  const { first, least, most } = span;
  return { first, least: Math.min(least, value), most: Math.max(most, value), last: value };
}
