import { createRandom } from '../../lib/base/random.ts';
import { type Dialect, dialects } from '../../lib/exchange/dialect.ts';
import type { Alert } from './alerts.ts';
import { EventLoop } from './event-loop.ts';
import { type StoreFault, storeFaults, type WireFault, wireFaults } from './faults.ts';
import { History, isCreate } from './history.ts';
import { LocalDeployment } from './local-deployment.ts';
import { openSimulatedWorld } from './open-world.ts';
import { type Injection, type InjectionPoint, type Loss, ScriptedPlan } from './scripted-plan.ts';
import { Sender } from './sender.ts';
import { comeToRest, listEntries, startMs } from './simulate.ts';

/**
 * What the relay is doing when the fault strikes: it turns an alert into an order; or it looks up an order
 * whose response was lost, which it finds, or does not find (the lookups differ in one step).
 */
const scenes = ['order', 'found', 'missing'] as const;
export type Scene = (typeof scenes)[number];

const losses: Readonly<Record<Scene, Loss | null>> = {
  order: null,
  found: 'lost_after',
  missing: 'lost_before',
};

/** The result of one injected fault. */
export interface MatrixRow {
  readonly injection: Injection;
  readonly dialect: Dialect;
  readonly scene: Scene;
  /** The response to each delivery of the alert: an HTTP status, or `none` for a broken connection. */
  readonly responses: readonly string[];
  /** The status when the reconciler next runs; null: not in the ledger. */
  readonly statusBefore: string | null;
  readonly statusInTheEnd: string | null;
  readonly orders: number;
  /** The messages of warnings, errors and alarms, each once. */
  readonly messages: readonly string[];
}

const key = 'main s1';
const firesAfterMs = 1000;
const seed = 1;

const alert: Alert = {
  name: 's1',
  account: 'main',
  firesAfterMs,
  isForged: false,
  body: JSON.stringify({
    id: 's1',
    ticker: 'BTCUSDT',
    action: 'buy',
    quantity: '0.002',
    stopPrice: '60100',
    limitPrice: '60110',
    stopLoss: '54000',
    takeProfit: '66000',
  }),
};

/** Injects every fault at every point that one order and its lookup reach. */
export async function runFaultMatrix(): Promise<readonly MatrixRow[]> {
  const rows: MatrixRow[] = [];
  for (const scene of scenes)
    for (const dialect of dialects)
      for (const injection of await listInjections(dialect, scene))
        rows.push(await runInjection(injection, dialect, scene));
  return rows;
}

async function listInjections(dialect: Dialect, scene: Scene): Promise<readonly Injection[]> {
  const plan = new ScriptedPlan(null, losses[scene]);
  await runOnce(plan, new History(), dialect);
  return plan.reached
    .filter(({ step }) => scene !== 'missing' || step === 'ledger.postpone')
    .flatMap((point) => faultsAt(point).map(([fault, isThroughout]) => ({ point, fault, isThroughout })));
}

type FaultAt = readonly [fault: StoreFault | WireFault, isThroughout: boolean];

/** The faults of requests that only read: the others would not differ from these. */
const readingFaults: readonly WireFault[] = [
  'crash_before',
  'crash_after',
  'refused',
  'lost_before',
  'slow',
  'error_before',
  'garbage_after',
  'rate_429',
];
const createFaultsThroughout: readonly WireFault[] = ['refused', 'nonce_429', 'rate_429', 'rate_429_after'];

function faultsAt({ step, isWire }: InjectionPoint): readonly FaultAt[] {
  const once = (fault: StoreFault | WireFault): FaultAt => [fault, false];
  const always = (fault: StoreFault | WireFault): FaultAt => [fault, true];
  if (isRead(step)) return storeFaults.filter((fault) => fault !== 'fail_after').map(once);
  if (!isWire) return storeFaults.map(once);
  if (!isCreate(step)) return [...readingFaults.map(once), always('refused')];
  return [...wireFaults.map(once), ...createFaultsThroughout.map(always)];
}

/** Whether the step only reads, so that a lost response hides no effect. */
export function isRead(step: string): boolean {
  return /^(?:secrets|markets\.load|ledger\.(?:read|list|dueLookups|openOrders))/.test(step);
}

async function runInjection(injection: Injection, dialect: Dialect, scene: Scene): Promise<MatrixRow> {
  const history = new History();
  const statusNow = () => history.statuses.get(key)?.at(-1)?.status ?? null;
  let statusBefore: string | null | undefined;
  const plan = new ScriptedPlan(injection, losses[scene], () => {
    if (statusBefore === undefined) statusBefore = statusNow();
  });
  const { orders } = await runOnce(plan, history, dialect);
  return {
    injection,
    dialect,
    scene,
    responses: history.replies,
    statusBefore: statusBefore ?? null,
    statusInTheEnd: statusNow(),
    orders,
    messages: loggedMessages(history),
  };
}

/** Runs one simulation: a relay starts, one alert fires, and time passes until everything has settled. */
async function runOnce(plan: ScriptedPlan, history: History, dialect: Dialect): Promise<{ orders: number }> {
  const loop = new EventLoop(startMs);
  const stage = { loop, random: createRandom(seed), faults: plan, history };
  const outages = { isExchangeDown: false, marketList: null, failingSteps: null };
  const world = openSimulatedWorld(stage, outages, dialect);
  const deployment = new LocalDeployment(world);
  const sender = new Sender(stage, deployment, world.secrets);
  deployment.start();
  loop.schedule(firesAfterMs, () => sender.fire(alert));
  await loop.runUntil(startMs + firesAfterMs);
  await comeToRest(world, deployment);
  const entries = await listEntries(world.ledger);
  world.file.close();
  if (entries.length > 1) throw new Error(`one alert became ${entries.length} entries`);
  return { orders: world.exchange.state.acceptedOrderIds.length };
}

function loggedMessages({ logs }: History): readonly string[] {
  const lines = logs
    .filter(({ level }) => level !== 'info')
    .map(({ message, facts }) => (facts['alarm'] === true ? `**${message}**` : message));
  return [...new Set(lines)];
}
