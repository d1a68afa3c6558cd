import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { proofShare } from '../support/share.ts';
import { renderFaultMatrix } from './matrix-table.ts';

// Apart from the other simulations, which run on all cores: this one runs on one, beside them.
test('the fault matrix is what docs/builders/fault-matrix.md shows, and no fault makes two orders of one signal', async () => {
  const table = await renderFaultMatrix(proofShare);

  const page = readFileSync('docs/builders/fault-matrix.md', 'utf8');
  const [, shown = ''] = /<!-- matrix -->\n([\s\S]*)<!-- \/matrix -->/.exec(page) ?? [];
  const rows = table.trim().split('\n');
  const tried = new Set(rows.map(nameOf));
  expect(rows).toEqual(
    shown
      .trim()
      .split('\n')
      .filter((row) => tried.has(nameOf(row))),
  );
  if (proofShare.parts === 1) expect(rows).toHaveLength(shown.trim().split('\n').length);
  expect(rows.length).toBeGreaterThan(400 / proofShare.parts);
  expect(rows.filter((row) => /\| [2-9] \|/.test(row))).toEqual([]);
  // The tables of market orders also say how many orders are open in the end.
  expect(rows.filter((row) => /\| \d \| [1-9] \|/.test(row))).toEqual([]);
});

/** The step and the fault of a row. */
function nameOf(row: string): string {
  return row.split(' | ').slice(0, 2).join(' | ');
}
