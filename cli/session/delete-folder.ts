import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { RelayError } from '../../lib/base/errors.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { openLock } from '../../lib/host/hold-lock.ts';
import { listFolderFiles } from './installed-parts.ts';

/**
 * Deletes the files that the relay made, the lock last, and the folder if nothing else is in it.
 *
 * @returns the paths that were deleted
 * @throws RelayError `folder_in_use` while a relay runs on it
 */
export function deleteFolderFiles(folder: DataFolder): readonly string[] {
  if (!existsSync(folder.path)) return [];
  const lock = takeLock(folder);
  const deleted: string[] = [];
  try {
    for (const { where } of listFolderFiles(folder)) {
      if (where === folder.lockPath) continue;
      rmSync(where);
      deleted.push(resolve(where));
    }
  } finally {
    lock.close();
  }
  rmSync(folder.lockPath, { force: true });
  deleted.push(resolve(folder.lockPath));
  if (readdirSync(folder.path).length > 0) return deleted;
  rmdirSync(folder.path);
  return [...deleted, resolve(folder.path)];
}

function takeLock({ path, lockPath }: DataFolder) {
  try {
    return openLock(lockPath, 0);
  } catch (error) {
    throw new RelayError('folder_in_use', `a relay runs on "${path}": stop it first; nothing was deleted`, {
      cause: error,
    });
  }
}
