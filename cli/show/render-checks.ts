import type { Check } from '../checks/check.ts';
import type { Cell, Style } from './print.ts';
import { renderTable } from './table.ts';
import type { Screen } from './terminal.ts';

const verdictStyles: Readonly<Record<Check['verdict'], Style>> = {
  ok: 'good',
  warn: 'waiting',
  fail: 'alarm',
};

/** Of a pipe or a file: a sentence on one line of its own would be hard to read. */
const pipeWidth = 110;

/** A table of checks: what was found, and what to do. */
export function renderChecks(checks: readonly Check[], { width }: Screen): string {
  return renderTable(
    [
      { title: '' },
      { title: 'check' },
      { title: 'found', wraps: true },
      { title: 'what to do', wraps: true },
    ],
    checks.map(({ name, verdict, found, advice }): readonly Cell[] => [
      { text: verdict, style: verdictStyles[verdict] },
      name,
      found,
      advice ?? '',
    ]),
    { width: width ?? pipeWidth },
  );
}
