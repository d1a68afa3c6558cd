import type { Command } from 'commander';
import { fees } from '../../lib/exchange/endpoints/fees.ts';
import { describeFeeChange } from '../../lib/snapshots/compare-fees.ts';
import type { FeeEpoch, FeeStore } from '../../lib/snapshots/snapshot-store.ts';
import { type Context, runCommand, takeOptions } from '../command.ts';
import { feeRecordOf, feeTitles } from '../export/fee-records.ts';
import { CommandFailure } from '../failure.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount } from '../session/session.ts';
import { describeTerms, renderFees } from '../show/describe-fees.ts';
import { formatMinute, paint } from '../show/print.ts';
import { createFormatOption, type Format, printResult } from '../show/result.ts';
import { renderTable } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';

interface AccountOptions {
  readonly account?: string;
}

interface HistoryOptions extends AccountOptions {
  readonly format?: Format;
}

export function addFeeCommands(program: Command): void {
  const commands = program
    .command('fees')
    .description('show the current fees for deposits and withdrawals from the exchange')
    .argument('[ticker]', 'one currency, for example BTC')
    .option('--account <name>', 'account whose key signs (default: the first configured one)')
    .helpCommand(false)
    .action((ticker: string | undefined, options: AccountOptions, command: Command) =>
      runCommand(command, (context) => showFees(context, ticker, options.account)),
    );
  commands
    .command('history')
    .description('show how the transfer fees of a currency changed, as recorded by the relay')
    .argument('<ticker>', 'for example BTC')
    .option('--account <name>', 'which account (default: the first configured one)')
    .addOption(createFormatOption())
    .action((ticker: string, _options: object, command: Command) =>
      runCommand(command, (context) => showHistory(context, ticker, takeOptions(command, commands))),
    );
}

async function showFees(
  { session, terminal, print }: Context,
  ticker: string | undefined,
  name: string | undefined,
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const all = await askExchange(session, account, (client) => client.call(fees, {}, { timeoutMs }));
  const wanted = ticker?.toUpperCase();
  const records = wanted === undefined ? all : all.filter((record) => record.ticker.toUpperCase() === wanted);
  if (wanted !== undefined && records.length === 0)
    throw new CommandFailure(
      'unknown_ticker',
      `the exchange lists no fees for "${ticker}"`,
      'Leave the ticker out to see every currency.',
    );
  print({ fees: records }, () => renderFees(records, terminal));
}

/** A version of a currency's transfer fees, and what changed from the previous one. */
interface HistoryRow extends FeeEpoch {
  readonly change: string;
}

async function showHistory(context: Context, text: string, options: HistoryOptions): Promise<void> {
  const { session } = context;
  const { name: account } = chooseAccount(session.settings, options.account);
  const ticker = text.toUpperCase();
  const store = session.openSnapshots().fees;
  const epochs: FeeEpoch[] = [];
  for await (const epoch of store.list(account, ticker)) epochs.push(epoch);
  if (epochs.length === 0) throw await createNoHistory(store, account, ticker);
  const rows = describeChanges(epochs);
  await printResult(context, options.format, {
    document: { account, ticker, versions: rows },
    table: () =>
      `${paint({ text: `transfer fees of ${ticker} for account ${account}`, style: 'strong' })}\n\n${renderHistory(rows, context.terminal)}`,
    records: () => [[...feeTitles], ...rows.map(feeRecordOf)],
    notes: [],
  });
}

/** Leaves the ticker out of the changes, because the table's head names it. */
function describeChanges(epochs: readonly FeeEpoch[]): readonly HistoryRow[] {
  return epochs.map((version, index) => {
    const change = describeFeeChange({ known: epochs[index - 1] ?? null, version });
    return { ...version, change: index === 0 ? 'first seen' : change.slice(`${version.ticker} `.length) };
  });
}

function renderHistory(rows: readonly HistoryRow[], screen: Screen): string {
  return renderTable(
    [
      { title: 'from (UTC)' },
      { title: 'until (UTC)' },
      { title: 'deposit fee', wraps: true },
      { title: 'withdrawal fee', wraps: true },
      { title: 'what changed', wraps: true },
    ],
    rows.map(({ fromMs, untilMs, fees, change }) => [
      formatMinute(fromMs),
      untilMs === null ? 'now' : formatMinute(untilMs),
      ...describeBoth(fees),
      change,
    ]),
    screen,
  );
}

function describeBoth(fees: FeeEpoch['fees']): readonly [deposit: string, withdraw: string] {
  if (fees === null) return ['–', '–'];
  const [deposit] = describeTerms(fees.canDeposit, fees.deposit);
  const [withdraw] = describeTerms(fees.canWithdraw, fees.withdraw);
  return [deposit, withdraw];
}

async function createNoHistory(store: FeeStore, account: string, ticker: string): Promise<CommandFailure> {
  const known = await store.readCurrent(account);
  return known.length === 0
    ? new CommandFailure(
        'nothing_kept',
        `no transfer fees of account ${account} are recorded yet`,
        'The relay records them while it runs, at the times of snapshots.fees in relay.config.ts.',
      )
    : new CommandFailure(
        'unknown_ticker',
        `no transfer fees of "${ticker}" are recorded`,
        'Check the ticker; `fees` lists every currency.',
      );
}
