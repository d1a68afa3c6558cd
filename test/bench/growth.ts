import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import { fillLedger } from './fill-ledger.ts';
import { followRelay, type RelayTarget } from './load.ts';
import { type CommandRun, runCommand, runStart } from './run-command.ts';
import { createAlert } from './workload.ts';

/** How many signals the ledgers hold. */
export const ledgerSizes = [10_000, 1_000_000, 3_000_000] as const;
type LedgerSize = (typeof ledgerSizes)[number];

/** What one operation costs once. */
export interface Cost {
  readonly cpuMs: number;
  readonly tookMs: number;
}

/** What one operation costs, by the number of signals in the ledger. */
export interface GrowthFigures {
  readonly operation: string;
  /** A command is a process of its own. Its CPU time is what it takes beyond `--help`, its time is the whole. */
  readonly isCommand: boolean;
  /** Round by round. */
  readonly costs: ReadonlyMap<number, readonly Cost[]>;
}

const rounds = 9;
const account = 'a';
const base = 'BTC';
/** Signals of one kind in one round, one after the other. */
const signalsOfRound = 20;
const reconcilerRunsOfRound = 5;

/** Every operation with every ledger in every round, so that a busy moment of the machine meets all sizes. */
export async function measureGrowth(folder: string): Promise<readonly GrowthFigures[]> {
  const paths = await createLedgers(folder);
  const costs: Costs = new Map();
  const commandNames = await measureCommands(paths, costs);
  await measureSignals(paths, costs);
  return Array.from(costs, ([operation, bySize]) => ({
    operation,
    isCommand: commandNames.includes(operation),
    costs: bySize,
  }));
}

type Costs = Map<string, Map<LedgerSize, Cost[]>>;

function note(costs: Costs, operation: string, size: LedgerSize, cost: Cost): void {
  const bySize = costs.get(operation) ?? new Map<LedgerSize, Cost[]>();
  costs.set(operation, bySize);
  bySize.set(size, [...(bySize.get(size) ?? []), cost]);
}

/** Data folders whose ledgers hold that many copies of what a relay itself has stored. */
async function createLedgers(folder: string): Promise<ReadonlyMap<LedgerSize, string>> {
  const [smallest] = ledgerSizes;
  const paths = new Map(ledgerSizes.map((size) => [size, join(folder, `ledger-${size}`)] as const));
  let last = paths.get(smallest) ?? '';
  await storeTemplates(last);
  for (const [size, path] of paths) {
    if (path !== last) cpSync(last, path, { recursive: true });
    fillLedger(locateDataFolder(path).databasePath, size);
    last = path;
  }
  return paths;
}

/** Lets a relay store signals of three accounts: placed, cancelled, and denied ones. */
async function storeTemplates(path: string): Promise<void> {
  const exchange = await startProcess('paper-server.ts');
  const relay = await openGrowthRelay(exchange, path);
  for (const own of ['a', 'b', 'c'])
    for (const ticker of ['BTC', 'ETH', 'SOL']) {
      const names = { account: own, base: ticker };
      for (let nth = 0; nth < 8; nth += 1)
        await relay.post(orderSignal({ ...names, id: `${own}-${ticker}-${nth}` }));
      await relay.post(cancelSignal({ ...names, id: `${own}-${ticker}-c`, signalId: `${own}-${ticker}-0` }));
      await relay.post(
        deniedSignal({ ...names, id: `${own}-${ticker}-d`, signalId: `${own}-${ticker}-none` }),
      );
      await relay.post(cancelAllSignal({ ...names, id: `${own}-${ticker}-all` }));
    }
  await relay.process.stop();
  await exchange.stop();
}

async function openGrowthRelay(exchange: BenchProcess, path: string): Promise<RelayTarget> {
  const server = await startProcess('relay-server.ts', [exchange.url, path]);
  return await followRelay(server, locateDataFolder(path).secretsPath);
}

interface Names {
  readonly account: string;
  readonly base: string;
  readonly id: string;
}

function orderSignal({ account: own, base: ticker, id }: Names) {
  const alert = createAlert(id, ticker, 'stop_limit');
  return { account: own, id, alert, status: 'placed' };
}

function cancelSignal({ signalId, ...names }: Names & { readonly signalId: string }) {
  return commandSignal(names, { action: 'cancel', signalId }, 'cancelled');
}

