import { type Command, InvalidArgumentError, Option } from 'commander';
import { zero } from '../../lib/base/decimal.ts';
import { dayMs } from '../../lib/base/time-zone.ts';
import type { Account } from '../../lib/model/account.ts';
import type { BalanceSnapshot, Period } from '../../lib/snapshots/snapshot-store.ts';
import { drawSvg, svgColumns } from '../chart/draw-svg.ts';
import { countDotColumns, drawTerminal } from '../chart/draw-terminal.ts';
import { type Traces, traceBalances } from '../chart/trace-balances.ts';
import { type Context, runCommand, takeOptions } from '../command.ts';
import {
  type BalanceKind,
  explainNoBalances,
  listBalanceRecords,
  listTickers,
  readBalanceRows,
  readTickers,
  renderBalances,
} from '../export/balance-history.ts';
import { writeOutput } from '../export/write-output.ts';
import { CommandFailure } from '../failure.ts';
import {
  addRangeOptions,
  chooseRange,
  chooseStep,
  describeRange,
  type RangeOptions,
  readStep,
  startOfDay,
} from '../read/time-range.ts';
import { chooseAccount } from '../session/session.ts';
import { paint } from '../show/print.ts';
import { createFormatOption, type Format, printResult } from '../show/result.ts';

interface BalanceOptions extends RangeOptions {
  readonly account?: string;
  readonly tickers?: readonly string[];
  readonly collateral?: true;
}

interface ListOptions extends BalanceOptions {
  readonly every?: number;
  readonly format?: Format;
}

interface ChartOptions extends BalanceOptions {
  readonly main?: true;
  readonly out?: string;
}

export function addBalanceCommands(program: Command): void {
  const balances = program
    .command('balances')
    .description(
      'show the recorded main balances of an account over time, or with --collateral what margin and futures trade with; `balance` shows the current main balance',
    )
    .helpCommand(false);
  addBalanceOptions(balances)
    .addOption(
      new Option(
        '--every <step>',
        'a row for each 15m, 6h, 1d, 1w …: the newest snapshot at or before it (default: about 30 rows)',
      ).argParser(readStep),
    )
    .addOption(createFormatOption())
    .action((options: ListOptions, command: Command) =>
      runCommand(command, (context) => listBalances(context, options)),
    );
  addBalanceOptions(
    balances
      .command('chart')
      .description(
        'draw the recorded balances that the account trades with (on margin and futures the collateral balance) as a chart, in the terminal or into a file',
      ),
  )
    .addOption(
      new Option(
        '--main',
        'the main balance, also of an account that trades on margin or futures (default: the balance it trades with)',
      ).conflicts('collateral'),
    )
    .option('--out <file>', 'write an SVG picture instead, which any browser shows', readSvgPath)
    .action((_options: object, command: Command) =>
      runCommand(command, (context) => chartBalances(context, takeOptions(command, balances))),
    );
}

function addBalanceOptions(command: Command): Command {
  return addRangeOptions(command, 'the first snapshot in the 30 days before --to')
    .option('--tickers <list>', 'only these tickers, for example BTC,USDT', readTickers)
    .option('--collateral', 'the collateral balance, which margin and futures trade with')
    .option('--account <name>', 'which account (default: the first configured one)');
}

function readSvgPath(text: string): string {
  if (!text.toLowerCase().endsWith('.svg'))
    throw new InvalidArgumentError('It must end in .svg; a browser or an image program makes a PNG of it.');
  return text;
}

const defaultDays = 30;

/** Without --from, the range begins with its first snapshot, so that there is no empty part before it. */
async function chooseBalanceRange(
  options: RangeOptions,
  nowMs: number,
  list: (period: Period) => AsyncIterable<BalanceSnapshot>,
): Promise<Period> {
  const period = chooseRange(options, nowMs, (untilMs) => startOfDay(untilMs) - defaultDays * dayMs);
  if (options.from !== undefined) return period;
  for await (const { slotMs } of list(period)) return { ...period, fromMs: slotMs };
  return period;
}

/** The balances to draw, the first one that is recorded. Spot orders trade with a balance that no snapshot has. */
function chartKindsOf({ collateral, main }: ChartOptions, { markets }: Account): readonly BalanceKind[] {
  if (collateral === true) return ['collateral'];
  const trades = Object.values(markets).some(({ tradesOn }) => tradesOn !== 'spot');
  return main !== true && trades ? ['collateral', 'main'] : ['main'];
}

function kindOf({ collateral }: BalanceOptions): BalanceKind {
  return collateral === true ? 'collateral' : 'main';
}

