import { closeSync, fsyncSync, openSync } from 'node:fs';

/**
 * Flushes the names in a folder to the disk: without it, a power cut may take a new or renamed file whose contents
 * were flushed.
 *
 * It does not fail, like SQLite's own flush of a folder: Windows cannot open a folder, and some file systems cannot
 * flush one.
 *
 * @see https://man7.org/linux/man-pages/man2/fsync.2.html
 * @see DECISIONS 142
 */
export function flushFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // The names reach the disk when the system writes them.
  }
}
