import type { Entry } from '../lib/ledger/entry.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import { type OrderExecution, orderOf } from '../lib/model/execution.ts';
import { placesOrder, type Signal } from '../lib/model/signal.ts';
import { escapeText } from '../lib/signals/issues.ts';
import type { CsvCell } from './csv.ts';
import { averageOf, describeFees } from './describe-execution.ts';
import { describeReason, refusedTickerOf } from './describe-refusal.ts';
import { describeSignal } from './describe-signal.ts';
import { amountCell, type ExportRows } from './export-rows.ts';
import { formatMillisecond } from './print.ts';
import { type EntryFilter, listEntries } from './read-entries.ts';

/** The terms of an order. */
const terms = [
  ...['side', 'order type', 'quantity', 'quote quantity', 'quantity percent', 'percent of'],
  ...['stop price', 'limit price', 'max slippage', 'stop loss', 'take profit'],
  ...['position side', 'reduce only', 'post only', 'ioc', 'stp'],
];
const titles = [
  ...['time (UTC)', 'account', 'signal', 'market', 'ticker', 'action', ...terms],
  ...['asked', 'reference price', 'strategy', 'comment'],
  ...['status', 'since (UTC)', 'order', 'client order id', 'order open', 'reason'],
  ...['filled', 'filled quote', 'average price', 'fees', 'order state', 'ended (UTC)'],
  ...['stop loss state', 'stop loss filled', 'stop loss average price', 'stop loss fees'],
  ...['take profit state', 'take profit filled', 'take profit average price', 'take profit fees'],
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
    ...ownCells(orderOf(entry.execution, 'order')),
    ...exitCells(orderOf(entry.execution, 'stop_loss')),
    ...exitCells(orderOf(entry.execution, 'take_profit')),
  ];
}

/** Empty cells while nothing is known. */
function ownCells(order: OrderExecution | null): readonly CsvCell[] {
  if (order === null) return [null, null, null, null, null, null];
  return [
    amountCell(order.filled),
    amountCell(order.filledNotional),
    averageOf(order),
    describeFees(order),
    stateCell(order),
    order.endedAtMs === null ? null : formatMillisecond(order.endedAtMs),
  ];
}

function exitCells(order: OrderExecution | null): readonly CsvCell[] {
  if (order === null) return [null, null, null, null];
  return [stateCell(order), amountCell(order.filled), averageOf(order), describeFees(order)];
}

function stateCell({ status, endReason }: OrderExecution): CsvCell {
  return endReason === undefined ? status : `${status} (${endReason})`;
}

const noTerms: readonly CsvCell[] = terms.map(() => null);
/** Action, terms, what was asked, reference price, strategy and comment. */
const refusedCells: readonly CsvCell[] = [null, ...noTerms, null, null, null, null];

function signalCells(signal: Signal): readonly CsvCell[] {
  return [
    signal.action,
    ...termCells(signal),
    escapeText(describeSignal(signal)),
    placesOrder(signal) ? amountCell(signal.referencePrice ?? null) : null,
    escapeText(signal.strategy ?? ''),
    escapeText(signal.comment ?? ''),
  ];
}

/** Empty cells for a cancellation, and for what the order does not have. */
function termCells(signal: Signal): readonly CsvCell[] {
  if (signal.action !== 'order') return noTerms;
  const { size } = signal;
  return [
    signal.side,
    signal.orderType,
    amountCell(size.unit === 'base' ? size.quantity : null),
    amountCell(size.unit === 'quote' ? size.quoteQuantity : null),
    size.unit === 'percent' ? size.quantityPercent : null,
    size.unit === 'percent' ? size.of : null,
    amountCell('stopPrice' in signal ? signal.stopPrice : null),
    amountCell('limitPrice' in signal ? signal.limitPrice : null),
    ('maxSlippage' in signal ? signal.maxSlippage : null) ?? null,
    amountCell(signal.stopLoss ?? null),
    amountCell(signal.takeProfit ?? null),
    signal.positionSide ?? null,
    flagCell(signal.reduceOnly),
    flagCell('postOnly' in signal && signal.postOnly),
    flagCell('ioc' in signal && signal.ioc),
    signal.stp ?? null,
  ];
}

function flagCell(value: boolean | undefined): CsvCell {
  return value === true ? 'yes' : null;
}
