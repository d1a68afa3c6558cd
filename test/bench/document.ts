import { readFileSync, writeFileSync } from 'node:fs';
import type { CpuInfo } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../support/project-files.ts';
import type { Table } from './table.ts';

/** The document that has the tables between markers, for example `<!-- bench orders -->` and `<!-- /bench -->`. */
export const documentPath = 'docs/builders/performance.md';

/** Replaces the tables of the document, and leaves those alone that were not measured. Its sentences stay. */
export function writeDocument(processors: readonly CpuInfo[], tables: readonly Table[]): void {
  const path = join(projectRoot, documentPath);
  let text = readFileSync(path, 'utf8');
  text = replaceBlock(text, 'machine', [describeMachine(processors)]);
  for (const table of tables) text = replaceBlock(text, table.name, writeMarkdown(table));
  writeFileSync(path, text);
}

/** `Node v24.21.0 on 2 × AMD EPYC` */
export function describeMachine(processors: readonly CpuInfo[]): string {
  return `Node ${process.version} on ${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`;
}

/** @throws Error when the document has no such block */
export function replaceBlock(text: string, name: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- bench ${name} -->\n`, '<!-- /bench -->'];
  const from = text.indexOf(start);
  const until = text.indexOf(end, from);
  if (from === -1 || until === -1) throw new Error(`${documentPath} has no block ${start.trim()} … ${end}`);
  return `${text.slice(0, from + start.length)}${lines.join('\n')}\n${text.slice(until)}`;
}

export function writeMarkdown({ head, rows }: Table): readonly string[] {
  const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [lineOf(head), lineOf(head.map(() => '---')), ...rows.map(lineOf)];
}

/** For a terminal: the first column to the left, numbers to the right. */
export function writePlain({ title, head, rows }: Table): readonly string[] {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => (cells[column] ?? '').length)),
  );
  const lineOf = (cells: readonly string[]) =>
    `  ${cells
      .map((cell, column) =>
        /^[a-z]/i.test(cell) || column === 0
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')}`.trimEnd();
  return [title, lineOf(head), ...rows.map(lineOf)];
}
