import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/**
 * How a private request proves that it is new. `increasing`: numbers that must arrive in ascending order.
 * `window`: unique times within 5 s of the exchange's clock, in any order.
 *
 * @see DECISIONS 11
 */
export type NonceRule = 'increasing' | 'window';

/** The exchange accepts times up to this far from its own clock. */
const windowMs = 5000;

/**
 * The window nonces of creates are drawn from these times ahead. Functions that start together read in the same
 * milliseconds, and know nothing of each other's nonces. A read that meets a used nonce takes another one; a create that
 * does must not be sent again, so its nonce lies where no read has been yet.
 */
const leastAheadMs = 500;
export const mostAheadMs = 2000;

/** The nonces of one API key. */
export interface NonceSequence {
  /**
   * A new nonce in milliseconds since the Unix epoch, above the one before it unless the clock was set back.
   */
  next(rule: NonceRule): number;
  /** The same for a request that must not be repeated. */
  nextOfCreate(rule: NonceRule, random: Random): number;
  /** Lets requests through one at a time when their nonces must arrive in order. */
  readonly lane: Lane;
}

const sequences = new WeakMap<Clock, Map<string, NonceSequence>>();

/**
 * Returns the one sequence of a key, so that two clients with the same key and clock never use the same
 * nonce.
 */
export function nonceSequenceOf(clock: Clock, apiKey: string): NonceSequence {
  let ofClock = sequences.get(clock);
  if (ofClock === undefined) {
    ofClock = new Map();
    sequences.set(clock, ofClock);
  }
  let sequence = ofClock.get(apiKey);
  if (sequence === undefined) {
    sequence = createNonceSequence(clock);
    ofClock.set(apiKey, sequence);
  }
  return sequence;
}

function createNonceSequence(clock: Clock): NonceSequence {
  let lastNonce = 0;
  let lastReadMs = 0;
  /** The drawn nonces that the sequence has not reached yet. */
  const drawn = new Set<number>();

  function next(rule: NonceRule): number {
    const nowMs = clock.nowMs();
    // The clock ran ahead and was set back. The old nonces lie outside the window now. If the sequence
    // continued from them, the exchange would refuse every nonce for as long as the clock had been ahead.
    if (rule === 'window' && nowMs < lastReadMs - windowMs) lastNonce = 0;
    lastReadMs = nowMs;
    lastNonce = Math.max(lastNonce + 1, nowMs);
    while (drawn.has(lastNonce)) lastNonce += 1;
    return lastNonce;
  }

  return {
    next,
    nextOfCreate(rule, random) {
      if (rule === 'increasing') return next(rule);
      const nowMs = clock.nowMs();
      for (const nonce of drawn) if (Math.abs(nonce - nowMs) > windowMs) drawn.delete(nonce);
      const fromMs = Math.max(nowMs + leastAheadMs, lastNonce + 1);
      let nonce = fromMs + Math.floor(random() * (mostAheadMs - leastAheadMs));
      while (drawn.has(nonce)) nonce += 1;
      drawn.add(nonce);
      return nonce;
    },
    lane: createLane(),
  };
}

/** The nonce fields of a request body, as JSON text without braces. */
export function nonceFields(rule: NonceRule, nonce: number): string {
  return rule === 'window' ? `"nonce":${nonce},"nonceWindow":true` : `"nonce":"${nonce}"`;
}

/** Lets one caller through at a time, first come, first served. */
export interface Lane {
  /**
   * Resolves with true when it is the caller's turn; the caller must then call `leave`. Resolves with false
   * when the time runs out.
   *
   * @param timeoutMs measured by the machine's timer, not by a Clock
   */
  enter(timeoutMs: number): Promise<boolean>;
  leave(): void;
}

interface Waiter {
  readonly timer: NodeJS.Timeout;
  admit(isTurn: boolean): void;
}

export function createLane(): Lane {
  const waiters: Waiter[] = [];
  let isBusy = false;

  function wait(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = () => {
        waiters.splice(waiters.indexOf(waiter), 1);
        resolve(false);
      };
      const waiter: Waiter = { timer: setTimeout(giveUp, timeoutMs), admit: resolve };
      waiters.push(waiter);
    });
  }

  return {
    enter(timeoutMs) {
      if (isBusy) return wait(timeoutMs);
      isBusy = true;
      return Promise.resolve(true);
    },
    leave() {
      const next = waiters.shift();
      isBusy = next !== undefined;
      if (next === undefined) return;
      clearTimeout(next.timer);
      next.admit(true);
    },
  };
}
