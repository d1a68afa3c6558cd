import { type DealsState, readDealsState } from '../../lib/account/account-deals.ts';
import { createRandom } from '../../lib/base/random.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { override } from '../support/override.ts';
import { type Alert, AlertDraw, usualKinds } from './alerts.ts';
import type { Deployment } from './deployment.ts';
import { rollChance, rollWhole } from './dice.ts';
import { EventLoop } from './event-loop.ts';
import { drawExitSettings } from './exit-settings.ts';
import { createSwarmPlan, type Outages, withBalanceLag, withOddLists } from './faults.ts';
import { groundsIn, hedgedAccount } from './grounds.ts';
import { GuardActs } from './guard-acts.ts';
import { GuardDraw } from './guard-alerts.ts';
import { drawGuardRun } from './guard-runs.ts';
import { scheduleHandCancels, scheduleHandOrders, scheduleHandTrades, withMeddling } from './hand-orders.ts';
import { History, widestSkewMs } from './history.ts';
import { findViolations, type Violation } from './invariants.ts';
import { LambdaDeployment } from './lambda-deployment.ts';
import { LocalDeployment } from './local-deployment.ts';
import { leaveOldCopy } from './market-list.ts';
import type { Mutation } from './mutation.ts';
import { isOldOrder, storeOldOrders } from './old-orders.ts';
import { openSimulatedWorld } from './open-world.ts';
import { fallThrough, perhapsStartAhead, scheduleInterventions, wanderPrices } from './operator.ts';
import { handPrefix } from './own-orders.ts';
import { PositionDraw } from './position-alerts.ts';
import { drawPositionRun, type PositionRun } from './position-runs.ts';
import { firstPrice } from './price-drift.ts';
import type { Stage } from './process.ts';
import { readProfits } from './reported-profits.ts';
import { resolveUnknown } from './resolving.ts';
import { listSecrets, ownersOf } from './secrets.ts';
import { Sender } from './sender.ts';
import { type SimulatedWorld, settingsIn, withoutLimitsOfRisk } from './simulated-world.ts';
import { SpotDraw } from './spot-alerts.ts';
import { drawSpotRun, type SpotRun } from './spot-runs.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly dialect: Dialect;
  /** At least this many signals fire. */
  readonly signals: number;
  readonly mutation?: Mutation;
  /** The kind of every order; absent: any kind of the dialect. */
  readonly kind?: OrderKindName;
}

/** The result of a run: its record and its violations. */
export interface Run {
  readonly history: History;
  readonly entries: readonly Entry[];
  readonly exchange: ExchangeState;
  readonly violations: readonly Violation[];
}

export const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const redriveEveryMinutes = 5;
const resolveAtMinute = 20;
const fewestQuietMinutes = 30;
/** Orders that were found late are followed for this time. */
const fewestRestMinutes = 5;
/** What protects a position and could not be sent is tried again within this time. */
const longestTryMinutes = 12;
/** After this time, what is not settled never will be. */
const mostQuietMinutes = 180;
/** Spreads the seeds, so that neighbouring ones give unrelated random numbers. */
const seedStride = 0x9e3779b1;

/** Every outage has ended by then, and every list shows what happened before it. */
const lastAfterCalmMs = 5 * minuteMs;

/** So long after the faults the owner and the price still move guarded positions. */
const actsAfterCalmMs = 10 * minuteMs;
/** While they do, a relay on one machine follows its orders more often. */
const guardedPauseMs = 12_000;

/** In every so many seeds, lists have words and records that the relay does not know. */
const seedsPerOddLists = 4;
const oddListStride = 0x85ebca6b;
const seedsPerBalanceLag = 2;
const balanceLagStride = 0x27d4eb2f;

/** In every so many seeds, the account that trades perpetuals is in hedge mode. */
const seedsPerHedge = 5;

/**
 * Runs one simulation with one seed: a time with faults, a quiet time, and then the check of all invariants.
 */
