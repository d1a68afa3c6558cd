import type { DealsState } from '../../lib/account/account-deals.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { findUnboundOrders } from './bound-invariants.ts';
import { findBrokenCancels } from './cancel-invariants.ts';
import { findWrongSales } from './claim-invariants.ts';
import { findUnendedCloses } from './close-invariants.ts';
import { findUnlawfulConduct } from './conduct-invariants.ts';
import { findWrongFollowing } from './follow-invariants.ts';
import { findUnfitExits } from './guard-invariants.ts';
import type { History } from './history.ts';
import { findWrongIntake } from './intake-invariants.ts';
import { findWrongProtection } from './kept-invariants.ts';
import { withoutLeftExits } from './left-exits.ts';
import { findUnlawfulLegs } from './leg-invariants.ts';
import { findAfterLosses } from './loss-invariants.ts';
import { findUnlawfulOrders } from './order-invariants.ts';
import { findWrongOutcomes } from './outcome-invariants.ts';
import { findEnlargedPositions } from './position-invariants.ts';
import { findWrongProfits } from './profit-invariants.ts';
import { findUnlawfulProtection } from './protect-invariants.ts';
import { findLostRefusals } from './refusal-invariants.ts';
import { findWrongRepeats } from './repeat-invariants.ts';
import type { ReportedProfit } from './reported-profits.ts';
import { findRisks } from './risk-invariants.ts';
import { findWrongSizes } from './sizing-invariants.ts';
import { findUnfitSpotStops } from './spot-invariants.ts';
import { findSecondStrategies } from './strategy-invariants.ts';
import { findFalselySatisfied, findMissedTargets } from './target-invariants.ts';
import { findBrokenWaits } from './wait-invariants.ts';

/** What must hold after every run, whatever faults it had. */
export const invariants = {
  I1: 'one signal, at most one order',
  I2: 'every stored signal has one final outcome, or is unknown with an alarm',
  I3: 'ledger and exchange agree',
  I4: 'the signals of a market are sent in the order in which they were stored',
  I5: 'no order is sent while its account is paused, and no stale signal is sent',
  I6: 'no log line, response or step contains a secret or a raw body',
  I7: 'every status change is legal, and final statuses do not change',
  I8: 'the limits of an account are kept',
  I9: 'no alert is accepted without a valid token',
  I10: 'a refused alert is found by its own id, and an account over its limit raises an alarm',
  I11: 'no order is sent after its cancellation is settled, and a cancellation without effect raises an alarm',
  I12: 'an account is over its limit for at most a minute, even if its clock is set back',
  I13: 'an alert is stored completely or not at all',
  I14: 'a response that reports another order than the requested one raises an alarm, and no other response does',
  I15: 'no order waits or fails for lack of the market list while a copy of it is stored',
  I16: 'an order that may only reduce a position never opens or enlarges one',
  I17: 'every order has the size and price that its signal asks for, on readings of its own account of the last 5 s',
  I18: 'a guarded market order never fills beyond its bound, and what must fill at once never rests',
  I19: 'a close and a leg that reduces never open or enlarge a position, nor do the stops that a close should have ended',
  I20: 'the leg that opens is not sent before the leg that reduces has its outcome and the old position is gone',
  I21: 'an order of a position action leads from the position that was read to the wanted one, never beyond it',
  I22: 'after the last target of a market the position is what it asks for, or the ledger says why not',
  I23: 'no order is sent that presumes another position than the one that was read',
  I24: 'a signal is satisfied only if the position was as wanted, and nothing was sent for it',
  I25: 'what depends on the position waits for earlier orders of its market that may enlarge it, a close of all of it ten seconds at most for those of unknown outcome, and never becomes a dead letter by waiting',
  I26: 'no order of a second strategy is sent while the position of the first one is open, where the account says so',
  I27: 'the fills in the ledger are those of the exchange: none is missing, none invented, none counted twice',
  I28: 'the ledger says how each order and each exit made from it stands or ended',
  I29: 'a position that has lost its stop-loss raises an alarm',
  I30: 'no order enlarges what is at stake beyond the limits of its account, as far as the relay could know',
  I31: 'an alert that may not be a resend of the one before it is not answered as a resend in silence, and a resend places nothing',
  I32: 'every deal of an account since it was first read is in the ledger once, and one that belongs to no signal as such',
  I33: 'no entry fills after a close of all of the position, and a close that leaves a part of it raises an alarm and is tried again',
  I34: 'no exit is larger than its position or left without one, unless an alarm says so',
  I35: 'no position lacks the stop-loss that its entries, or a `protect`, should have, unless an alarm says so or the owner ended it',
  I36: 'what protects no position of the relay is never cancelled to protect one, and what the owner ended is not placed again',
  I37: 'a stop-loss is cancelled for another one only after that stands',
  I38: 'at most thirty orders a minute are sent in a market to protect positions',
  I39: 'what is left of a spot buy has its stop-loss, and no larger one, unless an alarm says so or the owner ended it; its stop-losses sell no more than it has bought',
  I40: 'a stop-loss that follows the price never moves back, and is at its distance from the price in the end',
  I41: 'a stop-loss at the entry price has that price, and one of several take-profits sells at most its share, once; those of a `protect` grow with the position',
  I42: 'an order that protects a position is not larger than a position that was read',
  I43: 'what was placed to close a position opens none, unless it was too new to be noticed or an alarm says so; what it opened is closed again, and no more, or an alarm says that nobody does',
  I44: 'no order opens or enlarges a position after losses that the relay had been told of have reached a limit of loss',
  I45: 'the profit that a report adds up is the change of the collateral at the exchange; on spot it is what sales brought less what was paid for what they sold',
  I46: 'no sale of a strategy on spot takes what another one has bought with a stop-loss, unless an alarm says so, and none is denied for that while what it may sell is there',
  I47: 'no error comes up that the relay has no name for',
  I48: 'a cancellation withdraws no exit, and behind an order of its alert that has not closed the position it cancels nothing that protects one',
} as const;
export type InvariantName = keyof typeof invariants;

