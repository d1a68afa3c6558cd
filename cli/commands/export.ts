import { Argument, type Command, Option } from 'commander';
import type { Period, SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import { type Context, runCommand } from '../command.ts';
import { formatCsvRow } from '../export/csv.ts';
import { exportFills } from '../export/export-fills.ts';
import { type ExportRows, exportBalances, exportFees, exportInterest } from '../export/export-rows.ts';
import { exportSignals } from '../export/export-signals.ts';
import { writeOutput } from '../export/write-output.ts';
import { createUsageFailure } from '../failure.ts';
import {
  addFilterOptions,
  type FilterOptions,
  filterOf,
  refuseUnknownAccount,
} from '../read/signal-filter.ts';
import { addRangeOptions, chooseRange, type RangeOptions } from '../read/time-range.ts';
import { chooseAccount, type Session } from '../session/session.ts';
import { describeImport } from '../show/describe-import.ts';
import { paint } from '../show/print.ts';
import { fitLines } from '../show/wrap-text.ts';

const snapshotSubjects = ['balances', 'fees', 'interest'] as const;
type SnapshotSubject = (typeof snapshotSubjects)[number];
const subjects = [...snapshotSubjects, 'signals', 'fills'] as const;
type Subject = (typeof subjects)[number];

const formats = ['csv', 'jsonl'] as const;

interface ExportOptions extends RangeOptions, FilterOptions {
  readonly format: (typeof formats)[number];
  readonly out?: string;
}

export function addExportCommands(program: Command): void {
  const command = program
    .command('export')
    .description(
      'export recorded balances, transfer fees or interest payments, the fills of orders, or signals, which can be filtered',
    )
    .addArgument(new Argument('<what>', 'what to export').choices(subjects));
  addFilterOptions(
    addRangeOptions(command, 'the beginning')
      .addOption(
        new Option('--format <format>', 'csv for spreadsheets, or jsonl: one JSON document a line')
          .choices(formats)
          .default('csv'),
      )
      .option('--out <file>', 'write to this file (default: standard output)'),
    'which account (default: the first configured one; for signals and fills, all)',
  ).action((what: Subject, options: ExportOptions, self: Command) =>
    runCommand(self, (context) => exportSubject(context, what, options)),
  );
}

async function exportSubject(context: Context, what: Subject, options: ExportOptions): Promise<void> {
  const { session, print, isJson, terminal } = context;
  const { format, out } = options;
  if (isJson && out === undefined)
    throw createUsageFailure(
      'an export is not a single JSON document',
      'Use --format jsonl, one document a line, or name a file with --out.',
    );
  // Signals have no upper limit, so that the newest are exported even if the relay's clock is ahead of this
  // one.
  const nowMs = what === 'signals' ? Number.POSITIVE_INFINITY : session.clock.nowMs();
  const period = chooseRange(options, nowMs, () => 0);
  const { account, rows, notes } =
    what === 'signals'
      ? await openSignals(session, options, period)
      : what === 'fills'
        ? await openFills(session, options, period)
        : await openSnapshotRows(session, what, options, period);
  const counter = { rows: 0 };
  const texts = format === 'csv' ? listCsv(rows, counter) : listJson(rows, counter);
  await writeOutput(texts, out ?? terminal.stdout);
  if (out !== undefined)
    print({ account, what, format, ...period, rows: counter.rows, path: out, notes }, () =>
      [`${out}: ${counter.rows} ${counter.rows === 1 ? 'row' : 'rows'} of ${what}`, ...notes]
        .map(paint)
        .join('\n'),
    );
  else terminal.stderr.write(fitLines(notes.map((note) => `${paint(note)}\n`).join(''), terminal.width));
}

/** An export. */
interface Export {
  /** Null: all accounts. */
  readonly account: string | null;
  readonly rows: ExportRows;
  /** Sentences on what is missing, for readers who compute with the data. */
  readonly notes: readonly string[];
}

async function openSignals(session: Session, options: ExportOptions, period: Period): Promise<Export> {
  const { account = null } = options;
  const ledger = session.openLedger();
  await refuseUnknownAccount(session.settings, ledger, options.account);
  const filter = { ...filterOf(options, session.settings.tickers), ...period };
  return { account, rows: exportSignals(ledger, filter), notes: [] };
}

async function openFills(session: Session, options: ExportOptions, period: Period): Promise<Export> {
  refuseFilters(options, 'fills');
  const { account = null } = options;
  const ledger = session.openLedger();
  await refuseUnknownAccount(session.settings, ledger, options.account);
  const accounts = account === null ? Object.keys(session.settings.accounts) : [account];
  const sources = { ledger, executions: session.openExecutions(), settings: session.settings };
  return { account, rows: exportFills(sources, accounts, period), notes: [] };
}

/** @throws CommandFailure (usage) */
function refuseFilters({ status, market, text }: ExportOptions, what: Subject): void {
  if (status === undefined && market === undefined && text === undefined) return;
  throw createUsageFailure(
    '--status, --market and --text are for signals',
    `Leave them out, or write \`export signals\` for \`export ${what}\`.`,
  );
}

async function openSnapshotRows(
  session: Session,
  what: SnapshotSubject,
  options: ExportOptions,
  period: Period,
): Promise<Export> {
  refuseFilters(options, what);
  const { name: account } = chooseAccount(session.settings, options.account);
  const store = session.openSnapshots();
  // Read first: if an import finishes during the export, its progress does not describe the rows read before.
  const notes =
    what === 'interest' ? describeImport(await store.interest.readProgress(account), account, period) : [];
  return { account, rows: openRows[what](store, account, period), notes };
}

const openRows: Readonly<
  Record<SnapshotSubject, (store: SnapshotStore, account: string, period: Period) => ExportRows>
> = {
  balances: ({ balances }, account, period) => exportBalances(balances, account, period),
  fees: ({ fees }, account, period) => exportFees(fees, account, period),
  interest: ({ interest }, account, period) => exportInterest(interest, account, period),
};

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
