import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { DataFolder } from './data-folder.ts';
import { findUnfinished } from './replace-file.ts';

const everybodyElse = 0o077;

/**
 * Takes away what others on this machine may do with the folder and what is in it, and removes what a writer that was
 * killed left of secrets.
 *
 * @returns what was done, or could not be, one sentence each; empty when all was well
 * @throws RelayError `secrets_exposed` when others can read secrets and that cannot be changed
 */
export function restrictDataFolder(folder: DataFolder): readonly string[] {
  // Windows has no such modes: who may read a file there goes by the folder it is in.
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

/** The relay's files, those that SQLite keeps beside its own, and logs that were put aside. */
function isOwn(folder: DataFolder, name: string): boolean {
  const { databasePath, paperPath, secretsPath, logPath, lockPath, runPath } = folder;
  return [databasePath, paperPath, secretsPath, logPath, lockPath, runPath].some((path) =>
    name.startsWith(basename(path)),
  );
}

function removeUnfinished(path: string): string {
  try {
    rmSync(path, { force: true });
    return `${path} was left over by a change of the secrets that was broken off; it is removed`;
  } catch (error) {
    const message = `${path} may hold secrets and cannot be removed (${describeError(error)}): remove it by hand`;
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
      `others on this machine can read the secrets in ${path} (mode ${octal(mode)}), and that cannot be changed (${describeError(error)}): run \`chmod 600 ${path}\` as the owner of the file, or choose a folder with --data where modes can be set`,
      { cause: error },
    );
  }
  return [
    `others on this machine could read the secrets in ${path} (mode ${octal(mode)}); now only their owner can. Replace the tokens and keys if somebody may have`,
  ];
}

/** It may be somebody's home, or one that everybody shares: then it is not the relay's to close. */
function warnOfFolder(path: string): readonly string[] {
  const mode = findOpenMode(path);
  if (mode === null) return [];
  return [
    `the data folder ${path} is open to others (mode ${octal(mode)}) and holds more than the relay's files, so that it is left as it is; give the relay a folder of its own with --data`,
  ];
}

function restrict(path: string, to: number): readonly string[] {
  const mode = findOpenMode(path);
  if (mode === null) return [];
  try {
    chmodSync(path, to);
    return [`${path} was open to others (mode ${octal(mode)}); its mode is ${octal(to)} now`];
  } catch (error) {
    return [
      `${path} is open to others (mode ${octal(mode)}), and that cannot be changed (${describeError(error)}): run \`chmod ${to.toString(8)} ${path}\` as its owner`,
    ];
  }
}

/** The mode of what others may do something with; null when they may not, or it is not there (any more). */
function findOpenMode(path: string): number | null {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & everybodyElse) === 0 ? null : mode & 0o777;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
