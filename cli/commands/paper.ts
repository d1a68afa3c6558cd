import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { isDecimalText } from '../../lib/base/decimal.ts';
import { faultKinds } from '../../lib/paper/faults/fault-rows.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { askControl } from '../session/paper-control.ts';
import { renderPaperState } from '../session/paper-state.ts';
import { renderTable } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';
import { addExitsCommand } from './paper-exits.ts';
import { addFundsCommands } from './paper-funds.ts';
import { addHedgeCommand } from './paper-hedge.ts';
import { addMainAccountCommands, readPositiveOption } from './paper-main-account.ts';
import { addPaperOrderCommand } from './paper-order.ts';

interface FaultOptions {
  readonly endpoint?: string;
  readonly count?: number;
  readonly probability?: number;
  readonly delayMs?: number;
  readonly durationMs?: number;
}

const longestMs = 600_000;

export function addPaperCommands(program: Command): void {
  const paper = program
    .command('paper')
    .description(
      'control the paper exchange: prices, orders by hand, balances, leverage, fees, modes, exits, interest, injected faults; show its state',
    )
    .helpCommand(false);
  paper
    .command('price')
    .description('make one trade, whose price becomes the last price')
    .argument('<market>', 'for example BTC_USDT')
    .argument('<price>', 'in the quote currency', readPositiveOption)
    .option(
      '--volume <amount>',
      'how much of the open orders it can fill, in the base currency (default: unlimited)',
      readPositiveOption,
    )
    .action((market: string, price: string, options: { volume?: string }, command: Command) =>
      runCommand(command, (context) => setPrice(context, market, price, options.volume)),
    );
  addMainAccountCommands(paper);
  addFundsCommands(paper);
  addHedgeCommand(paper);
  addExitsCommand(paper);
  addPaperOrderCommand(paper);
  paper
    .command('fault')
    .description('inject a fault into the next requests')
    .addArgument(new Argument('<kind>', 'what happens to the requests').choices(faultKinds))
    .option('--endpoint <name>', 'only requests to this endpoint, for example stop-limit')
    .addOption(
      new Option('--count <n>', 'how many requests are affected (default: 1)')
        .argParser(readCount(1, 1_000_000))
        .conflicts('probability'),
    )
    .option('--probability <p>', 'probability from 0 to 1, until the fault is cleared', readProbability)
    .option(
      '--delay-ms <ms>',
      'for delay: how late the response is; for read_lag: how far the lists are behind',
      readCount(1, longestMs),
    )
    .option('--duration-ms <ms>', 'for down: how long the exchange is down', readCount(1, longestMs))
    .action((kind: string, options: FaultOptions, command: Command) =>
      runCommand(command, (context) => addFault(context, kind, options)),
    );
  paper
    .command('faults')
    .description('list the faults that are set')
    .action((_options: object, command: Command) => runCommand(command, showFaults));
  paper
    .command('clear-faults')
    .description('remove all faults')
    .action((_options: object, command: Command) => runCommand(command, clearFaults));
  paper
    .command('state')
    .description('show the prices, balances and orders of the paper exchange')
    .action((_options: object, command: Command) => runCommand(command, showState));
}

function readProbability(text: string): number {
  const probability = Number(text);
  if (!isDecimalText(text) || probability < 0 || probability > 1)
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return probability;
}

async function setPrice(
  context: Context,
  market: string,
  price: string,
  volume: string | undefined,
): Promise<void> {
  await askControl(context, 'POST', '/control/price', { market, price, volume });
  context.printChange({ market, price, volume: volume ?? null }, () => `${market} traded at ${price}`);
}

async function addFault(context: Context, kind: string, options: FaultOptions): Promise<void> {
  const { endpoint, count, probability, delayMs, durationMs } = options;
  const request = { fault: kind, endpoint, count, probability, delayMs, durationMs };
  const fault = FaultField.parse(await askControl(context, 'POST', '/control/faults', request));
  context.printChange({ fault }, () => renderFaults([fault], context.terminal));
}

async function showFaults(context: Context): Promise<void> {
  const faults = z.array(FaultField).parse(await askControl(context, 'GET', '/control/faults'));
  context.print({ faults }, () =>
    faults.length === 0 ? 'No faults are set.' : renderFaults(faults, context.terminal),
  );
}

async function clearFaults(context: Context): Promise<void> {
  await askControl(context, 'DELETE', '/control/faults');
  context.printChange({ faults: [] }, () => 'All faults are removed.');
}

async function showState(context: Context): Promise<void> {
  const state = await askControl(context, 'GET', '/control/state');
  context.print(state, () => renderPaperState(state, context.terminal));
}

const FaultField = z.looseObject({
  id: z.int(),
  fault: z.string(),
  endpoint: z.string().nullable(),
  remaining: z.int().nullable(),
  probability: z.number().nullable(),
  delayMs: z.number().nullable(),
  durationMs: z.number().nullable(),
  struck: z.int(),
});

function renderFaults(faults: readonly z.output<typeof FaultField>[], screen: Screen): string {
  return renderTable(
    [{ title: 'fault' }, { title: 'endpoint' }, { title: 'strikes' }, { title: 'struck', align: 'right' }],
    faults.map((fault) => [
      fault.fault,
      fault.endpoint ?? 'any',
      describeStrikes(fault),
      String(fault.struck),
    ]),
    screen,
  );
}

function describeStrikes({
  fault,
  remaining,
  probability,
  delayMs,
  durationMs,
}: z.output<typeof FaultField>): string {
  const how = probability === null ? `${remaining ?? 1} more` : `with probability ${probability}`;
  if (durationMs !== null) return `for ${durationMs} ms`;
  return delayMs === null ? how : `${how}, ${delayMs} ms ${fault === 'read_lag' ? 'behind' : 'late'}`;
}
