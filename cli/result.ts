import { Option } from 'commander';
import { escapeText } from '../lib/signals/faults.ts';
import type { Context } from './command.ts';
import { type CsvCell, formatCsvRow } from './csv.ts';
import { createUsageFailure } from './failure.ts';
import { renderSentence } from './print.ts';
import type { Screen } from './terminal.ts';
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
  if (format !== 'csv') return print(result.document, () => renderResult(result, terminal));
  await writeOutput(listCsv(result), terminal.stdout);
  terminal.stderr.write(result.notes.map((note) => `${escapeText(note)}\n`).join(''));
}

function* listCsv({ records }: Result): Generator<string> {
  for (const record of records()) yield formatCsvRow(record);
}

function renderResult({ table, notes }: Result, screen: Screen): string {
  return [table(), ...notes.map((note) => renderSentence(note, screen))].join('\n\n');
}
