import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { measureBundles } from './bundles.ts';
import { describeMachine, documentPath, writeDocument, writePlain } from './document.ts';
import type { BenchFigures } from './figures.ts';
import { measureGrowth } from './growth.ts';
import { writeJson } from './json.ts';
import { compareKinds, compareServers } from './orders.ts';
import { measureParts } from './parts.ts';
import { measureSigning } from './signing.ts';
import { createTables } from './tables.ts';
import { measureWaiting } from './waiting.ts';

/**
 * What can be measured, in this order.
 *
 * | part | measured by | programs under measurement |
 * | --- | --- | --- |
 * | signing | `signing.ts` | this one |
 * | orders, kinds | `orders.ts`, `load.ts` | `relay-server.ts` and `bare-`, `floor-`, `ccxt-server.ts`, with `exchange-stub.ts` |
 * | parts | `parts.ts`, `profile.ts` | `relay-server.ts` with `exchange-stub.ts` |
 * | starts | `bundles.ts` | the bundles of the functions |
 * | growth | `growth.ts`, `fill-ledger.ts` | `npx relay`, `npm start`, and `relay-server.ts` with `paper-server.ts` |
 * | waiting | `waiting.ts` | `relay-server.ts` with `exchange-stub.ts` |
 *
 * `figures.ts` has what was measured, `goals.ts` judges it, `tables.ts` and `json.ts` write it down.
 */
const parts = ['signing', 'orders', 'kinds', 'parts', 'starts', 'growth', 'waiting'] as const;
type Part = (typeof parts)[number];
/** These take minutes each. */
const longParts: readonly Part[] = ['growth', 'waiting'];

interface Options {
  readonly only: readonly Part[];
  readonly json?: true;
  readonly write?: true;
}

const options = new Command('npm run bench --')
  .description('Measures the relay against its references, and judges the goals; takes about four minutes.')
  .addOption(
    new Option('--only <part...>', 'measure only these').choices(parts).default(
      parts.filter((part) => !longParts.includes(part)),
      `all but ${longParts.join(' and ')}`,
    ),
  )
  .option('--json', 'print one JSON document instead of tables (with `npm run -s bench -- --json`)')
  .option('--write', `write the tables into ${documentPath}, too`)
  .addHelpText(
    'after',
    `
Parts:
  signing  how many orders a second one thread can sign
  orders   alerts through the relay, the bare server, the durable floors and ccxt, in turns
  kinds    a guarded market order beside a stop-limit order
  parts    where the time of an order goes, by a profile
  starts   bundles of the functions, and how long they take to load
  growth   what commands, signals and the reconciler cost with 10 thousand, 1 and 3 million signals; needs 8 GB of disk
  waiting  what a signal costs when 10 and when 10,000 wait`,
  )
  .parse()
  .opts<Options>();

const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const signingRounds = 9;
const signingRoundMs = 200;
const startRounds = 21;
/** From this load average on, the machine is not quiet enough. */
const busyLoad = 1;

const processors = cpus();
const [loadBefore = 0] = loadavg();
const figures = await measure(options.only);
const tables = createTables(figures);
if (options.write === true) writeDocument(processors, tables);
process.stdout.write(options.json === true ? writeJson(figures) : writeReport());

async function measure(chosen: readonly Part[]): Promise<BenchFigures> {
  const measureOne: { readonly [P in Part]: () => Promise<Partial<BenchFigures>> } = {
    signing: async () => ({ signing: await measureSigning(signingRounds, signingRoundMs) }),
    orders: async () => ({ orders: await compareServers(folder) }),
    kinds: async () => ({ kinds: await compareKinds(folder) }),
    parts: async () => ({ parts: await measureParts(folder) }),
    starts: async () => ({ starts: await measureBundles(startRounds) }),
    growth: async () => ({ growth: await measureGrowth(folder) }),
    waiting: async () => ({ waiting: await measureWaiting(folder) }),
  };
  let measured: BenchFigures = { processors, loadBefore };
  for (const part of parts.filter((one) => chosen.includes(one))) {
    process.stderr.write(`measuring ${part} …\n`);
    measured = { ...measured, ...(await measureOne[part]()) };
  }
  return measured;
}

function writeReport(): string {
  const { ccxtAbsence = null, asides = new Map<string, number>() } = figures.orders ?? {};
  const notes = [
    ...(loadBefore < busyLoad
      ? []
      : [
          `Other programs used the machine when the benchmark began (load average ${loadBefore.toFixed(1)}): the relay's ratios are too high, most of all with one order in flight. Repeat it on a quiet machine.`,
        ]),
    ...(ccxtAbsence === null ? [] : [`ccxt could not be installed, and is left out: ${ccxtAbsence}`]),
    ...Array.from(
      asides,
      ([what, count]) => `While orders were measured, the relay also logged: ${what} (${count} times)`,
    ),
  ];
  return [[describeMachine(processors)], ...tables.map(writePlain), notes]
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}
