import { statSync } from 'node:fs';
import type { Alarms } from '../../lib/base/alarms.ts';
import { type Clock, hasPassed } from '../../lib/base/clock.ts';
import { describeError, describeSafely } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';

/** Why alerts cannot be taken, in the words of the store or of the secrets; null: they can be. */
export interface Receiving {
  readonly store: string | null;
  readonly secrets: string | null;
}

/** Whether the relay can take an alert: everything that receiving one needs is tried. */
export interface ReceivingWatch {
  /** As it is now, or was within the last second. */
  look(): Promise<Receiving>;
  /**
   * Looks, and raises the alarm `alerts_not_taken` if no alert can be taken, hourly. A store that another process locks is
   * free again a moment later, so one that fails must have failed a second before, too.
   *
   * @returns the reasons; null while alerts can be taken
   */
  watch(): Promise<string | null>;
  /** @throws RelayError `store_unavailable` when the database file is gone or another one; looks once a second at most */
  checkPlace(): void;
}

/** Anybody may ask, and each look is flushed to the disk: so often at most. */
const lookEveryMs = 1_000;
/** A little less than an hour: a look may be some seconds early. */
const alarmEveryMs = 59 * 60_000;

const firstWords = 'alerts cannot be taken, and every sender gets 503';

/**
 * @param options.databasePath of the open file; null: it has no place that could be lost
 * @param options.readSecrets reads the newest secrets as receiving does; rejects when they cannot be read
 */
export function createReceivingWatch(options: {
  readonly file: SqliteFile;
  readonly databasePath: string | null;
  readonly readSecrets: () => Promise<unknown>;
  readonly clock: Clock;
  readonly alarms: Alarms;
}): ReceivingWatch {
  const { file, readSecrets, clock, alarms } = options;
  const findLoss = createPlaceCheck(options.databasePath, clock);
  let last: { readonly atMs: number; readonly result: Promise<Receiving> } | null = null;
  let failing: { readonly sinceMs: number; readonly alarmedAtMs: number | null } | null = null;

  async function tryAll(): Promise<Receiving> {
    const [store, secrets] = await Promise.all([
      reasonOf(async () => {
        checkPlace();
        await tryToWrite(file);
      }),
      reasonOf(readSecrets),
    ]);
    return { store, secrets };
  }

  function look(): Promise<Receiving> {
    const nowMs = clock.nowMs();
    if (last === null || hasPassed(last.atMs, lookEveryMs, nowMs)) last = { atMs: nowMs, result: tryAll() };
    return last.result;
  }

  function checkPlace(): void {
    const loss = findLoss();
    if (loss !== null) throw new RelayError('store_unavailable', loss);
  }

  return {
    look,
    checkPlace,
    async watch() {
      const { store, secrets } = await look();
      if (store === null && secrets === null) {
        failing = null;
        return null;
      }
      const reason = [store, secrets].filter((part) => part !== null).join('; ');
      const nowMs = clock.nowMs();
      const { sinceMs, alarmedAtMs } = failing ?? { sinceMs: nowMs, alarmedAtMs: null };
      const isLasting = secrets !== null || hasPassed(sinceMs, lookEveryMs, nowMs);
      const isDue = isLasting && (alarmedAtMs === null || hasPassed(alarmedAtMs, alarmEveryMs, nowMs));
      failing = { sinceMs, alarmedAtMs: isDue ? nowMs : alarmedAtMs };
      if (isDue) alarms.raise({ name: 'alerts_not_taken', message: `${firstWords}: ${reason}` }, {});
      return reason;
    },
  };
}

/** What the operating system says of a file names no secret; what a parser says might. */
async function reasonOf(act: () => Promise<unknown>): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    return error instanceof RelayError ? describeError(error) : describeSafely(error);
  }
}

/** Writes a number that nothing reads, as an alert would be written: opened, committed and flushed. */
async function tryToWrite(file: SqliteFile): Promise<void> {
  await file.write(() => {
    const { user_version: last } = file.database.prepare('PRAGMA user_version').get() ?? {};
    file.database.exec(`PRAGMA user_version = ${(Number(last) + 1) % mostNumbers}`);
  });
}

/** The number has 32 bits. */
const mostNumbers = 2 ** 31;

/**
 * What is written to a file that was removed or replaced is gone when the process ends, so nothing may be promised on it.
 *
 * @returns a function that says why the file is not the one that was opened; null while it is
 */
function createPlaceCheck(path: string | null, clock: Clock): () => string | null {
  // Windows removes no file that is open, and has no numbers of files to compare.
  if (path === null || process.platform === 'win32') return () => null;
  const opened = identify(path);
  let last: { readonly atMs: number; readonly loss: string | null } | null = null;
  return () => {
    const nowMs = clock.nowMs();
    if (last === null || hasPassed(last.atMs, lookEveryMs, nowMs))
      last = { atMs: nowMs, loss: describeLoss(path, opened) };
    return last.loss;
  };
}

function describeLoss(path: string, opened: string | null): string | null {
  const found = identify(path);
  if (opened === null || found === opened) return null;
  const what = found === null ? 'is gone or cannot be reached' : 'is another file than the one that is open';
  return `the database ${path} ${what}: what is stored now is lost when the relay ends. It goes on with the orders that it knows; look at what is open, stop it, put the file back (\`npx relay restore\` takes a backup), and start it`;
}

/** Null when there is no such file, or it cannot be reached. */
function identify(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
