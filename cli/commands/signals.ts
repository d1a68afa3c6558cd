import { type Command, Option } from 'commander';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import type { Ledger, Pause } from '../../lib/ledger/ledger.ts';
import { type Status, statuses, statusMeanings } from '../../lib/model/outcome.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { describeRefusal, refusedTickerOf } from '../describe-refusal.ts';
import { describeSignal, summariseSignal } from '../describe-signal.ts';
import { findWithRefusals } from '../find-entry.ts';
import {
  type Cell,
  formatMillisecond,
  formatRecent,
  formatSecond,
  paint,
  renderFacts,
  renderFields,
  renderTable,
  type Style,
} from '../print.ts';
import { type ListOptions, readEntries } from '../read-entries.ts';
import { createUnknownAccount } from '../session.ts';

export function addSignalCommands(program: Command): void {
  program
    .command('signals')
    .description('list signals, newest first')
    .addOption(new Option('--status <status>', 'only those in this status').choices(statuses))
    .addOption(new Option('--limit <n>', 'at most this many').argParser(readCount(1, 1000)).default(20))
    .option('--account <name>', 'only those of this account')
    .action((options: ListOptions, command: Command) =>
      runCommand(command, (context) => listSignals(context, options)),
    );
  program
    .command('signal')
    .description('show everything about one signal')
    .argument('<id>', "the signal's id")
    .option('--account <name>', 'needed when several accounts have a signal of that id')
    .action((id: string, options: { account?: string }, command: Command) =>
      runCommand(command, (context) => showSignal(context, id, options.account)),
    );
}

async function listSignals({ session, print }: Context, options: ListOptions): Promise<void> {
  const ledger = session.openLedger();
  const signals = await readEntries(ledger, options);
  if (signals.length === 0) await refuseUnknownAccount(session.settings, ledger, options.account);
  const pauses = await readPauses(ledger, Object.keys(session.settings.accounts));
  print({ signals, pauses }, () => {
    const banner = pauses.map((pause) => `${renderPause(pause)}\n`).join('');
    return `${banner === '' ? '' : `${banner}\n`}${renderSignals(signals, options)}`;
  });
}

/** One that was taken out of the configuration has its signals all the same; a misspelt one has none. */
async function refuseUnknownAccount(settings: Settings, ledger: Ledger, name?: string): Promise<void> {
  if (name === undefined || findAccount(settings, name) !== null) return;
  const { entries } = await ledger.list({ account: name, limit: 1 });
  if (entries.length === 0) throw createUnknownAccount(settings, name);
}

interface AccountPause extends Pause {
  readonly account: string;
}

async function readPauses(ledger: Ledger, accounts: readonly string[]): Promise<readonly AccountPause[]> {
  const pauses = await Promise.all(
    accounts.map(async (account) => ({ account, pause: await ledger.readPause(account) })),
  );
  return pauses.flatMap(({ account, pause }) => (pause === null ? [] : [{ account, ...pause }]));
}

function renderPause({ account, sinceMs, reason }: AccountPause): string {
  const text = `account ${account} is paused since ${formatSecond(sinceMs)} UTC: ${reason}`;
  return paint({ text, style: 'alarm' });
}

function renderSignals(entries: readonly Entry[], { status, limit }: ListOptions): string {
  if (entries.length === 0) return status === undefined ? 'No signals yet.' : `No signal is ${status}.`;
  const table = renderTable(
    [
      { title: 'time (UTC)' },
      { title: 'signal', maximumWidth: 40 },
      { title: 'account', maximumWidth: 12 },
      { title: 'market' },
      { title: 'what', maximumWidth: 24 },
      { title: 'status' },
      { title: 'order', align: 'right' },
    ],
    entries.map((entry) => [
      formatRecent(entry.createdAtMs),
      entry.signalId,
      entry.account,
      entry.signal?.market ?? refusedTickerOf(entry) ?? '–',
      entry.signal === null ? describeRefusal(entry) : summariseSignal(entry.signal),
      styleStatus(entry.status),
      entry.orderId === null ? '–' : String(entry.orderId),
    ]),
  );
  return entries.length < limit ? table : `${table}\n\nThe newest ${limit}; --limit shows more.`;
}

