import type { SignalEntry } from '../../ledger/entry.ts';
import type { Pause } from '../../ledger/ledger.ts';
import { checkPause } from '../../limits/check-order.ts';
import type { Denial } from '../../model/outcome.ts';
import { placesOrder } from '../../model/signal.ts';
import type { ExecuteServices } from '../services.ts';

/** The pause of an account, and when its reading began. */
export interface PauseReading {
  readonly pause: Pause | null;
  readonly readAtMs: number;
}

/** Checks the pause of a signal's account: before planning, and again before sending. */
export interface KillSwitch {
  /**
   * @param reduces whether the order can only reduce a position; absent while that is not known. A pause of entries, or one
   *   that the account's daily loss caused, stops no such order, and waits until it is known.
   */
  check(reduces?: boolean): Promise<Denial | null>;
}

/**
 * A reading is used for this long. A pause takes effect within this time for a signal that is being executed, and at once
 * for every other.
 */
const usableMs = 1000;

/**
 * Creates the kill switch of one signal. It stops orders only: a cancellation opens no position.
 *
 * @param reading absent: the pause is read at the first check
 * @see DECISIONS 47
 */
export function createKillSwitch(
  { ledger, clock }: Pick<ExecuteServices, 'ledger' | 'clock'>,
  { account, signal }: SignalEntry,
  reading: PauseReading | null,
): KillSwitch {
  let last = reading;

  function isUsable({ readAtMs }: PauseReading): boolean {
    const ageMs = clock.nowMs() - readAtMs;
    // A negative age means that the clock was set back: how old the reading is is not known.
    return ageMs >= 0 && ageMs <= usableMs;
  }

  return {
    async check(reduces) {
      if (!placesOrder(signal)) return null;
      if (last === null || !isUsable(last)) {
        const readAtMs = clock.nowMs();
        last = { pause: await ledger.readPause(account), readAtMs };
      }
      const { pause } = last;
      if (pause !== null && reduces !== false && pause.kind !== 'everything') return null;
      return checkPause(pause);
    },
  };
}
