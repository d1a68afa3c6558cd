import { type Command, Option } from 'commander';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { findTicker, isPending, sendSignal, waitForOutcome } from '../session/send-signal.ts';
import { chooseAccount, commandFor, commandOf, namesBeside, type Session } from '../session/session.ts';
import { describeMeaning } from '../show/describe-meaning.ts';
import { renderFields } from '../show/print.ts';
import { styleStatus } from '../show/render-signals.ts';

interface CloseOptions {
  readonly part?: string;
  readonly side?: 'long' | 'short';
  readonly maxSlippage?: string;
  readonly keepEntries?: true;
  readonly account?: string;
}

export function addCloseCommand(program: Command): void {
  program
    .command('close')
    .description(
      'close the position of one market with its stop-loss, its take-profit and the entries that rest, as an alert with "action": "close" does; also while paused, except with `pause --everything`',
    )
    .argument('<market>', 'for example BTC_USDT, or a ticker of it')
    .option('--part <per cent>', 'close only this share of the position, for example 50%')
    .addOption(
      new Option('--side <side>', 'which position, for an account in hedge mode').choices(['long', 'short']),
    )
    .option('--keep-entries', 'leave the orders of this relay that rest for an entry')
    .option('--max-slippage <per cent>', 'less than the account allows, or for an account that names none')
    .option('--account <name>', 'which account (default: the first configured one)')
    .action((market: string, options: CloseOptions, command: Command) =>
      runCommand(command, (context) => closePosition(context, market, options)),
    );
}

/** What leaves no doubt that the close was carried out, or that nothing had to be closed. */
const closedStatuses: ReadonlySet<Status> = new Set(['placed', 'satisfied', 'dry_run']);

/** Whether a close has left nothing, as far as it is known. It may have filled in part, or an exit may have turned the position. */
export function hasClosed({ status, steps }: Pick<Entry, 'status' | 'steps'>): boolean {
  const { rest, turned } = steps.at(-1)?.facts ?? {};
  return closedStatuses.has(status) && rest === undefined && turned === undefined;
}

async function closePosition(
  { session, printChange }: Context,
  named: string,
  { part, side, maxSlippage, keepEntries, account: name }: CloseOptions,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const place = findTicker(session, account, named);
  const { market } = place;
  const signalId = await sendSignal(session, account, 'close', place, {
    action: 'close',
    ...(part === undefined ? {} : { quantityPercent: part }),
    ...(side === undefined ? {} : { positionSide: side.toUpperCase() }),
    ...(maxSlippage === undefined ? {} : { maxSlippage }),
    ...(keepEntries === undefined ? {} : { keepEntries }),
  });
  const entry = await waitForOutcome(session, account, signalId);
  const { status } = entry;
  const note = entry.steps.at(-1)?.note ?? '';
  const next = commandFor(session.target, `signal ${signalId}`);
  if (!hasClosed(entry) && !isPending(entry))
    throw new CommandFailure(
      'not_closed',
      `the position in ${market} of account ${account.name} was not surely closed: ${status}: ${note}`,
      `${next} shows each step. In an emergency close it on the website of the exchange.`,
    );
  printChange({ account: account.name, market, signalId, status, note }, () =>
    [
      renderFields([
        ['signal', signalId],
        ['account', account.name],
        ['status', styleStatus(status)],
        ['', describeMeaning(entry)],
        ['', note],
      ]),
      '',
      isPending(entry)
        ? `It is not carried out yet. For the outcome: ${next}`
        : describeRest(session, account, entry),
      ...describeOthers(session, account, name),
    ].join('\n'),
  );
}

function describeRest(session: Session, account: Account, { status, steps }: Entry): string {
  const isFlat = status === 'satisfied' && steps.at(-1)?.facts?.position?.amount === '0';
  return isFlat
    ? `Nothing is left: account ${account.name} has no such position.`
    : `What is left of the position: ${commandOf(session, account, 'positions')}`;
}

/** Whoever names no account may have meant another one. */
function describeOthers(
  { settings }: Session,
  account: Account,
  named: string | undefined,
): readonly string[] {
  const others = namesBeside(settings, account);
  if (named !== undefined || others.length === 0) return [];
  return [`Not looked at: ${others.join(', ')}. Add --account NAME to close there.`];
}
