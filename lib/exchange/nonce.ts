import type { Clock } from '../base/clock.ts';

/**
 * How a private request proves that it is new: `increasing` numbers that must arrive in order, or unique times
 * within a `window` around the exchange's clock, in any order.
 */
export type NonceRule = 'increasing' | 'window';

/** The exchange takes a time this far from its own clock. */
const windowMs = 5000;

/** The nonces of one API key. */
export interface NonceSequence {
  /** A number never given before, in milliseconds since the Unix epoch; always above the one before it. */
  next(rule: NonceRule): number;
  /** Where requests whose nonces must arrive in order wait for each other. */
  readonly lane: Lane;
}

const sequences = new WeakMap<Clock, Map<string, NonceSequence>>();

/** The one sequence of a key: two clients of the same key and clock in a process never draw the same nonce. */
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
  return {
    next(rule) {
      const nowMs = clock.nowMs();
      // A clock that ran ahead and was set right again: the old nonces lie outside the window by now, and going on
      // from them would be refused for as long as the clock had been ahead.
      if (rule === 'window' && nowMs < lastReadMs - windowMs) lastNonce = 0;
      lastReadMs = nowMs;
      lastNonce = Math.max(lastNonce + 1, nowMs);
      return lastNonce;
    },
    lane: createLane(),
  };
}

/** The fields of a body that carry the nonce, as JSON text without braces. */
export function nonceFields(rule: NonceRule, nonce: number): string {
  return rule === 'window' ? `"nonce":${nonce},"nonceWindow":true` : `"nonce":"${nonce}"`;
}

/** Lets one through at a time, first come, first served. */
export interface Lane {
  /**
   * Resolves with true when it is the caller's turn, who must leave again; with false when the time ran out.
   *
   * @param timeoutMs measured on the machine's own timer
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
