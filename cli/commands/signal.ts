import type { Command } from 'commander';
import type { Json } from '../../lib/base/json.ts';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import { reconciler } from '../../lib/relay/reconcile-signals.ts';
import { type Context, runCommand } from '../command.ts';
import { describeMeaning } from '../describe-meaning.ts';
import { describeRefusal, refusedTickerOf } from '../describe-refusal.ts';
import { describeSignal } from '../describe-signal.ts';
import { findEntry } from '../find-entry.ts';
import { type Cell, paint, renderFacts, renderFields } from '../print.ts';
import { styleStatus } from '../render-signals.ts';
import { shortenId } from '../short-id.ts';
import type { Screen } from '../terminal.ts';
import { describeTime, formatLocal, nameOffset } from '../time-zone.ts';

interface ShowOptions {
  readonly account?: string;
  readonly verbose?: boolean;
}

export function addSignalCommand(program: Command): void {
  program
    .command('signal')
    .description('tell what became of one signal, step by step')
    .argument('<id>', "the signal's id, or the beginning of it")
    .option('--account <name>', 'needed when several accounts have a signal of that id')
    .option('--verbose', 'with what each step rests on: requests, responses of the exchange, limits')
    .action((id: string, options: ShowOptions, command: Command) =>
      runCommand(command, (context) => showSignal(context, id, options)),
    );
}

/** How an entry is told. */
interface Telling extends Screen {
  readonly nowMs: number;
  readonly isVerbose: boolean;
}

async function showSignal(
  { session, terminal, print }: Context,
  id: string,
  { account, verbose = false }: ShowOptions,
): Promise<void> {
  const accounts = account === undefined ? Object.keys(session.settings.accounts) : [account];
  const { entry, refusals } = await findEntry(session.openLedger(), id, accounts);
  const meaning = describeMeaning(entry);
  const { width, timeZone } = terminal;
  const telling = { width, timeZone, nowMs: session.clock.nowMs(), isVerbose: verbose };
  print({ ...entry, meaning, refusals }, () =>
    [renderEntry(entry, meaning, telling), ...renderRefusals(refusals, telling)].join('\n'),
  );
}

function renderRefusals(refusals: readonly Entry[], telling: Telling): readonly string[] {
  if (refusals.length === 0) return [];
  const lines = refusals.map((entry) =>
    paint(
      `  ${formatMoment(entry.createdAtMs, telling.timeZone)}  ${describeRefusal(entry)}  (${entry.signalId})`,
    ),
  );
  return ['', 'Other alerts of this id were refused:', ...lines];
}

function renderEntry(entry: Entry, meaning: string, telling: Telling): string {
  const firstAtMs = entry.steps[0]?.atMs ?? entry.createdAtMs;
  const hasMore = entry.steps.some(({ evidence }) => evidence !== undefined);
  return [
    renderFields(
      [
        ['signal', { text: entry.signalId, style: 'strong' }],
        ['account', entry.account],
        ['status', styleStatus(entry.status)],
        ['', meaning],
        ...describeAsked(entry, telling),
        ['order', describeOrder(entry)],
        ['client order id', entry.clientOrderId],
        ['looked for', describeLookups(entry, telling)],
        ['what to do', adviceFor(entry)],
        ['alert SHA-256', telling.isVerbose ? entry.fingerprint : null],
      ],
      telling,
    ),
    '',
    ...entry.steps.map((step) => renderStep(step, firstAtMs, telling)),
    ...(hasMore && !telling.isVerbose
      ? ['', paint({ text: '--verbose shows what each step rests on.', style: 'faint' })]
      : []),
  ].join('\n');
}

function describeAsked(
  entry: Entry,
  { timeZone }: Telling,
): readonly (readonly [string, Cell | string | null])[] {
  const { signal } = entry;
  if (signal === null)
    return [
      ['asked', 'nothing: the alert was refused'],
      ['ticker', refusedTickerOf(entry)],
    ];
  const { ticker, timeMs, maxLagMs, strategy, interval, comment, extras } = signal;
  return [
    ['asked', describeSignal(signal)],
    ['ticker', ticker],
    ['fired', timeMs === null ? null : formatMoment(timeMs, timeZone)],
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
function describeLookups({ status, lookup }: Entry, { nowMs, timeZone }: Telling): string | null {
  if (status !== 'unknown' || lookup === null) return null;
  const next = lookup.dueAtMs > nowMs ? `next at ${describeTime(lookup.dueAtMs, timeZone)}` : 'due now';
  if (lookup.count === 0) return `not yet; ${next}`;
  const times = lookup.count === 1 ? 'once' : `${lookup.count} times`;
  return `${times}, not found in ${lookup.notFound} of them; ${next}; last: ${lookup.finding ?? ''}`;
}

function adviceFor({ status, signalId }: Entry): string | null {
  if (status !== 'unknown') return null;
  return `The relay looks it up again by itself while it runs. To settle it now: npx relay resolve ${shortenId(signalId)}`;
}

function formatMoment(timeMs: number, timeZone: string): string {
  return `${formatLocal(timeMs, timeZone)} ${nameOffset(timeMs, timeZone)}`;
}

function renderStep({ status, atMs, by, note, evidence }: Step, firstAtMs: number, telling: Telling): string {
  const offset = `+${atMs - firstAtMs} ms`.padStart(11);
  const who = by === undefined ? '' : `  by ${by === reconciler ? 'the relay, which looked it up' : by}`;
  const head = `${formatMoment(atMs, telling.timeZone)}${offset}  ${paint(styleStatus(status))}${paint(who)}`;
  const facts = evidence === undefined || !telling.isVerbose ? [] : renderFacts(evidence).split('\n');
  return [
    head,
    `    ${paint(note)}`,
    ...hintsOf(evidence).map((hint) => `      ${paint(hint)}`),
    ...facts.map((line) => paint({ text: `      ${line}`, style: 'faint' })),
  ].join('\n');
}

/** What to change in an alert that was refused: its note tells what was wrong with it. */
function hintsOf(evidence: Json | undefined): readonly string[] {
  const { issues } = Object(evidence) as { readonly issues?: unknown };
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue: unknown) => {
    const { path, hint } = Object(issue) as { readonly path?: unknown; readonly hint?: unknown };
    if (typeof hint !== 'string' || hint === '') return [];
    return [typeof path === 'string' && path !== '' ? `${path}: ${hint}` : hint];
  });
}
