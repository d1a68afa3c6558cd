import { renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDisk } from './data-disk.ts';
import type { LogLoss, Span } from './plan.ts';
import type { RelayKeeper } from './relay-keeper.ts';

/** Resolves this many milliseconds after the start of the run. */
export type Until = (atMs: number) => Promise<void>;

/** The disk is filled again at this interval, because files that the relay deletes make room. */
const refillMs = 20;

/**
 * Fills the disk in the planned spans. It waits for a relay that is starting, which could not even try to
 * write.
 */
export async function fillOften(
  disk: DataDisk,
  keeper: RelayKeeper,
  spans: readonly Span[],
  until: Until,
): Promise<void> {
  for (const { fromMs, untilMs } of spans) {
    await until(fromMs);
    await keeper.waitUntilReady();
    const endsAtMs = performance.now() + untilMs - fromMs;
    while (performance.now() < endsAtMs) {
      disk.fill();
      await sleep(refillMs);
    }
    disk.free();
  }
}

/** Moves or removes the log file while the relay runs, as an operator or a program that rotates logs does. */
export async function loseLogOften(
  logPath: string,
  losses: readonly LogLoss[],
  until: Until,
): Promise<number> {
  let lost = 0;
  for (const { atMs, how } of losses) {
    await until(atMs);
    try {
      if (how === 'moved') renameSync(logPath, `${logPath}.moved-${lost}`);
      else rmSync(logPath);
      lost += 1;
    } catch (error) {
      // No log line was written since the last time, for example because the disk is full.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return lost;
}
