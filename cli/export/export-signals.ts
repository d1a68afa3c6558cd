import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { followedAs, orderRecordOf } from '../../lib/ledger/order-record.ts';
import type { OrderExecution } from '../../lib/model/execution.ts';
import type { Signal, TakeProfitPart } from '../../lib/model/signal.ts';
import { type FieldName, fieldNames, rowOf } from '../../lib/signals/field-table.ts';
import { escapeText } from '../../lib/signals/issues.ts';
import { type EntryFilter, listMatching } from '../read/read-entries.ts';
import { averageOf, describeFees } from '../show/describe-execution.ts';
import { describeReason, refusedTickerOf } from '../show/describe-refusal.ts';
import { describeSignal, describeTakeProfits } from '../show/describe-signal.ts';
import { formatMillisecond } from '../show/print.ts';
import type { CsvCell } from './csv.ts';
import { amountCell, type ExportRows } from './export-rows.ts';

const columns = fieldNames.filter((name) => rowOf(name).hasColumn === true);
const titles = [
  ...['time (UTC)', 'account', 'signal', 'market', 'ticker', 'action', 'side', ...columns.map(titleOf)],
  ...['asked', 'info'],
  ...['status', 'since (UTC)', 'order', 'client order id', 'order open', 'reason'],
  ...['filled', 'filled quote', 'average price', 'fees', 'order state', 'ended (UTC)'],
  ...['stop loss state', 'stop loss filled', 'stop loss average price', 'stop loss fees'],
  ...['take profit state', 'take profit filled', 'take profit average price', 'take profit fees'],
];

/** The name in words: `stop price` of `stopPrice`. */
function titleOf(name: FieldName): string {
  return name === 'of' ? 'percent of' : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/**
 * Signals, oldest first. A CSV record summarises a signal, with control characters escaped; a JSON document
 * is the whole ledger entry.
 */
export function exportSignals(ledger: Ledger, filter: EntryFilter): ExportRows {
  return {
    async *records() {
      yield titles;
      for await (const entry of listMatching(ledger, filter)) yield recordOf(entry);
    },
    documents: () => listMatching(ledger, filter),
  };
}

function recordOf(entry: Entry): readonly CsvCell[] {
  const { signal } = entry;
  const record = orderRecordOf(entry);
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
    ...ownCells(followedAs(record, 'order')),
    ...exitCells(followedAs(record, 'stop_loss')),
    ...exitCells(followedAs(record, 'take_profit')),
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

/** Action, side, the fields, what was asked, and what the alert says besides. */
const refusedCells: readonly CsvCell[] = [null, null, ...columns.map(() => null), null, null];

function signalCells(signal: Signal): readonly CsvCell[] {
  return [
    signal.action,
    'side' in signal ? signal.side : null,
    ...columns.map((name) => cellOf(signal, name)),
    escapeText(describeSignal(signal)),
    signal.info === undefined ? null : JSON.stringify(signal.info),
  ];
}

/** A signal has the value of a field under the field's name, and those of the size in `size`. */
function cellOf(signal: Signal, name: FieldName): CsvCell {
  const { size = {}, ...fields } = signal as unknown as Readonly<Record<string, unknown>>;
  const value = fields[name] ?? (size as Readonly<Record<string, unknown>>)[name];
  if (name === 'takeProfits' && value !== undefined)
    return describeTakeProfits(value as readonly TakeProfitPart[]);
  if (typeof value === 'boolean') return value ? 'yes' : null;
  return typeof value === 'string' ? amountCell(escapeText(value)) : null;
}
