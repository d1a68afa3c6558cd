import { type Command, Option } from 'commander';
import { formatDecimal } from '../../lib/base/decimal.ts';
import type { ResultOf } from '../../lib/exchange/endpoint.ts';
import { interestPayments } from '../../lib/exchange/endpoints/interest-payments.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { retryRefusedImport } from '../../lib/snapshots/import-interest.ts';
import { type Context, readCount, runCommand, takeOptions } from '../command.ts';
import type { CsvCell } from '../export/csv.ts';
import {
  type InterestGrouping,
  type InterestTotals,
  interestGroupings,
  sumPayments,
} from '../export/interest-totals.ts';
import { CommandFailure } from '../failure.ts';
import { addRangeOptions, chooseRange, describeRange, type RangeOptions } from '../read/time-range.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount } from '../session/session.ts';
import { describeImport } from '../show/describe-import.ts';
import { formatMinute, formatSecond, paint } from '../show/print.ts';
import { createFormatOption, type Format, printResult } from '../show/result.ts';
import { renderTable } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';

interface AccountOptions {
  readonly account?: string;
}

interface TotalOptions extends AccountOptions, RangeOptions {
  readonly by: InterestGrouping;
  readonly format?: Format;
}

interface FetchOptions extends AccountOptions {
  readonly plan?: string;
  readonly ticker?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export function addInterestCommands(program: Command): void {
  const interest = program
    .command('interest')
    .description('show the sums of the imported interest payments of an account')
    .helpCommand(false);
  addRangeOptions(interest, 'the first day of the month eleven months before')
    .addOption(
      new Option('--by <what>', 'how payments are grouped').choices(interestGroupings).default('month'),
    )
    .addOption(createFormatOption())
    .option('--account <name>', 'which account (default: the first configured one)')
    .action((options: TotalOptions, command: Command) =>
      runCommand(command, (context) => showTotals(context, options)),
    );
  interest
    .command('fetch')
    .description('list payments from the exchange, a page at a time, newest first (partners only)')
    .option('--plan <id>', 'only payments of this plan')
    .option('--ticker <ticker>', 'only payments in this currency')
    .option('--limit <n>', 'at most this many payments', readCount(1, 100))
    .option('--offset <n>', 'skip this many payments', readCount(0, 10_000))
    .option('--account <name>', 'account whose key signs (default: the first configured one)')
    .action((_options: object, command: Command) =>
      runCommand(command, (context) => fetchPage(context, takeOptions(command, interest))),
    );
  interest
    .command('retry')
    .description('restart an import that the exchange refused, for example after you have become a partner')
    .option('--account <name>', 'which account (default: the first configured one)')
    .action((_options: object, command: Command) =>
      runCommand(command, (context) => retryImport(context, takeOptions(command, interest))),
    );
}

const defaultMonths = 12;

function startOfMonths(untilMs: number): number {
  const last = new Date(untilMs - 1);
  return Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - (defaultMonths - 1));
}

async function showTotals(context: Context, { by, format, ...options }: TotalOptions): Promise<void> {
  const { session } = context;
  const { name: account } = chooseAccount(session.settings, options.account);
  const period = chooseRange(options, session.clock.nowMs(), startOfMonths);
  const store = session.openSnapshots().interest;
  // Read first: if an import finishes meanwhile, its progress does not describe the payments read before.
  const progress = await store.readProgress(account);
  const { version: _, ...imported } = progress;
  const sums = await sumPayments(store.list(account, period), by);
  await printResult(context, format, {
    document: { account, ...period, by, ...sums, import: imported },
    table: () =>
      `${renderHead(account, describeRange(period))}\n\n${renderTotals(sums, by, context.terminal)}`,
    records: () => listTotalRecords(sums, by),
    notes: describeImport(progress, account, period),
  });
}

function renderHead(account: string, range: string): string {
  return `${paint({ text: `interest of account ${account}`, style: 'strong' })}, ${range}`;
}

