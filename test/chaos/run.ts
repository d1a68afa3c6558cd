import { setTimeout as sleep } from 'node:timers/promises';
import { createDataFolder, type DataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../lib/host/file-secrets.ts';
import { paperKeysOf } from '../../lib/paper/accounts.ts';
import type { FaultKind } from '../../lib/paper/faults.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server.ts';
import { bodyMark } from './alerts.ts';
import { type DataDisk, openDataDisk } from './data-disk.ts';
import {
  type Facts,
  openRecords,
  type RelayRecords,
  readEntries,
  readExchange,
  readWritings,
  type Secret,
} from './facts.ts';
import { fillOften, loseLogOften } from './hazards.ts';
import type { Plan } from './plan.ts';
import { rehearsalAccount, tradingAccounts } from './relay-config.ts';
import { type RelayKeeper, startKeeper } from './relay-keeper.ts';
import { type SentAlert, sendAlert } from './sender.ts';
import { movePrices, playWeathers } from './weather.ts';

/** The result of a run. */
export interface ChaosRun {
  readonly facts: Facts;
  readonly tookMs: number;
  /** How long signals were arriving. */
  readonly busyMs: number;
  readonly kills: number;
  readonly starts: number;
  readonly fullDisks: FullDisks;
  /** How often the log file was moved or removed. */
  readonly logLosses: number;
  /** How often each kind of fault has struck. */
  readonly strikes: ReadonlyMap<FaultKind, number>;
}

export interface FullDisks {
  readonly episodes: number;
  /** The number of log lines about failed writes. */
  readonly refusedWrites: number;
  /** Why the disk could not be filled; null when it could. */
  readonly obstacle: string | null;
}

/** The parts of a run; `runChaos` removes them again at its end. */
interface Stage {
  readonly disk: DataDisk;
  readonly folder: DataFolder;
  readonly paper: PaperExchange;
  readonly keeper: RelayKeeper;
  readonly journal: string[];
  /** The lines that the relay's terminal has shown. */
  readonly terminal: string[];
  refusedWrites: number;
}

/** Room for the log, the rotated log, the database's write-ahead log, and the entry of each signal. */
const diskBytes = { atLeast: 48 * 1024 * 1024, perSignal: 8 * 1024 };

/**
 * Runs a plan against a relay in its own process, waits until everything is settled, and gathers the facts.
 */
export async function runChaos(plan: Plan, seed: number): Promise<ChaosRun> {
  const startedAtMs = performance.now();
  const stage = await openStage(plan, seed);
  try {
    await stage.keeper.waitUntilReady();
    const { alerts, strikes, logLosses } = await play(stage, plan);
    const busyMs = performance.now() - startedAtMs;
    const quietSinceMs = Date.now();
    await quieten(stage);
    const facts = await gatherFacts(stage, alerts, quietSinceMs);
    const { keeper, disk, refusedWrites } = stage;
    return {
      facts,
      strikes,
      logLosses,
      busyMs,
      tookMs: performance.now() - startedAtMs,
      ...keeper.counts,
      fullDisks: {
        episodes: disk.obstacle === null ? plan.fullDisks.length : 0,
        refusedWrites,
        obstacle: disk.obstacle,
      },
    };
  } finally {
    await stage.keeper.stop();
    await stage.paper.close();
    stage.disk.remove();
  }
}

async function openStage(plan: Plan, seed: number): Promise<Stage> {
  const disk = openDataDisk(diskBytes.atLeast + plan.alerts.length * diskBytes.perSignal);
  // Whenever this process exits, the disk of the run is removed.
  process.once('exit', disk.remove);
  const folder = createDataFolder(disk.path);
  completeFileSecrets(folder.secretsPath, accounts, paperKeysOf);
  const paper = await startPaperExchange({ port: 0, dialect: 'live', seed });
  const [journal, terminal]: [string[], string[]] = [[], []];
  const keeper = startKeeper({
    folder,
    exchangeUrl: paper.url,
    isDiskFull: () => disk.isFull,
    onLine(line) {
      // Lines of the journal are JSON; all others are lines of the terminal.
      if (!line.startsWith('{')) return void terminal.push(line);
      journal.push(line);
      if (disk.isFull && line.includes('could not be written')) stage.refusedWrites += 1;
    },
  });
  process.prependOnceListener('exit', keeper.abandon);
  const stage: Stage = { disk, folder, paper, keeper, journal, terminal, refusedWrites: 0 };
  return stage;
}

const accounts = [...Object.keys(tradingAccounts), rehearsalAccount];

/** Instead of a minute, so that a short run has lookups during the faults. */
const reconcilePauseMs = 2_000;

/** Runs all parts of the plan in parallel, each at its time. */
async function play(stage: Stage, plan: Plan) {
  const { disk, folder, keeper, paper } = stage;
  const startedAtMs = performance.now();
  const until = (atMs: number) => sleep(Math.max(0, startedAtMs + atMs - performance.now()));
  const secrets = createFileSecrets(folder.secretsPath);
  const tokens = new Map<string, string>();
  for (const account of accounts) tokens.set(account, (await secrets.webhookTokens(account))[0] ?? '');
  const webhookUrlOf = (account: string) => `${keeper.url()}/signals/${account}/${tokens.get(account)}`;

  async function sendAll(): Promise<readonly SentAlert[]> {
    const sending: Promise<SentAlert>[] = [];
    for (const alert of plan.alerts) {
      await until(alert.atMs);
      sending.push(sendAlert(alert, webhookUrlOf));
    }
    return await Promise.all(sending);
  }

  async function killOften(): Promise<void> {
    for (const atMs of plan.killsAtMs) {
      await until(atMs);
      await keeper.kill();
    }
  }

  let isOver = false;
  async function reconcileOften(): Promise<void> {
    while (!isOver) {
      await sleep(reconcilePauseMs);
      await keeper.reconcile();
    }
  }

  const sending = sendAll().finally(() => {
    isOver = true;
  });
  const [alerts, strikes, logLosses] = await Promise.all([
    sending,
    playWeathers(paper.control, plan.weathers, until),
    loseLogOften(folder.logPath, plan.logLosses, until),
    reconcileOften(),
    killOften(),
    fillOften(disk, keeper, plan.fullDisks, until),
    movePrices(paper.control, plan.priceMoves, until),
  ]);
  return { alerts, strikes, logLosses };
}

/**
 * Restarts the relay, which sweeps its stores, and waits until the queue is empty and all lookups are done.
 */
async function quieten({ keeper, folder }: Stage): Promise<void> {
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

const pollMs = 100;
/** What is not settled by then is reported by the audit. */
const longestWaitMs = 60_000;

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + longestWaitMs;
  while (!(await isSo()) && performance.now() < untilMs) await sleep(pollMs);
}

async function isIdle({ ledger, countQueue }: RelayRecords): Promise<boolean> {
  if (countQueue().waiting > 0) return false;
  for (const status of ['accepted', 'sending'] as const)
    if ((await ledger.list({ status, limit: 1 })).entries.length > 0) return false;
  return true;
}

async function gatherFacts(
  { folder, paper, keeper, journal, terminal }: Stage,
  alerts: readonly SentAlert[],
  quietSinceMs: number,
): Promise<Facts> {
  const secrets = await collectSecrets(folder);
  const exchange = await readExchange(paper.url);
  await keeper.stop();
  // No other process has the file open, so closing it writes all of SQLite's write-ahead log into it.
  const records = openRecords(folder);
  const [entries, queue] = [await readEntries(records.ledger), records.countQueue()];
  records.close();
  const writings = [
    { place: 'journal', kind: 'log' as const, text: journal.join('\n') },
    { place: 'terminal', kind: 'log' as const, text: terminal.join('\n') },
    ...readWritings(folder),
  ];
  return { alerts, entries, queue, exchange, writings, secrets, ownEnds: keeper.ownEnds, quietSinceMs };
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
