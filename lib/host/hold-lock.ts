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
  try {
    return openLock(lockPath, longestWaitMs);
  } catch (error) {
    throw storeError(`locked at ${lockPath}`, error);
  }
}

/**
 * Takes the lock of a file for as long as the database stays open. The operating system releases it when the process dies.
 *
 * @throws SQLite's error when another process holds it, or the file is no lock
 */
export function openLock(lockPath: string, waitMs: number): DatabaseSync {
  createForOwner(lockPath);
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(lockPath, { timeout: waitMs });
    // Nothing is ever written. A journal on the disk would need space, which a full disk does not have. The locking mode
    // stays the usual one: in the exclusive mode two processes that wait each keep a lock that the other one waits for.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return lock;
  } catch (error) {
    lock?.close();
    throw error;
  }
}
