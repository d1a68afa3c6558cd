import type { Command } from 'commander';
import type { Pause } from '../../lib/ledger/ledger.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { addAccountArgument, type Context, namedAccount, readShortText, runCommand } from '../command.ts';
import { chooseAccount } from '../session/session.ts';
import { formatSecond, paint } from '../show/print.ts';

export function addPauseCommands(program: Command): void {
  const pause = program
    .command('pause')
    .description(
      'stop what opens or enlarges a position: such signals end as denied; closes and cancellations are still sent',
    );
  addAccountArgument(pause, 'which account (default: all configured accounts)')
    .option('--reason <text>', 'recorded with every denied signal', 'paused by the operator')
    .option('--everything', 'stop orders that close or reduce a position, too')
    .action((account: string | undefined, options: PauseOptions, command: Command) =>
      runCommand(command, (context) => pauseAccounts(context, namedAccount(account, command), options)),
    );
  const resume = program
    .command('resume')
    .description('end a pause; signals that were denied meanwhile stay denied');
  addAccountArgument(resume, 'which account (default: all configured accounts)').action(
    (account: string | undefined, _options: object, command: Command) =>
      runCommand(command, (context) => resumeAccounts(context, namedAccount(account, command))),
  );
}

interface PauseOptions {
  readonly reason: string;
  readonly everything?: boolean;
}

const stopped = {
  entries:
    'No further order opens or enlarges a position. Orders that close or reduce one, and cancellations, are still sent.',
  everything:
    'No further order is sent: orders that close or reduce a position are denied, too. Cancellations are still sent.',
};
const resting =
  'An order that rests at the exchange may still fill: `npx relay orders` lists it, `npx relay cancel` ends it.';

async function pauseAccounts(
  { session, printChange }: Context,
  name: string | undefined,
  options: PauseOptions,
): Promise<void> {
  const reason = readShortText('the reason', options.reason);
  const kind = options.everything === true ? 'everything' : 'entries';
  const ledger = session.openLedger();
  const sinceMs = session.clock.nowMs();
  const paused = accountNames(session.settings, name);
  for (const account of paused) await ledger.writePause(account, { sinceMs, reason, kind });
  printChange({ paused: paused.map((account) => ({ account, sinceMs, reason, kind })) }, () =>
    [
      ...paused.map((account) =>
        paint({ text: `${account} is paused from the next signal on: ${reason}`, style: 'alarm' }),
      ),
      stopped[kind],
      resting,
    ].join('\n'),
  );
}

async function resumeAccounts({ session, printChange }: Context, name: string | undefined): Promise<void> {
  const ledger = session.openLedger();
  const resumed: { account: string; pause: Pause | null }[] = [];
  for (const account of accountNames(session.settings, name)) {
    const pause = await ledger.readPause(account);
    if (pause !== null) await ledger.writePause(account, null);
    resumed.push({ account, pause });
  }
  printChange({ resumed }, () =>
    resumed
      .map(({ account, pause }) =>
        pause === null ? paint(`${account} was not paused`) : paint(describeResumed(account, pause)),
      )
      .join('\n'),
  );
}

function describeResumed(account: string, pause: Pause): string {
  const text = `${account} trades again; it had been paused since ${formatSecond(pause.sinceMs)} UTC: ${pause.reason}`;
  return pause.kind === 'daily_loss'
    ? `${text}. It is paused again today, unless the loss is smaller or maxDailyLoss higher by then: npx relay limits`
    : text;
}

function accountNames(settings: Settings, name: string | undefined): readonly string[] {
  return name === undefined ? Object.keys(settings.accounts) : [chooseAccount(settings, name).name];
}