async function listBalances(context: Context, options: ListOptions): Promise<void> {
  const { session } = context;
  const nowMs = session.clock.nowMs();
  const { name: account } = chooseAccount(session.settings, options.account);
  const { balances } = session.openSnapshots();
  const period = await chooseBalanceRange(options, nowMs, (within) => balances.list(account, within));
  const kind = kindOf(options);
  const stepMs = options.every ?? chooseStep(period);
  const rows = await readBalanceRows(balances, account, kind, { period, stepMs });
  const held = listTickers(rows);
  const tickers = options.tickers ?? held;
  const isEmpty = held.length === 0;
  const notes = isEmpty
    ? [await explainNoBalances(balances, account, kind, { period, nowMs })]
    : describeAbsent(tickers, held);
  const head = `${paint({ text: `${kind} balance of account ${account}`, style: 'strong' })}, ${describeRange(period)}`;
  await printResult(context, options.format, {
    document: { account, kind, ...period, everyMs: stepMs, tickers, rows },
    table: () =>
      isEmpty ? head : `${head}\n\n${renderBalances(rows, tickers, context.terminal.width ?? widestWidth)}`,
    records: () => listBalanceRecords(rows, tickers),
    notes,
  });
}

/** Names requested tickers without a balance: one of them may be mistyped. */
function describeAbsent(tickers: readonly string[], held: readonly string[]): readonly string[] {
  const absent = tickers.filter((ticker) => !held.includes(ticker));
  return absent.length === 0 ? [] : [`No balance at any of these times: ${absent.join(', ')}.`];
}

const narrowestWidth = 40;
const widestWidth = 120;
const usualWidth = 80;
/** With more panels, the first ones would scroll out of view. */
const terminalPanels = 5;

async function chartBalances(context: Context, options: ChartOptions): Promise<void> {
  const { out } = options;
  if (out === undefined) return await chartInTerminal(context, options);
  const { traces, account, kind } = await readTraces(context, options, svgColumns);
  const picture = drawSvg(traces, {
    title: `Balances of account ${account}`,
    subtitle: `${describeRange(traces.period)}, ${countSnapshots(traces)}`,
    legend: `${kind} balance`,
  });
  await writeOutput([picture], out);
  const tickers = traces.traces.map(({ ticker }) => ticker);
  const { period, snapshots, gaps } = traces;
  context.print({ account, kind, ...period, snapshots, gaps, tickers, path: out }, () =>
    [
      paint(`${out}: ${tickers.length} panels, ${describeRange(period)}, ${countSnapshots(traces)}`),
      ...describeAbsent(tickers, listHeld(traces)).map(paint),
    ].join('\n\n'),
  );
}

function countSnapshots({ snapshots }: Traces): string {
  return snapshots === 1 ? '1 snapshot' : `${snapshots} snapshots`;
}

async function chartInTerminal(context: Context, options: ChartOptions): Promise<void> {
  const width = Math.min(widestWidth, Math.max(narrowestWidth, context.terminal.width ?? usualWidth));
  const { traces, account, kind } = await readTraces(context, options, countDotColumns(width));
  const shown = options.tickers === undefined ? traces.traces.slice(0, terminalPanels) : traces.traces;
  const others = traces.traces.slice(shown.length).map(({ ticker }) => ticker);
  const { period, snapshots, gaps } = traces;
  const summaries = traces.traces.map(({ spans: _, ...summary }) => summary);
  context.print({ account, kind, ...period, snapshots, gaps, tickers: summaries }, () =>
    [
      paint({ text: `${kind} balance of account ${account}`, style: 'strong' }),
      '',
      drawTerminal({ ...traces, traces: shown }),
      ...(others.length === 0
        ? []
        : ['', paint(`Also held: ${others.join(', ')}. Choose some with --tickers.`)]),
      ...describeAbsent(
        traces.traces.map(({ ticker }) => ticker),
        listHeld(traces),
      ).flatMap((note) => ['', paint(note)]),
    ].join('\n'),
  );
}

/** Tickers with any balance above or below zero; the others are drawn as a flat line at zero. */
function listHeld({ traces }: Traces): readonly string[] {
  return traces.filter(({ least, most }) => !(least.eq(zero) && most.eq(zero))).map(({ ticker }) => ticker);
}

interface Chart {
  readonly account: string;
  readonly kind: BalanceKind;
  readonly traces: Traces;
}

/** @throws CommandFailure `nothing_kept` when there is nothing to draw */
async function readTraces({ session }: Context, options: ChartOptions, columns: number): Promise<Chart> {
  const nowMs = session.clock.nowMs();
  const chosen = chooseAccount(session.settings, options.account);
  const { name: account } = chosen;
  const { balances } = session.openSnapshots();
  const period = await chooseBalanceRange(options, nowMs, (within) => balances.list(account, within));
  const tickers = options.tickers ?? null;
  const kinds = chartKindsOf(options, chosen);
  for (const kind of kinds) {
    const traces = await traceBalances(balances.list(account, period), { period, kind, tickers, columns });
    if (isDrawable(traces, kind === kinds.at(-1))) return { account, kind, traces };
  }
  throw new CommandFailure(
    'nothing_kept',
    'there is nothing to draw',
    await explainNoBalances(balances, account, kinds.at(-1) ?? 'main', { period, nowMs }),
  );
}

/** A balance that was chosen for the caller is drawn only if something of it is recorded. */
function isDrawable(traces: Traces, isLast: boolean): boolean {
  return isLast ? traces.traces.length > 0 : listHeld(traces).length > 0;
}
