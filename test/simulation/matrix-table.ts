import type { Share } from '../support/share.ts';
import { isRead, type MatrixRow, runFaultMatrix } from './fault-matrix.ts';
import type { StoreFault, WireFault } from './faults.ts';
import type { InjectionPoint } from './scripted-plan.ts';

const faultWords: Readonly<Record<StoreFault | WireFault, string>> = {
  crash_before: 'killed before',
  crash_after: 'killed after',
  fail_before: 'fails, without effect',
  fail_after: 'takes effect, but the response is lost',
  slow: 'slow',
  refused: 'connection refused',
  hung: 'no connection in time',
  lost_before: 'lost before it arrived',
  lost_after: 'handled, but the response is lost',
  arrives_late: 'arrives after the deadline',
  error_before: '503, not handled',
  error_after: '500, but handled',
  gateway_page_after: '403 with an HTML page of a gateway, but handled',
  garbage_after: '200 without JSON, but handled',
  nonce_429: '429, nonce refused',
  rate_429: '429, too many requests',
  refusal: '422, rejected',
  nonce_429_after: '429, nonce refused, but handled',
  rate_429_after: '429, too many requests, but handled',
  id_used_after: '422, its id is used, but handled',
  contradicts_after: '200 that reports another order',
};

const ordinalWords = ['', '', ', second time', ', third time'];

interface Column {
  readonly title: string;
  readonly text: (row: MatrixRow) => string;
}

const responseColumn: Column = {
  title: 'response to the sender',
  text: ({ responses }) => responses.join(', then '),
};
const outcomeColumns: readonly Column[] = [
  { title: 'ledger when the reconciler next runs', text: ({ statusBefore }) => statusBefore ?? '–' },
  { title: 'ledger in the end', text: ({ statusInTheEnd }) => statusInTheEnd ?? '–' },
  { title: 'orders', text: ({ orders }) => String(orders) },
  { title: 'the operator sees', text: ({ messages }) => messages.join('; ') },
];

/** A part of a market order must not stay in the book. */
const restColumns: readonly Column[] = [
  ...outcomeColumns.slice(0, -1),
  { title: 'open in the end', text: ({ open }) => String(open) },
  ...outcomeColumns.slice(-1),
];

/** Renders the matrix, or a share of its rows, as Markdown, with one table for each stage of a signal. */
export async function renderFaultMatrix(share: Share): Promise<string> {
  const rows = await runFaultMatrix(share);
  const onTheWay = rows.filter(({ scene }) => scene === 'order');
  const isReceiving = ({ injection }: MatrixRow) => injection.point.handlerName === 'receive';
  return [
    renderPart('Receiving an alert', onTheWay.filter(isReceiving), [responseColumn, ...outcomeColumns]),
    renderPart(
      'Executing the order',
      onTheWay.filter((row) => !isReceiving(row)),
      outcomeColumns,
    ),
    renderPart(
      'Looking up an order whose response was lost',
      rows.filter(({ scene }) => scene === 'found' || scene === 'missing'),
      outcomeColumns,
    ),
    renderPart(
      'Executing a guarded market order',
      rows.filter(({ scene }) => scene === 'guarded'),
      restColumns,
    ),
    renderPart(
      'The same where the exchange refuses "immediate or cancel"',
      rows.filter(({ scene }) => scene === 'fallback'),
      restColumns,
    ),
  ].join('\n\n');
}

function renderPart(title: string, rows: readonly MatrixRow[], columns: readonly Column[]): string {
  const titles = ['step', 'fault', ...columns.map((column) => column.title)];
  const byFault = Map.groupBy(rows, nameRow);
  return [
    `## ${title}`,
    '',
    `| ${titles.join(' | ')} |`,
    `|${' --- |'.repeat(titles.length)}`,
    ...[...byFault].map(([name, found]) => `| ${name} | ${renderCells(found, columns)} |`),
  ].join('\n');
}

function nameRow({ injection: { point, fault, isThroughout } }: MatrixRow): string {
  const word = fault === 'fail_before' && isRead(point.step) ? 'fails' : faultWords[fault];
  return `${namePoint(point)} | ${word}${isThroughout ? ', throughout' : ''}`;
}

function namePoint({ step, ordinal, isWire }: InjectionPoint): string {
  const name = isWire ? (step.replace('/api/v4/', '').split('?')[0] ?? step) : step;
  return `\`${name}\`${ordinalWords[ordinal] ?? `, time ${ordinal}`}`;
}

function renderCells(rows: readonly MatrixRow[], columns: readonly Column[]): string {
  return columns.map(({ text }) => renderCell(rows, text)).join(' | ');
}

/** Where the dialects differ, the cell names both. */
function renderCell(rows: readonly MatrixRow[], text: Column['text']): string {
  const [first] = rows;
  if (first !== undefined && rows.every((row) => text(row) === text(first))) return text(first);
  return rows.map((row) => `${row.dialect}: ${text(row)}`).join('<br>');
}
