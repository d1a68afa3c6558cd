import { type Decimal, formatDecimal } from '../lib/base/decimal.ts';

/** Null is an empty cell; numbers are counts. */
export type CsvCell = string | number | Decimal | null;

/**
 * One record with its line end. There is no byte order mark: tickers and ids are ASCII, which Excel reads right without
 * one, and in other programs the mark would stick to the name of the first column.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export function formatCsvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`;
}

function formatCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  return typeof cell === 'string' ? quote(disarm(cell)) : formatDecimal(cell);
}

/**
 * A spreadsheet takes text with such a beginning for a formula; decimals and counts do not come here, and stay numbers.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
function disarm(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quote(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
