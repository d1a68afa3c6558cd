import { type Clock, hasPassed } from '../../lib/base/clock.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import type { FolderKind } from '../../lib/host/folder-kind.ts';
import type { HttpResponse } from '../../lib/host/plain-webhook.ts';

/** Responds to GET without a body of the request. */
export type HealthHandler = () => Promise<HttpResponse>;

/** Whether the relay can do its work; asked by monitors, by the watchdog and by whoever is told that it is up. */
export interface Health {
  /** Whether the store can be written, now or within the last second. An alert gets a 503 while it cannot. */
  canWrite(): Promise<boolean>;
  /** `GET /health`: 200, or 503 while nothing can be stored. */
  readonly respond: HealthHandler;
  /** `GET /ready`: 200, or 503 while alerts are not stored or not executed. */
  readonly respondReady: HealthHandler;
}

/** Anybody may ask, and each probe is flushed to the disk: so often at most. */
const probeEveryMs = 1_000;

/**
 * @param options.version the running release
 * @param options.listHeld the accounts whose signals wait because something must be found out first
 */
export function createHealth(options: {
  readonly file: SqliteFile;
  readonly version: string;
  readonly trades: FolderKind;
  readonly clock: Clock;
  readonly listHeld: () => readonly string[];
}): Health {
  const { file, version, trades, clock } = options;
  let probe: { readonly atMs: number; readonly result: Promise<boolean> } | null = null;

  function canWrite(): Promise<boolean> {
    const nowMs = clock.nowMs();
    if (probe === null || hasPassed(probe.atMs, probeEveryMs, nowMs))
      probe = { atMs: nowMs, result: tryToWrite(file) };
    return probe.result;
  }

  return {
    canWrite,
    async respond() {
      const isWritable = await canWrite();
      return respondWith(isWritable, {
        status: isWritable ? 'ok' : 'failing',
        trades,
        version,
        store: isWritable ? 'writable' : 'unwritable',
      });
    },
    async respondReady() {
      const isWritable = await canWrite();
      // How many, and not which: nobody may find out by this which accounts exist.
      const held = options.listHeld().length;
      const isReady = isWritable && held === 0;
      return respondWith(isReady, {
        status: isReady ? 'ready' : 'not_ready',
        trades,
        store: isWritable ? 'writable' : 'unwritable',
        heldAccounts: held,
      });
    },
  };
}

function respondWith(isGood: boolean, body: object): HttpResponse {
  return {
    statusCode: isGood ? 200 : 503,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}

/** Writes a number that nothing reads, as an alert would be written: opened, committed and flushed. */
async function tryToWrite(file: SqliteFile): Promise<boolean> {
  try {
    await file.write(() => {
      const { user_version: last } = file.database.prepare('PRAGMA user_version').get() ?? {};
      file.database.exec(`PRAGMA user_version = ${(Number(last) + 1) % mostProbes}`);
    });
    return true;
  } catch {
    return false;
  }
}

/** The number has 32 bits. */
const mostProbes = 2 ** 31;
