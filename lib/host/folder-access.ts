import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { DataFolder } from './data-folder.ts';
import { findUnfinished } from './replace-file.ts';

const everybodyElse = 0o077;

/**
 * Removes the access of other users of this machine to the folder and its files. It also deletes the
 * unfinished secrets files that a killed writer left.
 *
 * @returns one sentence for each change, and for each change that failed; empty when there was nothing to do
 * @throws RelayError `secrets_exposed` when others can read secrets and the relay cannot change that
 */
export function restrictDataFolder(folder: DataFolder): readonly string[] {
  // Windows has no file modes: there, access to a file depends on its folder.
  if (process.platform === 'win32') return [];
  const names = readdirSync(folder.path);
  const own = names.filter((name) => isOwn(folder, name));
  return [
    ...findUnfinished(folder.secretsPath).map(removeUnfinished),
    ...restrictSecrets(folder.secretsPath),
    ...own.flatMap((name) => restrict(join(folder.path, name), 0o600)),
    ...(own.length === names.length ? restrict(folder.path, 0o700) : warnOfFolder(folder.path)),
  ];
}

/** Whether a file is the relay's: one of its own, one that SQLite keeps beside them, or a rotated log. */
function isOwn(folder: DataFolder, name: string): boolean {
  const { databasePath, paperPath, secretsPath, logPath, lockPath, runPath } = folder;
  return [databasePath, paperPath, secretsPath, logPath, lockPath, runPath].some((path) =>
    name.startsWith(basename(path)),
  );
}

function removeUnfinished(path: string): string {
  try {
    rmSync(path, { force: true });
    return `${path} was left by an interrupted change of the secrets; it is now deleted`;
  } catch (error) {
    const message = `${path} may hold secrets and cannot be deleted (${describeError(error)}): delete it yourself`;
    throw new RelayError('secrets_exposed', message, { cause: error });
  }
}

function restrictSecrets(path: string): readonly string[] {
  const mode = findOpenMode(path);
  if (mode === null) return [];
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw new RelayError(
      'secrets_exposed',
      `others on this machine can read the secrets in ${path} (mode ${octal(mode)}), and the relay cannot change that (${describeError(error)}): run \`chmod 600 ${path}\` as the owner of the file, or choose a folder with --data where modes can be set`,
      { cause: error },
    );
  }
  return [
    `others on this machine could read the secrets in ${path} (mode ${octal(mode)}); now only their owner can. Replace the tokens and keys if another user may have read them`,
  ];
}

/** The folder may be a home or a shared folder: the relay must not restrict it, so it only warns. */
function warnOfFolder(path: string): readonly string[] {
  const mode = findOpenMode(path);
  if (mode === null) return [];
  return [
    `the data folder ${path} is open to other users (mode ${octal(mode)}). The folder holds other files too, so the relay does not restrict it; give the relay its own folder with --data`,
  ];
}

function restrict(path: string, to: number): readonly string[] {
  const mode = findOpenMode(path);
  if (mode === null) return [];
  try {
    chmodSync(path, to);
    return [`${path} was open to other users (mode ${octal(mode)}); its mode is now ${octal(to)}`];
  } catch (error) {
    return [
      `${path} is open to other users (mode ${octal(mode)}), and the relay cannot change that (${describeError(error)}): run \`chmod ${to.toString(8)} ${path}\` as its owner`,
    ];
  }
}

/** The mode of a file or folder that others can access; null when they cannot, or when it does not exist. */
function findOpenMode(path: string): number | null {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & everybodyElse) === 0 ? null : mode & 0o777;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
