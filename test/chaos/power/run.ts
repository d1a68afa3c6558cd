import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../lib/base/random.ts';
import { locateDataFolder } from '../../../lib/host/data-folder.ts';
import { createFileSecrets } from '../../../lib/host/file-secrets.ts';
import { startPaperExchange } from '../../../lib/paper/server/server.ts';
import { between, pick } from '../chance.ts';
import { awaitNotices, awaitProtection, gatherFacts, quieten, type RunStage } from '../end-run.ts';
import type { Facts } from '../facts.ts';
import { type NoticeService, startNoticeService, type Trouble } from '../notice-service.ts';
import { planAlerts } from '../plan-alerts.ts';
import { accounts, exitsOfRun } from '../relay-config.ts';
import { startKeeper } from '../relay-keeper.ts';
import { type SentAlert, sendAlert } from '../sender.ts';
import { keepPricesMoving } from '../weather.ts';
import type { CutCounts } from './disk-file.ts';
import type { PowerMutant } from './mutants.ts';
import { createPlayedDisk, type PlayedDisk } from './played-disk.ts';
import { createPowerSupply, type EndCounts, type PowerSupply } from './power-supply.ts';

/** The result of a run with power cuts. */
export interface PowerRun {
  readonly facts: Facts;
  readonly ends: Readonly<EndCounts>;
  readonly starts: number;
  readonly troubles: ReadonlyMap<Trouble, number>;
  readonly changes: Readonly<CutCounts>;
  /** What SQLite's own check of the database says; `ok` when it is whole. */
  readonly integrity: string;
  readonly tookMs: number;
}

export interface PowerPlan {
  readonly seed: number;
  /** How often a share of the alerts arrives and the relay is then ended, if it has not ended itself by then. */
  readonly rounds: number;
  readonly signals: number;
  /** A defect of the relay; null: none. */
  readonly mutant: PowerMutant | null;
}

interface Stage extends RunStage {
  readonly disk: PlayedDisk;
  readonly service: NoticeService;
  readonly power: PowerSupply;
  readonly random: Random;
}

const firstStarts = 8;
/** A mutant may never have told everything. */
const mutantNoticesMs = 20_000;

/**
 * Cuts the power of a relay again and again while alerts arrive, waits until everything is settled, and gathers the
 * facts.
 */
export async function runPowerCuts(plan: PowerPlan): Promise<PowerRun> {
  const startedAtMs = performance.now();
  const stage = await openStage(plan);
  const { keeper, paper, folder, disk, power, service } = stage;
  try {
    // No mutant needs a new folder to show its defect.
    if (plan.mutant === null) await cutFirstStarts(stage);
    power.mode = 'cuts';
    const prices = new AbortController();
    // A source of its own: how often it is asked depends on the time that the run takes.
    const moving = keepPricesMoving(paper.control, createRandom(plan.seed + 1), prices);
    const alerts = await cutWhileAlertsArrive(stage, plan).finally(() => prices.abort());
    await moving;
    power.mode = 'calm';
    paper.control.clearFaults();
    service.calm();
    await keeper.waitUntilReady();
    const quietSinceMs = Date.now();
    await quieten(stage);
    // What a mutant has lost protects nothing, and is found all the same.
    if (plan.mutant === null) await awaitProtection(stage);
    await awaitNotices(stage, plan.mutant === null ? undefined : mutantNoticesMs);
    const facts = await gatherFacts(stage, alerts, quietSinceMs, false);
    return {
      facts,
      ends: power.ends,
      starts: keeper.counts.starts,
      troubles: service.troubles,
      changes: disk.counts,
      integrity: checkIntegrity(folder.databasePath),
      tookMs: performance.now() - startedAtMs,
    };
  } finally {
    await keeper.stop();
    await paper.close();
    await service.close();
    disk.remove();
    // Many runs follow each other in one process.
    for (const listener of [disk.remove, keeper.abandon]) process.off('exit', listener);
  }
}

/** A few cuts must show what is lost after a request that failed. */
const mutantTroubleRate = 0.9;

