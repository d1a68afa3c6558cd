import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { measureBundles } from './bundles.ts';
import { describeMachine, documentPath, writeDocument, writePlain } from './document.ts';
import type { BenchFigures } from './figures.ts';
import { writeJson } from './json.ts';
import { compareKinds, compareServers } from './orders.ts';
import { measureParts } from './parts.ts';
import { measureSigning } from './signing.ts';
import { createTables } from './tables.ts';

/** What can be measured, in this order. */
const parts = ['signing', 'orders', 'kinds', 'parts', 'starts'] as const;
type Part = (typeof parts)[number];

interface Options {
  readonly only: readonly Part[];
  readonly json?: true;
  readonly write?: true;
}

const options = new Command('npm run bench --')
  .description('Measures the relay against its references, and judges the goals; takes about four minutes.')
  .addOption(new Option('--only <part...>', 'measure only these').choices(parts).default(parts, 'all'))
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
  starts   bundles of the functions, and how long they take to load`,
  )
  .parse()
  .opts<Options>();

const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const signingRounds = 9;
const signingRoundMs = 200;
const startRounds = 21;

const processors = cpus();
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
  };
  let measured: BenchFigures = { processors };
  for (const part of parts.filter((one) => chosen.includes(one))) {
    process.stderr.write(`measuring ${part} …\n`);
    measured = { ...measured, ...(await measureOne[part]()) };
  }
  return measured;
}

function writeReport(): string {
  const { ccxtAbsence = null, asides = new Map<string, number>() } = figures.orders ?? {};
  const notes = [
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
