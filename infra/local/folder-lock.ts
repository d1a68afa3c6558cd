import { DatabaseSync } from 'node:sqlite';
import { describeError } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { createForOwner } from '../../lib/base/sqlite.ts';

/** Held by the one relay that works on a data folder; the operating system frees it when the process dies. */
export interface FolderLock {
  release(): void;
}

/** SQLite's codes for a file that somebody else has locked, and for one that is none of its own. */
const [busy, corrupt, notADatabase] = [5, 11, 26];

/**
 * Two relays on one folder would hand the same message out twice, so only one may have it.
 *
 * @throws RelayError `folder_in_use` when another process holds it, `store_unavailable` when it cannot be locked
 */
export function lockFolder(lockPath: string): FolderLock {
  createForOwner(lockPath);
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(lockPath, { timeout: 0 });
    // Nothing is ever written: a journal on the disk would need room that a full one does not have.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database?.close();
    throw describeRefusal(lockPath, error);
  }
  const held = database;
  return { release: () => held.close() };
}

function describeRefusal(lockPath: string, error: unknown): RelayError {
  const code = (error as { errcode?: number }).errcode ?? 0;
  // The low byte is the kind of the failure.
  const kind = code & 0xff;
  const folderPath = lockPath.replace(/[^/\\]+$/, '');
  if (kind === busy)
    return new RelayError('folder_in_use', `another relay already works on ${folderPath}`, { cause: error });
  if (kind === notADatabase || kind === corrupt)
    return new RelayError(
      'store_unavailable',
      `the lock file ${lockPath} is damaged, so that nobody can tell whether a relay works on its folder: make sure that none does, remove that file (it holds nothing else), and start again`,
      { cause: error },
    );
  return new RelayError(
    'store_unavailable',
    `the data folder ${folderPath} cannot be locked with ${lockPath}: ${describeError(error)}; choose another with --data, or mend this one`,
    { cause: error },
  );
}
