import { Argument, type Command, Option } from 'commander';
import type { Period, SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import { type Context, runCommand } from '../command.ts';
import { formatCsvRow } from '../csv.ts';
import { describeImport } from '../describe-import.ts';
import { type ExportRows, exportBalances, exportFees, exportInterest } from '../export-rows.ts';
import { createUsageFailure } from '../failure.ts';
import { paint } from '../print.ts';
import { chooseAccount } from '../session.ts';
import { addRangeOptions, chooseRange, type RangeOptions } from '../time-range.ts';
import { writeOutput } from '../write-output.ts';

const subjects = ['balances', 'fees', 'interest'] as const;
type Subject = (typeof subjects)[number];

const formats = ['csv', 'jsonl'] as const;

interface ExportOptions extends RangeOptions {
  readonly format: (typeof formats)[number];
  readonly out?: string;
  readonly account?: string;
}

export function addExportCommands(program: Command): void {
  const command = program
    .command('export')
    .description('write out everything that was kept, as it is read')
    .addArgument(new Argument('<what>', 'of which').choices(subjects));
  addRangeOptions(command, 'the beginning')
    .addOption(
      new Option('--format <format>', 'for spreadsheets, or one JSON document a line')
        .choices(formats)
        .default('csv'),
    )
    .option('--out <file>', 'where to (default: standard output)')
    .option('--account <name>', 'whose (default: the first configured account)')
    .action((what: Subject, options: ExportOptions, self: Command) =>
      runCommand(self, (context) => exportSubject(context, what, options)),
    );
}

async function exportSubject(
  { session, print, isJson, terminal: { stdout, stderr } }: Context,
  what: Subject,
  options: ExportOptions,
): Promise<void> {
  const { format, out } = options;
  if (isJson && out === undefined)
    throw createUsageFailure(
      'an export is no single JSON document',
      'Use --format jsonl, one document a line, or name a file with --out.',
    );
  const { name: account } = chooseAccount(session.settings, options.account);
  const period = chooseRange(options, session.clock.nowMs(), () => 0);
  const store = session.openSnapshots();
  // First, for an import that ends meanwhile must not vouch for payments that were read before it.
  const notes = what === 'interest' ? await readNotes(store, account, period) : [];
  const rows = openRows[what](store, account, period);
  const counter = { rows: 0 };
  await writeOutput(format === 'csv' ? listCsv(rows, counter) : listJson(rows, counter), out ?? stdout);
  if (out !== undefined)
    print({ account, what, format, ...period, rows: counter.rows, path: out, notes }, () =>
      [`${out}: ${counter.rows} rows of ${what}`, ...notes].map(paint).join('\n'),
    );
  else stderr.write(notes.map((note) => `${paint(note)}\n`).join(''));
}

const openRows: Readonly<
  Record<Subject, (store: SnapshotStore, account: string, period: Period) => ExportRows>
> = {
  balances: ({ balances }, account, period) => exportBalances(balances, account, period),
  fees: ({ fees }, account, period) => exportFees(fees, account, period),
  interest: ({ interest }, account, period) => exportInterest(interest, account, period),
};

/** What is missing from an export has to be known to whoever computes with it. */
async function readNotes(
  { interest }: SnapshotStore,
  account: string,
  period: Period,
): Promise<readonly string[]> {
  return describeImport(await interest.readProgress(account), account, period);
}

interface RowCounter {
  rows: number;
}

async function* listCsv({ records }: ExportRows, counter: RowCounter): AsyncGenerator<string> {
  let isTitle = true;
  for await (const record of records()) {
    yield formatCsvRow(record);
    if (!isTitle) counter.rows += 1;
    isTitle = false;
  }
}

async function* listJson({ documents }: ExportRows, counter: RowCounter): AsyncGenerator<string> {
  for await (const document of documents()) {
    yield `${JSON.stringify(document)}\n`;
    counter.rows += 1;
  }
}
