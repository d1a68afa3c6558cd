import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import { createRandom, type Random } from '../../lib/base/random.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Account } from '../../lib/model/account.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import { type Ground, type Grounds, groundsIn } from './grounds.ts';
import { changeAccounts } from './mutate.ts';
import { settings } from './simulated-world.ts';

/** What is special in a run in which strategies hold positions. */
export interface PositionRun {
  /** Draws what the run has beyond an ordinary one, so that ordinary runs do not depend on it. */
  readonly random: Random;
  /** Draws the entries that rest, so that the other draws of the run do not depend on how many there are. */
  readonly rests: Random;
  /** The markets in which strategies hold positions. */
  readonly held: Grounds;
  /** Where the other alerts trade; in some runs also in those markets. */
  readonly others: Grounds;
  readonly settings: (settings: Settings) => Settings;
  /** Several signals must succeed before a position is held, so most such runs have fewer faults each minute. */
  readonly faultScale: number;
}

const seedsPerPositionRun = 3;
const remainder = 2;
/** Spreads the seeds, in another way than that of the run itself. */
const seedStride = 0x85ebca6b;
const seedStrideOfLosses = 0xc2b2ae35;
const seedStrideOfRests = 0x27d4eb2f;
const seedStrideOfCoolDowns = 0x9e3779b9;

/**
 * @param kind of every order of the run; absent: any
 * @returns null for a seed whose alerts are about orders only
 */
export function drawPositionRun(
  seed: number,
  dialect: Dialect,
  kind: OrderKindName | undefined,
): PositionRun | null {
  // The orders of position actions are market orders.
  const isOfKind = kind === undefined || kind === 'market';
  if (dialect !== 'live' || seed % seedsPerPositionRun !== remainder || !isOfKind) return null;
  const random = createRandom(Math.imul(seed, seedStride));
  const held = drawHeld(random);
  return {
    random,
    rests: createRandom(Math.imul(seed, seedStrideOfRests)),
    held,
    others: drawOthers(random, held),
    settings: drawSettings(random, held, { mostLost: drawDailyLoss(seed), coolDownMs: drawCoolDown(seed) }),
    faultScale: pickOne(random, [0.2, 0.3, 0.5, 1]),
  };
}

/** One market or two; each account trades a market of its own. */
function drawHeld(random: Random): Grounds {
  const mayHold = groundsIn('live').filter(
    ({ tradesOn, account }) => tradesOn !== 'spot' && account !== 'rehearsal',
  );
  const pick = () => pickOne(random, mayHold as [Ground, ...Ground[]]);
  const [first, second] = [pick(), pick()];
  return isSame(first, second) ? [first] : [first, second];
}

function drawOthers(random: Random, held: Grounds): Grounds {
  const all = groundsIn('live');
  if (rollChance(random, 0.3)) return all;
  return all.filter((ground) => !held.some((other) => isSame(ground, other))) as unknown as Grounds;
}

function isSame(one: Ground, other: Ground): boolean {
  return one.account === other.account && one.ticker === other.ticker;
}

/** The positions of a run are small, so in half of the runs a small loss ends the day. Other draws do not depend on it. */
function drawDailyLoss(seed: number): Decimal | null {
  const random = createRandom(Math.imul(seed, seedStrideOfLosses));
  const drawn = pickOne(random, [null, null, '0.1', '0.5']);
  return drawn === null ? null : parseDecimal(drawn);
}

/** In some of the runs, nothing is opened for a while after a loss. Other draws do not depend on it. */
function drawCoolDown(seed: number): number | null {
  const random = createRandom(Math.imul(seed, seedStrideOfCoolDowns));
  return pickOne(random, [null, null, null, 60_000, 300_000]);
}

interface LossLimits {
  readonly mostLost: Decimal | null;
  readonly coolDownMs: number | null;
}

function drawSettings(
  random: Random,
  held: Grounds,
  { mostLost, coolDownMs }: LossLimits,
): PositionRun['settings'] {
  const onMismatch = pickOne(random, ['deny', 'resync', 'flatten'] as const);
  const oneStrategyPerMarket = pickOne(random, [null, null, true, false]);
  const limitings = held.map((ground) => drawLimiting(random, ground));
  return changeAccounts((account) => {
    const limited = limitings.reduce((usual, limit) => limit(usual), account);
    const { limits } = limited;
    const ofLoss = mostLost === null ? { coolDownMs } : { coolDownMs, maxDailyLoss: mostLost };
    return {
      ...limited,
      onMismatch,
      oneStrategyPerMarket,
      ...(limits === undefined ? {} : { limits: { ...limits, ...ofLoss } }),
    };
  });
}

/** For half of the markets, a limit lies among the positions that the strategies want, so that a few orders reach it. */
function drawLimiting(
  random: Random,
  { account: name, ticker, ...ground }: Ground,
): (account: Account) => Account {
  const most = parseDecimal(String((ground.small * rollWhole(random, 2, 5)) / 10 ** ground.places));
  const which = pickOne(random, ['none', 'none', 'position', 'notional'] as const);
  return (account) => {
    const market = settings.tickers[ticker] ?? '';
    const limits = account.markets[market];
    if (account.name !== name || limits === undefined || account.limits === undefined) return account;
    if (which === 'position')
      return { ...account, markets: { ...account.markets, [market]: { ...limits, maxPosition: most } } };
    const maxOpenNotional = most.times(parseDecimal(String(ground.price)));
    return which === 'notional' ? { ...account, limits: { ...account.limits, maxOpenNotional } } : account;
  };
}
