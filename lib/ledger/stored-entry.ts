import { parseOwnJson } from '../base/json.ts';
import type { OrderSize, Signal } from '../model/signal.ts';
import { carryFacts } from './carried-facts.ts';
import type { LookupProgress, Step } from './entry.ts';

/** The lookup progress with the field names that stores have used since the first release. */
interface StoredLookup extends Omit<LookupProgress, 'notFound' | 'firstNotFoundAtMs'> {
  readonly misses: number;
  readonly firstMissAtMs: number | null;
}

/** @throws SyntaxError when the text is not JSON */
export function readLookup(text: string): LookupProgress {
  const { misses, firstMissAtMs, ...lookup } = parseOwnJson<StoredLookup>(text);
  return { ...lookup, notFound: misses, firstNotFoundAtMs: firstMissAtMs };
}

export function formatLookup({ notFound, firstNotFoundAtMs, ...lookup }: LookupProgress): string {
  const stored: StoredLookup = { ...lookup, misses: notFound, firstMissAtMs: firstNotFoundAtMs };
  return JSON.stringify(stored);
}

/** Steps as they were stored, with the facts that an older release left in their evidence. */
export function readSteps(steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => {
    if (step.facts !== undefined || step.evidence === undefined) return step;
    const facts = carryFacts(step);
    return facts === undefined ? step : { ...step, facts };
  });
}

/** The names of size units in older releases. */
const olderUnits: Readonly<Record<string, OrderSize['unit']>> = { stock: 'base', money: 'quote' };

/** @throws SyntaxError when the text is not JSON */
export function readSignal(text: string): Signal {
  const signal = parseOwnJson<Signal>(text);
  if (signal.action !== 'order') return signal;
  const unit = olderUnits[signal.size.unit];
  return unit === undefined ? signal : { ...signal, size: { ...signal.size, unit } as OrderSize };
}
