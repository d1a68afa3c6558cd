import { Option } from 'commander';
import { escapeText } from '../../lib/signals/issues.ts';
import type { Context } from '../command.ts';
import { type CsvCell, formatCsvRow } from '../export/csv.ts';
import { writeOutput } from '../export/write-output.ts';
import { createUsageFailure } from '../failure.ts';
import { paint } from './print.ts';
import { fitLines } from './wrap-text.ts';

const formats = ['table', 'csv', 'json'] as const;
export type Format = (typeof formats)[number];

/** The option `--format` of commands that print rows. */
export function createFormatOption(): Option {
  return new Option(
    '--format <format>',
    'output format; json is the same as --json (default: table)',
  ).choices(formats);
}

/** The rows of a result in each format. */
export interface Result {
  readonly document: object;
  table(): string;
  /** CSV records, with the column names first. */
  records(): Iterable<readonly CsvCell[]>;
  /** Sentences about the rows, for example about missing ones. The JSON document has fields for them. */
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
