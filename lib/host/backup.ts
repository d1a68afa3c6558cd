import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import { createForOwner, openSqlite } from '../base/sqlite.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Ledger, listEntries } from '../ledger/ledger.ts';
import { createSqliteAccountFacts } from '../ledger/sqlite-account-facts.ts';
import { createSqliteLedger } from '../ledger/sqlite-ledger.ts';
import type { DataFolder } from './data-folder.ts';
import { checkFileSecrets } from './file-secrets.ts';
import { flushFolder } from './flush-folder.ts';
import { openLock } from './hold-lock.ts';
import { hasTable, openReadOnly } from './open-read-only.ts';
import { replaceFile } from './replace-file.ts';

export interface Backup {
  /** Everything that was acknowledged before this time is in it. */
  readonly untilMs: number;
  readonly signals: number;
  readonly withSecrets: boolean;
}

/** Copies all pages in one step, under one reading: other writers go on, and the copy is of one moment. */
const allPages = 2 ** 31 - 1;

/**
 * Writes the ledger and the snapshots of a folder to one file, while its relay runs. The file appears only when it is whole,
 * checked, and on the disk; only its owner can read it.
 *
 * @param path of a file that is not there yet
 * @throws RelayError `store_unavailable`; nothing is left at the path then
 */
export async function backUpFolder(
  folder: DataFolder,
  path: string,
  { withSecrets, clock }: { readonly withSecrets: boolean; readonly clock: Clock },
): Promise<Backup> {
  if (existsSync(path)) throw fail(`"${path}" exists already: name a new file`);
  const unfinished = `${path}.new`;
  try {
    rmSync(unfinished, { force: true });
    createForOwner(unfinished);
    const untilMs = clock.nowMs();
    await copyDatabase(folder.databasePath, unfinished);
    const signals = finishCopy(unfinished, withSecrets ? readFileSync(folder.secretsPath, 'utf8') : null);
    writeChecksum(unfinished);
    flush(unfinished);
    renameSync(unfinished, path);
    flushFolder(dirname(resolve(path)));
    return { untilMs, signals, withSecrets };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error instanceof RelayError ? error : fail(`the backup failed: ${describeError(error)}`, error);
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  using source = new DatabaseSync(from, { readOnly: true });
  await backup(source, to, { rate: allPages });
}

/** @returns how many signals are in it */
function finishCopy(path: string, secrets: string | null): number {
  using copy = new DatabaseSync(path);
  // Without the write-ahead log it is one file, whoever opens it.
  copy.exec('PRAGMA journal_mode = DELETE');
  const { quick_check: verdict } = copy.prepare('PRAGMA quick_check').get() ?? {};
  if (verdict !== 'ok') throw fail(`the copy is damaged: ${String(verdict)}`);
  if (!hasTable(copy, 'entries')) throw fail('the folder has no ledger');
  if (secrets !== null) {
    copy.exec('CREATE TABLE backup_secrets (text TEXT NOT NULL) STRICT');
    copy.prepare('INSERT INTO backup_secrets VALUES (?)').run(secrets);
  }
  return Number(copy.prepare('SELECT count(*) AS signals FROM entries').get()?.['signals']);
}

/** The application id of SQLite's header, which nothing else uses here: 4 bytes, the highest first. */
const checksumAt = 68;
const checksumBytes = 4;

/** SQLite has no checksums of its own: a flipped byte in a figure would be restored as another figure. */
function writeChecksum(path: string): void {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32BE(checksumOf(path).actual);
  const file = openSync(path, 'r+');
  try {
    writeSync(file, checksum, 0, checksumBytes, checksumAt);
  } finally {
    closeSync(file);
  }
}

/** A copy that was made without this command, or by an earlier release, has none. */
function checkChecksum(path: string): void {
  const { stored, actual } = checksumOf(path);
  if (stored !== 0 && stored !== actual)
    throw fail(`"${path}" is not as it was written, so nothing of it can be trusted: take another backup`);
}

function checkPages(path: string): void {
  using copy = new DatabaseSync(path);
  const { integrity_check: verdict } = copy.prepare('PRAGMA integrity_check').get() ?? {};
  if (verdict !== 'ok') throw fail(`the backup is damaged: ${String(verdict)}`);
}

/** Of all bytes but its own. */
function checksumOf(path: string): { readonly stored: number; readonly actual: number } {
  const file = openSync(path, 'r');
  const chunk = Buffer.alloc(1024 * 1024);
  try {
    let stored = 0;
    let actual = 0;
    for (let at = 0, read = -1; read !== 0; at += read) {
      read = readSync(file, chunk, 0, chunk.length, at);
      if (at === 0 && read >= checksumAt + checksumBytes) {
        stored = chunk.readUInt32BE(checksumAt);
        chunk.fill(0, checksumAt, checksumAt + checksumBytes);
      }
      actual = crc32(chunk.subarray(0, read), actual);
    }
    return { stored, actual };
  } finally {
    closeSync(file);
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Puts a backup into a folder that has no ledger, and pauses every account of it: what happened since the backup is not in
 * it, so nothing may be sent before its owner has compared it with the exchange.
 *
 * @throws RelayError `store_unavailable`, `folder_in_use`; the folder is unchanged then
 */
export async function restoreFolder(
  folder: DataFolder,
  path: string,
  { accounts, clock }: { readonly accounts: readonly string[]; readonly clock: Clock },
): Promise<{ readonly signals: number; readonly withSecrets: boolean }> {
  using _lock = takeLock(folder);
  for (const file of [...placesOf(folder.databasePath), folder.paperPath])
    if (existsSync(file))
      throw fail(`"${file}" is there: move the folder away first, or name another with --data`);
  const unfinished = `${folder.databasePath}.new`;
  try {
    rmSync(unfinished, { force: true });
    const secrets = readSecrets(path);
    checkChecksum(path);
    if (secrets !== null && existsSync(folder.secretsPath))
      throw fail(`"${folder.secretsPath}" is there, and the backup has secrets too: move one of them away`);
    createForOwner(unfinished);
    using source = openReadOnly(path);
    await backup(source, unfinished, { rate: allPages });
    checkPages(unfinished);
    const signals = await makeHarmless(unfinished, accounts, clock.nowMs());
    flush(unfinished);
    if (secrets !== null) replaceFile(folder.secretsPath, secrets);
    checkFileSecrets(folder.secretsPath);
    renameSync(unfinished, folder.databasePath);
    flushFolder(folder.path);
    return { signals, withSecrets: secrets !== null };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error instanceof RelayError ? error : fail(`the restore failed: ${describeError(error)}`, error);
  }
}

/** A database, and what SQLite would take for its newest pages: a killed relay leaves it, also when its ledger is lost. */
function placesOf(databasePath: string): readonly string[] {
  return ['', '-wal', '-journal'].map((end) => `${databasePath}${end}`);
}

function takeLock({ lockPath, path }: DataFolder): Disposable {
  try {
    const lock = openLock(lockPath, 0);
    return { [Symbol.dispose]: () => lock.close() };
  } catch (error) {
    throw new RelayError('folder_in_use', `a relay uses ${path}`, { cause: error });
  }
}

/** Null when the backup has none. */
function readSecrets(path: string): string | null {
  if (!existsSync(path)) throw fail(`there is no file "${path}"`);
  using source = openReadOnly(path);
  if (!hasTable(source, 'entries')) throw fail(`"${path}" is no backup of a relay`);
  if (!hasTable(source, 'backup_secrets')) return null;
  return String(source.prepare('SELECT text FROM backup_secrets').get()?.['text']);
}

/** Nothing is sent from it before its owner has looked. @returns how many signals are in it */
async function makeHarmless(path: string, accounts: readonly string[], sinceMs: number): Promise<number> {
  const file = openSqlite(path);
  try {
    file.database.exec('PRAGMA application_id = 0; DROP TABLE IF EXISTS backup_secrets; VACUUM;');
    const ledger = createSqliteLedger(file);
    const facts = createSqliteAccountFacts(file);
    for (const account of accounts) {
      await ledger.writePause(account, { sinceMs, reason: restoredReason, kind: 'everything' });
      // The relay looks up by it what it is about to send: see lib/relay/settle/sent-before.ts.
      await facts.write(account, 'restored', { atMs: sinceMs });
    }
    await doubtWaiting(ledger, sinceMs);
    return Number(file.database.prepare('SELECT count(*) AS signals FROM entries').get()?.['signals']);
  } finally {
    file.close();
  }
}

/** The relay that the backup was made of may have sent since what waited then: it is looked up, and not sent again. */
async function doubtWaiting(ledger: Ledger, atMs: number): Promise<void> {
  // Listed completely before the first of them leaves the list.
  const waiting: Entry[] = [];
  for await (const entry of listEntries(ledger, { status: 'accepted' })) waiting.push(entry);
  const step = { status: 'sending', atMs, note: doubtNote } as const;
  await Promise.all(waiting.map((entry) => ledger.start(entry, step, null)));
}

const doubtNote =
  'it waited when the backup was made, and may have been sent since: it is looked up, and not sent from the restored ledger';

const restoredReason =
  'restored from a backup: compare `npx relay orders` and `npx relay positions` with the ledger, then resume';

function fail(message: string, cause?: unknown): RelayError {
  return new RelayError('store_unavailable', message, cause === undefined ? {} : { cause });
}
