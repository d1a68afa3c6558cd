import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../lib/base/random.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../lib/host/file-secrets.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import type { FaultKind } from '../../lib/paper/faults/fault-rows.ts';
import { startPaperExchange } from '../../lib/paper/server/server.ts';
import { type DataDisk, openDataDisk } from './data-disk.ts';
import { awaitFills, awaitNotices, awaitProtection, gatherFacts, quieten, type RunStage } from './end-run.ts';
import type { Facts } from './facts.ts';
import { fillOften, loseLogOften } from './hazards.ts';
import { type NoticeService, startNoticeService, type Trouble } from './notice-service.ts';
import { resolveAbsent } from './operator.ts';
import type { Plan } from './plan.ts';
import { accounts, exitsOfRun } from './relay-config.ts';
import { startKeeper } from './relay-keeper.ts';
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
  /** How often each trouble of the services of the notices has struck. */
  readonly troubles: ReadonlyMap<Trouble, number>;
}

export interface FullDisks {
  readonly episodes: number;
  /** The number of log lines about failed writes. */
  readonly refusedWrites: number;
  /** Why the disk could not be filled; null when it could. */
  readonly obstacle: string | null;
}

/** The parts of a run; `runChaos` removes them again at its end. */
interface Stage extends RunStage {
  readonly disk: DataDisk;
  readonly service: NoticeService;
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
    stage.service.calm();
    await quieten(stage);
    await awaitProtection(stage);
    await awaitFills(stage);
    await awaitNotices(stage);
    const facts = await gatherFacts(stage, alerts, quietSinceMs, true);
    const { keeper, disk, service, refusedWrites } = stage;
    return {
      facts,
      troubles: service.troubles,
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
    await stage.service.close();
    stage.disk.remove();
  }
}

async function openStage(plan: Plan, seed: number): Promise<Stage> {
  const disk = openDataDisk(diskBytes.atLeast + plan.alerts.length * diskBytes.perSignal);
  // Whenever this process exits, the disk of the run is removed.
  process.once('exit', disk.remove);
  const folder = createDataFolder(disk.path);
  completeFileSecrets(folder.secretsPath, accounts, paperKeysOf);
  const paper = await startPaperExchange({ port: 0, dialect: 'live', seed, walk: false });
  paper.control.setExits(exitsOfRun);
  const [journal, terminal]: [string[], string[]] = [[], []];
  const service = await startNoticeService(createRandom(seed + 1));
  const keeper = startKeeper({
    folder,
    exchangeUrl: paper.url,
    ways: service.ways,
    isDiskFull: () => disk.isFull,
    onLine(line) {
      // Lines of the journal are JSON; all others are lines of the terminal.
      if (!line.startsWith('{')) return void terminal.push(line);
      journal.push(line);
      if (disk.isFull && line.includes('could not be written')) stage.refusedWrites += 1;
    },
  });
  process.prependOnceListener('exit', keeper.abandon);
  const stage: Stage = {
    disk,
    folder,
    paper,
    keeper,
    service,
    journal,
    terminal,
    fullDisks: disk.fullSpans,
    refusedWrites: 0,
  };
  return stage;
}

/** Instead of a minute, so that a short run has lookups during the faults. */
const reconcilePauseMs = 2_000;
const fullDiskMarginMs = 1_000;

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
      if (hasRoom()) await resolveAbsent(folder, paper);
    }
  }

  /** Another process must not have the database open while the disk is full. */
  function hasRoom(): boolean {
    const nowMs = performance.now() - startedAtMs;
    const isNear = plan.fullDisks.some(
      ({ fromMs, untilMs }) => fromMs - fullDiskMarginMs < nowMs && nowMs < untilMs + fullDiskMarginMs,
    );
    return !disk.isFull && !isNear;
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
