import { stringify } from 'csv-stringify/sync';
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
  return stringify([[...cells]], {
    record_delimiter: 'windows',
    quoted_match: /^\s|\s$/,
    // A spreadsheet takes text that begins with `=` or `-` for a formula; a decimal that does is a number.
    escape_formulas: true,
    cast: {
      object: (amount: unknown) => ({ value: formatDecimal(amount as Decimal), escape_formulas: false }),
    },
  });
}
