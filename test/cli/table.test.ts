import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { renderFields } from '../../cli/show/print.ts';
import { type Column, renderRows, renderTable } from '../../cli/show/table.ts';
import { readWidth } from '../../cli/show/terminal.ts';
import { fitLines, wrapText } from '../../cli/show/wrap-text.ts';

/** The lines as read on a terminal without colours. */
function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text).split('\n');
}

const columns: readonly Column[] = [
  { title: 'ticker' },
  { title: 'amount', align: 'right' },
  { title: 'note', wraps: true },
];
const rows = [
  ['BTC', '1.25', 'too much for one order of this account'],
  ['USDT', '25000.75', { text: 'x', style: 'good' }],
] as const;

describe('a table', () => {
  test('aligns its columns under a ruled head, and every row is one line if the width is unlimited', () => {
    expect(linesOf(renderTable(columns, rows, { width: null }))).toEqual([
      'ticker    amount  note',
      '────────────────────────────────────────────────────────',
      'BTC         1.25  too much for one order of this account',
      'USDT    25000.75  x',
    ]);
  });

  test('breaks between words what does not fit the screen', () => {
    expect(linesOf(renderTable(columns, rows, { width: 40 }))).toEqual([
      'ticker    amount  note',
      '────────────────────────────────────────',
      'BTC         1.25  too much for one order',
      '                  of this account',
      'USDT    25000.75  x',
    ]);
  });

  test('leaves out optional columns when the screen is too narrow, from the right', () => {
    const some = [{ ...columns[0], title: 'ticker', optional: true }, ...columns.slice(1)];
    expect(linesOf(renderTable(some, rows, { width: 28 }))[0]).toBe('  amount  note');
  });

  test('becomes a list of rows where it would not fit', () => {
    expect(linesOf(renderTable(columns, rows, { width: 24 }))).toEqual([
      'ticker  BTC',
      'amount  1.25',
      'note    too much for one',
      '        order of this',
      '        account',
      '',
      'ticker  USDT',
      'amount  25000.75',
      'note    x',
    ]);
  });

  test('shows the note of a row below it, over the whole width', () => {
    const noted = [
      { cells: ['BTC', '1.25', 'sold'], note: 'the market was closed for maintenance' },
      { cells: ['USDT', '5', 'x'], note: null },
    ];
    expect(linesOf(renderRows(columns, noted, { width: 30 }))).toEqual([
      'ticker  amount  note',
      '────────────────────',
      'BTC       1.25  sold',
      '    the market was closed for',
      '    maintenance',
      'USDT         5  x',
    ]);
  });

  test('escapes control characters', () => {
    const [, , row] = linesOf(renderTable([{ title: 'a' }], [['x\u001b[2Jy\nz']], { width: 80 }));
    expect(row).toBe('x\\u001b[2Jy\\u000az');
  });

  test('never breaks a word, and keeps to the width unless a word is longer', async () => {
    const word = fc.stringMatching(/^[a-z0-9.]{1,12}$/);
    const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
    await fc.assert(
      fc.property(
        fc.array(fc.tuple(word, text, text), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 24, max: 130 }),
        (cells, width) => {
          const wide = [{ title: 'id' }, { title: 'found', wraps: true }, { title: 'to do', wraps: true }];
          const shown = linesOf(renderTable(wide, cells, { width }));
          const printed = shown.join(' ').split(/\s+/);
          for (const piece of cells.flat().flatMap((cell) => cell.split(' ')))
            expect(printed).toContain(piece);
          expect(Math.max(...shown.map(({ length }) => length))).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

test('fields break between words, under their own beginning', () => {
  const fields = [['status', 'the exchange took the order'] as const, ['id', 'h-0123456789abcdef'] as const];
  expect(linesOf(renderFields(fields, { width: 22 }))).toEqual([
    'status  the exchange',
    '        took the order',
    'id      h-0123456789abcdef',
  ]);
});

test('all text output breaks between words, under its own indentation, styled or not', () => {
  const text = `first\n    one two \u001b[31mthree four\u001b[39m five`;
  expect(fitLines(text, 14).split('\n')).toEqual([
    'first',
    '    one two',
    '    \u001b[31mthree four\u001b[39m',
    '    five',
  ]);
  expect(fitLines(text, null)).toBe(text);
});

test('a word that is longer than a line has a line of its own', () => {
  expect(wrapText('see https://exchange.example/path now', 10)).toEqual([
    'see',
    'https://exchange.example/path',
    'now',
  ]);
});

test.each([
  ['60', 80, 60],
  [undefined, 80, 80],
  ['', 80, 80],
  ['0', undefined, null],
  ['wide', undefined, null],
  [undefined, 0, null],
  ['120', undefined, 120],
] as const)('COLUMNS %j on a terminal of %j means a width of %j', (columns, own, width) => {
  expect(readWidth(columns, own)).toBe(width);
});
