import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { formatDecimal, isDecimalText, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { fees } from '../../lib/exchange/endpoints/fees.ts';
import type { FeeTermsChange } from '../../lib/paper/engine/main-account.ts';
import type { Period } from '../../lib/snapshots/snapshot-store.ts';
import { type Context, runCommand } from '../command.ts';
import { createUsageFailure } from '../failure.ts';
import { readTime } from '../read/time-range.ts';
import { askControl } from '../session/paper-control.ts';
import { renderFees } from '../show/describe-fees.ts';
import { formatSecond, paint } from '../show/print.ts';

interface InterestOptions {
  readonly account: string;
  readonly plan: string;
  readonly investment: string;
  readonly at?: Period;
}

/** The name of each fee term in the option and at the exchange, and its meaning. */
const terms = [
  { flag: 'fixed', name: 'fixed', means: 'fixed fee' },
  { flag: 'percent', name: 'percentFlex', means: 'fee in per cent of the amount' },
  { flag: 'min-fee', name: 'minFlex', means: 'minimum of a fee in per cent' },
  { flag: 'max-fee', name: 'maxFlex', means: 'maximum of a fee in per cent' },
  { flag: 'min-amount', name: 'minAmount', means: 'smallest amount of one transfer' },
  { flag: 'max-amount', name: 'maxAmount', means: 'largest amount of one transfer' },
] as const;

const ways = [
  { way: 'deposit', gate: 'canDeposit' },
  { way: 'withdraw', gate: 'canWithdraw' },
] as const;

/**
 * The commands for the parts of the paper exchange without trading: main balances, transfer fees, interest.
 */
export function addMainAccountCommands(paper: Command): void {
  paper
    .command('balance')
    .description('set the main balance of a currency; orders do not use the main balance')
    .argument('<ticker>', 'for example BTC', readTicker)
    .argument('<amount>', 'the new balance; 0 removes it', readAmount)
    .addOption(createAccountOption())
    .action((ticker: string, amount: string, options: { account: string }, command: Command) =>
      runCommand(command, (context) => setBalance(context, { ...options, ticker, amount })),
    );
  const fee = paper
    .command('fee')
    .description(
      'change the fees for deposits and withdrawals of a currency; 0 means none, and other terms stay as they are',
    )
    .argument('<ticker>', 'for example BTC', readTicker)
    .action((ticker: string, _options: object, command: Command) =>
      runCommand(command, (context) => setFee(context, ticker, readFeeChange(command))),
    );
  for (const { way } of ways) addFeeOptions(fee, way);
  paper
    .command('interest')
    .description(
      'pay interest to the account main, which is a business partner; repeating the command makes another payment',
    )
    .argument('<ticker>', 'for example USDT', readTicker)
    .argument('<amount>', 'amount of the payment', readAmount)
    .option('--plan <id>', 'id of the plan', 'paper-plan')
    .option('--investment <id>', 'id of the investment', 'paper-investment')
    .option(
      '--at <time>',
      'time of the payment in UTC, to the second, like 2026-11-01T08:30 (default: now)',
      readTime,
    )
    .addOption(createAccountOption())
    .action((ticker: string, amount: string, options: InterestOptions, command: Command) =>
      runCommand(command, (context) => payInterest(context, ticker, amount, options)),
    );
}

/**
 * An account of the paper exchange, not of the relay. The relay's account `main` uses the exchange's account
 * `main`.
 */
export function createAccountOption(): Option {
  return new Option('--account <name>', 'account of the paper exchange').default('main');
}

function addFeeOptions(fee: Command, way: string): void {
  for (const { flag, means } of terms) fee.option(`--${way}-${flag} <n>`, `${way}: ${means}`, readAmount);
  fee.addOption(new Option(`--${way} <state>`, `${way}: allowed or not`).choices(['open', 'closed']));
}

/** @throws CommandFailure (usage) when nothing is to change */
function readFeeChange(command: Command): FeeTermsChange {
  const given = new Map(
    command.options.map((option): [flag: string | undefined, value: string | undefined] => [
      option.long,
      command.getOptionValue(option.attributeName()),
    ]),
  );
  if ([...given.values()].every((value) => value === undefined))
    throw createUsageFailure(
      'the command names no change',
      'Name a term and its new value, for example --withdraw-fixed 0.0005; `fees` shows the current ones.',
    );
  return Object.fromEntries(
    ways.flatMap(({ way, gate }) => {
      const state = given.get(`--${way}`);
      const changed = terms.map(({ flag, name }) => [name, given.get(`--${way}-${flag}`)]);
      return [
        [gate, state === undefined ? undefined : state === 'open'],
        [way, Object.fromEntries(changed)],
      ];
    }),
  );
}

export function readTicker(text: string): string {
  return text.toUpperCase();
}

export function readPositiveOption(text: string): string {
  if (!isDecimalText(text) || !parseDecimal(text).gt(zero))
    throw new InvalidArgumentError('It must be a positive decimal number, for example 0.5.');
  return formatDecimal(parseDecimal(text));
}

export function readAmount(text: string): string {
  if (!isDecimalText(text) || parseDecimal(text).lt(zero))
    throw new InvalidArgumentError('It must be a decimal number, 0 or above, for example 0.5.');
  return formatDecimal(parseDecimal(text));
}

interface Balance {
  readonly account: string;
  readonly ticker: string;
  readonly amount: string;
}

async function setBalance(context: Context, balance: Balance): Promise<void> {
  await askControl(context, 'POST', '/control/balance', balance);
  const { account, ticker, amount } = balance;
  context.printChange(balance, () =>
    paint(`Account ${account} holds ${amount} ${ticker} in its main balance now.`),
  );
}

async function setFee(context: Context, ticker: string, change: FeeTermsChange): Promise<void> {
  const fee = await askControl(context, 'POST', '/control/fee', { ticker, ...change });
  context.printChange({ fee }, () => renderFees(fees.result.parse([fee]), context.terminal));
}

const PaymentField = z.object({
  planId: z.string(),
  investmentId: z.string(),
  ticker: z.string(),
  amount: z.string(),
  timestamp: z.int(),
});

async function payInterest(
  context: Context,
  ticker: string,
  amount: string,
  { account, plan, investment, at }: InterestOptions,
): Promise<void> {
  const request = {
    account,
    planId: plan,
    investmentId: investment,
    ticker,
    amount,
    timestamp: at === undefined ? undefined : Math.floor(at.fromMs / 1000),
  };
  const payment = PaymentField.parse(await askControl(context, 'POST', '/control/interest', request));
  context.printChange({ account, payment }, () =>
    paint(
      `Account ${account} was paid ${payment.amount} ${ticker} of plan ${plan} at ${formatSecond(payment.timestamp * 1000)} UTC.`,
    ),
  );
}
