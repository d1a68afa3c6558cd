import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { BalanceSnapshot, Period } from '../../lib/snapshots/snapshot-store.ts';
import { amountOf, type BalanceKind } from '../balance-history.ts';
import { findGaps } from './find-gaps.ts';

/** What a ticker did within one column of pixels: all of it, so that no spike is lost, however short. */
export interface Span {
  readonly first: number;
  readonly least: number;
  readonly most: number;
  readonly last: number;
}

/** One ticker over time. Decimals become numbers for the sake of pixels; what is told in words stays exact. */
export interface Trace {
  readonly ticker: string;
  readonly first: Decimal;
  readonly last: Decimal;
  readonly least: Decimal;
  readonly most: Decimal;
  /** By column, ascending. Columns without a snapshot are left out. */
  readonly spans: ReadonlyMap<number, Span>;
}

/** What a chart draws. */
export interface Traces {
  readonly period: Period;
  readonly columns: number;
  readonly snapshots: number;
  /** By ticker. */
  readonly traces: readonly Trace[];
  /** Where no snapshots were taken. */
  readonly gaps: readonly Period[];
}

export interface TraceOptions {
  readonly period: Period;
  readonly kind: BalanceKind;
  /** Null: whatever was held. */
  readonly tickers: readonly string[] | null;
  /** Into how many columns of pixels the period is divided. */
  readonly columns: number;
}

/** Reads snapshots, oldest first, into as much as a chart of that many columns can show. */
export async function traceBalances(
  snapshots: AsyncIterable<BalanceSnapshot>,
  { period, kind, tickers, columns }: TraceOptions,
): Promise<Traces> {
  const slots: number[] = [];
  const seenColumns = new Set<number>();
  const drafts = new Map<string, TraceDraft>((tickers ?? []).map((ticker) => [ticker, new TraceDraft()]));
  for await (const { slotMs, [kind]: held } of snapshots) {
    // Where nobody knows, there is a gap.
    if (held === null) continue;
    const column = columnAt(period, columns, slotMs);
    const fresh = tickers === null ? Object.keys(held).filter((ticker) => !drafts.has(ticker)) : [];
    for (const ticker of fresh) drafts.set(ticker, TraceDraft.ofNothing(seenColumns));
    for (const [ticker, draft] of drafts) draft.add(column, amountOf(held, ticker) ?? zero);
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

/** @returns the column that the time falls into, from 0 on */
export function columnAt({ fromMs, untilMs }: Period, columns: number, atMs: number): number {
  return Math.min(columns - 1, Math.floor(((atMs - fromMs) / (untilMs - fromMs)) * columns));
}

interface Point {
  readonly exact: Decimal;
  readonly value: number;
}

const nothing: Point = { exact: zero, value: 0 };

class TraceDraft {
  readonly #spans = new Map<number, Span>();
  #first: Point | null = null;
  #last = nothing;
  #least = nothing;
  #most = nothing;

  /** A ticker that was not held at any snapshot of those columns. */
  static ofNothing(columns: Iterable<number>): TraceDraft {
    const draft = new TraceDraft();
    for (const column of columns) draft.add(column, zero);
    return draft;
  }

  add(column: number, exact: Decimal): void {
    const value = exact === this.#last.exact ? this.#last.value : Number(formatDecimal(exact));
    const point = { exact, value };
    if (this.#first === null) {
      this.#first = point;
      this.#least = point;
      this.#most = point;
    }
    if (value < this.#least.value) this.#least = point;
    if (value > this.#most.value) this.#most = point;
    this.#last = point;
    this.#spans.set(column, widen(this.#spans.get(column), value));
  }

  finish(ticker: string): Trace {
    return {
      ticker,
      first: (this.#first ?? nothing).exact,
      last: this.#last.exact,
      least: this.#least.exact,
      most: this.#most.exact,
      spans: this.#spans,
    };
  }
}

function widen(span: Span | undefined, value: number): Span {
  if (span === undefined) return { first: value, least: value, most: value, last: value };
  const { first, least, most } = span;
  return { first, least: Math.min(least, value), most: Math.max(most, value), last: value };
}
