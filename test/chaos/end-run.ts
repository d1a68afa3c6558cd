import { setTimeout as sleep } from 'node:timers/promises';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import { secretsIn } from '../../lib/notices/channels.ts';
import type { PaperExchange } from '../../lib/paper/server/server.ts';
import { readAlarm } from './alarms.ts';
import { bodyMark } from './alerts.ts';
import { findFillGaps } from './audit-fills.ts';
import { findUnfitProtection } from './audit-protection.ts';
import type { FullSpan } from './data-disk.ts';
import {
  type Facts,
  openRecords,
  type RelayRecords,
  readEntries,
  readExchange,
  readFills,
  readFollowed,
  readWritings,
  type Secret,
} from './facts.ts';
import type { NoticeService } from './notice-service.ts';
import { resolveAbsent } from './operator.ts';
import { accounts, guardedAccount } from './relay-config.ts';
import type { RelayKeeper } from './relay-keeper.ts';
import type { SentAlert } from './sender.ts';

/** The parts of a run that the facts come from. */
export interface RunStage {
  readonly folder: DataFolder;
  readonly paper: PaperExchange;
  readonly keeper: RelayKeeper;
  /** Null: nobody is to be told of anything. */
  readonly service: NoticeService | null;
  /** The lines that the relay wrote as to a service manager's journal. */
  readonly journal: readonly string[];
  /** The lines that the relay's terminal has shown. */
  readonly terminal: readonly string[];
  /** When the disk took nothing; absent: never. */
  readonly fullDisks?: readonly FullSpan[];
}

/**
 * Restarts the relay, which carries out what it left unfinished, and waits until no signal waits and all lookups are
 * done.
 */
export async function quieten({ keeper, folder }: Pick<RunStage, 'keeper' | 'folder'>): Promise<void> {
  await keeper.waitUntilReady();
  await keeper.restart();
  const records = openRecords(folder);
  try {
    await waitUntil(() => isIdle(records));
    await waitUntil(async () => {
      if ((await records.ledger.dueLookups(Date.now(), 1)).length === 0) return true;
      await keeper.reconcile();
      return false;
    });
  } finally {
    records.close();
  }
}

/**
 * Waits until the ledger has the fills of every order, as long as it gets more of them. An order whose response was lost is
 * followed once a lookup has found it, which takes a minute; and on a busy machine hundreds of orders may end between two
 * readings, more than the lists show: those are asked for one by one. The exchange must have no trades any more.
 */
export async function awaitFills({
  folder,
  paper,
  keeper,
}: Pick<RunStage, 'folder' | 'paper' | 'keeper'>): Promise<void> {
  const records = openRecords(folder);
  const { orders } = await readExchange(paper.url);
  let fewest = { count: Number.POSITIVE_INFINITY, atMs: performance.now() };
  try {
    await waitUntil(async () => {
      const count = findFillGaps(orders, await readFills(records)).length;
      if (count === 0) return true;
      if (count < fewest.count) fewest = { count, atMs: performance.now() };
      if ((await records.ledger.dueLookups(Date.now(), 1)).length > 0) await keeper.reconcile();
      return performance.now() - fewest.atMs > longestFollowMs;
    }, longestDrainMs);
  } finally {
    records.close();
  }
}

/**
 * Waits until what protects the positions fits them, or an alarm says that it does not, and until the relay has asked for
 * nothing more for a while: a take-profit that is placed late may fill at once. The price must not move any more. Meanwhile an
 * operator settles what is unknown.
 */
export async function awaitProtection({
  folder,
  paper,
  keeper,
  journal,
}: Pick<RunStage, 'folder' | 'paper' | 'keeper' | 'journal'>): Promise<void> {
  const records = openRecords(folder);
  const isAtRest = createRest();
  try {
    await waitUntil(
      async () => {
        await resolveAbsent(folder, paper);
        const unknown = await records.ledger.list({ account: guardedAccount, status: 'unknown', limit: 1 });
        if ((await records.ledger.dueLookups(Date.now(), 1)).length > 0) await keeper.reconcile();
        if (unknown.entries.length > 0 || !(await isIdle(records))) return false;
        const entries = await readEntries(records.ledger, guardedAccount);
        const exchange = await readExchange(paper.url);
        const alarms = journal.flatMap((line) => readAlarm(line) ?? []);
        const isFit = findUnfitProtection({ exchange, entries, alarms }).length === 0;
        return isAtRest(entries.length, performance.now()) && isFit;
      },
      longestFollowMs,
      protectionPollMs,
    );
  } finally {
    records.close();
  }
}

