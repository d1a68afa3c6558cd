import type { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-error.ts';

/**
 * How long to wait for another process's lock. The wait blocks the only thread, and TradingView gives up
 * after 3 s, so several waits in a row must stay below that.
 */
export const lockTimeoutMs = 250;

/**
 * How often a patient process tries to take the lock. Under load one transaction of a relay follows the other, and the lock
 * is free for moments only; SQLite itself waits up to 100 ms between two tries.
 */
const retryMs = 0.2;

/**
 * Begins a transaction as soon as the lock is free for a moment.
 *
 * @param until a time of `performance.now()`
 * @throws SQLite's error when the lock was not free by then
 */
export function beginPatiently(database: DatabaseSync, until: number): void {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    for (;;) {
      try {
        database.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw error;
        block(retryMs);
      }
    }
  } finally {
    database.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}`);
  }
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

function block(durationMs: number): void {
  Atomics.wait(nothing, 0, 0, durationMs);
}
