import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { PaperState } from '../../lib/paper/state.ts';
import { createSqliteDeadLetters, type QueueCounts } from '../../lib/queue/sqlite-dead-letters.ts';
import type { OwnEnd } from './relay-keeper.ts';
import type { SentAlert } from './sender.ts';

/** Everything that can be known of a run from outside the relay. */
export interface Facts {
  /** What the senders were told. */
  readonly alerts: readonly SentAlert[];
  readonly entries: readonly Entry[];
  /** What is left in the queue. */
  readonly queue: Pick<QueueCounts, 'waiting' | 'deadLetters'>;
  /** What the exchange says itself. */
  readonly exchange: Pick<PaperState, 'orders' | 'acceptedCreates' | 'acceptedOrderIds'>;
  /** Everything the relay wrote, as text. */
  readonly writings: readonly Writing[];
  /** What no writing may hold. */
  readonly secrets: readonly Secret[];
  readonly ownEnds: readonly OwnEnd[];
  /** From then on nothing was broken any more. */
  readonly quietSinceMs: number;
}

export interface Writing {
  /** For example `relay.log`, or `terminal`. */
  readonly place: string;
  readonly kind: 'log' | 'store';
  readonly text: string;
}

export interface Secret {
  /** What a report may call it. */
  readonly name: string;
  readonly value: string;
  /** Signals are kept as they came, comments and all: only a log must not hold what marks a body. */
  readonly mayBeStored: boolean;
}

/** The relay's database, seen from beside it. To be opened only while its disk has room. */
export interface RelayRecords {
  readonly ledger: Ledger;
  countQueue(): QueueCounts;
  close(): void;
}

export function openRecords(folder: DataFolder): RelayRecords {
  const file = openSqlite(folder.databasePath);
  const deadLetters = createSqliteDeadLetters(file, systemClock);
  return { ledger: createSqliteLedger(file), countQueue: deadLetters.count, close: file.close };
}

const pageSize = 500;

/** Every entry, oldest first. */
export async function readEntries(ledger: Ledger): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { limit: pageSize, oldestFirst: true };
    const page = await ledger.list(cursor === undefined ? query : { ...query, cursor });
    entries.push(...page.entries);
    cursor = page.next;
  }
  return entries;
}

export async function readExchange(exchangeUrl: string): Promise<PaperState> {
  const response = await fetch(`${exchangeUrl}/control/state`);
  return (await response.json()) as PaperState;
}

/** The log file, those that were put aside, and the bytes of the database. */
export function readWritings(folder: DataFolder): readonly Writing[] {
  const logs = readdirSync(folder.path).filter((name) => name.startsWith(basename(folder.logPath)));
  return [
    ...logs.flatMap((name) => readWriting(join(folder.path, name), 'log')),
    ...readWriting(folder.databasePath, 'store'),
  ];
}

function readWriting(path: string, kind: Writing['kind']): readonly Writing[] {
  return existsSync(path) ? [{ place: basename(path), kind, text: readFileSync(path, 'latin1') }] : [];
}
