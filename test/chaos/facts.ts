import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readDealsState } from '../../lib/account/account-deals.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { type Executions, listFills } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteChanges } from '../../lib/ledger/sqlite-changes.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { createSqliteChannelStates } from '../../lib/notices/sqlite-channel-states.ts';
import type { PaperState } from '../../lib/paper/server/state.ts';
import { createSqliteDeadLetters, type QueueCounts } from '../../lib/queue/sqlite-dead-letters.ts';
import { type Report, readReport } from '../../lib/reports/read-report.ts';
import type { FollowedFills } from './audit-fills.ts';
import type { FullSpan } from './data-disk.ts';
import { noticeChannels, type ShownNotice } from './notice-service.ts';
import { grounds, tradingAccounts } from './relay-config.ts';
import type { OwnEnd } from './relay-keeper.ts';
import type { SentAlert } from './sender.ts';

/** Everything that is known about a run from outside the relay. */
export interface Facts {
  /** The alerts, with the responses to their senders. */
  readonly alerts: readonly SentAlert[];
  readonly entries: readonly Entry[];
  /** The signals that still wait, and the dead letters. */
  readonly queue: Pick<QueueCounts, 'waiting' | 'deadLetters'>;
  /** The state of the exchange. */
  readonly exchange: Pick<
    PaperState,
    'orders' | 'acceptedCreates' | 'acceptedOrderIds' | 'accounts' | 'counterparty' | 'fees'
  >;
  /** Everything the relay wrote, as text. */
  readonly writings: readonly Writing[];
  /** Texts that no writing may contain. */
  readonly secrets: readonly Secret[];
  readonly ownEnds: readonly OwnEnd[];
  /** What the ledger knows of fills; null when the run did not wait until it knew them all. */
  readonly followed: FollowedFills | null;
  /** Null: nobody was to be told of anything. */
  readonly notices: NoticeFacts | null;
  /** From this time on there were no faults. */
  readonly quietSinceMs: number;
}

export interface NoticeFacts {
  /** What the services have shown, oldest first. */
  readonly shown: readonly ShownNotice[];
  /** When processes of the relay ended. */
  readonly endedAtMs: readonly number[];
  /** When the disk took nothing. */
  readonly fullDisks: readonly FullSpan[];
}

export interface Writing {
  /** For example `relay.log`, or `terminal`. */
  readonly place: string;
  readonly kind: 'log' | 'store';
  readonly text: string;
}

export interface Secret {
  /** Its name in the report. */
  readonly name: string;
  readonly value: string;
  /**
   * True for the mark of a raw body: a store keeps the comment of a signal, but a log must not contain it.
   */
  readonly mayBeStored: boolean;
}

/** The relay's database, over a connection of its own. It must be opened only while the disk has room. */
export interface RelayRecords {
  readonly ledger: Ledger;
  readonly executions: Executions;
  readonly facts: ContestedFacts;
  countQueue(): QueueCounts;
  /** Whether every service was told of all that the ledger has noted. */
  isAllTold(): Promise<boolean>;
  close(): void;
}

export function openRecords(folder: DataFolder): RelayRecords {
  const file = openSqlite(folder.databasePath);
  const deadLetters = createSqliteDeadLetters(file);
  const [changes, states] = [createSqliteChanges(file), createSqliteChannelStates(file)];
  return {
    ledger: createSqliteLedger(file),
    executions: createSqliteExecutions(file),
    facts: createSqliteAccountFacts(file),
    countQueue: deadLetters.count,
    async isAllTold() {
      const last = changes.last();
      const told = await Promise.all(noticeChannels.map((channel) => states.read(channel)));
      return told.every((state) => state !== null && state.seq >= last);
    },
    close: () => file.close(),
  };
}

const pageSize = 500;

/** Every entry, oldest first; only those of an account if one is named. */
export async function readEntries(ledger: Ledger, account?: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { limit: pageSize, oldestFirst: true, ...(account === undefined ? {} : { account }) };
    const page = await ledger.list(cursor === undefined ? query : { ...query, cursor });
    entries.push(...page.entries);
    cursor = page.next;
  }
  return entries;
}

/** Every fill of the trading accounts. */
export async function readFills({ executions }: RelayRecords): Promise<readonly Fill[]> {
  const fills: Fill[] = [];
  for (const account of Object.keys(tradingAccounts))
    for await (const fill of listFills(executions, account, 0, farFutureMs)) fills.push(fill);
  return fills;
}

const farFutureMs = Date.UTC(2200, 0);

/** The fills, and the reports that `relay report` would show. */
export async function readFollowed(records: RelayRecords): Promise<FollowedFills> {
  const isSpot = (_account: string, market: string) => grounds[market] === 'spot';
  const firstOf = async (account: string) => (await readDealsState(records.facts, account))?.first ?? null;
  const reports: Record<string, Report> = {};
  for (const [account, paperAccount] of Object.entries(tradingAccounts)) {
    const query = {
      accounts: [account],
      fromMs: 0,
      untilMs: farFutureMs,
      by: 'market',
      dayOf: String,
    } as const;
    reports[paperAccount] = await readReport({ ...records, firstOf, isSpot }, query);
  }
  return { fills: await readFills(records), reports };
}

export async function readExchange(exchangeUrl: string): Promise<PaperState> {
  const response = await fetch(`${exchangeUrl}/control/state`);
  return (await response.json()) as PaperState;
}

/** The log files, including rotated and moved ones, and the bytes of the database. */
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
