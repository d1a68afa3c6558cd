import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DataFolder } from '../../lib/host/data-folder.ts';

/** A part of an installation, and how its owner removes it. */
export interface InstalledPart {
  readonly what: string;
  /** A path, or the name of a resource. */
  readonly where: string;
  /** Whether removing the stack removes it, too. On one machine every part stays. */
  readonly goesWithStack: boolean;
  /** A command of a shell; null: there is none, and `what` says what to do. */
  readonly remove: string | null;
}

/** The files of a data folder that the relay makes, with those that SQLite puts beside its own. */
export function listFolderFiles(
  folder: DataFolder,
): readonly { readonly what: string; readonly where: string }[] {
  const withJournal = (path: string) => [path, `${path}-wal`, `${path}-shm`];
  const named = [
    ...withJournal(folder.databasePath).map((where) => ({
      what: 'ledger, snapshots and waiting notices',
      where,
    })),
    ...withJournal(folder.paperPath).map((where) => ({ what: 'the paper exchange', where })),
    { what: 'WEBHOOK TOKENS AND EXCHANGE KEYS', where: folder.secretsPath },
    { what: 'the lock of that file', where: `${folder.secretsPath}.lock` },
    { what: 'log', where: folder.logPath },
    { what: 'the log before it', where: `${folder.logPath}.1` },
    { what: 'where the relay listens', where: folder.runPath },
    { what: 'the lock of the relay', where: folder.lockPath },
  ];
  return named.filter(({ where }) => existsSync(where));
}

/** What no command of this machine reaches. */
export const outsideParts: readonly Omit<InstalledPart, 'goesWithStack'>[] = [
  { what: 'the exchange key: delete it on its website', where: 'the exchange', remove: null },
  { what: 'the alerts that call the webhook: delete them there', where: 'TradingView', remove: null },
];

/** Everything of a local installation. */
export function listLocalParts(folder: DataFolder): readonly InstalledPart[] {
  const files = listFolderFiles(folder).map(({ what, where }) => ({
    what,
    where: resolve(where),
    goesWithStack: false,
    remove: `rm ${quote(resolve(where))}`,
  }));
  const others: readonly Omit<InstalledPart, 'goesWithStack'>[] = [
    ...(existsSync(folder.path)
      ? [
          {
            what: 'the folder itself, once it is empty',
            where: resolve(folder.path),
            remove: `rmdir ${quote(resolve(folder.path))}`,
          },
        ]
      : []),
    {
      what: 'backups that you made; with --with-secrets they hold the keys, too',
      where: 'where you wrote them',
      remove: null,
    },
    ...outsideParts,
    {
      what: 'the unit of systemd, the container or the proxy, if you made one',
      where: 'this machine',
      remove: null,
    },
  ];
  return [...files, ...others.map((part) => ({ ...part, goesWithStack: false }))];
}

/** For a POSIX shell. */
export function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
