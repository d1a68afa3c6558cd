import { renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDisk } from './data-disk.ts';
import type { LogLoss, Span } from './plan.ts';
import type { RelayKeeper } from './relay-keeper.ts';

/** Resolves so long after the run began. */
export type Until = (atMs: number) => Promise<void>;

/** What the relay deletes while the disk is full makes room, which must not last. */
const refillMs = 20;

/** A relay that is just starting is waited for: it would seldom get as far as being refused a write. */
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

/** Takes the log file from under the relay, as somebody who tidies up does, or a program that rotates logs. */
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
      // Nothing was written since the last time, as when the disk is full.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return lost;
}
