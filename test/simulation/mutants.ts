import { doorMutants } from './door-mutants.ts';
import { ledgerMutants } from './ledger-mutants.ts';
import type { Mutant } from './mutation.ts';
import { orderMutants } from './order-mutants.ts';
import { wireMutants } from './wire-mutants.ts';

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
