import { Argument, type Command } from 'commander';
import { leverages } from '../../lib/paper/engine/positions.ts';
import { type AccountType, accountTypes } from '../../lib/paper/engine/set-funds.ts';
import { type Context, runCommand } from '../command.ts';
import { askControl } from '../session/paper-control.ts';
import { paint } from '../show/print.ts';
import { createAccountOption, readAmount, readTicker } from './paper-main-account.ts';

/** The commands for what orders trade with: the spot and collateral balances and the leverage. */
export function addFundsCommands(paper: Command): void {
  paper
    .command('funds')
    .description('set a balance that orders trade with, funds reserved for open orders included')
    .addArgument(
      new Argument('<account-type>', 'spot, or collateral for margin and futures').choices(accountTypes),
    )
    .argument('<ticker>', 'for example USDT', readTicker)
    .argument('<amount>', 'the new balance', readAmount)
    .addOption(createAccountOption())
    .action(
      (of: AccountType, ticker: string, amount: string, { account }: { account: string }, command: Command) =>
        runCommand(command, (context) => setFunds(context, { account, of, ticker, amount })),
    );
  paper
    .command('leverage')
    .description('set the leverage of an account; a market can have a lower maximum')
    .addArgument(
      new Argument('<leverage>', 'how many times its margin a position may be').choices(
        leverages.map(String),
      ),
    )
    .addOption(createAccountOption())
    .action((leverage: string, { account }: { account: string }, command: Command) =>
      runCommand(command, (context) => setLeverage(context, account, Number(leverage))),
    );
}

interface Funds {
  readonly account: string;
  readonly of: AccountType;
  readonly ticker: string;
  readonly amount: string;
}

async function setFunds(context: Context, funds: Funds): Promise<void> {
  await askControl(context, 'POST', '/control/funds', funds);
  const { account, of, ticker, amount } = funds;
  context.printChange(funds, () =>
    paint(`Account ${account} holds ${amount} ${ticker} in its ${of} balance now.`),
  );
}

async function setLeverage(context: Context, account: string, leverage: number): Promise<void> {
  await askControl(context, 'POST', '/control/leverage', { account, leverage });
  context.printChange({ account, leverage }, () => paint(`Account ${account} has leverage ${leverage} now.`));
}
