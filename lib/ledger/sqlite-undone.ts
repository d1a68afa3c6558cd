import type { Accepted } from './ledger.ts';

/** Undoes a write whose result is that nothing is stored. */
export class Undone extends Error {
  readonly result: Accepted;

  constructor(result: Accepted) {
    super();
    this.result = result;
  }
}
