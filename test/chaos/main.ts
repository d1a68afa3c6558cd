import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { auditRun } from './audit.ts';
import { createPlan } from './plan.ts';
import { printPlan, printRun } from './report.ts';
import { runChaos } from './run.ts';

interface ChaosOptions {
  readonly signals: number;
  readonly seed?: number;
}

const program = new Command('npm run chaos --')
  .description(
    'Kills the relay, fills its disk and disturbs its exchange while signals arrive; then audits the outcomes.',
  )
  .addOption(countOption('--signals <count>', 'the number of signals').default(20_000))
  .addOption(countOption('--seed <number>', 'the seed of the plan; random by default'))
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

async function start({ signals, seed = randomInt(1, 1_000_000) }: ChaosOptions): Promise<void> {
  const plan = createPlan(seed, signals);
  printPlan(plan, seed);
  const run = await runChaos(plan, seed);
  const violations = auditRun(run.facts);
  printRun(run, violations);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
