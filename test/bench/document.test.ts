import { describe, expect, test } from '@jest/globals';
import { readProjectFile } from '../support/project-files.ts';
import { documentPath, replaceBlock, writeMarkdown, writePlain } from './document.ts';

const text =
  'before\n<!-- bench one -->\nold\n<!-- /bench -->\nbetween\n<!-- bench two -->\n<!-- /bench -->\n';

test('a block of the document is replaced between its markers, and nothing else', () => {
  const once = replaceBlock(text, 'two', ['| a |', '| b |']);

  expect(once).toBe(
    'before\n<!-- bench one -->\nold\n<!-- /bench -->\nbetween\n<!-- bench two -->\n| a |\n| b |\n<!-- /bench -->\n',
  );
  expect(replaceBlock(once, 'two', [])).toContain('between\n<!-- bench two -->\n\n<!-- /bench -->');
});

test('a block that the document does not have is an error', () => {
  expect(() => replaceBlock(text, 'three', [])).toThrow('has no block <!-- bench three -->');
});

test.each(['machine', 'goals', 'orders', 'ratios', 'signing', 'kinds', 'parts', 'starts'])(
  'the document has the block %s',
  (name) => {
    expect(replaceBlock(readProjectFile(documentPath), name, ['x'])).toContain(`<!-- bench ${name} -->\nx\n`);
  },
);

describe('a table', () => {
  const table = {
    name: 'orders',
    title: 'Orders',
    head: ['in flight', 'median', 'bare server'],
    rows: [
      ['1', 'CPU per order', '200 µs'],
      ['', 'orders per second', '2,500'],
    ],
  };

  test('is written into the document as Markdown', () => {
    expect(writeMarkdown(table)).toEqual([
      '| in flight | median | bare server |',
      '| --- | --- | --- |',
      '| 1 | CPU per order | 200 µs |',
      '|  | orders per second | 2,500 |',
    ]);
  });

  test('is printed in columns, with figures to the right', () => {
    expect(writePlain(table)).toEqual([
      'Orders',
      '  in flight  median             bare server',
      '  1          CPU per order           200 µs',
      '             orders per second        2,500',
    ]);
  });
});
