import type { Random } from '../../lib/base/random.ts';
import { type Alert, bodyMarker } from './alerts.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import type { Ground } from './grounds.ts';
import type { PositionRun } from './position-runs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How a strategy says what it wants. `events` says what changed, all others which position it wants. */
const styles = [
  'base',
  'words',
  'signed',
  'sentiment',
  'quote',
  'equity',
  'events',
  'events',
  'events',
] as const;
type Style = (typeof styles)[number];

/** A strategy on one market. It holds nothing at first. */
interface Strategy {
  readonly name: string;
  readonly ground: Ground;
  readonly style: Style;
  /** The position that it wants, in steps of the market: long above zero, short below. */
  wanted: number;
  /** Whether all its entries of a side have their stop-loss and take-profit at the same prices. */
  readonly hasFixedExits: boolean;
}

/** Draws the alerts of strategies that hold positions. */
export class PositionDraw {
  readonly #run: PositionRun;
  readonly #startMs: number;
  readonly #strategies: readonly [Strategy, ...Strategy[]];
  /** Of alerts, the share that enters by an order which rests. */
  readonly #restRate: number;
  #count = 0;
  #firesAfterMs = 0;

  /** @param startMs the time of the start of the run */
  constructor(run: PositionRun, startMs: number) {
    this.#run = run;
    this.#startMs = startMs;
    this.#restRate = pickOne(run.rests, [0, 0.2]);
    this.#strategies = run.held.flatMap((ground) => drawStrategies(run.random, ground)) as unknown as [
      Strategy,
      ...Strategy[],
    ];
  }

  /** Alerts that fire one after the other, some of them at once. */
  draw(count: number): readonly Alert[] {
    return Array.from({ length: count }, () => this.#next());
  }

  /**
   * The last target of each market, sent when faults have ended: whatever was lost before, the position must be right
   * after it.
   *
   * @param firesAfterMs for the first of them
   */
  drawLast(firesAfterMs: number): readonly Alert[] {
    this.#firesAfterMs = firesAfterMs;
    return this.#run.held.map((ground) => {
      this.#firesAfterMs += rollWhole(this.#run.random, 20_000, 60_000);
      const strategy = this.#strategies.find((each) => each.ground === ground) ?? this.#strategies[0];
      return this.#alert(strategy, this.#target(strategy));
    });
  }

  #next(): Alert {
    const { random } = this.#run;
    const isBurst = rollChance(random, 0.35);
    this.#firesAfterMs += isBurst ? rollWhole(random, 0, 400) : rollWhole(random, 3000, 25_000);
    const strategy = pickOne(random, this.#strategies);
    if (rollChance(random, 0.06)) return this.#oddOne(strategy);
    if (rollChance(this.#run.rests, this.#restRate)) return this.#alert(strategy, this.#rest(strategy));
    const before = strategy.wanted;
    if (!rollChance(random, 0.25)) strategy.wanted = drawWanted(random, strategy);
    const says = strategy.style === 'events' || rollChance(random, 0.2) ? this.#event : this.#target;
    return this.#alert(strategy, says.call(this, strategy, before));
  }

  #alert({ name, ground }: Strategy, fields: Fields): Alert {
    const { random } = this.#run;
    this.#count += 1;
    const firedAtMs = this.#startMs + this.#firesAfterMs;
    const lag = pickOne<Fields>(random, [{}, {}, { maxLag: 20 }, { maxLag: 300 }, { maxLag: 600 }]);
    const body = {
      ...(rollChance(random, 0.7) ? { id: `p${this.#count}` } : {}),
      time: new Date(firedAtMs).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      ticker: ground.ticker,
      strategy: name,
      ...lag,
      ...fields,
      // Two alerts of equal content are two signals only if their bytes differ.
      comment: `${bodyMarker} ${this.#count}`,
    };
    return {
      name: `p${this.#count}`,
      account: ground.account,
      firesAfterMs: this.#firesAfterMs,
      isForged: rollChance(random, 0.02),
      body: JSON.stringify(body),
    };
  }

  #target(strategy: Strategy): Fields {
    const { ground, style, wanted } = strategy;
    const { random } = this.#run;
    const base = baseOf(ground, Math.abs(wanted));
    const signed = wanted < 0 ? `-${base}` : base;
    const word = wanted === 0 ? 'flat' : wanted < 0 ? 'short' : 'long';
    const quote = (wanted * ground.price) / 10 ** ground.places;
    const said: Readonly<Record<Style, () => Fields>> = {
      base: () => ({ action: 'target', target: wanted === 0 ? pickOne(random, ['0', 'flat']) : signed }),
      words: () => ({ marketPosition: word, marketPositionSize: base }),
      signed: () => ({ positionSize: signed }),
      // Flat closes in full, whatever size is given.
      sentiment: () => ({ sentiment: word, quantity: wanted === 0 ? baseOf(ground, 7) : base }),
      quote: () => ({ action: 'target', targetQuote: quote.toFixed(0) }),
      equity: () => ({ action: 'target', target: `${(quote / 10_000).toFixed(2)}%` }),
      events: () => ({ action: 'target', target: signed }),
    };
    return { ...said[style](), ...this.#bound(), ...(wanted === 0 ? {} : this.#exits(strategy)) };
  }

  /** An event of a strategy that presumes to know its position. */
  #event(strategy: Strategy, before: number): Fields {
    const { ground, wanted } = strategy;
    const { random } = this.#run;
    const quantity = baseOf(ground, Math.abs(wanted));
    if (wanted === 0)
      return { action: 'close', ...this.#bound(), ...pickOne<Fields>(random, [{}, {}, { quantity: '50%' }]) };
    if (before !== 0 && before < 0 !== wanted < 0) {
      const size = pickOne<Fields>(random, [{}, { quantity }]);
      return { action: 'reverse', ...size, ...this.#bound(), ...this.#exits(strategy) };
    }
    const presumed = before === 0 ? 'flat' : before < 0 ? 'short' : 'long';
    const order = { action: wanted < 0 ? 'sell' : 'buy', orderType: 'market', quantity };
    return { ...order, requirePosition: presumed, ...this.#bound(), ...this.#exits(strategy) };
  }

  /** An entry at a price that the market may reach later. What the strategy wants does not count on it. */
  #rest({ ground: { price, small, large, isCoarse, places }, wanted }: Strategy): Fields {
    const { rests } = this.#run;
    const isBuy = wanted === 0 ? rollChance(rests, 0.5) : wanted > 0;
    const limit =
      price * (isBuy ? 1 - rollWhole(rests, 5, 30) / 10_000 : 1 + rollWhole(rests, 5, 30) / 10_000);
    // Such entries fill in any order, and nothing else tells their exits apart.
    const stop = Math.round(price * (isBuy ? 0.96 : 1.04)) + this.#count;
    const exits = { stopLoss: String(stop) };
    return {
      action: isBuy ? 'buy' : 'sell',
      orderType: 'limit',
      limitPrice: limit.toFixed(isCoarse ? 0 : 2),
      // A large one fills in full, and is closed in a book that is thinner.
      quantity: (pickOne(rests, [small, large]) / 10 ** places).toFixed(places),
      requirePosition: wanted === 0 ? 'flat' : isBuy ? 'long' : 'short',
      ...pickOne<Fields>(rests, [{}, exits]),
    };
  }

  #bound(): Fields {
    return pickOne<Fields>(this.#run.random, [
      {},
      { maxSlippage: '0.5%' },
      { maxSlippage: '0.3%' },
      { maxSlippage: '0.05%' },
    ]);
  }

  /** Some stop-losses are so near that prices reach them while the position is open. */
  #exits({ ground: { price }, wanted, hasFixedExits }: Strategy): Fields {
    const [loss, profit] = wanted < 0 ? [1.04, 0.94] : [0.96, 1.06];
    if (hasFixedExits)
      return { stopLoss: (price * loss).toFixed(2), takeProfit: (price * profit).toFixed(2) };
    return pickOne<Fields>(this.#run.random, [
      {},
      {},
      { stopLoss: '0.1%' },
      { stopLoss: '0.15%', takeProfit: '1%' },
      { stopLoss: '5%' },
    ]);
  }

  /** Alerts about positions that must be refused or denied. */
  #oddOne(strategy: Strategy): Alert {
    const { ground } = strategy;
    const base = baseOf(ground, ground.small);
    const fields = pickOne<Fields>(this.#run.random, [
      { action: 'target', target: 'all' },
      { marketPosition: 'long', positionSize: `-${base}` },
      { action: 'close', quantity: base },
      { action: 'target', target: base, positionSide: 'LONG' },
      { action: 'close', positionSide: 'LONG' },
      { ticker: 'SOLUSDT', action: 'target', target: '10' },
      { action: 'target', target: baseOf(ground, 100 * ground.large) },
    ]);
    return this.#alert(strategy, fields);
  }
}

/** One strategy, or two that do not know of each other. */
function drawStrategies(random: Random, ground: Ground): readonly Strategy[] {
  const names = rollChance(random, 0.45) ? ['alpha', 'beta'] : ['alpha'];
  return names.map((name) => ({
    name,
    ground,
    style: pickOne(random, styles),
    hasFixedExits: rollChance(random, 0.3),
    wanted: 0,
  }));
}

/** Mostly small positions of either side; some are larger than the first levels of the book. */
function drawWanted(random: Random, { ground, wanted, hasFixedExits }: Strategy): number {
  if (wanted !== 0 && rollChance(random, 0.3)) return 0;
  // Of several entries, so that their exits are at the same prices.
  if (hasFixedExits && wanted !== 0 && rollChance(random, 0.7))
    return wanted + Math.sign(wanted) * ground.small;
  const steps = rollChance(random, 0.12) ? ground.large : ground.small * rollWhole(random, 1, 6);
  return rollChance(random, 0.5) ? steps : -steps;
}

function baseOf({ places }: Ground, steps: number): string {
  return (steps / 10 ** places).toFixed(places);
}
