import { parseDecimal } from '../../lib/base/decimal.ts';
import { createRandom, type Random } from '../../lib/base/random.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { RiskLimits } from '../../lib/model/account.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { pickOne, rollChance } from './dice.ts';
import { type Ground, type Grounds, groundsIn } from './grounds.ts';
import { changeAccounts } from './mutate.ts';
import { drawDrift, firstPrice, type MiddlePrice } from './price-drift.ts';
import { settings as settingsOfAll, withoutLimitsOfRisk } from './simulated-world.ts';

/** What is special in a run whose positions have stop-losses and take-profits that must be kept to them. */
export interface GuardRun {
  /** Draws what the run has beyond an ordinary one, so that ordinary runs do not depend on it. */
  readonly random: Random;
  /** The markets whose positions are guarded. */
  readonly held: Grounds;
  /** Where the other alerts trade: elsewhere, so that nothing there counts against a limit. */
  readonly others: Grounds;
  readonly settings: (settings: Settings) => Settings;
  readonly middleOf: MiddlePrice;
  /** What the markets do beyond that; null where prices stay around the first ones, and the book has enough for all. */
  readonly market: MarketHazards | null;
  /** Draws the losses that come right before an alert; null where the accounts have no limit of loss. */
  readonly losses: Random | null;
  /** Whether the owner enlarges a position at last, after an alert has asked for take-profits of all of it. */
  readonly isEnlarged: boolean;
  /** A position must be there before something can become of its exits, so most such runs have fewer faults. */
  readonly faultScale: number;
}

/** Drawn apart from all else, so that the other runs do not depend on it. */
export interface MarketHazards {
  readonly random: Random;
  /** Whether prices drift. */
  readonly isDrifting: boolean;
  /** Whether positions are so large that the book does not take them at once, and trades fill a part of what they reach. */
  readonly isThin: boolean;
}

const seedsPerGuardRun = 3;
const remainder = 1;
const seedsPerEnlargement = 4 * seedsPerGuardRun;
const seedStride = 0x165667b1;
const seedStrideOfMarket = 0x6c8e9cf5;
const seedStrideOfLosses = 0xc2b2ae35;

/**
 * @param kind of every order of the run; absent: any
 * @returns null for any other seed
 */
export function drawGuardRun(
  seed: number,
  dialect: Dialect,
  kind: OrderKindName | undefined,
  startMs: number,
  isHedged: boolean,
): GuardRun | null {
  if (dialect !== 'live' || seed % seedsPerGuardRun !== remainder || kind !== undefined) return null;
  const random = createRandom(Math.imul(seed, seedStride));
  const held = drawHeld(random, isHedged);
  const losses = createRandom(Math.imul(seed, seedStrideOfLosses));
  const ofLoss = drawLossLimits(losses);
  const settings = drawSettings(random, ofLoss);
  const faultScale = pickOne(random, [0.03, 0.06, 0.1, 0.2, 0.5]);
  const market = drawMarketHazards(seed);
  return {
    random,
    held: market?.isThin === true ? enlarged(held, market.random) : held,
    others: othersThan(held),
    settings: market?.isThin === true ? (usual) => withoutLargest(settings(usual)) : settings,
    faultScale,
    middleOf: market?.isDrifting === true ? drawDrift(seed, startMs) : firstPrice,
    market,
    losses: ofLoss === null ? null : losses,
    isEnlarged: seed % seedsPerEnlargement === remainder,
  };
}

/** In every second one of these runs prices drift, the book is thin, or both. */
function drawMarketHazards(seed: number): MarketHazards | null {
  if (seed % 2 === 0) return null;
  const random = createRandom(Math.imul(seed, seedStrideOfMarket));
  const [isDrifting, isThin] = pickOne(random, [
    [true, false],
    [true, false],
    [false, true],
    [true, true],
  ] as const);
  return { random, isDrifting, isThin };
}

/** An order is worth some levels of the book. */
function enlarged(held: Grounds, random: Random): Grounds {
  const share = pickOne(random, [0.4, 0.7, 1]);
  return held.map((ground) => {
    const { bookDepth } = marketNamed(settingsOfAll.tickers[ground.ticker] ?? '');
    return { ...ground, small: Math.round(Number(bookDepth.toFixed()) * share * 10 ** ground.places) };
  }) as unknown as Grounds;
}

const withoutLargest = changeAccounts((account) => {
  const markets = Object.entries(account.markets).map(([name, limits]) => [
    name,
    { ...limits, maxAmount: null, maxNotional: null },
  ]);
  return { ...account, markets: Object.fromEntries(markets) };
});

/** One market or two; each account trades a market of its own. In hedge mode, the one whose positions have two sides is among them. */
function drawHeld(random: Random, isHedged: boolean): Grounds {
  const mayHold = groundsIn('live').filter(
    ({ tradesOn, account }) => tradesOn !== 'spot' && account !== 'rehearsal',
  );
  // The other account takes few signals and few orders a minute.
  const main = mayHold.filter(({ account }) => account === 'main');
  const mostlyMain = [...main, ...main, ...mayHold] as unknown as Grounds;
  const [first, second] = [
    pickOne(random, isHedged ? hedged(main) : mostlyMain),
    pickOne(random, mostlyMain),
  ];
  return isSame(first, second) ? [first] : [first, second];
}

function hedged(grounds: readonly Ground[]): Grounds {
  return grounds.filter(({ tradesOn }) => tradesOn === 'futures') as unknown as Grounds;
}

function othersThan(held: Grounds): Grounds {
  return groundsIn('live').filter(
    (ground) => !held.some((other) => isSame(ground, other)),
  ) as unknown as Grounds;
}

function isSame(one: Ground, other: Ground): boolean {
  return one.account === other.account && one.ticker === other.ticker;
}

/** What an account may lose before it opens nothing more. */
type LossLimits = Pick<RiskLimits, 'maxDailyLoss' | 'coolDownMs'>;

const noLimits: RiskLimits = {
  maxOpenNotional: null,
  maxDailyLoss: null,
  coolDownMs: null,
  tradingWindows: null,
  timeZone: 'Etc/UTC',
};

/**
 * In some runs a few losses end the day, or none does and yet each counts, or a loss ends the next minutes. Other draws do not
 * depend on it.
 */
function drawLossLimits(random: Random): LossLimits | null {
  const kind = pickOne(random, [null, null, null, null, null, 'cool down', 'day'] as const);
  if (kind === null) return null;
  if (kind === 'cool down') return { maxDailyLoss: null, coolDownMs: 90_000 };
  return { maxDailyLoss: parseDecimal(pickOne(random, ['4', '1000'])), coolDownMs: null };
}

/** Without the other limits of growing risk: they have runs of their own, and would leave few positions. */
function drawSettings(random: Random, ofLoss: LossLimits | null): GuardRun['settings'] {
  const protection = rollChance(random, 0.06) ? 'alarm' : 'keep';
  const stopKind = pickOne(random, ['limit', 'limit', 'market'] as const);
  const changed = changeAccounts((account) => ({
    ...account,
    protection,
    stopKind,
    ...(ofLoss === null ? {} : { limits: { ...noLimits, ...ofLoss } }),
  }));
  return (settings) => changed(withoutLimitsOfRisk(settings));
}
