import type { Fill } from '../model/execution.ts';
import type { Status } from '../model/outcome.ts';
import type { OrderReport, StepFacts } from '../model/step-facts.ts';
import type { Entry } from './entry.ts';

const none: StepFacts = {};

/** The facts of the last step with this status; empty when there is no such step, or when it has none. */
export function stepFacts({ steps }: Pick<Entry, 'steps'>, status: Status): StepFacts {
  return steps.findLast((step) => step.status === status)?.facts ?? none;
}

/** Where the order of an entry traded, as its fills are to say it. An older release did not note it. */
export function fillMarksOf({
  steps,
  signal,
}: Pick<Entry, 'steps' | 'signal'>): Pick<Fill, 'onSpot' | 'strategy' | 'isUnguarded'> {
  const { spot, amount, exits = {} } = stepFacts({ steps }, 'sending');
  if (spot === undefined) return amount === undefined ? {} : { onSpot: false };
  const { strategy } = signal ?? {};
  const isBuy = signal?.action === 'order' && signal.side === 'buy';
  return {
    onSpot: true,
    ...(strategy === undefined ? {} : { strategy }),
    ...(isBuy && Object.keys(exits).length === 0 ? { isUnguarded: true } : {}),
  };
}

/** The order as the exchange reported it last; null when it was not reported. */
export function finalReport({ ended, report }: StepFacts): OrderReport | null {
  return ended ?? report ?? null;
}

/** The ids of the signals that placed the orders of a cancellation, or the entries that a close cancelled first. */
export function placedByIn({ steps }: Pick<Entry, 'steps'>): readonly string[] {
  return steps.findLast(({ facts }) => facts?.placedBy !== undefined)?.facts?.placedBy ?? [];
}

/** Whether a cancellation of a whole market was cut down to the orders of the relay that may open a position. */
export function leavesProtection(entry: Pick<Entry, 'steps'>): boolean {
  return stepFacts(entry, 'sending').keepsProtection === true;
}
