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
  /** The signals of unknown outcome that it has looked up. */
  readonly lookedUp = new Set<string>();
  readonly #ends = new Map<string, EntryEnd>();
  readonly #moves: LastOrder[] = [];

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs;
  }

  has(signalId: string): boolean {
    return this.#ends.has(signalId);
  }

  get isEmpty(): boolean {
    return this.#ends.size === 0;
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
    const sum = changeBy(filled);
    this.#moves.push({
      signalId: first.entry.signalId,
      answeredAtMs: nowMs,
      endedAtMs: times.every((time) => time !== null) ? Math.max(...times) : null,
      expected: sum === null ? null : { ...before, amount: before.amount.plus(sum) },
    });
  }

  /** What may still rest, or come. */
  get alarm(): Alarm | null {
    const { resting, unknown } = this.#left();
    const orders = listed(resting, ({ orderId, signalId }) => `order ${orderId} of "${signalId}"`);
    const told = [
      ...(resting.length === 0
        ? []
        : [
            `resting entries could not be cancelled before: ${orders} may still fill and open a position; cancel them`,
          ]),
      ...(unknown.length === 0
        ? []
        : [
            `the outcome of ${namesOf(unknown)} is not known: an order may still arrive and open a position; look at the exchange, and settle it with npx relay resolve`,
          ]),
    ];
    if (told.length === 0) return null;
    return { name: 'orders_left_open', message: `a position is being closed, and ${told.join('; ')}` };
  }

  get note(): string {
    const { ended, resting, unknown } = this.#left();
    return [
      ...(ended.length === 0 ? [] : [`its resting entries are cancelled: ${namesOf(ended)}`]),
      ...(resting.length === 0 ? [] : [`resting entries could not be cancelled: ${namesOf(resting)}`]),
      ...(unknown.length === 0 ? [] : [`the outcome is not known of ${namesOf(unknown)}`]),
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

  #left(): Record<'ended' | 'resting' | 'unknown', readonly Entry[]> {
    const ends = [...this.#ends.values()];
    const left = ends.filter(({ mayRest }) => mayRest).map(({ entry }) => entry);
    return {
      ended: ends.filter(({ mayRest }) => !mayRest).map(({ entry }) => entry),
      resting: left.filter(({ orderId }) => orderId !== null),
      unknown: left.filter(({ orderId }) => orderId === null),
    };
  }
}

const mostNamed = 10;

function namesOf(entries: readonly Entry[]): string {
  return listed(entries, ({ signalId }) => `"${signalId}"`);
}

function listed(entries: readonly Entry[], name: (entry: Entry) => string): string {
  const more = entries.length > mostNamed ? ` and ${entries.length - mostNamed} more` : '';
  return `${entries.slice(0, mostNamed).map(name).join(', ')}${more}`;
}

/** Above zero for a buy; null when it is not known. */
function changeBy(ends: readonly EntryEnd[]): Decimal | null {
  let sum: Decimal | null = zero;
  for (const { entry, newlyFilled } of ends) {
    const side = orderSignalOf(entry)?.side;
    // Of one whose outcome was not known, the reading before may show the fill.
    if (sum === null || newlyFilled === null || side === undefined || entry.status === 'unknown') return null;
    sum = side === 'buy' ? sum.plus(newlyFilled) : sum.minus(newlyFilled);
  }
  return sum;
}
