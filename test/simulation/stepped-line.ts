import type { startWorkerLoop } from '../../infra/local/worker-loop.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import { createStoreFailure } from '../../lib/base/store-failure.ts';
import type { SqliteLine } from '../../lib/queue/sqlite-line.ts';
import { override } from '../support/override.ts';
import { keyText } from './history.ts';
import type { Process } from './process.ts';

/** Only the method that writes to the disk is a step that can fail; deliveries are in memory. */
export function steppedLine(
  process: Process,
  line: SqliteLine,
  disk: RefusingDisk,
): Parameters<typeof startWorkerLoop>[0] {
  const { history } = process.stage;
  return {
    take: () => line.take(),
    waitForWork: (signal) => line.waitForWork(signal),
    finish: (delivery) => line.finish(delivery),
    postpone(delivery) {
      history.waited.set(keyText(delivery.key), true);
      line.postpone(delivery);
    },
    async release(delivery) {
      history.waited.set(keyText(delivery.key), false);
      let isBegun = false;
      try {
        await process.step('queue.release', delivery.group, () => {
          isBegun = true;
          return line.release(delivery);
        });
      } catch (error) {
        // Giving it back is in memory and cannot fail; only the write that makes it a dead letter can.
        if (!isBegun) await disk.refuse(() => line.release(delivery));
        throw error;
      }
    },
  };
}

/** The file of the line, whose disk may refuse a write. */
export interface RefusingDisk {
  readonly file: SqliteFile;
  /** Refuses what this writes at once. */
  refuse<T>(run: () => T): T;
}

export function createRefusingDisk(sound: SqliteFile): RefusingDisk {
  let isRefusing = false;
  const file = override(sound, {
    execute(operation) {
      if (isRefusing) throw createStoreFailure('the disk refused a write', new Error());
      return sound.execute(operation);
    },
  });
  return {
    file,
    refuse(run) {
      isRefusing = true;
      try {
        return run();
      } finally {
        isRefusing = false;
      }
    },
  };
}
