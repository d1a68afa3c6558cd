import { Option } from 'commander';
import { escapeText } from '../lib/signals/issues.ts';
import type { Context } from './command.ts';
import { type CsvCell, formatCsvRow } from './csv.ts';
import { createUsageFailure } from './failure.ts';
import { paint } from './print.ts';
import { fitLines } from './wrap-text.ts';
import { writeOutput } from './write-output.ts';

const formats = ['table', 'csv', 'json'] as const;
export type Format = (typeof formats)[number];

/** `--format`, of commands whose results are rows. */
export function createFormatOption(): Option {
  return new Option('--format <format>', 'json is what --json gives (default: table)').choices(formats);
}

/** Rows, as each format shows them. */
export interface Result {
  readonly document: object;
  table(): string;
  /** The names of the columns first. */
  records(): Iterable<readonly CsvCell[]>;
  /** What has to be known beside the rows, in sentences for people; the document tells it in fields. */
  readonly notes: readonly string[];
}

/** @throws CommandFailure (usage) when `--json` and `--format` contradict each other */
export async function printResult(
  { print, isJson, terminal }: Context,
  format: Format | undefined,
  result: Result,
): Promise<void> {
  if (isJson && format !== undefined && format !== 'json')
    throw createUsageFailure(`--json and --format ${format} contradict each other`, 'Leave one of them out.');
  if (isJson || format === 'json')
    return await writeOutput([`${JSON.stringify(result.document)}\n`], terminal.stdout);
  if (format !== 'csv') return print(result.document, () => renderResult(result));
  await writeOutput(listCsv(result), terminal.stdout);
  const notes = result.notes.map((note) => `${escapeText(note)}\n`).join('');
  terminal.stderr.write(fitLines(notes, terminal.width));
}

function* listCsv({ records }: Result): Generator<string> {
  for (const record of records()) yield formatCsvRow(record);
}

function renderResult({ table, notes }: Result): string {
  return [table(), ...notes.map(paint)].join('\n\n');
}
