import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file of its owner's alone: all of it, on the disk, or nothing.
 *
 * It is written beside the old one under a name that no other writer has, and takes its place only when it is whole.
 *
 * @throws the operating system's error; the old file then stands as it was
 */
export function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    writeToDisk(unfinished, text);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** What a writer that was killed left beside the file; it holds what the file would have held. */
export function findUnfinished(path: string): readonly string[] {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.new'))
    .map((name) => join(folder, name));
}

function writeToDisk(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
