import { type Command, Option } from 'commander';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Account } from '../../lib/model/account.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { findProtects } from '../read/find-protects.ts';
import { readSignalEndings } from '../read/read-signal-endings.ts';
import { findTicker, isPending, sendSignal, waitForOutcome } from '../session/send-signal.ts';
import { chooseAccount, commandFor, commandOf, type Session } from '../session/session.ts';
import { describeMeaning } from '../show/describe-meaning.ts';
import { renderFields } from '../show/print.ts';
import { nameOfProtect, renderProtects, withoutRepeats } from '../show/render-protects.ts';
import { styleStatus } from '../show/render-signals.ts';

interface ProtectOptions {
  readonly stopLoss?: string;
  readonly takeProfit: readonly string[];
  readonly trailing?: string;
  readonly side?: 'long' | 'short';
  readonly account?: string;
}

export function addProtectCommand(program: Command): void {
  program
    .command('protect')
    .description(
      'change what protects the open position of one market, as an alert with "action": "protect" does; what is not named stays. Also while paused, except with `pause --everything`',
    )
    .argument('<market>', 'for example BTC_USDT, or a ticker of it')
    .option('--stop-loss <price>', 'a price, a distance from the entry price such as 2%, or "entry"')
    .option(
      '--take-profit <price>',
      'a price or a distance; several times with shares, such as 51000=50%',
      (value: string, earlier: readonly string[]) => [...earlier, value],
      [],
    )
    .option('--trailing <per cent>', 'the relay keeps the stop-loss this far behind the best price')
    .addOption(
      new Option('--side <side>', 'which position, for an account in hedge mode').choices(['long', 'short']),
    )
    .option('--account <name>', 'which account (default: the first configured one)')
    .action((market: string, options: ProtectOptions, command: Command) =>
      runCommand(command, (context) => protectPosition(context, market, options)),
    );
}

async function protectPosition(
  { session, terminal, printChange }: Context,
  named: string,
  options: ProtectOptions,
): Promise<void> {
  const account = chooseAccount(session.settings, options.account);
  const place = findTicker(session, account, named);
  const { market } = place;
  const signalId = await sendSignal(session, account, 'protect', place, {
    action: 'protect',
    ...wishedFor(options),
  });
  const entry = await waitForOutcome(session, account, signalId);
  const { status } = entry;
  const note = entry.steps.at(-1)?.note ?? '';
  const next = commandFor(session.target, `signal ${signalId}`);
  if (status !== 'satisfied' && status !== 'dry_run' && !isPending(entry))
    throw new CommandFailure(
      'not_protected',
      `the protection of ${market} of account ${account.name} was not changed: ${status}: ${note}`,
      `${next} shows each step.`,
    );
  const orders = await waitForOrders(session, account, entry);
  const denied = orders.filter((order) => order.status === 'denied');
  if (denied.length > 0 && (await isEverythingPaused(session, account)))
    throw createHeldByPause(session, account, market, denied);
  const document = { account: account.name, market, signalId, status, note };
  const endings = await readSignalEndings(session, orders);
  printChange({ ...document, orders: orders.map(describeOrder) }, () =>
    [
      renderFields([
        ['signal', signalId],
        ['account', account.name],
        ['status', styleStatus(status)],
        ['', describeMeaning(entry)],
        ['', note],
      ]),
      ...(orders.length === 0 ? [] : ['', renderProtects(...withoutRepeats(orders, endings), terminal)]),
      '',
      isPending(entry) || orders.some(isPending)
        ? `It is not carried out yet. For the outcome: ${next}`
        : `What should stand, beside what does: ${commandOf(session, account, 'positions')}`,
    ].join('\n'),
  );
}

/** The fields of the alert. */
function wishedFor({ stopLoss, takeProfit, trailing, side }: ProtectOptions) {
  if (stopLoss === undefined && trailing === undefined && takeProfit.length === 0)
    throw createUsageFailure(
      'nothing says what protects the position',
      'Add --stop-loss (a price, 2% or entry), --take-profit or --trailing 1.5%.',
    );
  return {
    ...(stopLoss === undefined ? {} : { stopLoss }),
    ...takeProfitsOf(takeProfit),
    ...(trailing === undefined ? {} : { trailing }),
    ...(side === undefined ? {} : { positionSide: side.toUpperCase() }),
  };
}

function takeProfitsOf(given: readonly string[]) {
  const [only] = given;
  if (only === undefined) return {};
  if (given.length === 1 && !only.includes('=')) return { takeProfit: only };
  return {
    takeProfits: given.map((text) => {
      const [price = '', share, ...more] = text.split('=');
      if (share === undefined || more.length > 0)
        throw createUsageFailure(
          `"${text}" does not say which share of the position it is for`,
          'Write each of several take-profits with its share: --take-profit 51000=50% --take-profit 52000=50%.',
        );
      return { price, share };
    }),
  };
}

/** What keeps what the signal asked for, each with its outcome unless the time is up. */
async function waitForOrders(session: Session, account: Account, entry: Entry): Promise<readonly Entry[]> {
  const orders = await findProtects(session.openLedger(), entry);
  return await Promise.all(orders.map(({ signalId }) => waitForOutcome(session, account, signalId)));
}

/** Such a pause alone stops what protects a position. */
async function isEverythingPaused(session: Session, { name }: Account): Promise<boolean> {
  return (await session.openLedger().readPause(name))?.kind === 'everything';
}

function createHeldByPause(
  { target }: Session,
  { name }: Account,
  market: string,
  denied: readonly Entry[],
): CommandFailure {
  const what = denied.map(nameOfProtect).join(' and ');
  return new CommandFailure(
    'not_protected',
    `not placed: ${what} of ${market}: account ${name} is paused with --everything; what stood before still stands`,
    `What you asked for is noted. It is placed after: ${commandFor(target, `resume ${name}`)}`,
  );
}

function describeOrder({ signal, signalId, status, orderId, steps }: Entry) {
  const { role, part } = signal?.action === 'protect' ? signal : {};
  return {
    signalId,
    role,
    ...(part === undefined ? {} : { part }),
    status,
    orderId,
    note: steps.at(-1)?.note,
  };
}
