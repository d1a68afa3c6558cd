import { rmSync } from 'node:fs';
import { describeError } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';
import { type DataFolder, type Run, writeRun } from '../../lib/host/data-folder.ts';

const tryEveryMs = 10_000;

/**
 * Records the addresses of this run for the command `relay`; the relay itself does not need them. While they cannot be
 * written, as on a full disk, those of an earlier run are removed, because another relay may have its port by now, and it is
 * tried again.
 *
 * @param everyMs absent: ten seconds
 * @returns what ends the trying
 */
export function keepRunRecorded(
  folder: DataFolder,
  run: Run,
  log: Log,
  everyMs: number = tryEveryMs,
): { stop(): void } {
  if (recordRun(folder, run, log)) return { stop: () => undefined };
  const timer = setInterval(() => {
    try {
      writeRun(folder, run);
    } catch {
      return;
    }
    clearInterval(timer);
    log.info(`${folder.runPath} is written: \`npx relay\` finds this relay`, {});
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

/** Tries once. @returns whether they are recorded */
export function recordRun(folder: DataFolder, run: Run, log: Log): boolean {
  try {
    writeRun(folder, run);
    return true;
  } catch (error) {
    removeStale(folder.runPath);
    log.error(
      `${folder.runPath} could not be written: \`npx relay\` cannot find this relay until it can; each ten seconds it is tried again`,
      { reason: describeError(error) },
    );
    return false;
  }
}

function removeStale(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder is in its place, or nothing may be removed: the commands find no addresses in it, or the same trouble.
  }
}
