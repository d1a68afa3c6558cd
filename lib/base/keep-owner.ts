import { chownSync, fchownSync, fstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Gives a new file the owner and the group of the file that it will replace, or of its folder where there is none. Only
 * root may give files away, and only root needs to: a file of root's with mode 0600 could not be read by the relay.
 *
 * @param file an open file
 * @throws Error when the file that is replaced belongs to another user, and this one may not give files away
 */
export function keepOwner(file: number, replacedPath: string): void {
  const replaced = statSync(replacedPath, { throwIfNoEntry: false });
  if (replaced === undefined)
    giveTo(statSync(dirname(replacedPath)), (uid, gid) => fchownSync(file, uid, gid));
  else if (replaced.uid !== fstatSync(file).uid) hand(file, replaced);
}

/** The same for a file that was just created at its path. What cannot be given away stays as it is. */
export function giveToFolderOwner(path: string): void {
  giveTo(statSync(dirname(path)), (uid, gid) => chownSync(path, uid, gid));
}

function hand(file: number, { uid, gid }: Stats): void {
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    throw new Error(
      `it belongs to another user (number ${uid}), who could not read what this user writes: run the command as that user`,
      { cause: error },
    );
  }
}

/** A container may have a root that gives nothing away: what it creates it also reads. */
function giveTo({ uid, gid }: Stats, change: (uid: number, gid: number) => void): void {
  if (process.getuid?.() !== 0 || uid === 0) return;
  try {
    change(uid, gid);
  } catch {
    // Stays with root.
  }
}
