import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import { type RehearsalStep, rehearsalSteps } from '../../lib/account/rehearsed.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { markets as marketsEndpoint } from '../../lib/exchange/endpoints/markets.ts';
import { type Account, findRehearsalReason, type TradingGround } from '../../lib/model/account.ts';
import type { Market } from '../../lib/model/market.ts';
import { describeCost, estimateCost } from '../../lib/rehearsal/estimate-cost.ts';
import { aliveEveryMs, RehearsalBook } from '../../lib/rehearsal/rehearsal-book.ts';
import { type RehearsalResult, rehearse } from '../../lib/rehearsal/rehearse.ts';
import type { Stage } from '../../lib/rehearsal/stage.ts';
import { type Context, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { askYes } from '../session/ask-yes.ts';
import { timeoutMs } from '../session/exchange.ts';
import { chooseAccount, commandFor, describeExchange, type Session } from '../session/session.ts';
import { describeFound, passedSteps } from '../show/describe-rehearsal.ts';
import { formatMinute } from '../show/print.ts';
import { renderTable } from '../show/table.ts';

interface RehearseOptions {
  readonly to?: RehearsalStep;
  readonly yes?: true;
  readonly again?: true;
}

export function addRehearseCommand(program: Command): void {
  program
    .command('rehearse')
    .description(
      'try out at the exchange, with orders of its own, what its documents do not tell; asks before each step, and leaves nothing behind',
    )
    .argument('<account>', 'account whose key signs')
    .argument(
      '<market>',
      'one market of each place where the account trades is enough; DBTC_DUSDT on spot is free',
    )
    .addOption(new Option('--to <step>', 'the last step').choices(rehearsalSteps))
    .option('--yes', 'ask nothing, for scripts; with --to')
    .option('--again', 'try the steps that have passed before, too')
    .action((account: string, market: string, options: RehearseOptions, command: Command) =>
      runCommand(command, (context) => rehearseMarket(context, account, market, options)),
    );
}

const lastStep: RehearsalStep = '6';

async function rehearseMarket(
  context: Context,
  accountName: string,
  named: string,
  options: RehearseOptions,
): Promise<void> {
  const { session, terminal } = context;
  const account = chooseAccount(session.settings, accountName);
  const { market, ground } = findGround(session, account, named);
  const { to = lastStep, yes: isYes = false } = options;
  if (isYes && options.to === undefined)
    throw createUsageFailure(
      '--yes needs --to',
      'Name the last step: step 6 trades, the others fill nothing.',
    );
  if (!isYes && terminal.stdin.isTTY !== true)
    throw createUsageFailure('there is no terminal to ask in', 'Add --yes, and --to with the last step.');
  refuseImpossible(account, session.locateExchange().dialect, to);
  const facts = session.openFacts();
  const by = `process ${process.pid} on ${hostname()}`;
  const book = await RehearsalBook.open({ facts, account: account.name, ground, by, clock: session.clock });
  // A sign of life that fails shows itself with the next order, which is written down before it is sent.
  const alive = setInterval(() => void book.showAlive().catch(() => undefined), aliveEveryMs);
  try {
    await rehearseWith(context, account, market, book, {
      ground,
      to,
      isYes,
      isAgain: options.again === true,
    });
  } finally {
    clearInterval(alive);
    // Otherwise the next one waits until this one counts as killed.
    await book.close().catch(() => undefined);
  }
}

interface Wishes {
  readonly ground: TradingGround;
  readonly to: RehearsalStep;
  readonly isYes: boolean;
  readonly isAgain: boolean;
}

async function rehearseWith(
  context: Context,
  account: Account,
  market: string,
  book: RehearsalBook,
  { ground, to, isYes, isAgain }: Wishes,
): Promise<void> {
  const { session, terminal } = context;
  const location = session.locateExchange();
  const steps = stepsToTry(book, to, isAgain);
  const client = await session.openExchange(account);
  const markets = new Map(
    (await client.call(marketsEndpoint, {}, { timeoutMs })).map((one) => [one.name, one]),
  );
  const rules = findRules(markets, market);
  const slippageRate = account.maxSlippageRate ?? usualSlippageRate;
  const limits = { timeoutMs };
  const stage: Stage = { clock: session.clock, client, market: rules, ground, book, slippageRate, limits };
  const say = (line: string) => void (context.isJson || terminal.stderr.write(`${line}\n`));
  say(`${account.name} in ${market}, on ${ground}: ${describeExchange(location)}.`);
  const result = await rehearse(stage, markets, {
    steps,
    confirm: async (step) => {
      if (step.name === lastStep) await refuseUnpaused(session, account);
      if (step.name === lastStep) say(describeCost(await estimateCost(stage)));
      return isYes || (await askYes(terminal, `Step ${step.name}: ${step.title}?`));
    },
    tell: (step, outcome) => {
      if (outcome.passed) say(`Step ${step.name} passed: ${describeFound(step.name, outcome.found)}.`);
    },
  });
  failUnlessPassed(session, account, market, result);
  const document = { account: account.name, market, ground, ...describeResult(result, book) };
  context.printChange(document, () => renderResult(context, account, market, book, result));
}

/** As shipped. */
const usualSlippageRate = parseDecimal('0.005');

function findGround(
  { settings }: Session,
  account: Account,
  named: string,
): { readonly market: string; readonly ground: TradingGround } {
  const market = settings.tickers[named.toUpperCase()] ?? named.toUpperCase();
  const ground = account.markets[market]?.tradesOn;
  if (ground !== undefined) return { market, ground };
  throw createUsageFailure(
    `account ${account.name} has no market "${named}" in relay.config.ts`,
    `Name one of: ${Object.keys(account.markets).join(', ')}.`,
  );
}

/** @throws CommandFailure where the exchange has no such orders */
function refuseImpossible({ name, region }: Account, dialect: string, to: RehearsalStep): void {
  if (dialect !== 'live')
    throw new CommandFailure(
      'not_in_dialect',
      `nothing can be rehearsed in the dialect "${dialect}", which has neither limit orders nor positions`,
      'Set exchange.dialect to "live" in relay.config.ts if that is what the exchange speaks.',
    );
  if (region !== null && to !== '1')
    throw new CommandFailure(
      'not_in_region',
      `account ${name} is in the EU, where the exchange takes none of the orders of steps 2 to 6`,
      'Rehearse the first step with --to 1.',
    );
}

/** An alert that trades in the same market could not be told from the rehearsal. */
async function refuseUnpaused(session: Session, { name, mode }: Account): Promise<void> {
  const isSending = findRehearsalReason(mode, session.locateExchange().kind === 'paper') === null;
  if (!isSending || (await session.openLedger().readPause(name)) !== null) return;
  throw new CommandFailure(
    'not_paused',
    `account ${name} sends the orders of its alerts, and step 6 opens a position of its own beside them`,
    `Pause it first: ${commandFor(session.target, `pause ${name}`)}. Or rehearse in mode dry-run, before it is live.`,
  );
}

function stepsToTry(
  { notes }: RehearsalBook,
  to: RehearsalStep,
  isAgain: boolean,
): ReadonlySet<RehearsalStep> {
  const until = rehearsalSteps.slice(0, rehearsalSteps.indexOf(to) + 1);
  return new Set(until.filter((step) => isAgain || notes.rehearsed[step] === undefined));
}

function findRules(markets: ReadonlyMap<string, Market>, name: string): Market {
  const market = markets.get(name);
  if (market?.tradesEnabled === true) return market;
  throw new CommandFailure(
    'market_closed',
    `the exchange ${market === undefined ? 'lists no market' : 'has closed the market'} ${name}`,
    'Rehearse in another market of the account.',
  );
}

function failUnlessPassed(
  session: Session,
  account: Account,
  market: string,
  { tried, left }: RehearsalResult,
): void {
  const last = tried.at(-1);
  const reason =
    last?.outcome.passed === false ? `step ${last.step} did not pass: ${last.outcome.reason}` : null;
  if (left !== null)
    throw new CommandFailure(
      'rehearsal_left',
      `${reason === null ? '' : `${reason}; `}${left} is left at the exchange, and could not be removed`,
      `Look at it with \`${commandFor(session.target, `orders --account ${account.name}`)}\` and \`${commandFor(session.target, `positions ${account.name}`)}\`. The same command tries again to remove it: ${commandFor(session.target, `rehearse ${account.name} ${market}`)}`,
    );
  if (reason !== null)
    throw new CommandFailure(
      'rehearsal_stopped',
      `${reason}. Nothing of it is left at the exchange`,
      'Do not trade live on this account before it has passed. `doctor` tells it, too.',
    );
}

function describeResult({ tried, declined }: RehearsalResult, { notes }: RehearsalBook) {
  return { tried: tried.map(({ step }) => step), declined, steps: notes.rehearsed };
}

function renderResult(
  { terminal, session }: Context,
  account: Account,
  market: string,
  { notes }: RehearsalBook,
  { declined }: RehearsalResult,
): string {
  const passed = passedSteps(notes.rehearsed);
  const next = commandFor(session.target, `rehearse ${account.name} ${market}`);
  const missing = rehearsalSteps.filter((step) => notes.rehearsed[step] === undefined);
  return [
    ...(passed.length === 0
      ? ['No step has passed yet.']
      : [
          renderTable(
            [{ title: 'step' }, { title: 'passed (UTC)' }, { title: 'in' }, { title: 'found', wraps: true }],
            passed.map(({ step, atMs, market: where, found }) => [
              step,
              formatMinute(atMs),
              where,
              describeFound(step, found),
            ]),
            terminal,
          ),
        ]),
    '',
    ...(declined === null ? [] : [`Step ${declined} was not tried.`]),
    missing.length === 0 ? 'All steps have passed.' : `Go on with: ${next}`,
  ].join('\n');
}
