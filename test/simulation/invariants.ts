import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { World } from '../../lib/paper/world.ts';
import { findBrokenCancels } from './cancel-invariants.ts';
import { findUnlawfulConduct } from './conduct-invariants.ts';
import type { History } from './history.ts';
import { findWrongIntake } from './intake-invariants.ts';
import { findUnlawfulOrders } from './order-invariants.ts';
import { findWrongOutcomes } from './outcome-invariants.ts';
import { findLostRefusals } from './refusal-invariants.ts';

/** What must hold after every run, whatever went wrong in it. */
export const invariants = {
  I1: 'one signal, at most one order',
  I2: 'every stored signal has one final outcome, or is unknown with an alarm',
  I3: 'ledger and exchange agree',
  I4: 'the signals of a market go on the wire in the order in which they were stored',
  I5: 'no order is sent while paused, nothing when stale',
  I6: 'no secret and no raw body is told',
  I7: 'every move is legal, and what is final stays',
  I8: 'the limits of an account are kept',
  I9: 'nothing is taken in without a valid token',
  I10: 'a refused alert is found by its own id, and an account over its limit is told of',
  I11: 'no order is sent after its cancellation has ended, and no cancellation comes to nothing in silence',
  I12: 'an account is full for a minute at most, whatever its clock does',
  I13: 'an alert is stored as a whole, or not at all',
  I14: 'a response about another order than the one asked for is an alarm',
  I15: 'no order waits or ends for want of the market list while a copy of it is kept',
} as const;
export type InvariantName = keyof typeof invariants;

/** What a broken invariant means to the owner; only three of them have a word of their own. */
export type Harm = 'lost' | 'duplicated' | 'silent' | 'other';

export interface Violation {
  readonly invariant: InvariantName;
  readonly harm: Harm;
  readonly text: string;
}

/** What is known of a run at its end. */
export interface Facts {
  readonly history: History;
  readonly entries: readonly Entry[];
  readonly exchange: World;
  readonly dialect: Dialect;
  /** What is secret at the end. */
  readonly secrets: readonly string[];
}

export function findViolations(facts: Facts): readonly Violation[] {
  return [
    ...findWrongOutcomes(facts),
    ...findUnlawfulConduct(facts),
    ...findBrokenCancels(facts),
    ...findWrongIntake(facts),
    ...findLostRefusals(facts),
    ...findUnlawfulOrders(facts),
  ];
}
