import { describeError } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { openLock } from '../../lib/host/hold-lock.ts';

/**
 * The lock of the one relay that uses a data folder. The operating system releases it when the process dies.
 */
export interface FolderLock {
  release(): void;
}

/**
 * SQLite's codes for a file that another process has locked, and for files that are damaged or not SQLite
 * files.
 */
const [busy, corrupt, notADatabase] = [5, 11, 26];

/**
 * Locks the folder. Two relays on one folder would deliver the same message twice, so only one may use it.
 *
 * @throws RelayError `folder_in_use` when another process holds it, `store_unavailable` when it cannot be
 *   locked
 */
export function lockFolder(lockPath: string): FolderLock {
  try {
    const held = openLock(lockPath, 0);
    return { release: () => held.close() };
  } catch (error) {
    throw describeRefusal(lockPath, error);
  }
}

function describeRefusal(lockPath: string, error: unknown): RelayError {
  const code = (error as { errcode?: number }).errcode ?? 0;
  // The low byte is the kind of the failure.
  const kind = code & 0xff;
  const folderPath = lockPath.replace(/[^/\\]+$/, '');
  if (kind === busy)
    return new RelayError('folder_in_use', `another relay already uses ${folderPath}`, { cause: error });
  if (kind === notADatabase || kind === corrupt)
    return new RelayError(
      'store_unavailable',
      `the lock file ${lockPath} is damaged, so it is unknown whether another relay uses its folder: make sure that none is running, remove the file (it contains no data), and start again`,
      { cause: error },
    );
  return new RelayError(
    'store_unavailable',
    `the data folder ${folderPath} cannot be locked with ${lockPath}: ${describeError(error)}; choose another folder with --data, or repair this one`,
    { cause: error },
  );
}
