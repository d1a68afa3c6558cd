import { Argument, type Command } from 'commander';
import { type Context, runCommand } from '../command.ts';
import { askControl } from '../session/paper-control.ts';
import { paint } from '../show/print.ts';
import { createAccountOption } from './paper-main-account.ts';

/** The command that switches hedge mode, in which orders name the position that they change. */
export function addHedgeCommand(paper: Command): void {
  paper
    .command('hedge')
    .description('switch an account between hedge mode (orders name LONG or SHORT) and one-way mode')
    .addArgument(new Argument('<mode>', 'on: hedge mode; off: one-way mode').choices(['on', 'off']))
    .addOption(createAccountOption())
    .action((mode: string, { account }: { account: string }, command: Command) =>
      runCommand(command, (context) => setHedgeMode(context, account, mode === 'on')),
    );
}

async function setHedgeMode(context: Context, account: string, hedgeMode: boolean): Promise<void> {
  await askControl(context, 'POST', '/control/hedge', { account, hedgeMode });
  context.printChange({ account, hedgeMode }, () =>
    paint(
      hedgeMode
        ? `Account ${account} is in hedge mode now: its orders on perpetual markets need "positionSide" LONG or SHORT.`
        : `Account ${account} is in one-way mode now: its orders need no "positionSide".`,
    ),
  );
}
