import type { Durations } from '../../lib/reports/durations.ts';
import type { Report } from '../../lib/reports/read-report.ts';
import type { Grouping, ReportRow } from '../../lib/reports/report.ts';
import { escapeText } from '../../lib/signals/issues.ts';
import { joinFees } from '../show/describe-trades.ts';
import type { CsvCell } from './csv.ts';

const titles = [
  ...['quote currency', 'signals', 'placed', 'filled', 'filled in part'],
  ...['alert to order p50 (ms)', 'alert to order p95 (ms)'],
  ...['order to fill p50 (ms)', 'order to fill p95 (ms)'],
  ...['deals', 'turnover', 'filled orders', 'with reference', 'slippage (bp)', 'slippage'],
  ...['fees', 'profit before fees', 'fees in quote currency', 'net', 'closed trades', 'won'],
];

/** The rows of a report without their total. Money is in the quote currency of the row. */
export function* listReportRecords({ rows }: Report, by: Grouping): Generator<readonly CsvCell[]> {
  yield [by, ...titles];
  for (const row of rows) yield recordOf(row);
}

function recordOf(row: ReportRow): readonly CsvCell[] {
  const { signals, slippage, profit, trades } = row;
  return [
    escapeText(row.group),
    row.quote,
    ...[signals.received, signals.placed, signals.filledWhole, signals.filledInPart],
    ...durationCells(row.alertToOrder),
    ...durationCells(row.orderToFill),
    ...[row.deals, row.turnover, slippage.orders, slippage.compared],
    slippage.basisPoints,
    slippage.basisPoints === null ? null : slippage.money,
    joinFees(row.fees),
    ...[profit.gross, profit.fees, profit.net],
    ...[trades.closed, trades.won],
  ];
}

function durationCells(durations: Durations | null): readonly CsvCell[] {
  return [durations?.p50Ms ?? null, durations?.p95Ms ?? null];
}
