import type { Command } from 'commander';
import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { ResultOf } from '../../lib/exchange/endpoint.ts';
import { fees } from '../../lib/exchange/endpoints/fees.ts';
import { interestPayments } from '../../lib/exchange/endpoints/interest-payments.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { askExchange, timeoutMs } from '../exchange.ts';
import { CommandFailure } from '../failure.ts';
import { formatSecond, renderTable } from '../print.ts';
import { chooseAccount } from '../session.ts';

interface AccountOptions {
  readonly account?: string;
}

interface InterestOptions extends AccountOptions {
  readonly plan?: string;
  readonly ticker?: string;
  readonly limit?: number;
  readonly offset?: number;
}

const accountFlags = '--account <name>';
const accountHelp = 'whose key signs (default: the first configured account)';

export function addExchangeCommands(program: Command): void {
  program
    .command('ping')
    .description('ask the exchange whether it answers')
    .action((_options: object, command: Command) => runCommand(command, pingExchange));
  program
    .command('balance')
    .description('show what the main account holds')
    .option(accountFlags, accountHelp)
    .action((options: AccountOptions, command: Command) =>
      runCommand(command, (context) => showBalance(context, options.account)),
    );
  program
    .command('fees')
    .description('show what moving a currency in and out costs')
    .argument('[ticker]', 'one currency, for example BTC')
    .option(accountFlags, accountHelp)
    .action((ticker: string | undefined, options: AccountOptions, command: Command) =>
      runCommand(command, (context) => showFees(context, ticker, options.account)),
    );
  program
    .command('interest')
    .description('list interest payments, a page at a time (business partners only)')
    .option('--plan <id>', 'only those of this plan')
    .option('--ticker <ticker>', 'only those in this currency')
    .option('--limit <n>', 'at most this many', readCount(1, 100))
    .option('--offset <n>', 'skip this many', readCount(0, 10_000))
    .option(accountFlags, accountHelp)
    .action((options: InterestOptions, command: Command) =>
      runCommand(command, (context) => showInterest(context, options)),
    );
}

async function pingExchange({ session, print }: Context): Promise<void> {
  const { url: exchangeUrl, dialect } = session.locateExchange();
  const startedAtMs = session.clock.nowMs();
  const [answer] = await askExchange(session, null, (client) => client.call(ping, {}, { timeoutMs }));
  const tookMs = session.clock.nowMs() - startedAtMs;
  print(
    { exchangeUrl, dialect, answer, tookMs },
    () => `${answer} from ${exchangeUrl} (${dialect} dialect) in ${tookMs} ms`,
  );
}

async function showBalance({ session, print }: Context, name: string | undefined): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const result = await askExchange(session, account, (client) => client.call(mainBalance, {}, { timeoutMs }));
  const held = Object.entries(result).map(
    ([ticker, balance]) => [ticker, formatDecimal(balance.mainBalance)] as const,
  );
  print({ account: account.name, balances: Object.fromEntries(held) }, () =>
    renderTable([{ title: 'ticker' }, { title: 'main balance', align: 'right' }], held),
  );
}

type FeeRecord = ResultOf<typeof fees>[number];

async function showFees(
  { session, print }: Context,
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
  print({ fees: records }, () => renderFees(records));
}

function renderFees(records: readonly FeeRecord[]): string {
  return renderTable(
    [
      { title: 'ticker' },
      { title: 'name', maximumWidth: 16 },
      { title: 'deposit fee' },
      { title: 'deposit limits' },
      { title: 'withdrawal fee' },
      { title: 'withdrawal limits' },
    ],
    records.map(({ ticker, name, canDeposit, canWithdraw, deposit, withdraw }) => [
      ticker,
      name,
      ...describeTerms(canDeposit, deposit),
      ...describeTerms(canWithdraw, withdraw),
    ]),
  );
}

function describeTerms(isOpen: boolean, terms: FeeRecord['deposit']): readonly [fee: string, limits: string] {
  return isOpen ? [describeFee(terms), describeRange(terms.minAmount, terms.maxAmount)] : ['closed', '–'];
}

/** A fee is fixed, a per cent between bounds, or both; zero stands for "none". */
function describeFee({ fixed, percentFlex, minFlex, maxFlex }: FeeRecord['deposit']): string {
  const range = describeRange(minFlex, maxFlex);
  const parts = [
    ...(fixed.gt(zero) ? [formatDecimal(fixed)] : []),
    ...(percentFlex.gt(zero) ? [`${formatDecimal(percentFlex)}%${range === '–' ? '' : ` (${range})`}`] : []),
  ];
  return parts.length === 0 ? 'none' : parts.join(' + ');
}

function describeRange(least: Decimal, most: Decimal): string {
  if (most.gt(zero)) return `${formatDecimal(least)} to ${formatDecimal(most)}`;
  return least.gt(zero) ? `from ${formatDecimal(least)}` : '–';
}

async function showInterest({ session, print }: Context, options: InterestOptions): Promise<void> {
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
  print({ account: account.name, ...page }, () => renderInterest(page));
}

function isNoPartner(error: unknown): boolean {
  return (
    error instanceof ExchangeError && error.failure.kind === 'rejected' && error.failure.httpStatus === 403
  );
}

/** The exchange answers 403 to others than partners, and to keys without the permission. */
function createNoPartner(account: string): CommandFailure {
  return new CommandFailure(
    'not_a_partner',
    `the exchange refused account ${account} its interest payments (HTTP 403)`,
    'Only business partners of the exchange have them: name a partner account with --account, or check its key.',
  );
}

function renderInterest({ records, offset, limit }: ResultOf<typeof interestPayments>): string {
  if (records.length === 0)
    return offset === 0 ? 'No interest payments.' : `No interest payments beyond ${offset}.`;
  const table = renderTable(
    [
      { title: 'time (UTC)' },
      { title: 'ticker' },
      { title: 'amount', align: 'right' },
      { title: 'plan', maximumWidth: 36 },
      { title: 'investment', maximumWidth: 36 },
    ],
    records.map((record) => [
      formatSecond(record.paidAtMs),
      record.ticker,
      formatDecimal(record.amount),
      record.planId,
      record.investmentId,
    ]),
  );
  const next = offset + records.length;
  const more = records.length < limit ? 'the last page' : `more with --offset ${next}`;
  return `${table}\n\nPayments ${offset + 1} to ${next}; ${more}.`;
}