function deniedSignal({ signalId, ...names }: Names & { readonly signalId: string }) {
  return commandSignal(names, { action: 'cancel', signalId }, 'denied');
}

function cancelAllSignal(names: Names) {
  return commandSignal(names, { action: 'cancel_all' }, 'cancelled');
}

function commandSignal({ account: own, base: ticker, id }: Names, fields: object, status: string) {
  const time = new Date().toISOString();
  return {
    account: own,
    id,
    alert: JSON.stringify({ ticker: `${ticker}USDT`, ...fields, time, id }),
    status,
  };
}

/** @returns the names of the operations that are commands */
async function measureCommands(
  paths: ReadonlyMap<LedgerSize, string>,
  costs: Costs,
): Promise<readonly string[]> {
  const commands = new Map<string, (path: string) => Promise<CommandRun>>([
    ['`npm start` until it is ready', runStart],
    ['`signals`', (path) => runCommand(['signals', '--data', path])],
    ['`signals --account`', (path) => runCommand(['signals', '--account', account, '--data', path])],
    ['`signals --status denied`', (path) => runCommand(['signals', '--status', 'denied', '--data', path])],
    [
      '`signal ID`',
      (path) => runCommand(['signal', `${account}-${base}-1`, '--account', account, '--data', path]),
    ],
  ]);
  for (let round = 0; round < rounds; round += 1) {
    const nothing = await runCommand(['--help']);
    for (const [operation, run] of commands)
      for (const [size, path] of paths) note(costs, operation, size, beyond(nothing, await run(path)));
  }
  return [...commands.keys()];
}

function beyond(nothing: CommandRun, run: CommandRun): Cost {
  return {
    cpuMs: (run.cpuMicros - nothing.cpuMicros) / 1000,
    tookMs: run.tookMs,
  };
}

async function measureSignals(paths: ReadonlyMap<LedgerSize, string>, costs: Costs): Promise<void> {
  const opened: {
    readonly size: LedgerSize;
    readonly relay: RelayTarget;
    readonly exchange: BenchProcess;
  }[] = [];
  for (const [size, path] of paths) {
    const exchange = await startProcess('paper-server.ts');
    opened.push({ size, exchange, relay: await openGrowthRelay(exchange, path) });
  }
  // The first rounds only warm up.
  for (let round = -3; round < rounds; round += 1)
    for (const { size, relay } of opened)
      for (const [operation, cost] of await measureRound(relay, round))
        if (round >= 0) note(costs, operation, size, cost);
  for (const { relay, exchange } of opened) {
    await relay.process.stop();
    await exchange.stop();
  }
}

async function measureRound(relay: RelayTarget, round: number): Promise<ReadonlyMap<string, Cost>> {
  const numbers = Array.from({ length: signalsOfRound }, (_, index) => index);
  const names = (id: string) => ({ account, base, id: `r${round}-${id}` });
  const each = (send: (nth: number) => Promise<unknown>) =>
    measure(relay.process, signalsOfRound, async () => {
      for (const nth of numbers) await send(nth);
    });
  const order = await each((nth) => relay.post(orderSignal(names(`o${nth}`))));
  const cancel = await each((nth) =>
    relay.post(cancelSignal({ ...names(`c${nth}`), signalId: `r${round}-o${nth}` })),
  );
  const cancelAll = await each((nth) => relay.post(cancelAllSignal(names(`a${nth}`))));
  const reconcile = await measure(relay.process, reconcilerRunsOfRound, async () => {
    for (let run = 0; run < reconcilerRunsOfRound; run += 1) await relay.process.ask('reconcile');
  });
  return new Map([
    ['webhook: an order', order],
    ['webhook: cancel', cancel],
    ['webhook: cancel_all', cancelAll],
    ["the reconciler's minute", reconcile],
  ]);
}

/** What each of so many operations cost the process. */
async function measure(process: BenchProcess, count: number, run: () => Promise<void>): Promise<Cost> {
  const before = await process.ask('cpu');
  const startedAtMs = performance.now();
  await run();
  const tookMs = (performance.now() - startedAtMs) / count;
  const after = await process.ask('cpu');
  return { cpuMs: (after.processMicros - before.processMicros) / 1000 / count, tookMs };
}
