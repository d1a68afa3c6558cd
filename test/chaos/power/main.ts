import { auditRun } from '../audit.ts';
import type { Violation } from '../evidence.ts';
import { print } from '../report.ts';
import type { PowerMutant } from './mutants.ts';
import { printPowerRun } from './report.ts';
import { type PowerPlan, type PowerRun, runPowerCuts } from './run.ts';

export const signalsPerRound = 10;
/** Each mutant must be caught within this many runs. */
const mostRunsPerMutant = 6;

type Plan = Omit<PowerPlan, 'mutant'>;

/**
 * Cuts the power of the relay, or of its mutants, and prints the result.
 *
 * @param mutants null for the relay itself
 * @returns whether the relay kept its promises, or every mutant broke one
 */
export async function cutPower(plan: Plan, mutants: readonly PowerMutant[] | null): Promise<boolean> {
  return mutants === null ? await cutRelay(plan) : await catchMutants(plan, mutants);
}

async function cutRelay(plan: Plan): Promise<boolean> {
  print(`Seed ${plan.seed}: ${plan.rounds} power cuts while ${plan.signals} signals arrive.`, '');
  const run = await runPowerCuts({ ...plan, mutant: null });
  const violations = auditPowerRun(run);
  printPowerRun(run, violations);
  return violations.length === 0;
}

async function catchMutants(plan: Plan, mutants: readonly PowerMutant[]): Promise<boolean> {
  let areCaught = true;
  for (const mutant of mutants) {
    const caught = await catchMutant(plan, mutant);
    if (caught === null) areCaught = false;
    const result = caught === null ? `NOT caught in ${mostRunsPerMutant} runs` : `caught: ${caught}`;
    print(`${mutant.name}: ${mutant.breaks}`, `    ${result}`);
  }
  return areCaught;
}

/** @returns what it was caught by; null when it was not caught */
async function catchMutant(plan: Plan, mutant: PowerMutant): Promise<string | null> {
  for (let run = 1; run <= mostRunsPerMutant; run += 1) {
    const violations = auditPowerRun(await runPowerCuts({ ...plan, seed: plan.seed + run - 1, mutant }));
    const telling = violations.filter(({ wrong }) => mutant.shows.includes(wrong));
    const [first] = telling;
    if (first !== undefined)
      return `${first.wrong}: ${first.what}; ${telling.length} such violations in run ${run}`;
  }
  return null;
}

function auditPowerRun({ facts, integrity, changes }: PowerRun): readonly Violation[] {
  const found = (wrong: Violation['wrong'], what: string): Violation => ({ wrong, what, details: [] });
  return [
    ...auditRun(facts),
    ...(integrity === 'ok' ? [] : [found('disagreement', `the database is damaged: ${integrity}`)]),
    ...(changes.dropped > 0
      ? []
      : [found('disagreement', 'no write was lost by any power cut, so this run proves nothing')]),
  ];
}
