import { userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import type { Alarm } from '../../lib/base/alarms.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import {
  type Approach,
  type Observation,
  observations,
  observationsOf,
  type Resolution,
  resolveSignal,
} from '../../lib/relay/settle/resolve-signal.ts';
import { type Context, readCount, readShortText, runCommand } from '../command.ts';
import { createUsageFailure } from '../failure.ts';
import { findEntry } from '../read/find-entry.ts';
import { timeoutMs } from '../session/exchange.ts';
import { chooseAccount, type Session } from '../session/session.ts';
import { describeMeaning } from '../show/describe-meaning.ts';
import { paint, renderFields } from '../show/print.ts';
import type { Screen } from '../show/terminal.ts';

interface ResolveOptions {
  readonly account?: string;
  readonly cancel?: boolean;
  readonly saw?: Observation;
  readonly note?: string;
  readonly orderId?: number;
  readonly by?: string;
}

export function addResolveCommands(program: Command): void {
  program
    .command('resolve')
    .description(
      'settle a signal whose outcome is unknown: look up its order, cancel it, or record what you saw',
    )
    .argument('<id>', "the signal's id, or the beginning of it")
    .option('--account <name>', 'needed when several accounts have a signal with that id')
    .addOption(
      new Option(
        '--cancel',
        'cancel its order by client order id; if the exchange confirms, the order existed',
      ).conflicts('saw'),
    )
    .addOption(
      new Option('--saw <status>', 'record what you saw at the exchange yourself').choices(observations),
    )
    .option('--note <text>', 'with --saw: where and how you saw it')
    .addOption(
      new Option('--order-id <n>', "with --saw: the exchange's order id").argParser(
        readCount(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .option('--by <name>', 'who resolves it (default: your user name)')
    .action((id: string, options: ResolveOptions, command: Command) =>
      runCommand(command, (context) => resolve(context, id, options)),
    );
}

async function resolve(
  { session, terminal, printChange }: Context,
  id: string,
  options: ResolveOptions,
): Promise<void> {
  const approach = readApproach(options);
  const by = readShortText('--by', options.by ?? userInfo().username);
  const ledger = session.openLedger();
  const accounts = options.account === undefined ? Object.keys(session.settings.accounts) : [options.account];
  const { entry } = await findEntry(ledger, id, accounts, approach.kind !== 'look');
  refuseImpossible(entry, approach);
  const alarms: string[] = [];
  const services = {
    clock: session.clock,
    // The ledger entry and the output of this command replace the log. Alarms are printed in addition.
    log: { info: silence, warn: silence, error: silence },
    alarms: { raise: ({ message }: Alarm) => void alarms.push(message) },
    ledger,
    settings: session.settings,
    executions: session.openExecutions(),
    facts: session.openFacts(),
    exchangeTimeoutMs: timeoutMs,
    exchangeFor: (name: string) => openExchange(session, name),
  };
  const resolution = await resolveSignal(services, entry, approach, by, { timeoutMs });
  const { result, finding } = resolution;
  printChange({ result, finding, alarms, entry: resolution.entry }, () =>
    describe(resolution, approach, alarms, terminal),
  );
}

async function openExchange(session: Session, name: string) {
  return await session.openExchange(chooseAccount(session.settings, name));
}

const silence = () => undefined;

function refuseImpossible({ signal }: Entry, approach: Approach): void {
  if (approach.kind !== 'saw') return;
  const { status, orderId } = approach;
  const possible = observationsOf(signal);
  if (!possible.includes(status))
    throw createUsageFailure(
      `this signal is a cancellation, which cannot end as ${status}`,
      `Choose one of: --saw ${possible.join(' or --saw ')}.`,
    );
  if (orderId !== null && (status === 'rejected' || status === 'not_placed'))
    throw createUsageFailure(
      `a signal that was ${status} has no order id`,
      'Leave out --order-id, or use --saw placed.',
    );
}

function readApproach({ cancel, saw, note, orderId }: ResolveOptions): Approach {
  if (saw === undefined) {
    if (note !== undefined || orderId !== undefined)
      throw createUsageFailure(
        '--note and --order-id belong to --saw',
        `Add --saw, one of ${observations.join(', ')}.`,
      );
    return { kind: cancel === true ? 'cancel' : 'look' };
  }
  if (note === undefined)
    throw createUsageFailure(
      '--saw needs --note',
      'Add --note and say where you saw it, for example --note "order history, 14:05".',
    );
  return { kind: 'saw', status: saw, note: readShortText('--note', note), orderId: orderId ?? null };
}

/** What was asked for and not done, because the signal was settled before. */
function describeNotDone({ signal, clientOrderId }: Entry, { kind }: Approach): string | null {
  if (kind === 'look') return null;
  if (kind === 'saw') return 'Nothing was recorded: a settled signal stays as it is.';
  return signal === null || clientOrderId === null
    ? 'Nothing was cancelled.'
    : `Nothing was cancelled. To cancel its order: npx relay cancel ${signal.market} --client-order-id ${clientOrderId}`;
}

function describe(
  resolution: Resolution,
  approach: Approach,
  alarms: readonly string[],
  screen: Screen,
): string {
  const { result, entry, finding } = resolution;
  const notDone = result === 'was_settled' && finding === null ? describeNotDone(entry, approach) : null;
  return [
    ...alarms.map((alarm) => paint({ text: alarm, style: 'alarm' })),
    ...(notDone === null ? [] : [paint({ text: notDone, style: 'alarm' })]),
    describeResolution(resolution, screen),
  ].join('\n');
}

function describeResolution({ result, entry, finding }: Resolution, screen: Screen): string {
  const last = entry.steps.at(-1);
  if (result === 'open_question') return describeOpen(entry, finding ?? '', screen);
  const word = result === 'settled' ? 'is settled as' : 'was settled before, as';
  return [
    paint({
      text: `${entry.signalId} ${word} ${entry.status}: ${describeMeaning(entry)}`,
      style: 'strong',
    }),
    paint(last?.note ?? ''),
    ...(finding === null ? [] : [paint({ text: finding, style: 'alarm' })]),
  ].join('\n');
}

function describeOpen({ signalId, clientOrderId }: Entry, finding: string, screen: Screen): string {
  return [
    paint({ text: `${signalId} is still unknown: ${finding}`, style: 'alarm' }),
    '',
    'What you can do:',
    renderFields(
      [
        ['  wait', 'the relay looks it up again by itself, at growing intervals'],
        [
          '  --cancel',
          'cancels its order by the client order id; if the exchange confirms, the order existed',
        ],
        ['  --saw STATUS --note', 'records what you saw at the exchange yourself'],
      ],
      screen,
    ),
    ...(clientOrderId === null ? [] : [paint(`The client order id is ${clientOrderId}.`)]),
  ].join('\n');
}
