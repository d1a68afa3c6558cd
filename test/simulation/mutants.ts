import type { OrderKindName } from '../../lib/model/order.ts';
import { hasKind } from './alerts.ts';
import { boundMutants } from './bound-mutants.ts';
import { closeMutants } from './close-mutants.ts';
import { followMutants } from './follow-mutants.ts';
import { guardMutants } from './guard-mutants.ts';
import { ledgerMutants } from './ledger-mutants.ts';
import type { Mutant } from './mutation.ts';
import { orderMutants } from './order-mutants.ts';
import { positionMutants } from './position-mutants.ts';
import { webhookMutants } from './receive-mutants.ts';
import { riskMutants } from './risk-mutants.ts';
import { sizeMutants } from './size-mutants.ts';
import { spotMutants } from './spot-mutants.ts';
import type { Range } from './tally.ts';
import { turnedMutants } from './turned-mutants.ts';
import { wireMutants } from './wire-mutants.ts';
import type { Job } from './worker.ts';

/** One mutant, and the runs in which it must be caught. */
export interface Hunt {
  readonly mutant: Mutant;
  readonly job: Job;
}

/** All broken variants of the relay, which the simulation must catch. */
const mutants: readonly Mutant[] = [
  ...webhookMutants,
  ...ledgerMutants,
  ...orderMutants,
  ...sizeMutants,
  ...boundMutants,
  ...positionMutants,
  ...closeMutants,
  ...guardMutants,
  ...turnedMutants,
  ...spotMutants,
  ...riskMutants,
  ...wireMutants,
  ...followMutants,
];

/** Where few seeds of one kind of order reveal a mutant: one near the first that has. */
const seedsOfKind: Readonly<Partial<Record<OrderKindName, Readonly<Record<string, number>>>>> = {
  market: {
    'hasty-not-found': 448,
    'buys-of-nobody': 257,
    'late-retries': 89,
    'used-id-rejects': 151,
    'hopeful-cancel': 92,
    'status-alone-rejects': 87,
    unpresumed: 85,
    'ignore-limits': 345,
    'unconfirmed-refusal': 162,
    'silent-rest': 141,
    'count-ahead': 165,
    'send-before-flush': 435,
    'no-take-over': 123,
    'unseen-waiting': 321,
    'own-denied': 390,
    'sale-of-anybody': 102,
    'unread-answer': 51,
    'pause-stops-cancels': 65,
    'unprotected-unseen': 126,
    'acknowledge-before-flush': 40,
    'hasty-reverse': 87,
    'second-strategy': 144,
  },
  limit: {
    'send-before-flush': 372,
    'used-id-rejects': 151,
    'count-ahead': 281,
    'no-take-over': 66,
    'hopeful-cancel': 92,
    'status-alone-rejects': 87,
    'unprotected-unseen': 149,
    'hasty-not-found': 600,
    'ignore-limits': 291,
    'unseen-waiting': 365,
    'unconfirmed-refusal': 182,
    'torn-array': 119,
    'late-retries': 156,
    'fill-invented': 68,
    'unread-answer': 311,
  },
};

/** @throws RangeError that lists all mutants, when there is none of that name */
export function mutantNamed(name: string): Mutant {
  const mutant = mutants.find((known) => known.name === name);
  if (mutant === undefined)
    throw new RangeError(
      `there is no mutant "${name}"; there are ${mutants.map((known) => known.name).join(', ')}`,
    );
  return mutant;
}

/**
 * The runs that must catch each mutant.
 *
 * @param kind the kind of every order; only mutants that this kind can reveal are included, each in a dialect
 * that has it. Null: any kind
 */
export function huntsOf(kind: OrderKindName | null, signals: number): readonly Hunt[] {
  return mutants
    .filter(({ kinds }) => kind === null || kinds === undefined || kinds.includes(kind))
    .map((mutant) => {
      const { name, seeds, dialect } = mutant;
      const ofKind = kind === null ? undefined : seedsOfKind[kind]?.[name];
      const fromSeed = ofKind ?? mutant.fromSeed ?? 1;
      const spoken = kind === null || hasKind(dialect, kind) ? dialect : 'live';
      const range: Range = {
        fromSeed,
        toSeed: fromSeed + seeds - 1,
        dialects: [spoken],
        signals,
        mutant: name,
        kind,
      };
      return { mutant, job: { range, endsAtFinding: true } };
    });
}
