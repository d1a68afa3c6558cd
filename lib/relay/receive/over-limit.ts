import { RelayError } from '../../base/errors.ts';
import type { Account } from '../../model/account.ts';
import type { Counted } from './overload.ts';

/** An alert that its account's limit of signals refuses. */
export class OverLimit extends RelayError {
  /** What the alert counts as. */
  readonly counted: Counted;

  /** @param count how many signals of that kind came in the last minute */
  constructor({ maxSignalsPerMinute }: Account, counted: Counted, count: number) {
    const which = counted === 'openings' ? 'signals' : 'signals that only reduce, cancel or protect';
    super('rate_limited', `${count} ${which} in the last minute; the account accepts ${maxSignalsPerMinute}`);
    this.counted = counted;
  }
}
