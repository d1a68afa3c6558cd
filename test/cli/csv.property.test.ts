import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { formatCsvRow } from '../../cli/export/csv.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { runs } from '../support/runs.ts';

const options = { seed: 20_261_121, numRuns: runs(500) };

describe('CSV', () => {
  test('reads back as what was written, whatever the texts contain', () => {
    const harmless = fc.string({ unit: 'binary' }).filter((text) => !/^[=+\-@\t\r]/.test(text));
    const rows = fc.array(fc.array(harmless, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 5 });

    fc.assert(
      fc.property(rows, (cells) => {
        const text = cells.map(formatCsvRow).join('');
        expect(parse(text, { relax_column_count: true, record_delimiter: '\r\n', bom: false })).toEqual(
          cells,
        );
      }),
      options,
    );
  });

  test('has no text that a spreadsheet takes as a formula', () => {
    fc.assert(
      fc.property(fc.constantFrom('=', '+', '-', '@', '\t', '\r'), fc.string(), (start, rest) => {
        const [[cell] = []]: string[][] = parse(formatCsvRow([start + rest, 'x']), {
          record_delimiter: '\r\n',
        });
        expect(cell).toBe(`'${start}${rest}`);
      }),
      options,
    );
  });

  test('writes decimals plainly, negative ones as the numbers they are', () => {
    const cells = [parseDecimal('-1e-9'), parseDecimal('1234567.890'), null, 3, 'a "quoted", one'];

    expect(formatCsvRow(cells)).toBe('-0.000000001,1234567.89,,3,"a ""quoted"", one"\r\n');
  });
});
