import type { Random } from '../../lib/base/random.ts';
import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import { rollChance } from './dice.ts';

/** The faults of a step at a store or a secret store. A crash ends the whole process. */
export const storeFaults = ['crash_before', 'crash_after', 'fail_before', 'fail_after', 'slow'] as const;
export type StoreFault = (typeof storeFaults)[number];

/**
 * The faults of a request to the exchange; the end of a name says whether the exchange handled the request.
 */
export const wireFaults = [
  'crash_before',
  'crash_after',
  'refused',
  'hung',
  'lost_before',
  'lost_after',
  'arrives_late',
  'slow',
  'error_before',
  'error_after',
  'gateway_page_after',
  'garbage_after',
  'nonce_429',
  'rate_429',
  'refusal',
  'nonce_429_after',
  'rate_429_after',
  'id_used_after',
  'contradicts_after',
] as const;
export type WireFault = (typeof wireFaults)[number];

/** The faults outside of stores and requests. */
const hazards = [
  'alert_lost',
  'alert_late',
  'alert_doubled',
  'response_lost',
  'gateway_502',
  'sender_gives_up',
  'killed',
  'frozen',
  'out_of_time',
  'delivered_twice',
  'message_lost',
  'clock_step',
  'clock_set_back',
  'list_lag',
  'ioc_refused',
  'secret_in_alert',
  'one_id',
  'no_identity',
] as const;
type UsualHazard = (typeof hazards)[number];

/** Lists that differ from what the relay knows of lists. They are drawn apart from the others, in some seeds only. */
const oddLists = ['odd_word', 'odd_record'] as const;
type OddListHazard = (typeof oddLists)[number];

/** Balances for spot trading that lag behind, and refusals that no request asked for. They are drawn apart from the others, too. */
type LaterHazard = OddListHazard | 'balance_lag' | 'surplus_response';

export type Hazard = UsualHazard | LaterHazard;

/** Decides which faults strike, and when. */
export interface FaultPlan {
  /** @param step for example `ledger.start` */
  atStore(step: string): StoreFault | null;
  /** @param path of the request, for example `/api/v4/order/cancel` */
  onWire(path: string): WireFault | null;
  strikes(hazard: Hazard): boolean;
}

/** The outages at this moment; the code that starts an outage also ends it. */
export interface Outages {
  isExchangeDown: boolean;
  /** The fault of every request for the market list; null while it is handled like any other request. */
  marketList: WireFault | null;
  /**
   * The prefix of the steps that fail: `ledger.`, or an empty text for all of them; null while none fails.
   */
  failingSteps: string | null;
}

const marketListPath = marketList.path.live;

/** The probability of each fault, per step, request or occasion, in the seeds that have it. */
const rates: Readonly<{
  store: Readonly<Record<StoreFault, number>>;
  wire: Readonly<Record<WireFault, number>>;
  hazard: Readonly<Record<UsualHazard, number>>;
}> = {
  store: { crash_before: 0.012, crash_after: 0.012, fail_before: 0.03, fail_after: 0.03, slow: 0.04 },
  wire: {
    crash_before: 0.04,
    crash_after: 0.04,
    refused: 0.1,
    hung: 0.06,
    lost_before: 0.1,
    lost_after: 0.1,
    arrives_late: 0.1,
    slow: 0.12,
    error_before: 0.1,
    error_after: 0.1,
    gateway_page_after: 0.08,
    garbage_after: 0.08,
    nonce_429: 0.12,
    rate_429: 0.12,
    refusal: 0.06,
    nonce_429_after: 0.08,
    rate_429_after: 0.08,
    id_used_after: 0.08,
    contradicts_after: 0.08,
  },
  hazard: {
    alert_lost: 0.1,
    alert_late: 0.1,
    alert_doubled: 0.3,
    response_lost: 0.1,
    gateway_502: 0.5,
    sender_gives_up: 0.3,
    killed: 0.25,
    frozen: 0.3,
    out_of_time: 0.04,
    delivered_twice: 0.3,
    message_lost: 0.1,
    clock_step: 0.3,
    clock_set_back: 0.3,
    // An order is missed only if every list lags at once.
    list_lag: 0.8,
    // An exchange has the flag or has it not.
    ioc_refused: 1,
    secret_in_alert: 0.15,
    one_id: 0.15,
    no_identity: 0.2,
  },
};