const statusStyles: Readonly<Record<Status, Style>> = {
  accepted: 'waiting',
  sending: 'waiting',
  placed: 'good',
  cancelled: 'good',
  denied: 'bad',
  dry_run: 'faint',
  rejected: 'bad',
  not_sent: 'bad',
  unknown: 'alarm',
  not_placed: 'bad',
  invalid: 'bad',
};

function styleStatus(status: Status): Cell {
  return { text: status, style: statusStyles[status] };
}

async function showSignal(
  { session, print }: Context,
  id: string,
  account: string | undefined,
): Promise<void> {
  const accounts = account === undefined ? Object.keys(session.settings.accounts) : [account];
  const { entry, refusals } = await findWithRefusals(session.openLedger(), id, accounts);
  const meaning = statusMeanings[entry.status];
  print({ ...entry, meaning, refusals }, () =>
    [renderEntry(entry, meaning), ...renderRefusals(refusals)].join('\n'),
  );
}

function renderRefusals(refusals: readonly Entry[]): readonly string[] {
  if (refusals.length === 0) return [];
  const lines = refusals.map((entry) =>
    paint(`  ${formatMillisecond(entry.createdAtMs)} UTC  ${describeRefusal(entry)}  (${entry.signalId})`),
  );
  return ['', 'Other alerts of this id were refused:', ...lines];
}

function renderEntry(entry: Entry, meaning: string): string {
  const firstAtMs = entry.steps[0]?.atMs ?? entry.createdAtMs;
  return [
    renderFields([
      ['signal', { text: entry.signalId, style: 'strong' }],
      ['account', entry.account],
      ['status', styleStatus(entry.status)],
      ['', meaning],
      ...describeAsked(entry),
      ['order', describeOrder(entry)],
      ['client order id', entry.clientOrderId],
      ['looked for', describeLookup(entry)],
      ['alert SHA-256', entry.fingerprint],
    ]),
    '',
    ...entry.steps.map((step) => renderStep(step, firstAtMs)),
  ].join('\n');
}

function describeAsked(entry: Entry): readonly (readonly [string, string | null])[] {
  const { signal } = entry;
  if (signal === null)
    return [
      ['asked', 'nothing that was taken in'],
      ['ticker', refusedTickerOf(entry)],
    ];
  const { ticker, timeMs, maxLagMs, strategy, interval, comment, extras } = signal;
  return [
    ['asked', describeSignal(signal)],
    ['ticker', ticker],
    ['fired', timeMs === null ? null : `${formatMillisecond(timeMs)} UTC`],
    ['may be late by', maxLagMs === null ? null : `${maxLagMs / 1000} s`],
    ['strategy', strategy ?? null],
    ['interval', interval ?? null],
    ['comment', comment ?? null],
    ['extras', extras === undefined ? null : JSON.stringify(extras)],
  ];
}

function describeOrder({ orderId, orderOpen }: Entry): string | null {
  if (orderOpen) return `${orderId ?? 'id not known'}, open as far as the ledger knows`;
  return orderId === null ? null : `${orderId}, no longer open`;
}

/** Only while it matters: what became of it in the end stands in the last step. */
function describeLookup({ status, lookup }: Entry): string | null {
  if (status !== 'unknown' || lookup === null) return null;
  const next = `next at ${formatSecond(lookup.dueAtMs)} UTC`;
  if (lookup.count === 0) return `not yet; ${next}`;
  return `${lookup.count} times, ${lookup.notFound} times missing; ${next}; last: ${lookup.finding ?? ''}`;
}

function renderStep({ status, atMs, by, note, evidence }: Step, firstAtMs: number): string {
  const offset = `+${atMs - firstAtMs} ms`.padStart(11);
  const who = by === undefined ? '' : `  by ${by}`;
  const head = `${formatMillisecond(atMs)} UTC${offset}  ${paint(styleStatus(status))}${paint(who)}`;
  const facts = evidence === undefined ? [] : renderFacts(evidence).split('\n');
  return [
    head,
    `    ${paint(note)}`,
    ...facts.map((line) => paint({ text: `      ${line}`, style: 'faint' })),
  ].join('\n');
}
