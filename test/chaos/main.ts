import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseShare, type Share, takeShare } from '../support/share.ts';
import { auditRun } from './audit.ts';
import { createPlan } from './plan.ts';
import { cutPower, signalsPerRound } from './power/main.ts';
import { powerMutants } from './power/mutants.ts';
import { findObstacle } from './power/played-disk.ts';
import { printPlan, printRun } from './report.ts';
import { runChaos } from './run.ts';

interface ChaosOptions {
  readonly signals?: number;
  readonly seed?: number;
  readonly powerCuts?: number;
  readonly mutants: boolean;
  readonly share: Share;
}

const defaultSignals = 20_000;

const program = new Command('npm run chaos --')
  .description(
    'Kills the relay, fills its disk and disturbs its exchange while signals arrive; then audits the outcomes. With --power-cuts it cuts the power instead: what was not flushed to the disk may be lost.',
  )
  .addOption(
    countOption(
      '--signals <count>',
      `the number of signals; by default ${defaultSignals}, or ${signalsPerRound} for each power cut`,
    ),
  )
  .addOption(countOption('--seed <number>', 'the seed of the plan; random by default'))
  .addOption(
    countOption(
      '--power-cuts <count>',
      'cut the power this often while signals arrive; needs Linux and a C compiler',
    ),
  )
  .option(
    '--mutants',
    'with --power-cuts: run broken variants of the relay instead, each of which must be caught',
    false,
  )
  .addOption(
    new Option('--share <part/parts>', 'with --mutants: run only these of them, as 2/4')
      .argParser(readShare)
      .default({ part: 1, parts: 1 }, '1/1'),
  )
  .action(start);

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(exitCode));
await program.parseAsync();

function countOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const count = Number(text);
    if (!Number.isSafeInteger(count) || count < 1)
      throw new InvalidArgumentError('It must be a whole number above zero.');
    return count;
  });
}

function readShare(text: string): Share {
  try {
    return parseShare(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

async function start({ seed = randomInt(1, 1_000_000), ...options }: ChaosOptions): Promise<void> {
  const { powerCuts, mutants, share } = options;
  if (powerCuts === undefined && mutants) return program.error('error: --mutants needs --power-cuts');
  const obstacle = powerCuts === undefined ? null : findObstacle();
  if (obstacle !== null) return program.error(`error: ${obstacle}`);
  const isKept =
    powerCuts === undefined
      ? await runOnce(options.signals ?? defaultSignals, seed)
      : await cutPower(
          { seed, rounds: powerCuts, signals: options.signals ?? powerCuts * signalsPerRound },
          mutants ? takeShare(powerMutants, share) : null,
        );
  process.exitCode = isKept ? 0 : 1;
}

/** @returns whether the relay kept its promises */
async function runOnce(signals: number, seed: number): Promise<boolean> {
  const plan = createPlan(seed, signals);
  printPlan(plan, seed);
  const run = await runChaos(plan, seed);
  const violations = auditRun(run.facts);
  printRun(run, violations);
  return violations.length === 0;
}
