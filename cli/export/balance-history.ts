import { InvalidArgumentError } from 'commander';
import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import { sampleBalances } from '../../lib/snapshots/sample-balances.ts';
import type { BalanceSnapshot, BalanceStore, Holdings, Period } from '../../lib/snapshots/snapshot-store.ts';
import { describeRange, listTimes } from '../read/time-range.ts';
import { formatMinute, formatSecond, paint } from '../show/print.ts';
import { renderTable } from '../show/table.ts';
import type { CsvCell } from './csv.ts';

export type BalanceKind = 'main' | 'collateral';

/** The balances at a time, from the newest snapshot at or before it. */
export interface BalanceRow {
  readonly atMs: number;
  readonly slotMs: number;
  readonly takenAtMs: number;
  /** Null when the exchange did not return this balance. */
  readonly held: Holdings | null;
}

/**
 * One row for each time of the range that has a snapshot since the previous time.
 *
 * @throws CommandFailure (usage) when there would be too many rows
 */
export async function readBalanceRows(
  balances: BalanceStore,
  account: string,
  kind: BalanceKind,
  { period, stepMs }: { readonly period: Period; readonly stepMs: number },
): Promise<readonly BalanceRow[]> {
  const rows: BalanceRow[] = [];
  for await (const { atMs, snapshot } of sampleBalances(balances, account, listTimes(period, stepMs))) {
    const { slotMs, takenAtMs } = snapshot;
    // Only at the first time: the newest snapshot is from before the range.
    if (slotMs <= atMs - stepMs) continue;
    rows.push({ atMs, slotMs, takenAtMs, held: snapshot[kind] });
  }
  return rows;
}

/** Reads `--tickers`: `btc, USDT` → BTC, USDT. */
export function readTickers(text: string): readonly string[] {
  const tickers = text.split(',').map((ticker) => ticker.trim().toUpperCase());
  if (tickers.includes(''))
    throw new InvalidArgumentError('It must be tickers with commas between: BTC,USDT.');
  return [...new Set(tickers)];
}

/** Every ticker of the rows, by name. */
export function listTickers(rows: readonly Pick<BalanceRow, 'held'>[]): readonly string[] {
  return [...new Set(rows.flatMap(({ held }) => Object.keys(held ?? {})))].sort();
}

/** Zero for a ticker that was not held, null when the balance is unknown. */
export function heldAmountOf(held: Holdings | null, ticker: string): Decimal | null {
  if (held === null) return null;
  return Object.hasOwn(held, ticker) ? (held[ticker] ?? zero) : zero;
}

export function* listBalanceRecords(
  rows: readonly BalanceRow[],
  tickers: readonly string[],
): Generator<readonly CsvCell[]> {
  yield ['time (UTC)', ...tickers];
  for (const { slotMs, held } of rows)
    yield [formatSecond(slotMs), ...tickers.map((ticker) => heldAmountOf(held, ticker))];
}

const timeWidth = 'yyyy-mm-dd hh:mm'.length;
const gapWidth = 2;

/**
 * A table with as many ticker columns as fit the screen, and the names of the other tickers below it.
 *
 * @param width width of the screen, in characters
 */
export function renderBalances(
  rows: readonly BalanceRow[],
  tickers: readonly string[],
  width: number,
): string {
  const columns = tickers.map((ticker) => ({
    ticker,
    cells: rows.map(({ held }) => formatHeld(heldAmountOf(held, ticker))),
  }));
  const shown = columns.slice(0, countFitting(columns, width));
  const table = renderTable(
    [{ title: 'time (UTC)' }, ...shown.map(({ ticker }) => ({ title: ticker, align: 'right' as const }))],
    rows.map(({ slotMs }, index) => [formatMinute(slotMs), ...shown.map(({ cells }) => cells[index] ?? '')]),
    { width: null },
  );
  const others = tickers.slice(shown.length);
  if (others.length === 0) return table;
  return `${table}\n\n${paint(`Also held: ${others.join(', ')}. Choose some with --tickers; csv and json contain all.`)}`;
}

function formatHeld(amount: Decimal | null): string {
  return amount === null ? '–' : formatDecimal(amount);
}

interface TextColumn {
  readonly ticker: string;
  readonly cells: readonly string[];
}

/** How many columns fit, at least one. */
function countFitting(columns: readonly TextColumn[], width: number): number {
  let used = timeWidth;
  const tooFar = columns.findIndex(({ ticker, cells }) => {
    used += gapWidth + cells.reduce((widest, cell) => Math.max(widest, cell.length), ticker.length);
    return used > width;
  });
  return tooFar < 0 ? columns.length : Math.max(1, tooFar);
}

/** Why there are no balances to show, and what to do about it. */
export async function explainNoBalances(
  balances: BalanceStore,
  account: string,
  kind: BalanceKind,
  { period, nowMs }: { readonly period: Period; readonly nowMs: number },
): Promise<string> {
  const newest = await balances.readAt(account, nowMs);
  if (newest === null)
    return `No balances of account ${account} are recorded yet. The relay records them while it runs, at the times of snapshots.balances in relay.config.ts.`;
  const within = await balances.readAt(account, period.untilMs - 1);
  if (within !== null && within.slotMs >= period.fromMs) return explainNothingHeld(account, kind, within);
  const advice =
    newest.slotMs < period.fromMs
      ? 'Check that the relay runs, with `doctor`, or give an earlier --from.'
      : 'Choose another range.';
  return `No balances of account ${account} are recorded from ${describeRange(period)}; the newest are from ${formatMinute(newest.slotMs)} UTC. ${advice}`;
}

function explainNothingHeld(account: string, kind: BalanceKind, snapshot: BalanceSnapshot): string {
  return snapshot[kind] === null
    ? 'The exchange returned no collateral balance. It does so only if exchange.dialect is "live", and not for every account.'
    : `Account ${account} held nothing in its ${kind} balance at any of these times.`;
}
