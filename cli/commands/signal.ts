import type { Command } from 'commander';
import type { Json } from '../../lib/base/json.ts';
import type { Entry, ReceivedMessage, Step } from '../../lib/ledger/entry.ts';
import { findWait, type Wait } from '../../lib/relay/execute/explain-wait.ts';
import { reconciler } from '../../lib/relay/settle/reconcile-signals.ts';
import type { ToldEnding } from '../../lib/reports/read-endings.ts';
import { type Context, runCommand } from '../command.ts';
import { findEntry } from '../read/find-entry.ts';
import { findProtects } from '../read/find-protects.ts';
import { readSignalEndings } from '../read/read-signal-endings.ts';
import { describeEnding } from '../show/describe-ending.ts';
import { describeExecution } from '../show/describe-execution.ts';
import { describeMeaning } from '../show/describe-meaning.ts';
import { describeRefusal, refusedTickerOf } from '../show/describe-refusal.ts';
import { describeSignal } from '../show/describe-signal.ts';
import { type Cell, paint, renderFacts, renderFields } from '../show/print.ts';
import { renderProtectsOf } from '../show/render-protects.ts';
import { type ShownEntry, styleStatus } from '../show/render-signals.ts';
import { shortenId } from '../show/short-id.ts';
import type { Screen } from '../show/terminal.ts';
import { describeTime, formatLocal, nameOffset } from '../show/time-zone.ts';

interface ShowOptions {
  readonly account?: string;
  readonly verbose?: boolean;
}

export function addSignalCommand(program: Command): void {
  program
    .command('signal')
    .description('show what happened to one signal, step by step')
    .argument('<id>', "the signal's id, or the beginning of it")
    .option('--account <name>', 'needed when several accounts have a signal with that id')
    .option('--verbose', 'also show the evidence of each step: requests, responses of the exchange, limits')
    .action((id: string, options: ShowOptions, command: Command) =>
      runCommand(command, (context) => showSignal(context, id, options)),
    );
}

/** How an entry is shown. */
interface View extends Screen {
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
  const view = { width, timeZone, nowMs: session.clock.nowMs(), isVerbose: verbose };
  const [ending = null] = await readSignalEndings(session, [entry]);
  const protects = await findProtects(session.openLedger(), entry);
  const protectEndings = await readSignalEndings(session, protects);
  const message = await session.openLedger().readMessage(entry);
  const waits = await findWait({ ledger: session.openLedger(), settings: session.settings }, entry);
  print(
    {
      ...entry,
      meaning,
      ending,
      waits,
      message,
      refusals,
      protects: protects.map(withEnding(protectEndings)),
    },
    () =>
      [
        renderEntry({ entry, ending, protects }, meaning, waits, view),
        ...renderProtectsOf(protects, protectEndings, view),
        ...renderRefusals(refusals, view),
        ...renderMessage(message),
      ].join('\n'),
  );
}

function withEnding(endings: readonly (ToldEnding | null)[]) {
  return (entry: Entry, index: number) => ({ ...entry, ending: endings[index] ?? null });
}

function renderRefusals(refusals: readonly Entry[], view: View): readonly string[] {
  if (refusals.length === 0) return [];
  const lines = refusals.map((entry) =>
    paint(
      `  ${formatMoment(entry.createdAtMs, view.timeZone)}  ${describeRefusal(entry)}  (${entry.signalId})`,
    ),
  );
  return ['', 'Other alerts with this id were refused:', ...lines];
}

function renderMessage(message: ReceivedMessage | null): readonly string[] {
  if (message === null) return [];
  const { text, omittedBytes } = message;
  const cut = omittedBytes === 0 ? [] : [`… ${omittedBytes} more bytes were not kept`];
  return [
    '',
    'Its message, without secrets:',
    ...[...text.split('\n'), ...cut].map((line) => `  ${paint(line)}`),
  ];
}