/** The consequence of a violation for the owner; the report counts the first three separately. */
export type Harm = 'lost' | 'duplicated' | 'silent' | 'other';

export interface Violation {
  readonly invariant: InvariantName;
  readonly harm: Harm;
  readonly text: string;
}

/** Everything that is known about a run at its end. */
export interface Facts {
  readonly history: History;
  readonly entries: readonly Entry[];
  /** All that the ledger has. */
  readonly fills: readonly Fill[];
  /** By account: since and until when all its deals were read. */
  readonly deals: ReadonlyMap<string, DealsState>;
  /** By account. */
  readonly profits: ReadonlyMap<string, ReportedProfit>;
  readonly exchange: ExchangeState;
  /** By account: the account of the exchange to which its key belongs. */
  readonly owners: ReadonlyMap<string, string>;
  readonly dialect: Dialect;
  /** Of the accounts, without what a mutation changes. */
  readonly settings: Settings;
  /** The secrets that are valid at the end. */
  readonly secrets: readonly string[];
}

export function findViolations(run: Facts): readonly Violation[] {
  const facts = withoutLeftExits(run);
  return [
    ...findWrongOutcomes(facts),
    ...findUnlawfulConduct(facts),
    ...findBrokenCancels(facts),
    ...findWrongIntake(facts),
    ...findLostRefusals(facts),
    ...findWrongRepeats(facts),
    ...findUnlawfulOrders(facts),
    ...findEnlargedPositions(facts),
    ...findWrongSizes(facts),
    ...findUnboundOrders(facts),
    ...findUnlawfulLegs(facts),
    ...findMissedTargets(facts),
    ...findFalselySatisfied(facts),
    ...findBrokenWaits(facts),
    ...findSecondStrategies(facts),
    ...findWrongFollowing(facts),
    ...findRisks(facts),
    ...findAfterLosses(facts),
    ...findWrongProfits(facts),
    ...findUnendedCloses(facts),
    ...findUnfitSpotStops(facts),
    ...findWrongSales(facts),
    ...findUnfitExits(facts),
    ...findUnlawfulProtection(facts),
    ...findWrongProtection(facts),
  ];
}
