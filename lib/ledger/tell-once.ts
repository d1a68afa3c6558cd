import type { Alarm, Alarms } from '../base/alarms.ts';
import { type Clock, hasPassed } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { fieldsOf } from '../base/json.ts';
import type { LogFacts } from '../base/log.ts';
import type { AccountFacts } from './account-facts.ts';

export interface TellServices {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly facts: AccountFacts;
}

/** What is told of an account. */
export interface Told {
  /** What makes it the same as one before, within the account. */
  readonly key: string;
  readonly alarm: Alarm;
  readonly facts: LogFacts;
  /** When it is told again; null: never. */
  readonly everyMs: number | null;
}

/** Raises alarms that come once for each account, also across processes. */
export interface Teller {
  /**
   * Raises the alarm unless the account was told before. A store that fails costs an alarm too many, never one too few.
   */
  tell(account: string, told: Told): Promise<void>;
}

/** Of each account the newest are kept, so that a server with ever new words cannot fill the store, or the memory. */
const mostKept = 100;
const mostRemembered = 10_000;

export function createTeller({ clock, alarms, facts }: TellServices): Teller {
  /** By account: when each alarm was last raised, as far as this process knows. */
  const known = new Map<string, ReadonlyMap<string, number>>();

  async function read(account: string): Promise<ReadonlyMap<string, number>> {
    const stored = fieldsOf(await orNull(() => facts.read(account, 'told')));
    return new Map(
      Object.entries(stored).flatMap(([key, atMs]) =>
        typeof atMs === 'number' ? [[key, atMs] as const] : [],
      ),
    );
  }

  return {
    async tell(account, { key, alarm, facts: about, everyMs }) {
      const nowMs = clock.nowMs();
      const isTold = (times: ReadonlyMap<string, number> | undefined) => {
        const atMs = times?.get(key);
        return atMs !== undefined && (everyMs === null || !hasPassed(atMs, everyMs, nowMs));
      };
      if (isTold(known.get(account))) return;
      const stored = await read(account);
      const times = new Map([...(known.get(account) ?? []), ...stored]);
      if (!isTold(stored)) {
        // Raised before its time is stored: after a crash it comes twice rather than never.
        alarms.raise(alarm, { account, ...about });
        times.delete(key);
        times.set(key, nowMs);
      }
      known.set(account, new Map([...times].slice(-mostRemembered)));
      const kept = Object.fromEntries([...times].slice(-mostKept));
      if (!isTold(stored)) await orNull(() => facts.write(account, 'told', kept));
    },
  };
}

/** Null when the store fails: what is told must not stop what is done. */
async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RelayError && error.code === 'store_unavailable') return null;
    throw error;
  }
}
