import { DatabaseSync } from 'node:sqlite';

/** Held by the one relay that works on a data folder; the operating system frees it when the process dies. */
export interface FolderLock {
  release(): void;
}

/**
 * Two relays on one folder would hand the same message out twice, so only one may have it.
 *
 * @throws Error when another process holds it
 */
export function lockFolder(lockPath: string): FolderLock {
  const database = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    throw new Error(
      `another relay already works on ${lockPath.replace(/[^/\\]+$/, '')}: stop it, or choose another folder with --data`,
      { cause: error },
    );
  }
  return { release: () => database.close() };
}
