import { type Alert, bodyMarker } from './alerts.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import { type Ground, hedgedAccount } from './grounds.ts';
import type { GuardRun, MarketHazards } from './guard-runs.ts';
import { settings } from './simulated-world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One side of a market that alerts trade. */
interface Line {
  /** With the price of the time when an alert fires. */
  ground: Ground;
  isLong: boolean;
  /** The ids of its entries. */
  readonly entries: string[];
}

const cancelMarket: Fields = { action: 'cancel_all', scope: 'market' };

/** The numbers of other alerts are below it, so that no two prices and no two amounts of a run are equal. */
const firstNumber = 40;

/** Draws alerts whose entries have stop-losses and take-profits, and alerts that reduce what these opened. */
export class GuardDraw {
  readonly #run: GuardRun;
  readonly #startMs: number;
  readonly #isHedged: boolean;
  readonly #lines: readonly [Line, ...Line[]];
  #count = 0;
  #orderCount = 0;
  #firesAfterMs = 0;

  /** @param startMs the time of the start of the run */
  constructor(run: GuardRun, startMs: number, isHedged: boolean) {
    this.#run = run;
    this.#startMs = startMs;
    this.#isHedged = isHedged;
    this.#lines = run.held.map((ground) => ({
      ground,
      isLong: rollChance(run.random, 0.6),
      entries: [],
    })) as unknown as [Line, ...Line[]];
  }

  draw(count: number): readonly Alert[] {
    return Array.from({ length: count + Math.ceil(count / 2) }, () => this.#next());
  }

  /**
   * The last alerts, when faults have ended.
   *
   * @param firesAfterMs for the first of them
   */
  drawLast(firesAfterMs: number): readonly Alert[] {
    this.#firesAfterMs = firesAfterMs;
    const last = Array.from({ length: rollWhole(this.#run.random, 3, 8) }, () => this.#next());
    if (this.#run.isEnlarged) return [...last, ...this.#takeProfitsOfAll()];
    return this.#run.market?.isDrifting === true ? [...last, this.#trailing(this.#run.market)] : last;
  }

  /** An entry, and take-profits of the whole position. */
  #takeProfitsOfAll(): readonly Alert[] {
    const line = this.#pickLine();
    const at = (distance: number) => String(line.ground.price * (1 + (line.isLong ? distance : -distance)));
    return [{ stopLoss: '3%' }, null].map((exits) => {
      this.#firesAfterMs += 30_000;
      const asked = { action: 'protect', takeProfits: this.#parts(at), ...this.#sideOf(line) };
      return this.#alert(line, [exits === null ? asked : this.#entry(line, exits)]);
    });
  }

  /** An entry that nothing closes any more, whose stop-loss follows the price until it rests. */
  #trailing({ random }: MarketHazards): Alert {
    this.#firesAfterMs += rollWhole(random, 3000, 40_000);
    const line = this.#pickLine();
    return this.#alert(line, [this.#entry(line, { trailing: pickOne(random, ['1.5%', '3%']) })]);
  }

  #next(): Alert {
    const { random } = this.#run;
    this.#firesAfterMs += rollChance(random, 0.3)
      ? rollWhole(random, 0, 400)
      : rollWhole(random, 3000, 40_000);
    const line = this.#pickLine();
    return this.#alert(line, this.#message(line));
  }

  #pickLine(): Line {
    const line = pickOne(this.#run.random, this.#lines);
    line.ground = { ...line.ground, price: this.#priceIn(line.ground) };
    return line;
  }

  #priceIn({ ticker }: Ground): number {
    return Math.round(this.#run.middleOf(settings.tickers[ticker] ?? '', this.#startMs + this.#firesAfterMs));
  }

  #alert({ ground }: Line, signals: readonly Fields[]): Alert {
    const { random } = this.#run;
    this.#count += 1;
    const firedAtMs = this.#startMs + this.#firesAfterMs;
    const lag = pickOne<Fields>(random, [{}, { maxLag: 20 }, { maxLag: 300 }, { maxLag: 600 }]);
    const messages = signals.map((fields, place) => ({
      id: `g${this.#count}-${place + 1}`,
      time: new Date(firedAtMs).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      ticker: ground.ticker,
      ...lag,
      ...fields,
      comment: bodyMarker,
    }));
    return {
      name: `g${this.#count}`,
      account: ground.account,
      firesAfterMs: this.#firesAfterMs,
      isForged: false,
      body: JSON.stringify(messages.length === 1 ? messages[0] : messages),
    };
  }

  #message(line: Line): readonly Fields[] {
    const roll = this.#run.random();
    if (line.entries.length === 0 || roll < 0.3) return [this.#entry(line)];
    if (roll < 0.35) return [this.#entry(line), this.#entry(line)];
    if (roll < 0.45) return [this.#protection(line)];
    if (roll < 0.56) return [this.#close(line, pickOne(this.#run.random, ['25%', '50%', '75%']))];
    if (roll < 0.6) return [this.#close(line, null)];
    if (roll < 0.63) return [this.#close(line, null), cancelMarket];
    if (roll < 0.75) return [this.#isOfTwo(line) ? this.#close(line, '30%') : this.#target(line)];
    if (roll < 0.84) return [this.#sale(line, {})];
    if (roll < 0.89) return [this.#sale(line, { reduceOnly: true })];
    if (roll < 0.91) return [this.#exit(line), cancelMarket];
    if (roll < 0.95) return [this.#turn(line)];
    return [this.#cancel(line)];
  }

  /** Whether the market has a long and a short position. */
  #isOfTwo({ ground }: Line): boolean {
    return this.#isHedged && ground.account === hedgedAccount && ground.tradesOn === 'futures';
  }

  #sideOf(line: Line): Fields {
    return this.#isOfTwo(line) ? { positionSide: line.isLong ? 'LONG' : 'SHORT' } : {};
  }

  #entry(line: Line, exits?: Fields): Fields {
    const { ground, isLong } = line;
    // In hedge mode the other position may stand beside it.
    if (this.#isOfTwo(line) && rollChance(this.#run.random, 0.2)) line.isLong = !isLong;
    line.entries.push(`g${this.#count + 1}-1`);
    const action = line.isLong ? 'buy' : 'sell';
    const number = this.#nextNumber();
    const size = { quantity: baseOf(ground, ground.small * rollWhole(this.#run.random, 2, 6) + number) };
    return {
      action,
      ...size,
      ...this.#kind(line, number),
      ...(exits ?? this.#exits(line)),
      ...this.#sideOf(line),
    };
  }

  /** Most fill at once; some rest, and fill on when the price reaches them. */
  #kind({ ground, isLong }: Line, number: number): Fields {
    const { random } = this.#run;
    const roll = random();
    if (roll < 0.65) return { orderType: 'market', ...this.#bound() };
    const isResting = rollChance(random, 0.6);
    const factor = isLong === isResting ? 0.9985 : 1.0015;
    if (roll < 0.85)
      return { orderType: 'limit', limitPrice: priceOf(ground, ground.price * factor, number) };
    const limit = ground.price * (isLong ? 1.001 : 0.999);
    const away = ground.isCoarse ? 10 : 1;
    return {
      stopPrice: String(Math.round(limit) + (isLong ? -away : away)),
      limitPrice: priceOf(ground, limit, number),
    };
  }

  #exits({ ground: { price }, isLong }: Line): Fields {
    const { random, market } = this.#run;
    const sign = isLong ? 1 : -1;
    const at = (distance: number) => String(price * (1 + sign * distance));
    const drawn = pickOne<Fields>(random, [
      { stopLoss: at(-0.03), takeProfit: at(0.03) },
      { stopLoss: at(-0.05), takeProfit: at(0.04) },
      { stopLoss: '3%', takeProfit: '4%' },
      { stopLoss: '2%' },
      { stopLoss: at(-0.04) },
      { trailing: '2%' },
      { stopLoss: at(-0.03), takeProfits: this.#parts(at) },
      { trailing: '3%', takeProfits: this.#parts(at) },
      { takeProfit: at(0.03) },
      {},
    ]);
    // Where prices drift, more stop-losses follow them.
    const follows = market?.isDrifting === true && rollChance(market.random, 0.4);
    return follows ? { trailing: pickOne(market.random, ['1%', '2%']) } : drawn;
  }

  #parts(at: (distance: number) => string): readonly Fields[] {
    return pickOne<readonly Fields[]>(this.#run.random, [
      [
        { price: at(0.02), share: '50%' },
        { price: at(0.035), share: '50%' },
      ],
      [
        { price: at(0.015), share: '25%' },
        { price: at(0.03), share: '40%' },
        { price: at(0.045), share: '35%' },
      ],
    ]);
  }

  /** Changes what protects the whole position. */
  #protection(line: Line): Fields {
    const { ground, isLong } = line;
    const at = (distance: number) => String(ground.price * (1 + (isLong ? distance : -distance)));
    const asked = pickOne<Fields>(this.#run.random, [
      { stopLoss: at(-0.025) },
      { stopLoss: at(-0.035), takeProfit: at(0.035) },
      { stopLoss: 'entry' },
      { stopLoss: '4%' },
      { trailing: '2%' },
      { takeProfits: this.#parts(at) },
    ]);
    return { action: 'protect', ...asked, ...this.#sideOf(line) };
  }

  #close(line: Line, part: string | null): Fields {
    const { market } = this.#run;
    // Where the book is thin, more closes are of all, since the rest of one is closed again.
    const isOfAll = part === null || (market?.isThin === true && rollChance(market.random, 0.5));
    const size = isOfAll ? {} : { quantityPercent: part };
    return { action: 'close', ...size, ...this.#bound(), ...this.#sideOf(line) };
  }

  /** Smaller than most of what the entries have opened. */
  #target({ ground, isLong }: Line): Fields {
    const steps = ground.small * pickOne(this.#run.random, [1, 1, 2]);
    return { action: 'target', target: `${isLong ? '' : '-'}${baseOf(ground, steps)}`, ...this.#bound() };
  }

  /** Against the position, by an order that nothing but its size keeps from turning it. */
  #sale(line: Line, flag: Fields): Fields {
    const { ground, isLong } = line;
    const number = this.#nextNumber();
    const size = { quantity: baseOf(ground, ground.small + number) };
    const order = { action: isLong ? 'sell' : 'buy', orderType: 'market' };
    return { ...order, ...size, ...flag, ...this.#bound(), ...this.#sideOf(line) };
  }

  /** Closes the position by an order. */
  #exit(line: Line): Fields {
    const size = { quantityPercent: '100%', of: 'position' };
    const order = { action: line.isLong ? 'sell' : 'buy', orderType: 'market' };
    return { ...order, ...size, ...this.#bound(), ...this.#sideOf(line) };
  }

  #turn(line: Line): Fields {
    if (this.#isOfTwo(line)) return this.#close(line, null);
    line.isLong = !line.isLong;
    return { action: 'reverse', ...this.#bound(), ...this.#exits(line) };
  }

  #cancel({ entries }: Line): Fields {
    return pickOne<Fields>(this.#run.random, [
      { action: 'cancel_all' },
      { action: 'cancel_all', scope: 'market' },
      { action: 'cancel', signalId: entries.at(-1) ?? 'never-sent' },
    ]);
  }

  #nextNumber(): number {
    this.#orderCount += 1;
    return firstNumber + this.#orderCount;
  }

  #bound(): Fields {
    const { market } = this.#run;
    const drawn = pickOne<Fields>(this.#run.random, [{}, { maxSlippage: '0.5%' }, { maxSlippage: '0.05%' }]);
    // The first level of the book alone.
    const isNarrow = market?.isThin === true && rollChance(market.random, 0.5);
    return isNarrow ? { maxSlippage: '0.05%' } : drawn;
  }
}

/** The last digits are those of no other price of the run. */
function priceOf({ isCoarse }: Ground, price: number, number: number): string {
  if (isCoarse) return (Math.floor(price / 10) * 10 + number / 10).toFixed(1);
  return `${Math.round(price)}.${String(number).padStart(2, '0')}`;
}

function baseOf({ places }: Ground, steps: number): string {
  return (steps / 10 ** places).toFixed(places);
}
