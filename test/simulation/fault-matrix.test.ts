import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { renderFaultMatrix } from './matrix-table.ts';

// Apart from the other simulations, which run on all cores: this one runs on one, beside them.
test('the fault matrix is what docs/builders/fault-matrix.md shows, and no fault makes two orders of one signal', async () => {
  const table = await renderFaultMatrix();

  const page = readFileSync('docs/builders/fault-matrix.md', 'utf8');
  const [, shown] = /<!-- matrix -->\n([\s\S]*)<!-- \/matrix -->/.exec(page) ?? [];
  expect(shown?.trim()).toBe(table.trim());
  expect(table.split('\n').filter((row) => /\| [2-9] \|/.test(row))).toEqual([]);
  // The tables of market orders also say how many orders are open in the end.
  expect(table.split('\n').filter((row) => /\| \d \| [1-9] \|/.test(row))).toEqual([]);
  expect(table).toContain('| `ledger.accept` | killed after | none | accepted | placed | 1 |  |');
});
