import type { RehearsalStep } from '../account/rehearsed.ts';
import { ExchangeError } from '../exchange/errors.ts';
import type { TradingGround } from '../model/account.ts';
import type { Market } from '../model/market.ts';
import { cleanUp } from './clean-up.ts';
import { farIoc } from './far-ioc.ts';
import { guardedEntry } from './guarded-entry.ts';
import { plannedExits } from './planned-exits.ts';
import { readLists } from './read-lists.ts';
import { type StepOutcome, stopAt } from './rehearsal-book.ts';
import { restingLimit } from './resting-limit.ts';
import { spotEntry } from './spot-entry.ts';
import type { Stage, TrialStep } from './stage.ts';
import { stopTriggers } from './stop-triggers.ts';

/** The steps of a rehearsal on a trading ground, in their order. */
function stepsOn(ground: TradingGround): readonly TrialStep[] {
  const entry = ground === 'spot' ? spotEntry : guardedEntry;
  return [readLists, restingLimit, farIoc, stopTriggers, plannedExits, entry];
}

export interface RehearsalPlan {
  /** The steps to try; the others are left out. */
  readonly steps: ReadonlySet<RehearsalStep>;
  /** Asked before each step. False: the rehearsal ends there. */
  confirm(step: TrialStep): Promise<boolean>;
  /** Told after each step. */
  tell(step: TrialStep, outcome: StepOutcome): void;
}

/** What a rehearsal came to. */
export interface RehearsalResult {
  /** Oldest first; only the last one may not have passed. */
  readonly tried: readonly { readonly step: RehearsalStep; readonly outcome: StepOutcome }[];
  /** What is left at the exchange, as the subject of a sentence; null: nothing. */
  readonly left: string | null;
  /** The step that the owner did not want; null: none. */
  readonly declined: RehearsalStep | null;
}

/**
 * Removes what an earlier rehearsal has left, then goes through the steps of the plan, in their order. After each of them nothing of it is left at the
 * exchange; otherwise it has not passed, and no other step is tried.
 *
 * @param markets the rules of the markets in which an earlier rehearsal may have left something
 * @throws RelayError `store_unavailable`
 */
export async function rehearse(
  stage: Stage,
  markets: ReadonlyMap<string, Market>,
  plan: RehearsalPlan,
): Promise<RehearsalResult> {
  const tried: { step: RehearsalStep; outcome: StepOutcome }[] = [];
  const before = await removeLeft(stage, markets);
  if (before !== null) return { tried, left: before, declined: null };
  for (const step of stepsOn(stage.ground)) {
    if (!plan.steps.has(step.name)) continue;
    if (!(await plan.confirm(step))) return { tried, left: null, declined: step.name };
    const ran = await runSafely(stage, step);
    const left = await removeLeft(stage, markets);
    const outcome = left === null || !ran.passed ? ran : stopAt(`${left} is left`);
    await record(stage, step, outcome);
    tried.push({ step: step.name, outcome });
    plan.tell(step, outcome);
    if (!outcome.passed) return { tried, left, declined: null };
  }
  return { tried, left: null, declined: null };
}

async function runSafely(stage: Stage, step: TrialStep): Promise<StepOutcome> {
  try {
    return await step.run(stage);
  } catch (error) {
    if (error instanceof ExchangeError) return stopAt(error.message);
    throw error;
  }
}

async function record(
  { book, clock, market }: Stage,
  { name }: TrialStep,
  outcome: StepOutcome,
): Promise<void> {
  const atMs = clock.nowMs();
  if (outcome.passed) await book.pass(name, { atMs, market: market.name, found: outcome.found });
  else await book.stop(name, atMs, outcome.reason);
}

/** @returns what is left in one of the markets, or why nobody can tell; null: nothing */
async function removeLeft(stage: Stage, markets: ReadonlyMap<string, Market>): Promise<string | null> {
  const names = new Set(stage.book.notes.sent.map(({ market }) => market));
  for (const name of names) {
    const market = markets.get(name);
    if (market === undefined) return `an order in ${name}, which the exchange does not list any more,`;
    try {
      const left = await cleanUp({ ...stage, market });
      if (left !== null) return left;
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      return `perhaps an order in ${name}, because the exchange could not be asked (${error.message}),`;
    }
  }
  return null;
}
