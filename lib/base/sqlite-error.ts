import { RelayError } from './errors.ts';

/** SQLite's own errors become `store_unavailable`; all other errors pass through. */
export function storeError(done: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  const message = `the database could not be ${done}: ${error.message}`;
  return new RelayError('store_unavailable', message, { cause: error });
}

/** By code, not by class: an error of Node.js may come from another realm. */
function isSqliteError(error: unknown): error is { readonly message: string } {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error))
    return false;
  return error.code === 'ERR_SQLITE_ERROR' || error.code === 'ERR_INVALID_STATE';
}

/** SQLITE_BUSY. */
const busyCode = 5;

/** Whether another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && 'errcode' in error && error.errcode === busyCode;
}
