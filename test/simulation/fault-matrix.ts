import { createRandom } from '../../lib/base/random.ts';
import { type Dialect, dialects } from '../../lib/exchange/dialect.ts';
import { type Share, takeShare } from '../support/share.ts';
import type { Alert } from './alerts.ts';
import { EventLoop } from './event-loop.ts';
import { type StoreFault, storeFaults, type WireFault, wireFaults } from './faults.ts';
import { History, isCancel, isCreate } from './history.ts';
import { LocalDeployment } from './local-deployment.ts';
import { openSimulatedWorld } from './open-world.ts';
import { isPublicReading } from './readings.ts';
import { type Injection, type InjectionPoint, type Loss, ScriptedPlan } from './scripted-plan.ts';
import { Sender } from './sender.ts';
import { comeToRest, listEntries, startMs } from './simulate.ts';

/**
 * What the relay is doing when the fault strikes: it turns an alert into an order; or it looks up an order
 * whose response was lost, which it finds, or does not find (the lookups differ in one step); or it sends a guarded
 * market order, to an exchange that takes "immediate or cancel", or to one that refuses it.
 */
const scenes = ['order', 'found', 'missing', 'guarded', 'fallback'] as const;
export type Scene = (typeof scenes)[number];

interface SceneRow {
  readonly alert: Alert;
  readonly loss: Loss | null;
  readonly refusesIoc: boolean;
  readonly dialects: readonly Dialect[];
  /** Whether the points at which it is struck include this one. */
  readonly includes: (point: InjectionPoint) => boolean;
}

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
  /** How many of them are open in the end. */
  readonly open: number;
  /** The messages of warnings, errors and alarms, each once. */
  readonly messages: readonly string[];
}

const key = 'main s1';
const firesAfterMs = 1000;
const seed = 1;

function alertWith(fields: Readonly<Record<string, string>>): Alert {
  const body = JSON.stringify({ id: 's1', ticker: 'BTCUSDT', action: 'buy', ...fields });
  return { name: 's1', account: 'main', firesAfterMs, isForged: false, body };
}

const stopLimit: Omit<SceneRow, 'loss'> = {
  alert: alertWith({
    quantity: '0.002',
    stopPrice: '60100',
    limitPrice: '60110',
    stopLoss: '54000',
    takeProfit: '66000',
  }),
  refusesIoc: false,
  dialects,
  includes: () => true,
};

/** More than the book offers within the bound, so that a part does not fill. */
const guarded: Omit<SceneRow, 'refusesIoc' | 'includes'> = {
  alert: alertWith({ quantity: '1.5', orderType: 'market', maxSlippage: '0.05%' }),
  loss: null,
  dialects: ['live'],
};

const sceneRows: Readonly<Record<Scene, SceneRow>> = {
  order: { ...stopLimit, loss: null },
  found: { ...stopLimit, loss: 'lost_after' },
  missing: { ...stopLimit, loss: 'lost_before', includes: ({ step }) => step === 'ledger.postpone' },
  guarded: {
    ...guarded,
    refusesIoc: false,
    includes: ({ step }) => isPublicReading(step) || isCreate(step),
  },
  fallback: {
    ...guarded,
    refusesIoc: true,
    includes: ({ step, ordinal }) => isCancel(step) || (isCreate(step) && ordinal === 2),
  },
};

/** Injects every fault at every point that one order and its lookup reach, or those at a share of the points. */
export async function runFaultMatrix(share: Share): Promise<readonly MatrixRow[]> {
  const rows: MatrixRow[] = [];
  const steps: string[] = [];
  for (const scene of scenes)
    for (const dialect of sceneRows[scene].dialects)
      for (const injection of await listInjections(dialect, scene)) {
        // A row of the page tells what both dialects, and two scenes, do at one point.
        const { step, ordinal } = injection.point;
        const name = `${step.split('?')[0]} ${ordinal}`;
        if (!steps.includes(name)) steps.push(name);
        if (takeShare(steps, share).includes(name)) rows.push(await runInjection(injection, dialect, scene));
      }
  return rows;
}

async function listInjections(dialect: Dialect, scene: Scene): Promise<readonly Injection[]> {
  const { loss, refusesIoc, alert, includes } = sceneRows[scene];
  const plan = new ScriptedPlan(null, { loss, refusesIoc });
  await runOnce(plan, new History(), dialect, alert);
  return plan.reached
    .filter(includes)
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
const cancelFaults: readonly WireFault[] = [...readingFaults, 'lost_after', 'contradicts_after'];
const createFaultsThroughout: readonly WireFault[] = ['refused', 'nonce_429', 'rate_429', 'rate_429_after'];

function faultsAt({ step, isWire }: InjectionPoint): readonly FaultAt[] {
  const once = (fault: StoreFault | WireFault): FaultAt => [fault, false];
  const always = (fault: StoreFault | WireFault): FaultAt => [fault, true];
  if (isRead(step)) return storeFaults.filter((fault) => fault !== 'fail_after').map(once);
  if (!isWire) return storeFaults.map(once);
  if (isCancel(step)) return [...cancelFaults.map(once), always('refused')];
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
  const { loss, refusesIoc, alert } = sceneRows[scene];
  const plan = new ScriptedPlan(injection, { loss, refusesIoc }, () => {
    if (statusBefore === undefined) statusBefore = statusNow();
  });
  const { orders, open } = await runOnce(plan, history, dialect, alert);
  return {
    injection,
    dialect,
    scene,
    responses: history.replies,
    statusBefore: statusBefore ?? null,
    statusInTheEnd: statusNow(),
    orders,
    open,
    messages: loggedMessages(history),
  };
}

/** Runs one simulation: a relay starts, one alert fires, and time passes until everything has settled. */
async function runOnce(
  plan: ScriptedPlan,
  history: History,
  dialect: Dialect,
  alert: Alert,
): Promise<{ readonly orders: number; readonly open: number }> {
  const loop = new EventLoop(startMs);
  const stage = { loop, random: createRandom(seed), faults: plan, history, doPositionsLag: false };
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
  const { acceptedOrderIds, open } = world.exchange.state;
  return { orders: acceptedOrderIds.length, open: open.size };
}

function loggedMessages({ logs }: History): readonly string[] {
  const lines = logs
    .filter(({ level }) => level !== 'info')
    .map(({ message, facts }) => (facts['alarm'] === true ? `**${message}**` : message));
  return [...new Set(lines)];
}
