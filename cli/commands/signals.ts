import { type Command, Option } from 'commander';
import type { PauseShown } from '../../dashboard/documents.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { readPauses } from '../../lib/ledger/pauses.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { createUsageFailure } from '../failure.ts';
import { type EntryFilter, type EntryListing, mostLookedAt, readEntries } from '../read/read-entries.ts';
import { readSignalEndings } from '../read/read-signal-endings.ts';
import {
  addFilterOptions,
  describeFilter,
  type FilterOptions,
  filterOf,
  refuseUnknownAccount,
} from '../read/signal-filter.ts';
import { addLocalRangeOptions, chooseRange, type LocalRangeOptions, placeRange } from '../read/time-range.ts';
import { paint } from '../show/print.ts';
import { renderSignals, type ShownEntry } from '../show/render-signals.ts';
import type { Screen } from '../show/terminal.ts';
import { describeTime } from '../show/time-zone.ts';

interface ListOptions extends FilterOptions, LocalRangeOptions {
  readonly limit: number;
  readonly before?: string;
}

export function addSignalsCommand(program: Command): void {
  const command = program.command('signals').description('list signals, newest first');
  addLocalRangeOptions(addFilterOptions(command))
    .addOption(
      new Option('--limit <n>', 'at most this many signals').argParser(readCount(1, 1000)).default(20),
    )
    .option('--before <place>', 'continue an earlier list at the place that it printed')
    .action((options: ListOptions, self: Command) =>
      runCommand(self, (context) => listSignals(context, options)),
    );
}

async function listSignals(context: Context, options: ListOptions): Promise<void> {
  const { session, terminal, print } = context;
  const ledger = session.openLedger();
  const filter = { ...filterOf(options, session.settings.tickers), ...readRange(options, terminal) };
  const listing = await readPage(ledger, filter, options);
  const { entries: signals, next } = listing;
  if (signals.length === 0) await refuseUnknownAccount(session.settings, ledger, options.account);
  const pauses = await readPauses(ledger, Object.keys(session.settings.accounts));
  const endings = await readSignalEndings(session, signals);
  const documents = signals.map((entry, index) => ({ ...entry, ending: endings[index] ?? null }));
  const shown = signals.map((entry, index) => ({ entry, ending: endings[index] ?? null }));
  print({ signals: documents, pauses, next }, () =>
    [
      ...pauses.map((pause) => renderPause(pause, terminal)),
      ...(pauses.length === 0 ? [] : ['']),
      renderListing(context, { ...listing, shown }, options),
    ].join('\n'),
  );
}

/**
 * The range has no upper limit by default, so that the newest signals are listed even if the relay's clock is
 * ahead of this one.
 *
 * @throws CommandFailure (usage) when nothing can be in the range
 */
function readRange(options: LocalRangeOptions, { timeZone }: Screen): EntryFilter {
  return chooseRange(placeRange(options, timeZone), Number.POSITIVE_INFINITY, () => 0);
}

async function readPage(
  ledger: Ledger,
  filter: EntryFilter,
  { limit, before }: ListOptions,
): Promise<EntryListing> {
  try {
    return await readEntries(ledger, filter, before === undefined ? { limit } : { limit, before });
  } catch (error) {
    if (error instanceof RangeError)
      throw createUsageFailure(
        error.message,
        'Leave out --before, or copy the place that a list of this relay printed.',
      );
    throw error;
  }
}

function renderPause({ account, sinceMs, reason }: PauseShown, { timeZone }: Screen): string {
  const text = `account ${account} is paused since ${describeTime(sinceMs, timeZone)}: ${reason}`;
  return paint({ text, style: 'alarm' });
}

interface ShownListing extends EntryListing {
  readonly shown: readonly ShownEntry[];
}

function renderListing(context: Context, listing: ShownListing, options: ListOptions): string {
  const { width, timeZone } = context.terminal;
  const { entries, shown, next, isCut } = listing;
  const accounts = new Set([
    ...Object.keys(context.session.settings.accounts),
    ...entries.map(({ account }) => account),
  ]);
  const isOneAccount = options.account !== undefined || accounts.size === 1;
  const parts = [
    entries.length === 0
      ? describeNone(options, isCut)
      : renderSignals(shown, { width, timeZone, isOneAccount }),
    ...(isCut ? [`The search stopped after ${mostLookedAt} signals; there are older ones.`] : []),
    ...(next === null ? [] : [`For older ones, repeat the command with --before ${next}`]),
  ];
  return parts.join('\n\n');
}

function describeNone(options: ListOptions, isCut: boolean): string {
  if (isCut) return 'No signal matches so far.';
  const isOfTime = options.from !== undefined || options.to !== undefined || options.before !== undefined;
  const filter = describeFilter(options);
  if (!isOfTime && filter === `status ${options.status}`) return `No signal is ${options.status}.`;
  if (filter === '') return isOfTime ? 'No signals in that period.' : 'No signals yet.';
  return `No signals with ${filter}${isOfTime ? ' in that period' : ''}.`;
}
