import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import type { LocalBackups } from '../session/session.ts';
import { formatSecond } from '../show/print.ts';

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write ledger and snapshots to one file, while the relay runs or not')
    .argument('<file>', 'the file; it must not exist')
    .option('--with-secrets', 'with tokens and exchange keys: the file is as good as the keys')
    .action((file: string, options: { withSecrets?: boolean }, command: Command) =>
      runCommand(command, (context) => backUp(context, file, options.withSecrets === true)),
    );
  program
    .command('restore')
    .description('put a backup into a data folder without a ledger, and pause all its accounts')
    .argument('<file>', 'a file that `backup` wrote')
    .action((file: string, _options: object, command: Command) =>
      runCommand(command, (context) => restore(context, file)),
    );
}

async function backUp({ session, printChange }: Context, file: string, withSecrets: boolean): Promise<void> {
  const backups = backupsOf(session.backups);
  if (existsSync(file))
    throw new CommandFailure(
      'store_unavailable',
      `"${file}" exists already, and it was not changed`,
      'Name a file that does not exist yet.',
    );
  const made = await backups.make(file, withSecrets);
  printChange({ file, ...made }, () =>
    [
      `${made.signals} signals are in ${file}: everything that was acknowledged before ${formatSecond(made.untilMs)} UTC.`,
      withSecrets
        ? 'Tokens and exchange keys are in it, too: keep it as safe as the keys.'
        : 'Tokens and exchange keys are not in it: keep secrets.json apart, or add --with-secrets.',
    ].join('\n'),
  );
}

async function restore({ session, printChange }: Context, file: string): Promise<void> {
  const backups = backupsOf(session.backups);
  if (!existsSync(file))
    throw new CommandFailure(
      'store_unavailable',
      `there is no file "${file}", and nothing was changed`,
      'Name a file that `backup` wrote.',
    );
  const { signals, withSecrets } = await backups.restore(file);
  printChange({ file, signals, withSecrets, paused: Object.keys(session.settings.accounts) }, () =>
    [
      `${signals} signals are restored${withSecrets ? ', with tokens and exchange keys' : ''}. All accounts are paused, cancellations excepted.`,
      'Start the relay, compare `orders` and `positions` with the ledger, then `resume`.',
    ].join('\n'),
  );
}

function backupsOf(backups: LocalBackups | null): LocalBackups {
  if (backups === null)
    throw createUsageFailure(
      'a relay on AWS keeps its own backups',
      'Leave out --stack; its table can be restored to any second of the last 35 days.',
    );
  return backups;
}