/** Longer than the relay waits before it asks again for what it could not place, and until it looks again. */
const restMs = 15_000;

/** Tells whether a number has stayed as it is for long enough. */
export function createRest(): (count: number, nowMs: number) => boolean {
  let since: { readonly count: number; readonly atMs: number } | null = null;
  return (count, nowMs) => {
    if (since?.count !== count) since = { count, atMs: nowMs };
    return nowMs - since.atMs >= restMs;
  };
}

/** It reads all entries of an account. */
const protectionPollMs = 1_000;
const pollMs = 100;
/** What is not settled by then is reported by the audit. */
const longestWaitMs = 60_000;
const longestFollowMs = 180_000;
const longestDrainMs = 900_000;

async function waitUntil(
  isSo: () => Promise<boolean>,
  longestMs = longestWaitMs,
  everyMs = pollMs,
): Promise<void> {
  const untilMs = performance.now() + longestMs;
  while (!(await isSo()) && performance.now() < untilMs) await sleep(everyMs);
}

async function isIdle({ ledger, countQueue }: RelayRecords): Promise<boolean> {
  if (countQueue().waiting > 0) return false;
  for (const status of ['accepted', 'sending'] as const)
    if ((await ledger.list({ status, limit: 1 })).entries.length > 0) return false;
  return true;
}

/**
 * Waits until every service was told of everything. They must answer: a service that has failed some times is left alone for
 * minutes.
 */
export async function awaitNotices(
  { folder }: Pick<RunStage, 'folder'>,
  longestMs = longestNoticesMs,
): Promise<void> {
  const records = openRecords(folder);
  try {
    await waitUntil(records.isAllTold, longestMs);
  } finally {
    records.close();
  }
}

const longestNoticesMs = 330_000;

/** Stops the relay, and then gathers what sender, exchange, ledger and logs say of the run. */
export async function gatherFacts(
  { folder, paper, keeper, service, journal, terminal, fullDisks = [] }: RunStage,
  alerts: readonly SentAlert[],
  quietSinceMs: number,
  areFillsAwaited: boolean,
): Promise<Facts> {
  const secrets = [...(await collectSecrets(folder)), ...(service === null ? [] : waySecrets(service))];
  await keeper.stop();
  // Not before: as long as the relay runs, the ledger learns of fills that an earlier reading of the exchange lacks.
  const exchange = await readExchange(paper.url);
  // No other process has the file open, so closing it writes all of SQLite's write-ahead log into it.
  const records = openRecords(folder);
  const [entries, queue] = [await readEntries(records.ledger), records.countQueue()];
  const followed = areFillsAwaited ? await readFollowed(records) : null;
  records.close();
  const writings = [
    { place: 'journal', kind: 'log' as const, text: journal.join('\n') },
    { place: 'terminal', kind: 'log' as const, text: terminal.join('\n') },
    ...readWritings(folder),
  ];
  return {
    alerts,
    entries,
    queue,
    exchange,
    writings,
    secrets,
    ownEnds: keeper.ownEnds,
    followed,
    notices: service === null ? null : { shown: service.shown, endedAtMs: keeper.endedAtMs, fullDisks },
    quietSinceMs,
  };
}

function waySecrets({ ways }: NoticeService): readonly Secret[] {
  return secretsIn(ways).map((value) => ({
    name: 'what opens a channel of the notices',
    value,
    mayBeStored: false,
  }));
}

async function collectSecrets(folder: DataFolder): Promise<readonly Secret[]> {
  const store = createFileSecrets(folder.secretsPath);
  const secrets: Secret[] = [{ name: 'the mark of a raw body', value: bodyMark, mayBeStored: true }];
  for (const account of accounts) {
    const keys = await store.exchangeKeys(account);
    const known = {
      token: (await store.webhookTokens(account))[0],
      key: keys?.apiKey,
      secret: keys?.apiSecret,
    };
    for (const [what, value] of Object.entries(known))
      if (value !== undefined) secrets.push({ name: `the ${what} of ${account}`, value, mayBeStored: false });
  }
  return secrets;
}
