import type { Command } from 'commander';
import { isLossPause } from '../../lib/account/pause-on-loss.ts';
import type { Pause } from '../../lib/ledger/ledger.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { type Context, readShortText, runCommand } from '../command.ts';
import { chooseAccount } from '../session/session.ts';
import { formatSecond, paint } from '../show/print.ts';

export function addPauseCommands(program: Command): void {
  program
    .command('pause')
    .description('stop sending orders: order signals end as denied; cancellations are still sent')
    .argument('[account]', 'which account (default: all configured accounts)')
    .option('--reason <text>', 'recorded with every denied signal', 'paused by the operator')
    .action((account: string | undefined, options: { reason: string }, command: Command) =>
      runCommand(command, (context) => pauseAccounts(context, account, options.reason)),
    );
  program
    .command('resume')
    .description('end a pause; signals that were denied meanwhile stay denied')
    .argument('[account]', 'which account (default: all configured accounts)')
    .action((account: string | undefined, _options: object, command: Command) =>
      runCommand(command, (context) => resumeAccounts(context, account)),
    );
}

async function pauseAccounts(
  { session, printChange }: Context,
  name: string | undefined,
  text: string,
): Promise<void> {
  const reason = readShortText('the reason', text);
  const ledger = session.openLedger();
  const sinceMs = session.clock.nowMs();
  const paused = accountNames(session.settings, name);
  for (const account of paused) await ledger.writePause(account, { sinceMs, reason });
  printChange({ paused: paused.map((account) => ({ account, sinceMs, reason })) }, () =>
    paused
      .map((account) =>
        paint({
          text: `${account} is paused from the next signal on (${reason}): orders that close or reduce a position are denied, too; cancellations are still sent`,
          style: 'alarm',
        }),
      )
      .join('\n'),
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
  return isLossPause(pause)
    ? `${text}. It is paused again today, unless the loss is smaller or maxDailyLoss higher by then: npx relay limits`
    : text;
}

function accountNames(settings: Settings, name: string | undefined): readonly string[] {
  return name === undefined ? Object.keys(settings.accounts) : [chooseAccount(settings, name).name];
}
