import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import { createRandom, type Random } from '../../lib/base/random.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import type { PlannedAlert } from './alerts.ts';
import { between, pick } from './chance.ts';
import { firstPrices, planAlerts } from './plan-alerts.ts';

/** A span of the run, in milliseconds after its start. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The faults of the exchange during one span. */
export interface Weather extends Span {
  readonly name: string;
  readonly faults: readonly FaultRequest[];
}

/** A time at which the log file is moved or removed while the relay runs. */
export interface LogLoss {
  readonly atMs: number;
  readonly how: 'moved' | 'removed';
}

/** The plan of a run. The same seed gives the same plan, but processes do not run the same way twice. */
export interface Plan {
  readonly durationMs: number;
  readonly alerts: readonly PlannedAlert[];
  /** The times at which the relay is killed, earliest first. */
  readonly killsAtMs: readonly number[];
  readonly fullDisks: readonly Span[];
  readonly weathers: readonly Weather[];
  readonly logLosses: readonly LogLoss[];
  readonly priceMoves: readonly PriceMove[];
}

/** A trade at another price, which triggers and fills some of the orders. */
export interface PriceMove {
  readonly atMs: number;
  readonly market: string;
  readonly price: Decimal;
}

const signalsPerKill = 700;
const fewestKills = 6;
const signalsPerFullDisk = 2500;
const fewestFullDisks = 2;
const signalsPerLogLoss = 50;
const fewestLogLosses = 6;

/** @param signals the number of signals; the last alert may add one or two */
export function createPlan(seed: number, signals: number): Plan {
  const random = createRandom(seed);
  const alerts = planAlerts(random, signals);
  const durationMs = alerts.at(-1)?.atMs ?? 0;
  const kills = Math.max(fewestKills, Math.round(signals / signalsPerKill));
  const fullDisks = planFullDisks(
    random,
    durationMs,
    Math.max(fewestFullDisks, Math.round(signals / signalsPerFullDisk)),
  );
  return {
    durationMs,
    alerts,
    killsAtMs: planKills(random, alerts, kills).map((atMs) => avoidMostly(random, atMs, fullDisks)),
    fullDisks,
    weathers: planWeathers(random, durationMs),
    priceMoves: planPriceMoves(random, durationMs),
    logLosses: planLogLosses(
      random,
      durationMs,
      Math.max(fewestLogLosses, Math.round(signals / signalsPerLogLoss)),
    ),
  };
}

/**
 * Every other kill comes while a burst of alerts is handled, and every fifth one while the relay restarts.
 */
function planKills(random: Random, alerts: readonly PlannedAlert[], kills: number): readonly number[] {
  const roomMs = (alerts.at(-1)?.atMs ?? 0) / kills;
  const times: number[] = [];
  for (let index = 0; index < kills; index += 1) {
    const atMs = roomMs * (index + random());
    const burstMs = alerts.find((alert) => alert.atMs >= atMs)?.atMs ?? atMs;
    const before = times.at(-1) ?? 0;
    if (index % 5 === 4) times.push(before + between(random, 50, 400));
    else times.push(index % 2 === 0 ? burstMs + between(random, 0, 80) : atMs);
  }
  return times.sort((a, b) => a - b);
}

/** Moves most kills out of full disks: a relay that cannot start on one has no failing writes to test. */
function avoidMostly(random: Random, atMs: number, fullDisks: readonly Span[]): number {
  const met = fullDisks.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  return met === undefined || random() < 0.2 ? atMs : met.untilMs + between(random, 100, 600);
}

/** The spans do not overlap. Each is long enough for the database to use up the room that it has reserved. */
function planFullDisks(random: Random, durationMs: number, episodes: number): readonly Span[] {
  const roomMs = durationMs / episodes;
  return Array.from({ length: episodes }, (_, index) => {
    const fromMs = roomMs * (index + between(random, 0.1, 0.5));
    return { fromMs, untilMs: fromMs + Math.min(between(random, 1500, 3000), roomMs / 2) };
  });
}

/** Alternates between moving and removing, so that a short run has both. */
function planLogLosses(random: Random, durationMs: number, losses: number): readonly LogLoss[] {
  const roomMs = durationMs / losses;
  return Array.from({ length: losses }, (_, index) => ({
    atMs: roomMs * (index + random()),
    how: index % 2 === 0 ? 'moved' : 'removed',
  }));
}

export const pauseBetweenMovesMs = 250;
/** From the first price, as a part of it. */
const furthestMove = 0.001;

function planPriceMoves(random: Random, durationMs: number): readonly PriceMove[] {
  return Array.from({ length: Math.ceil(durationMs / pauseBetweenMovesMs) }, (_, index) => ({
    atMs: index * pauseBetweenMovesMs,
    ...drawPriceMove(random),
  }));
}

export function drawPriceMove(random: Random): Omit<PriceMove, 'atMs'> {
  const [market, price] = pick(random, firstPrices);
  const factor = parseDecimal(between(random, 1 - furthestMove, 1 + furthestMove).toFixed(6));
  return { market, price: price.times(factor).round(2) };
}

const byChance = (fault: FaultRequest['fault'], probability: number, delayMs?: number): FaultRequest => ({
  fault,
  probability,
  ...(delayMs === undefined ? {} : { delayMs }),
});

/** Weathers with every kind of fault. An outage lasts as long as its weather. */
const climates: Readonly<Record<string, (durationMs: number) => readonly FaultRequest[]>> = {
  calm: () => [],
  'requests lost': () => [byChance('drop_before', 0.1)],
  'answers lost': () => [byChance('drop_after', 0.1)],
  'server errors': () => [byChance('error_before', 0.08), byChance('error_after', 0.08)],
  garbage: () => [byChance('garbage', 0.1)],
  // A delay of 3 s exceeds the timeout of a request.
  slow: () => [byChance('delay', 0.01, 3000), byChance('delay', 0.2, 120)],
  throttled: () => [byChance('rate_429', 0.2), byChance('nonce_429', 0.2)],
  'surplus answers': () => [byChance('surplus', 0.1)],
  refusing: () => [byChance('refuse', 0.1)],
  'no immediate-or-cancel': () => [byChance('refuse_ioc', 0.6)],
  'lists behind': () => [byChance('read_lag', 0.8, 4000), byChance('drop_after', 0.1)],
  down: (durationMs) => [{ fault: 'down', durationMs }],
};

/** All weathers once in random order, then all again, so that a short run has each of them too. */
function planWeathers(random: Random, durationMs: number): readonly Weather[] {
  const weathers: Weather[] = [];
  const names = Object.keys(climates);
  const longestMs = Math.min(1500, durationMs / names.length);
  let deck: string[] = [];
  for (let fromMs = 0; fromMs < durationMs; ) {
    if (deck.length === 0) deck = [...names];
    const [name = ''] = deck.splice(Math.floor(random() * deck.length), 1);
    const spanMs = Math.ceil(between(random, longestMs / 2, longestMs));
    weathers.push({ name, fromMs, untilMs: fromMs + spanMs, faults: climates[name]?.(spanMs) ?? [] });
    fromMs += spanMs;
  }
  return weathers;
}