export async function simulate(options: SimulationOptions): Promise<Run> {
  const random = createRandom(Math.imul(options.seed, seedStride));
  const kinds = options.kind === undefined ? usualKinds(options.dialect) : ([options.kind] as const);
  const isHedged = options.dialect === 'live' && options.seed % seedsPerHedge === 0;
  const { dialect } = options;
  const positions = drawPositionRun(options.seed, dialect, options.kind);
  const guards = drawGuardRun(options.seed, dialect, options.kind, startMs, isHedged);
  const spot = drawSpotRun(options.seed, dialect);
  const special = positions ?? guards ?? spot;
  const grounds = special?.others ?? groundsIn(dialect);
  const others = new AlertDraw(random, startMs, { dialect, grounds, kinds, isHedged });
  const strategies = positions === null ? null : new PositionDraw(positions, startMs);
  const guarded = guards === null ? null : new GuardDraw(guards, startMs, isHedged);
  const sharing = spot === null ? null : new SpotDraw(spot, startMs, kinds);
  const own = strategies ?? guarded ?? sharing;
  const alerts = drawAlerts(others, own, options.signals);
  const lastFiresAfterMs = alerts.at(-1)?.firesAfterMs ?? 0;
  const calmFromMs = startMs + lastFiresAfterMs + rollWhole(random, 40_000, 100_000);
  const loop = new EventLoop(startMs);
  const outages: Outages = { isExchangeDown: false, marketList: null, failingSteps: null };
  const isCalm = () => loop.nowMs >= calmFromMs;
  const plan = createSwarmPlan(random, outages, isCalm, special?.faultScale);
  const oddLists =
    options.seed % seedsPerOddLists === 0
      ? withOddLists(plan, createRandom(Math.imul(options.seed, oddListStride)), isCalm)
      : plan;
  const faults =
    options.seed % seedsPerBalanceLag === 0
      ? withBalanceLag(oddLists, createRandom(Math.imul(options.seed, balanceLagStride)), isCalm)
      : oddLists;
  const doPositionsLag = positions !== null || guards !== null;
  const actsUntilMs = calmFromMs + actsAfterCalmMs;
  const followPauseMs = () => (loop.nowMs < actsUntilMs ? guardedPauseMs : minuteMs);
  const stage: Stage = {
    loop,
    random,
    faults,
    history: new History(),
    doPositionsLag,
    ...(guards === null ? {} : { followPauseMs }),
  };
  const ownSettings = (usual: Settings): Settings => {
    const limited = options.kind === undefined ? usual : withoutLimitsOfRisk(usual);
    return special?.settings(limited) ?? limited;
  };
  const opened = openSimulatedWorld(stage, outages, dialect, options.mutation, ownSettings);
  const acts = guards === null ? null : new GuardActs(guards, opened, actsUntilMs);
  const world = letMeddle(opened, positions, acts);
  const deployment = rollChance(random, 0.3) ? leaveAlone(deploy(world)) : deploy(world);
  const sender = new Sender(stage, deployment, world.secrets);

  world.exchange.setExits(drawExitSettings(options.seed, dialect), startMs);
  if (isHedged) world.exchange.hedge(hedgedAccount, startMs);
  if (spot !== null) holdLittle(world, spot);
  if (spot?.falls === true) fallThrough(world, spot, calmFromMs + lastAfterCalmMs);
  perhapsStartAhead(world, deployment, calmFromMs);
  if (rollChance(random, 0.008)) storeOldOrders(world, startMs);
  if (rollChance(random, 0.5)) await leaveOldCopy(world);
  scheduleInterventions(world, deployment, calmFromMs);
  wanderPrices(world, calmFromMs, guards?.middleOf ?? firstPrice);
  scheduleHandOrders(world, calmFromMs);
  if (positions !== null) scheduleHandTrades(world, positions, calmFromMs);
  acts?.schedule(alerts.map(({ firesAfterMs }) => firesAfterMs));
  if (rollChance(random, 0.3)) scheduleHandCancels(world, calmFromMs);
  deployment.start();
  const last = own?.drawLast(calmFromMs - startMs + lastAfterCalmMs) ?? [];
  for (const alert of [...alerts, ...last]) loop.schedule(alert.firesAfterMs, () => sender.fire(alert));
  if (guards?.isEnlarged === true)
    loop.schedule((last.at(-1)?.firesAfterMs ?? 0) + minuteMs, () => acts?.enlarge());
  await loop.runUntil(calmFromMs);
  await comeToRest(world, deployment, async (minute) => {
    if (minute === resolveAtMinute && rollChance(random, 0.3)) await resolveUnknown(world);
  });

  const entries = await listEntries(world.ledger);
  const fills = await listFills(world);
  const deals = await readDealsRead(world);
  const profits = await readProfits(world);
  world.file.close();
  const facts = {
    history: stage.history,
    entries,
    fills,
    deals,
    profits,
    exchange: world.exchange.state,
    owners: ownersOf(world.secrets),
    dialect,
    settings: ownSettings(settingsIn(dialect)),
    secrets: listSecrets(world.secrets, loop.nowMs),
  };
  return { ...facts, violations: findViolations(facts) };
}

/** @param strategies that hold positions, or share a spot market; most alerts are theirs, and the others come between them */
function drawAlerts(
  others: AlertDraw,
  strategies: PositionDraw | GuardDraw | SpotDraw | null,
  count: number,
): readonly Alert[] {
  if (strategies === null) return others.draw(count);
  const half = Math.ceil(count / 2);
  return [...others.draw(half), ...strategies.draw(count)].sort((a, b) => a.firesAfterMs - b.firesAfterMs);
}

