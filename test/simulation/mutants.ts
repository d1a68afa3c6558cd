import type { OrderKindName } from '../../lib/model/order.ts';
import { isCarried, kindNamed } from '../../lib/orders/order-kinds.ts';
import { ledgerMutants } from './ledger-mutants.ts';
import type { Mutant } from './mutation.ts';
import { orderMutants } from './order-mutants.ts';
import { doorMutants } from './receive-mutants.ts';
import type { Range } from './tally.ts';
import { wireMutants } from './wire-mutants.ts';
import type { Job } from './worker.ts';

/** One mutant, and the lives in which it must betray itself. */
export interface Hunt {
  readonly mutant: Mutant;
  readonly job: Job;
}

/** Every broken relay that the simulation must find out. */
export const mutants: readonly Mutant[] = [...doorMutants, ...ledgerMutants, ...orderMutants, ...wireMutants];

/** @throws RangeError that lists the mutants there are */
export function mutantNamed(name: string): Mutant {
  const mutant = mutants.find((known) => known.name === name);
  if (mutant === undefined)
    throw new RangeError(
      `there is no mutant "${name}"; there are ${mutants.map((known) => known.name).join(', ')}`,
    );
  return mutant;
}

/**
 * What must find each mutant out.
 *
 * @param kind of every order, so that only mutants are hunted that it can show, each in a dialect that has it; null:
 *   any kind
 */
export function huntsOf(kind: OrderKindName | null, signals: number): readonly Hunt[] {
  return mutants
    .filter(({ kinds }) => kind === null || kinds === undefined || kinds.includes(kind))
    .map((mutant) => {
      const { name, seeds, dialect } = mutant;
      const spoken = kind === null || isCarried(kindNamed(kind), dialect) ? dialect : 'live';
      const range: Range = { fromSeed: 1, toSeed: seeds, dialects: [spoken], signals, mutant: name, kind };
      return { mutant, job: { range, endsAtFinding: true } };
    });
}
