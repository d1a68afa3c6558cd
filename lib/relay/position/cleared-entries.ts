import type { SeenPosition } from '../../account/seen-position.ts';
import type { LastOrder } from '../../account/trust-reading.ts';
import type { Alarm } from '../../base/alarms.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import { type Json, toJson } from '../../base/json.ts';
import type { Entry } from '../../ledger/entry.ts';
import { orderSignalOf } from '../../ledger/sent-order.ts';
import type { StepFacts } from '../../model/step-facts.ts';
import type { EntryEnd } from './read-end.ts';

/** What a step says. */
interface Told {
  readonly note: string;
  readonly evidence?: Json;
  readonly facts?: StepFacts;
}

/**
 * The resting entries that one execution of a signal has cancelled before its close. Whatever its outcome is then, the
 * ledger says so.
 */
export class ClearedEntries {
  /** When the execution began. */
  readonly startedAtMs: number;
  readonly #ends = new Map<string, EntryEnd>();
  readonly #moves: LastOrder[] = [];

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs;
  }

  has(signalId: string): boolean {
    return this.#ends.has(signalId);
  }

  /** The fills that the cancellations found: a reading of the position must show them. */
  get moves(): readonly LastOrder[] {
    return this.#moves;
  }

  /** @param before the position as it was read before the cancellations */
  add(ends: readonly EntryEnd[], before: SeenPosition, nowMs: number): void {
    for (const end of ends) this.#ends.set(end.entry.signalId, end);
    const filled = ends.filter(({ newlyFilled }) => newlyFilled?.gt(zero) ?? true);
    const [first] = filled;
    if (first === undefined) return;
    const times = filled.map(({ filledAtMs }) => filledAtMs);
    const sum = sumOf(filled);
    this.#moves.push({
      signalId: first.entry.signalId,
      answeredAtMs: nowMs,
      endedAtMs: times.every((time) => time !== null) ? Math.max(...times) : null,
      expected: sum === null ? null : { ...before, amount: before.amount.plus(sum) },
    });
  }

  /** What may still rest. */
  get alarm(): Alarm | null {
    const left = this.#left();
    if (left.length === 0) return null;
    const which = left.map(({ entry }) => describeOrder(entry));
    const more = which.length > mostNamed ? ` and ${which.length - mostNamed} more` : '';
    return {
      name: 'orders_left_open',
      message: `a position is being closed, and resting entries could not be cancelled before: ${which.slice(0, mostNamed).join(', ')}${more} may still fill and open a position; cancel them`,
    };
  }

  get note(): string {
    const ended = [...this.#ends.values()].filter(({ mayRest }) => !mayRest);
    const left = this.#left();
    return [
      ...(ended.length === 0 ? [] : [`its resting entries are cancelled: ${namesOf(ended)}`]),
      ...(left.length === 0 ? [] : [`resting entries could not be cancelled: ${namesOf(left)}`]),
    ].join('; ');
  }

  /** The same step, with what became of the entries. */
  tell<T extends Told>(told: T): T {
    if (this.#ends.size === 0) return told;
    const ends = [...this.#ends.values()];
    const cancelled = ends.flatMap((end) => end.cancelled ?? []);
    const isUnreported = ends.some((end) => end.wasGone && end.cancelled === null);
    const facts: StepFacts = {
      ...told.facts,
      placedBy: ends.filter(({ wasAsked }) => wasAsked).map(({ entry }) => entry.signalId),
      ...(cancelled.length === 0 ? {} : { cancelled }),
      ...(isUnreported ? { wasGone: true } : {}),
    };
    const entries = ends.map(({ entry, mayRest, note }) => ({ signalId: entry.signalId, mayRest, note }));
    const evidence = toJson({ ...Object(told.evidence ?? {}), clearedEntries: entries });
    return { ...told, note: `${told.note}; ${this.note}`, evidence, facts };
  }

  #left(): readonly EntryEnd[] {
    return [...this.#ends.values()].filter(({ mayRest }) => mayRest);
  }
}

const mostNamed = 10;

function describeOrder({ signalId, orderId }: Entry): string {
  return orderId === null
    ? `the order of "${signalId}", whose outcome is not known,`
    : `order ${orderId} of "${signalId}"`;
}

function namesOf(ends: readonly EntryEnd[]): string {
  const names = ends.slice(0, mostNamed).map(({ entry }) => `"${entry.signalId}"`);
  return `${names.join(', ')}${ends.length > mostNamed ? ` and ${ends.length - mostNamed} more` : ''}`;
}

/** Above zero for a buy; null when it is not known. */
function sumOf(ends: readonly EntryEnd[]): Decimal | null {
  let sum: Decimal | null = zero;
  for (const { entry, newlyFilled } of ends) {
    const side = orderSignalOf(entry)?.side;
    if (sum === null || newlyFilled === null || side === undefined) return null;
    sum = side === 'buy' ? sum.plus(newlyFilled) : sum.minus(newlyFilled);
  }
  return sum;
}
