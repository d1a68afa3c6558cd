import { stringify } from 'csv-stringify/sync';
import { type Decimal, formatDecimal } from '../../lib/base/decimal.ts';

/** Null is an empty cell; numbers are counts. */
export type CsvCell = string | number | Decimal | null;

/**
 * Formats one record with its line end. There is no byte order mark: Excel reads tickers and ids, which are
 * ASCII, correctly without one, and other programs would take the mark as a part of the first column's name.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export function formatCsvRow(cells: readonly CsvCell[]): string {
  return stringify([[...cells]], {
    record_delimiter: 'windows',
    quoted_match: /^\s|\s$/,
    // Spreadsheets take text that begins with `=` or `-` as a formula. Decimals are numbers and need no
    // escaping.
    escape_formulas: true,
    cast: {
      object: (amount: unknown) => ({ value: formatDecimal(amount as Decimal), escape_formulas: false }),
    },
  });
}