async function openStage({ seed, mutant }: PowerPlan): Promise<Stage> {
  const random = createRandom(seed);
  const disk = createPlayedDisk(random);
  process.once('exit', disk.remove);
  // The relay makes the folder itself, so that the power can be cut while it does.
  const folder = locateDataFolder(join(disk.path, 'data'));
  const paper = await startPaperExchange({ port: 0, dialect: 'live', seed, walk: false });
  paper.control.setExits(exitsOfRun);
  paper.control.addFault({ fault: 'delay', probability: 0.3, delayMs: 30 });
  paper.control.addFault({ fault: 'drop_after', probability: 0.03 });
  const power = createPowerSupply(disk, random, mutant);
  const [journal, terminal]: [string[], string[]] = [[], []];
  // Sources of their own: how often they are asked depends on the time that the run takes.
  const service = await startNoticeService(
    createRandom(seed + 2),
    mutant === null ? undefined : mutantTroubleRate,
  );
  const keeper = startKeeper({
    folder,
    exchangeUrl: paper.url,
    ways: service.ways,
    isDiskFull: () => false,
    onLine: (line) => void (line.startsWith('{') ? journal : terminal).push(line),
    prepareStart: power.prepareStart,
    hasCutItself: power.hasCutItself,
  });
  process.prependOnceListener('exit', keeper.abandon);
  return { disk, folder, paper, power, keeper, service, journal, terminal, random };
}

/** Cuts the power while the data folder is made, or soon after. No alert has been sent yet. */
async function cutFirstStarts({ keeper }: Stage): Promise<void> {
  for (let count = 0; count < firstStarts; count += 1) {
    const ended = keeper.waitUntilEnded();
    const hasEnded = await Promise.race([ended.then(() => true), keeper.waitUntilReady().then(() => false)]);
    if (!hasEnded) await keeper.kill();
  }
}

async function cutWhileAlertsArrive(stage: Stage, plan: PowerPlan): Promise<readonly SentAlert[]> {
  const { keeper, folder, random } = stage;
  const alerts = planAlerts(random, plan.signals);
  await keeper.waitUntilReady();
  // The owner has copied these tokens: every later process must accept them.
  const tokens = await readTokens(folder.secretsPath);
  const webhookUrlOf = (account: string) => `${keeper.url()}/signals/${account}/${tokens.get(account)}`;
  const sending: Promise<SentAlert>[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const share = Math.ceil(alerts.length / plan.rounds);
    for (const alert of alerts.slice(round * share, (round + 1) * share)) {
      await keeper.waitUntilReady();
      sending.push(sendAlert(alert, webhookUrlOf));
      await sleep(between(random, 0, 20));
    }
    const ended = keeper.waitUntilEnded();
    const hasEnded = await Promise.race([ended.then(() => true), waitForCut(stage).then(() => false)]);
    if (!hasEnded) await endNow(stage);
  }
  return await Promise.all(sending);
}

async function readTokens(secretsPath: string): Promise<ReadonlyMap<string, string>> {
  const secrets = createFileSecrets(secretsPath);
  const tokens = new Map<string, string>();
  for (const account of accounts) tokens.set(account, (await secrets.webhookTokens(account))[0] ?? '');
  return tokens;
}

/** Gives the relay some time in which its planned cut can strike; in some rounds its reconciler runs, too. */
async function waitForCut({ keeper, random }: Stage): Promise<void> {
  if (random() < 0.3) await keeper.reconcile();
  await sleep(between(random, 50, 600));
}

/** Ends a relay whose planned cut has not struck. */
async function endNow({ keeper, power, random }: Stage): Promise<void> {
  const end = pick(random, ['anytime', 'stopped', 'killed'] as const);
  // A relay that is starting does not yet know how to stop.
  if (end === 'stopped') await keeper.waitUntilReady();
  power.announce(end);
  if (end === 'stopped') await keeper.restart();
  else await keeper.kill();
}

function checkIntegrity(databasePath: string): string {
  using database = new DatabaseSync(databasePath);
  const found = database.prepare('PRAGMA integrity_check').all();
  return found.map((row) => String(row['integrity_check'])).join('; ');
}
