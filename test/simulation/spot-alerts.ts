import type { OrderKindName } from '../../lib/model/order.ts';
import { type Alert, bodyMarker } from './alerts.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import { drawPrices } from './order-draw.ts';
import type { SpotRun } from './spot-runs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The numbers of other alerts are below it, so that no two prices of a run are equal. */
const firstNumber = 40;

/** Draws buys and sales of two strategies, and of none, in one spot market. */
export class SpotDraw {
  readonly #run: SpotRun;
  readonly #startMs: number;
  readonly #kinds: readonly [OrderKindName, ...OrderKindName[]];
  readonly #ids: string[] = [];
  #count = 0;
  #orderCount = 0;
  #firesAfterMs = 0;

  /**
   * @param startMs the time of the start of the run
   * @param kinds of the orders
   */
  constructor(run: SpotRun, startMs: number, kinds: readonly [OrderKindName, ...OrderKindName[]]) {
    this.#run = run;
    this.#startMs = startMs;
    this.#kinds = kinds.includes('market') ? ['market', ...kinds] : kinds;
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
    return Array.from({ length: rollWhole(this.#run.random, 3, 8) }, () => this.#next());
  }

  #next(): Alert {
    const { random, shared } = this.#run;
    this.#firesAfterMs += rollChance(random, 0.4)
      ? rollWhole(random, 0, 400)
      : rollWhole(random, 2000, 40_000);
    this.#count += 1;
    const firedAtMs = this.#startMs + this.#firesAfterMs;
    const messages = this.#messages().map((fields, place) => ({
      id: `p${this.#count}-${place + 1}`,
      time: new Date(firedAtMs).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      maxLag: pickOne(random, [20, 60, 300]),
      ticker: shared.ticker,
      ...fields,
      comment: bodyMarker,
    }));
    this.#ids.push(...messages.map(({ id }) => id));
    return {
      name: `p${this.#count}`,
      account: shared.account,
      firesAfterMs: this.#firesAfterMs,
      isForged: false,
      body: JSON.stringify(messages.length === 1 ? messages[0] : messages),
    };
  }

  #messages(): readonly Fields[] {
    const roll = this.#run.random();
    if (roll < 0.4) return [this.#order(true)];
    if (roll < 0.8) return [this.#order(false)];
    if (roll < 0.85) return [this.#order(true), this.#order(true)];
    if (roll < 0.93) return [this.#order(false), this.#order(true)];
    if (roll < 0.97) return [{ action: 'cancel', signalId: this.#ids.at(-1) ?? 'never-sent' }];
    return [{ action: 'cancel_all' }];
  }

  #order(isBuy: boolean): Fields {
    const { random, shared } = this.#run;
    this.#orderCount += 1;
    const number = firstNumber + this.#orderCount;
    const usual = rollChance(random, 0.5) ? this.#kinds[0] : pickOne(random, this.#kinds);
    const kind = this.#run.falls && isBuy && rollChance(random, 0.6) ? 'limit' : usual;
    const strategy = pickOne(random, ['alpha', 'alpha', 'beta', 'beta', null]);
    const draw = { random, ground: shared, kind, number, isBuy };
    // Below what the price reaches by itself.
    const isLow = this.#run.falls && isBuy && kind === 'limit';
    const low = isLow ? { limitPrice: (shared.price * 0.99 - number / 100).toFixed(2) } : {};
    return {
      action: isBuy ? 'buy' : 'sell',
      ...(strategy === null ? {} : { strategy }),
      ...drawPrices[kind]({ ...draw, hasShares: true, isHedged: false, reach: undefined }),
      ...low,
      ...(isBuy ? this.#bought(kind, number) : this.#sold(number)),
    };
  }

  #bought(kind: OrderKindName, number: number): Fields {
    const { random, shared } = this.#run;
    // The exchange sizes a stop-market buy in the quote currency only.
    const isQuote = kind === 'stop_market' || rollChance(random, 0.1);
    const size = isQuote ? { quoteQuantity: String(300 + number) } : this.#base([2000, 2000, 4000], number);
    if (rollChance(random, 0.25)) return size;
    return { ...size, stopLoss: pickOne(random, [String(shared.price * 0.9), '8%', '0.4%', '0.2%']) };
  }

  /** About as much as one buy or two have bought, or a share of what is there. */
  #sold(number: number): Fields {
    const { random } = this.#run;
    const roll = random();
    if (roll < 0.25) return { quantityPercent: pickOne(random, ['50%', '100%', '100%']) };
    if (roll < 0.3) return { quoteQuantity: String(150 + number) };
    return this.#base([1000, 2000, 2000, 2000, 4000, 6000], number);
  }

  /** Later orders are a little smaller: no two amounts are equal, and the fee of an earlier buy leaves enough for a sale. */
  #base(sizes: readonly [number, ...number[]], number: number): Fields {
    const { random, shared } = this.#run;
    const steps = pickOne(random, sizes) - 3 * number;
    return { quantity: (steps / 10 ** shared.places).toFixed(shared.places) };
  }
}
