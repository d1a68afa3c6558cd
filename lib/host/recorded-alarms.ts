import type { Alarm, Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import type { DynamodbClient } from '../base/dynamodb.ts';
import type { Log, LogFacts } from '../base/log.ts';

/** Alarms that are stored while the work goes on. */
export interface RecordedAlarms extends Alarms {
  /** Resolves when every alarm so far is stored, or after the time that a write may wait for it. Never rejects. */
  settle(): Promise<void>;
}

/** A write waits this long at most: an order matters more than what is told of it, and the alarm is in the log as well. */
const longestWaitMs = 2_000;

/** @param record stores an alarm */
export function recordAlarms(
  alarms: Alarms,
  record: (alarm: Alarm, facts: LogFacts) => Promise<void>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): RecordedAlarms {
  const pending = new Set<Promise<void>>();
  return {
    raise(alarm, facts) {
      alarms.raise(alarm, facts);
      const stored: Promise<void> = record(alarm, facts)
        .catch((error: unknown) => {
          log.error('an alarm could not be noted for the notices', { reason: describeSafely(error) });
        })
        .finally(() => pending.delete(stored));
      pending.add(stored);
    },
    async settle() {
      if (pending.size > 0) await Promise.race([Promise.all(pending), clock.sleep(longestWaitMs)]);
    },
  };
}

const writes: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

/** A client whose writes come after the alarms that were raised before them: what a crash undoes raises them again. */
export function afterAlarms(
  client: DynamodbClient,
  { settle }: Pick<RecordedAlarms, 'settle'>,
): DynamodbClient {
  return {
    async call(operation, input) {
      if (writes.has(operation)) await settle();
      return await client.call(operation, input);
    },
  };
}

/** Lets a function end only when its alarms are stored: Lambda freezes what still runs. */
export function settling<Arguments extends readonly unknown[], Result>(
  { settle }: Pick<RecordedAlarms, 'settle'>,
  handle: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return async (...given) => {
    try {
      return await handle(...given);
    } finally {
      await settle();
    }
  };
}
