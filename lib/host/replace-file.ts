import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { keepOwner } from '../base/keep-owner.ts';
import { flushFolder } from './flush-folder.ts';

/**
 * Replaces a file atomically and durably; only its owner can read the new one. The owner stays,
 * also when root replaces it.
 *
 * The text is written to a new file with a unique name in the same folder.
 * Once it is complete and on disk, that file replaces the old one.
 *
 * @throws the operating system's error, or that the file is another user's; the old file is then unchanged
 */
export function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    writeToDisk(unfinished, path, text);
    renameSync(unfinished, path);
    flushFolder(dirname(path));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/**
 * The unfinished files that killed writers left in the folder;
 * they hold the contents the file would have got.
 */
export function findUnfinished(path: string): readonly string[] {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.new'))
    .map((name) => join(folder, name));
}

function writeToDisk(path: string, replacedPath: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    keepOwner(file, replacedPath);
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