function renderTotals(
  { groups, totals, newestMs }: InterestTotals,
  by: InterestGrouping,
  screen: Screen,
): string {
  if (newestMs === null) return 'No payments in this period.';
  const groupRows = groups.map(({ group, ticker, payments, amount }) => [
    group,
    ...(by === 'ticker' ? [] : [ticker]),
    String(payments),
    formatDecimal(amount),
  ]);
  const totalRows = totals.map(({ ticker, payments, amount }) => [
    { text: 'total', style: 'strong' as const },
    ticker,
    String(payments),
    formatDecimal(amount),
  ]);
  const table = renderTable(
    [
      { title: by },
      ...(by === 'ticker' ? [] : [{ title: 'ticker' }]),
      { title: 'payments', align: 'right' as const },
      { title: 'amount', align: 'right' as const },
    ],
    by === 'ticker' ? groupRows : [...groupRows, ...totalRows],
    screen,
  );
  return `${table}\n\nThe newest payment is from ${formatMinute(newestMs)} UTC.`;
}

function listTotalRecords({ groups }: InterestTotals, by: InterestGrouping): readonly (readonly CsvCell[])[] {
  return by === 'ticker'
    ? [
        ['ticker', 'payments', 'amount'],
        ...groups.map(({ ticker, payments, amount }) => [ticker, payments, amount]),
      ]
    : [
        [by, 'ticker', 'payments', 'amount'],
        ...groups.map(({ group, ticker, payments, amount }) => [group, ticker, payments, amount]),
      ];
}

async function fetchPage({ session, terminal, print }: Context, options: FetchOptions): Promise<void> {
  const { plan, ticker, limit, offset } = options;
  const account = chooseAccount(session.settings, options.account);
  const params = {
    ...(plan === undefined ? {} : { planId: plan }),
    ...(ticker === undefined ? {} : { ticker }),
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
  };
  const page = await askExchange(session, account, (client) =>
    client.call(interestPayments, params, { timeoutMs }),
  ).catch((error: unknown) => {
    throw isNoPartner(error) ? createNoPartner(account.name) : error;
  });
  print({ account: account.name, ...page }, () => renderPage(page, terminal));
}

function isNoPartner(error: unknown): boolean {
  return (
    error instanceof ExchangeError && error.failure.kind === 'rejected' && error.failure.httpStatus === 403
  );
}

/** The exchange responds 403 to accounts that are not partners, and to keys without the permission. */
function createNoPartner(account: string): CommandFailure {
  return new CommandFailure(
    'not_a_partner',
    `the exchange refused to list the interest payments of account ${account} (HTTP 403)`,
    'Only business partners of the exchange receive interest payments: choose a partner account with --account, or check its key.',
  );
}

function renderPage({ records, offset, limit }: ResultOf<typeof interestPayments>, screen: Screen): string {
  if (records.length === 0)
    return offset === 0 ? 'No interest payments.' : `No interest payments beyond ${offset}.`;
  const table = renderTable(
    [
      { title: 'time (UTC)' },
      { title: 'ticker' },
      { title: 'amount', align: 'right' },
      { title: 'plan' },
      { title: 'investment' },
    ],
    records.map((record) => [
      formatSecond(record.paidAtMs),
      record.ticker,
      formatDecimal(record.amount),
      record.planId,
      record.investmentId,
    ]),
    screen,
  );
  const next = offset + records.length;
  const more = records.length < limit ? 'the last page' : `more with --offset ${next}`;
  return `${table}\n\nPayments ${offset + 1} to ${next}; ${more}.`;
}

async function retryImport({ session, printChange }: Context, options: AccountOptions): Promise<void> {
  const { name: account } = chooseAccount(session.settings, options.account);
  const store = session.openSnapshots().interest;
  const { refusal } = await store.readProgress(account);
  if (refusal !== null) await retryRefusedImport(store, account);
  printChange({ account, forgotten: refusal }, () =>
    paint(
      refusal === null
        ? `The exchange did not refuse the import of account ${account}: there is nothing to restart.`
        : `The import of account ${account} runs again at the next time of snapshots.interest in relay.config.ts.`,
    ),
  );
}