function holdLittle(
  { exchange, settings, stage: { history } }: SimulatedWorld,
  { shared: { account, ticker, price }, held, isStoppedByHand }: SpotRun,
): void {
  const market = settings.tickers[ticker] ?? '';
  exchange.setSpotFunds(account, currenciesInName(market).base, held, startMs);
  if (!isStoppedByHand) return;
  const activationPrice = String(Math.round(price * 0.7));
  const clientOrderId = `${handPrefix}stop`;
  exchange.placeByHand(
    { account, type: 'spot_stop_market', market, side: 'sell', amount: held, activationPrice, clientOrderId },
    startMs,
  );
  history.note(startMs, 'owner', `stops what is held in ${market}`, 'owner: stop by hand on spot');
}

function letMeddle(
  world: SimulatedWorld,
  positions: PositionRun | null,
  acts: GuardActs | null,
): SimulatedWorld {
  if (positions !== null)
    return { ...world, exchange: withMeddling(world.exchange, positions, world.stage.history) };
  return acts === null ? world : { ...world, exchange: acts.meddling() };
}

/** A deployment whose dead letters are never redriven: their signals must still be settled. */
function leaveAlone(deployment: Deployment): Deployment {
  return override(deployment, { redrive: async () => undefined });
}

/** Most clocks are right to within two seconds; some are further off than the exchange accepts. */
function deploy(world: SimulatedWorld): Deployment {
  const { random } = world.stage;
  const widestMs = rollChance(random, 0.15) ? widestSkewMs : 2000;
  const skewMs = rollWhole(random, -widestMs, widestMs);
  const deployment = rollChance(random, 0.5) ? new LocalDeployment(world) : new LambdaDeployment(world);
  deployment.setClocks(skewMs);
  return deployment;
}

/**
 * Lets time pass without faults until everything that can be settled is settled.
 *
 * @param eachMinute called every minute with the number of minutes since the faults ended
 */
export async function comeToRest(
  world: SimulatedWorld,
  deployment: Deployment,
  eachMinute: (minute: number) => Promise<void> = async () => undefined,
): Promise<void> {
  const { loop, random } = world.stage;
  deployment.setClocks(rollWhole(random, -2000, 2000));
  let restMinutes = 0;
  for (let minute = 0; minute < mostQuietMinutes + fewestRestMinutes; minute += 1) {
    if (minute % redriveEveryMinutes === 0) await deployment.redrive();
    await eachMinute(minute);
    await loop.runUntil(loop.nowMs + minuteMs);
    if (minute <= fewestQuietMinutes - fewestRestMinutes) continue;
    restMinutes = (await isAtRest(world)) ? restMinutes + 1 : 0;
    if (restMinutes >= fewestRestMinutes) return;
  }
}

/**
 * In the documented dialect, lists are too incomplete to settle every unknown outcome, however long it waits.
 */
async function isAtRest({ ledger, dialect, stage }: SimulatedWorld): Promise<boolean> {
  const waiting =
    dialect === 'live' ? (['accepted', 'sending', 'unknown'] as const) : (['accepted', 'sending'] as const);
  for (const status of waiting)
    if ((await ledger.list({ status, limit: 1 })).entries.length > 0) return false;
  // The relay makes signals itself, to protect positions.
  const { entries } = await ledger.list({ limit: 30 });
  return entries.every(({ createdAtMs, signal, status }) => {
    const isTriedAgain = signal?.action === 'protect' && status === 'not_sent';
    const restMinutes = isTriedAgain ? longestTryMinutes : fewestRestMinutes;
    return createdAtMs < stage.loop.nowMs - restMinutes * minuteMs;
  });
}

async function listFills({ executions, settings }: SimulatedWorld): Promise<readonly Fill[]> {
  const pages = Object.keys(settings.accounts).map((account) =>
    executions.listFills({ account, fromMs: 0, untilMs: 2 * startMs, limit: 5000 }),
  );
  return (await Promise.all(pages)).flatMap(({ fills }) => fills);
}

async function readDealsRead({ facts, settings }: SimulatedWorld): Promise<ReadonlyMap<string, DealsState>> {
  const states = Object.keys(settings.accounts).map(async (account) => {
    const state = await readDealsState(facts, account);
    return state === null ? [] : [[account, state] as const];
  });
  return new Map((await Promise.all(states)).flat());
}

export async function listEntries(ledger: Ledger): Promise<readonly Entry[]> {
  const { entries } = await ledger.list({ limit: 3000, oldestFirst: true });
  return entries.filter((entry) => !isOldOrder(entry));
}