/**
 * Creates a random plan. Each seed has about half of the faults, so that no fault is always hidden by
 * another, and some seeds have so few that signals are handled without any.
 *
 * @param isCalm called each time; while it returns true, there are no faults except outages that started
 * before
 * @param scale of the rates of faults at stores and on the wire
 */
export function createSwarmPlan(
  random: Random,
  outages: Outages,
  isCalm: () => boolean,
  scale = 1,
): FaultPlan {
  const store = scaled(drawRates(random, rates.store), scale);
  const wire = scaled(drawRates(random, rates.wire), scale);
  const hazard = drawRates(random, rates.hazard);
  return {
    atStore(step) {
      if (outages.failingSteps !== null && step.startsWith(outages.failingSteps)) return 'fail_before';
      return isCalm() ? null : drawFault(random, store);
    },
    onWire(path) {
      if (outages.isExchangeDown) return 'refused';
      if (outages.marketList !== null && path === marketListPath) return outages.marketList;
      return isCalm() ? null : drawFault(random, wire);
    },
    strikes(kind) {
      // Drawn from the time, where a refusal comes.
      if (kind === 'surplus_response') return !isCalm();
      return !isDrawnApart(kind) && !isCalm() && rollChance(random, rateOf(hazard, kind));
    },
  };
}

const oddListRates: Readonly<Record<OddListHazard, number>> = { odd_word: 0.4, odd_record: 0.15 };

/**
 * Adds lists with unknown words and with records that cannot be read.
 *
 * @param random their own, so that they change no other draw
 */
export function withOddLists(plan: FaultPlan, random: Random, isCalm: () => boolean): FaultPlan {
  return {
    atStore: (step) => plan.atStore(step),
    onWire: (path) => plan.onWire(path),
    strikes: (kind) =>
      isOddList(kind) ? !isCalm() && rollChance(random, oddListRates[kind]) : plan.strikes(kind),
  };
}

const balanceLagRate = 0.4;

/**
 * Adds lists of spot balances that lag behind.
 *
 * @param random as for {@link withOddLists}
 */
export function withBalanceLag(plan: FaultPlan, random: Random, isCalm: () => boolean): FaultPlan {
  return {
    atStore: (step) => plan.atStore(step),
    onWire: (path) => plan.onWire(path),
    strikes: (kind) =>
      kind === 'balance_lag' ? !isCalm() && rollChance(random, balanceLagRate) : plan.strikes(kind),
  };
}

function isDrawnApart(kind: Hazard): kind is LaterHazard {
  return kind === 'balance_lag' || kind === 'surplus_response' || isOddList(kind);
}

function isOddList(kind: Hazard): kind is OddListHazard {
  return (oddLists as readonly Hazard[]).includes(kind);
}

type Rates<Kind> = readonly (readonly [kind: Kind, rate: number])[];

function drawRates<Kind extends string>(random: Random, table: Readonly<Record<Kind, number>>): Rates<Kind> {
  const share = random();
  return (Object.entries(table) as [Kind, number][])
    .map(([kind, rate]): [Kind, number] => [kind, random() < share ? rate : 0])
    .filter(([, rate]) => rate > 0);
}

function scaled<Kind>(table: Rates<Kind>, scale: number): Rates<Kind> {
  return table.map(([kind, rate]) => [kind, rate * scale]);
}

function rateOf<Kind>(table: Rates<Kind>, kind: Kind): number {
  return table.find(([known]) => known === kind)?.[1] ?? 0;
}

/** Draws one number for all faults, so that at most one strikes at a time. */
function drawFault<Kind>(random: Random, table: Rates<Kind>): Kind | null {
  let roll = random();
  for (const [kind, rate] of table) {
    if (roll < rate) return kind;
    roll -= rate;
  }
  return null;
}
