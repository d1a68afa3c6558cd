import { InvalidArgumentError } from 'commander';
import { type Decimal, formatDecimal, zero } from '../lib/base/decimal.ts';
import { sampleBalances } from '../lib/snapshots/sample-balances.ts';
import type { BalanceSnapshot, BalanceStore, Holdings, Period } from '../lib/snapshots/snapshot-store.ts';
import type { CsvCell } from './csv.ts';
import { formatMinute, formatSecond, paint } from './print.ts';
import { renderTable } from './table.ts';
import { describeRange, listTimes } from './time-range.ts';

export type BalanceKind = 'main' | 'collateral';

/** What was held at a time, as the newest snapshot at or before it says. */
export interface BalanceRow {
  readonly atMs: number;
  readonly slotMs: number;
  readonly takenAtMs: number;
  /** Null where the exchange did not offer this balance. */
  readonly held: Holdings | null;
}

/**
 * One row for each time of the range that had a snapshot since the time before it.
 *
 * @throws CommandFailure (usage) when they would be too many
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
    // At the first time: taken long before the range, and nothing since.
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

/** Zero for what is not held, null where nobody knows. */
export function amountOf(held: Holdings | null, ticker: string): Decimal | null {
  if (held === null) return null;
  return Object.hasOwn(held, ticker) ? (held[ticker] ?? zero) : zero;
}

export function* listBalanceRecords(
  rows: readonly BalanceRow[],
  tickers: readonly string[],
): Generator<readonly CsvCell[]> {
  yield ['time (UTC)', ...tickers];
  for (const { slotMs, held } of rows)
    yield [formatSecond(slotMs), ...tickers.map((ticker) => amountOf(held, ticker))];
}

const timeWidth = 'yyyy-mm-dd hh:mm'.length;
const gapWidth = 2;

/**
 * A column for each ticker, as many as the screen is wide, and the names of the others below.
 *
 * @param width of the screen, in characters
 */
export function renderBalances(
  rows: readonly BalanceRow[],
  tickers: readonly string[],
  width: number,
): string {
  const columns = tickers.map((ticker) => ({
    ticker,
    cells: rows.map(({ held }) => formatHeld(amountOf(held, ticker))),
  }));
  const shown = columns.slice(0, countFitting(columns, width));
  const table = renderTable(
    [{ title: 'time (UTC)' }, ...shown.map(({ ticker }) => ({ title: ticker, align: 'right' as const }))],
    rows.map(({ slotMs }, index) => [formatMinute(slotMs), ...shown.map(({ cells }) => cells[index] ?? '')]),
    { width: null },
  );
  const left = tickers.slice(shown.length);
  if (left.length === 0) return table;
  return `${table}\n\n${paint(`Held too: ${left.join(', ')}. Name some with --tickers; csv and json have them all.`)}`;
}

function formatHeld(amount: Decimal | null): string {
  return amount === null ? '–' : formatDecimal(amount);
}

interface TextColumn {
  readonly ticker: string;
  readonly cells: readonly string[];
}

/** At least one. */
function countFitting(columns: readonly TextColumn[], width: number): number {
  let used = timeWidth;
  const tooFar = columns.findIndex(({ ticker, cells }) => {
    used += gapWidth + cells.reduce((widest, cell) => Math.max(widest, cell.length), ticker.length);
    return used > width;
  });
  return tooFar < 0 ? columns.length : Math.max(1, tooFar);
}

/** Why there is nothing to show of a balance, and what to do about it. */
export async function explainNoBalances(
  balances: BalanceStore,
  account: string,
  kind: BalanceKind,
  { period, nowMs }: { readonly period: Period; readonly nowMs: number },
): Promise<string> {
  const newest = await balances.readAt(account, nowMs);
  if (newest === null)
    return `No balances of account ${account} were kept yet: the relay keeps them while it runs, at the times of snapshots.balances in relay.config.ts.`;
  const within = await balances.readAt(account, period.untilMs - 1);
  if (within !== null && within.slotMs >= period.fromMs) return explainNothingHeld(account, kind, within);
  const advice =
    newest.slotMs < period.fromMs
      ? 'Check that the relay runs, with `doctor`, or give an earlier --from.'
      : 'Give another range.';
  return `No balances of account ${account} were kept from ${describeRange(period)}; the newest ones are of ${formatMinute(newest.slotMs)} UTC. ${advice}`;
}

function explainNothingHeld(account: string, kind: BalanceKind, snapshot: BalanceSnapshot): string {
  return snapshot[kind] === null
    ? 'The exchange offered no collateral balance: there is one only where exchange.dialect is "live", and not for every account.'
    : `Account ${account} held nothing in its ${kind} balance at any of these times.`;
}
