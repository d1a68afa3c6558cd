import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { TradingGround } from '../../lib/model/account.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { placesOrder } from '../../lib/model/signal.ts';
import type { Harm, InvariantName, Violation } from './invariants.ts';
import { mutantNamed } from './mutants.ts';
import { matchOrders } from './own-orders.ts';
import { type Run, type SimulationOptions, simulate } from './simulate.ts';
import { settings } from './simulated-world.ts';

/** Which simulations to run. */
export interface Range {
  readonly fromSeed: number;
  readonly toSeed: number;
  /** Each seed is run in each of these dialects. */
  readonly dialects: readonly Dialect[];
  readonly signals: number;
  readonly mutant: string | null;
  /** The kind of every order; null: any kind of the dialect. */
  readonly kind: OrderKindName | null;
}

/** A violation, with the seed and dialect that repeat it. */
export interface Finding {
  readonly seed: number;
  readonly dialect: Dialect;
  readonly invariant: InvariantName;
  readonly harm: Harm;
  readonly text: string;
}

/** The results of many runs, in numbers; plain data, so that threads can exchange it. */
export interface Tally {
  runs: number;
  alertsSent: number;
  acknowledged: number;
  orders: number;
  /** How many of these the relay placed itself, to protect positions. */
  protective: number;
  readonly statuses: Map<Status, number>;
  /** How many of the orders that alerts asked for are of each kind, and where they trade. */
  readonly kinds: Map<OrderKindName, number>;
  readonly grounds: Map<TradingGround, number>;
  readonly faults: Map<string, number>;
  readonly findings: Finding[];
  /** What the relay breaks without the mutant, in runs in which the mutant was to be caught. */
  readonly unmutated: Finding[];
}

export function createTally(): Tally {
  return {
    runs: 0,
    alertsSent: 0,
    acknowledged: 0,
    orders: 0,
    protective: 0,
    statuses: new Map(),
    kinds: new Map(),
    grounds: new Map(),
    faults: new Map(),
    findings: [],
    unmutated: [],
  };
}

/**
 * A mutant breaks a rule only where the relay itself keeps it: each run with findings is repeated without the mutant.
 *
 * @param isEnough called after each seed; true ends the range there */
export async function tallyRange(range: Range, isEnough = (_: Tally) => false): Promise<Tally> {
  const tally = createTally();
  for (let seed = range.fromSeed; seed <= range.toSeed && !isEnough(tally); seed += 1)
    for (const dialect of range.dialects) {
      const options = optionsOf(range, seed, dialect);
      const run = await simulate(options);
      if (range.mutant === null || run.violations.length === 0) addRun(tally, options, run);
      else await addMutatedRun(tally, options, run);
    }
  return tally;
}

async function addMutatedRun(tally: Tally, options: SimulationOptions, run: Run): Promise<void> {
  const { mutation, ...unmutated } = options;
  const { violations } = await simulate(unmutated);
  const broken = new Set(violations.map(({ invariant }) => invariant));
  addRun(tally, options, {
    ...run,
    violations: run.violations.filter(({ invariant }) => !broken.has(invariant)),
  });
  tally.unmutated.push(...findingsOf(options, violations));
}

function findingsOf(
  { seed, dialect }: SimulationOptions,
  violations: readonly Violation[],
): readonly Finding[] {
  return violations.map((violation) => ({ seed, dialect, ...violation }));
}

export function optionsOf(
  { signals, mutant, kind }: Range,
  seed: number,
  dialect: Dialect,
): SimulationOptions {
  return {
    seed,
    dialect,
    signals,
    ...(mutant === null ? {} : { mutation: mutantNamed(mutant).mutation }),
    ...(kind === null ? {} : { kind }),
  };
}

function addRun(tally: Tally, options: SimulationOptions, run: Run): void {
  tally.runs += 1;
  tally.alertsSent += run.history.alertsSent;
  tally.acknowledged += run.history.responses.filter(({ httpStatus }) => httpStatus < 300).length;
  addOrders(tally, run);
  for (const { status } of run.entries) add(tally.statuses, status, 1);
  for (const [fault, count] of run.history.faults) add(tally.faults, fault, count);
  tally.findings.push(...findingsOf(options, run.violations));
}

function addOrders(tally: Tally, { exchange, entries }: Run): void {
  const orders = matchOrders(exchange, entries);
  tally.orders += orders.accepted.length;
  for (const entry of entries) {
    const { signal } = entry;
    const count = orders.of(entry).length;
    if (signal === null || !placesOrder(signal) || count === 0) continue;
    if (signal.action === 'protect') {
      tally.protective += count;
      continue;
    }
    add(tally.kinds, signal.action === 'order' ? signal.orderType : 'market', count);
    const ground = settings.accounts[entry.account]?.markets[signal.market]?.tradesOn;
    if (ground !== undefined) add(tally.grounds, ground, count);
  }
}

/**
 * Adds a part; the total does not depend on how the range was split, if parts are added in the order of their
 * seeds.
 */
export function addTally(total: Tally, part: Tally): void {
  total.runs += part.runs;
  total.alertsSent += part.alertsSent;
  total.acknowledged += part.acknowledged;
  total.orders += part.orders;
  total.protective += part.protective;
  for (const [status, count] of part.statuses) add(total.statuses, status, count);
  for (const [kind, count] of part.kinds) add(total.kinds, kind, count);
  for (const [ground, count] of part.grounds) add(total.grounds, ground, count);
  for (const [fault, count] of part.faults) add(total.faults, fault, count);
  total.findings.push(...part.findings);
  total.unmutated.push(...part.unmutated);
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
