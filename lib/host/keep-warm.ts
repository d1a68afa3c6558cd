import type { Clock } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import type { StartWatch } from './start-watch.ts';

/** The constant input with which a schedule calls a function so that Lambda keeps its process. */
export interface WarmCall {
  readonly keepWarm: true;
}

/** An alert that comes meanwhile needs another process, which is cold: so this call is short, whatever fails. */
const longestMs = 2_000;

/**
 * Lets a function answer the calls that keep it warm. Such a call reads what an alert needs, and does nothing else; it
 * never fails, because a failure would be taken for one of an alert.
 *
 * @param prepare reads what an alert needs and what would be too old by the next call
 * @returns a handler that answers null to a call that keeps it warm
 */
export function keepingWarm<Event extends object, Result>(
  services: { readonly clock: Clock; readonly log: Log; readonly start: StartWatch },
  prepare: () => Promise<unknown>,
  handle: (event: Event) => Promise<Result>,
): (event: Event | WarmCall) => Promise<Result | null> {
  const { clock, log, start } = services;

  async function keepWarm(): Promise<void> {
    try {
      await Promise.race([prepare(), clock.sleep(longestMs)]);
    } catch (error) {
      log.warn('the function could not be kept warm; the next alert reads what it needs itself', {
        reason: describeSafely(error),
      });
    }
  }

  return async (event) => {
    start.begin();
    if (!isWarmCall(event)) return await handle(event);
    await keepWarm();
    return null;
  };
}

/** An event of API Gateway or of a queue has many fields, and its sender names none of them. */
function isWarmCall(event: object): event is WarmCall {
  return 'keepWarm' in event && event.keepWarm === true && Object.keys(event).length === 1;
}
