import { DatabaseSync } from 'node:sqlite';
import { createForOwner } from '../base/sqlite.ts';
import { storeError } from '../base/sqlite-error.ts';

/** Whoever holds it writes one small file. */
const longestWaitMs = 5_000;

/**
 * Acts while no other process does so with the same lock, which the operating system releases when the process dies.
 *
 * @throws RelayError `store_unavailable` when it cannot be locked
 */
export function holdLock(lockPath: string, act: () => void): void {
  const lock = take(lockPath);
  try {
    act();
  } finally {
    lock.close();
  }
}

function take(lockPath: string): DatabaseSync {
  createForOwner(lockPath);
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(lockPath, { timeout: longestWaitMs });
    // Nothing is ever written. A journal on the disk would need space, which a full disk does not have.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return lock;
  } catch (error) {
    lock?.close();
    throw storeError(`locked at ${lockPath}`, error);
  }
}
