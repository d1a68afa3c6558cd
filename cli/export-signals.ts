import { isDecimalText, parseDecimal } from '../lib/base/decimal.ts';
import type { Entry } from '../lib/ledger/entry.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import type { Signal } from '../lib/model/signal.ts';
import { escapeText } from '../lib/signals/issues.ts';
import type { CsvCell } from './csv.ts';
import { describeReason, refusedTickerOf } from './describe-refusal.ts';
import { describeSignal } from './describe-signal.ts';
import type { ExportRows } from './export-rows.ts';
import { formatMillisecond } from './print.ts';
import { type EntryFilter, listEntries } from './read-entries.ts';

const titles = [
  ...['time (UTC)', 'account', 'signal', 'market', 'ticker', 'action', 'side', 'quantity', 'quote quantity'],
  ...['stop price', 'limit price', 'stop loss', 'take profit', 'asked', 'strategy', 'comment'],
  ...['status', 'since (UTC)', 'order', 'client order id', 'order open', 'reason'],
];

/**
 * Signals, oldest first. A CSV record summarises a signal, with control characters escaped; a JSON document
 * is the whole ledger entry.
 */
export function exportSignals(ledger: Ledger, filter: EntryFilter): ExportRows {
  return {
    async *records() {
      yield titles;
      for await (const entry of listEntries(ledger, filter)) yield recordOf(entry);
    },
    documents: () => listEntries(ledger, filter),
  };
}

function recordOf(entry: Entry): readonly CsvCell[] {
  const { signal } = entry;
  return [
    formatMillisecond(entry.createdAtMs),
    entry.account,
    entry.signalId,
    signal?.market ?? null,
    escapeText(signal?.ticker ?? refusedTickerOf(entry) ?? ''),
    ...(signal === null ? refusedCells : signalCells(signal)),
    entry.status,
    formatMillisecond(entry.steps.at(-1)?.atMs ?? entry.updatedAtMs),
    entry.orderId,
    entry.clientOrderId,
    entry.orderOpen ? 'yes' : 'no',
    escapeText(describeReason(entry) ?? ''),
  ];
}

const termCount = 7;
const refusedCells: readonly CsvCell[] = Array.from({ length: termCount + 4 }, () => null);

function signalCells(signal: Signal): readonly CsvCell[] {
  return [
    signal.action,
    ...termCells(signal),
    escapeText(describeSignal(signal)),
    escapeText(signal.strategy ?? ''),
    escapeText(signal.comment ?? ''),
  ];
}

/** The terms of an order; empty cells for a cancellation. */
function termCells(signal: Signal): readonly CsvCell[] {
  if (signal.action !== 'order') return Array.from({ length: termCount }, () => null);
  const { side, size, stopLoss, takeProfit } = signal;
  return [
    side,
    amountCell(size.unit === 'base' ? size.quantity : null),
    amountCell(size.unit === 'base' ? null : size.quoteQuantity),
    amountCell('stopPrice' in signal ? signal.stopPrice : null),
    amountCell(signal.limitPrice),
    amountCell(stopLoss ?? null),
    amountCell(takeProfit ?? null),
  ];
}

/** Decimals become numbers, so that spreadsheets treat them as such. */
function amountCell(text: string | null): CsvCell {
  return text !== null && isDecimalText(text) ? parseDecimal(text) : text;
}