function renderEntry(
  { entry, ending, protects }: ShownEntry & { readonly protects: readonly Entry[] },
  meaning: string,
  waits: Wait | null,
  view: View,
): string {
  const firstAtMs = entry.steps[0]?.atMs ?? entry.createdAtMs;
  const hasMore = entry.steps.some(({ evidence }) => evidence !== undefined);
  return [
    renderFields(
      [
        ['signal', { text: entry.signalId, style: 'strong' }],
        ['account', entry.account],
        ['status', styleStatus(entry.status)],
        ['', meaning],
        ['waits for', waits?.reason ?? null],
        [
          'until',
          waits === null ? null : `${formatMoment(waits.untilMs, view.timeZone)}, then it is too old`,
        ],
        ...describeAsked(entry, view),
        ['result', ending === null ? null : describeEnding(ending)],
        ['order', describeOrder(entry)],
        ...describeExecution(entry, protects, view.timeZone),
        ['client order id', entry.clientOrderId],
        ['lookups', describeLookups(entry, view)],
        ['what to do', adviceFor(entry)],
        ['alert SHA-256', view.isVerbose ? entry.fingerprint : null],
      ],
      view,
    ),
    '',
    ...entry.steps.map((step) => renderStep(step, firstAtMs, view)),
    ...(hasMore && !view.isVerbose
      ? ['', paint({ text: '--verbose shows the evidence of each step.', style: 'faint' })]
      : []),
  ].join('\n');
}

function describeAsked(
  entry: Entry,
  { timeZone }: View,
): readonly (readonly [string, Cell | string | null])[] {
  const { signal } = entry;
  if (signal === null)
    return [
      ['asked', 'nothing: the alert was refused'],
      ['ticker', refusedTickerOf(entry)],
    ];
  const { ticker, timeMs, maxLagMs, strategy, interval, comment, extras, info } = signal;
  return [
    ['asked', describeSignal(signal)],
    ['ticker', ticker],
    ['fired', timeMs === null ? null : formatMoment(timeMs, timeZone)],
    ['max lag', maxLagMs === null ? null : `${maxLagMs / 1000} s`],
    ['strategy', strategy ?? null],
    ['interval', interval ?? null],
    ['comment', comment ?? null],
    ['extras', extras === undefined ? null : JSON.stringify(extras)],
    ['info', info === undefined ? null : JSON.stringify(info)],
  ];
}

function describeOrder({ orderId, orderOpen }: Entry): string | null {
  if (orderOpen) return `${orderId ?? 'id unknown'}, open according to the ledger`;
  return orderId === null ? null : `${orderId}, no longer open`;
}

/** Only while the outcome is unknown; afterwards the last step describes it. */
function describeLookups({ status, lookup }: Entry, { nowMs, timeZone }: View): string | null {
  if (status !== 'unknown' || lookup === null) return null;
  const next = lookup.dueAtMs > nowMs ? `next at ${describeTime(lookup.dueAtMs, timeZone)}` : 'due now';
  if (lookup.count === 0) return `none yet; ${next}`;
  const times = lookup.count === 1 ? 'once' : `${lookup.count} times`;
  return `${times}, ${lookup.notFound} of them not found; ${next}; last: ${lookup.finding ?? ''}`;
}

function adviceFor({ status, signalId }: Entry): string | null {
  if (status !== 'unknown') return null;
  return `The relay looks it up again by itself while it runs. To settle it now: npx relay resolve ${shortenId(signalId)}`;
}

function formatMoment(timeMs: number, timeZone: string): string {
  return `${formatLocal(timeMs, timeZone)} ${nameOffset(timeMs, timeZone)}`;
}

function renderStep({ status, atMs, by, note, evidence }: Step, firstAtMs: number, view: View): string {
  const offset = `+${atMs - firstAtMs} ms`.padStart(11);
  const who = by === undefined ? '' : `  by ${by === reconciler ? 'the relay, which looked it up' : by}`;
  const head = `${formatMoment(atMs, view.timeZone)}${offset}  ${paint(styleStatus(status))}${paint(who)}`;
  const facts = evidence === undefined || !view.isVerbose ? [] : renderFacts(evidence).split('\n');
  return [
    head,
    `    ${paint(note)}`,
    ...hintsOf(evidence).map((hint) => `      ${paint(hint)}`),
    ...facts.map((line) => paint({ text: `      ${line}`, style: 'faint' })),
  ].join('\n');
}

/** The hints of a refused alert; its note contains the messages. */
function hintsOf(evidence: Json | undefined): readonly string[] {
  const { issues } = Object(evidence) as { readonly issues?: unknown };
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue: unknown) => {
    const { path, hint } = Object(issue) as { readonly path?: unknown; readonly hint?: unknown };
    if (typeof hint !== 'string' || hint === '') return [];
    return [typeof path === 'string' && path !== '' ? `${path}: ${hint}` : hint];
  });
}
