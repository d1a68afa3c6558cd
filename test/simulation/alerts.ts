import type { Random } from '../../lib/base/random.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';

/** One alert that will fire: its bytes, and where they go. */
export interface Alert {
  readonly name: string;
  readonly account: string;
  readonly body: string;
  /** After the start of the run. */
  readonly firesAfterMs: number;
  /** Whether it is sent with a token that was never valid: nothing of it may be taken in. */
  readonly isForged: boolean;
}

/** Stands in the comment of every alert, and must stand in no log line, error or answer. */
export const bodyMarker = 'marker-of-the-raw-body';

interface Ground {
  readonly account: string;
  readonly ticker: string;
  /** In money, whole; where the paper exchange's price begins. */
  readonly price: number;
  readonly quantity: string;
}

const btc = { ticker: 'BTCUSDT', price: 60_000, quantity: '0.002' };
const eth = { ticker: 'ETHUSDT', price: 3000, quantity: '0.02' };
const sol = { ticker: 'SOLUSDT', price: 150, quantity: '1.5' };

/** Just within the collar of every account, just beyond it, and as a typing error has it. */
const reaches = [0.025, 0.035, 0.9] as const;

/** Few markets for many signals, so that they meet. */
const grounds: readonly [Ground, ...Ground[]] = [
  { account: 'main', ...btc },
  { account: 'main', ...btc },
  { account: 'main', ...eth },
  { account: 'second', ...sol },
  { account: 'second', ...sol },
  { account: 'second', ...btc },
  { account: 'rehearsal', ...btc },
];

/** No more signals can have prices of their own. */
export const mostSignals = 99;

/** Draws alerts one after the other; they remember each other, for cancellations need something to cancel. */
export class AlertDraw {
  readonly #random: Random;
  readonly #startMs: number;
  readonly #named: { readonly id: string; readonly ground: Ground }[] = [];
  #orderCount = 0;
  #signalCount = 0;
  #firesAfterMs = 0;

  /** @param startMs the time that the start of the run has, for alerts that say when they fired */
  constructor(random: Random, startMs: number) {
    this.#random = random;
    this.#startMs = startMs;
  }

  /** @param signalCount at least this many signals, at most {@link mostSignals} */
  draw(signalCount: number): readonly Alert[] {
    const alerts: Alert[] = [];
    while (this.#signalCount < signalCount) {
      this.#firesAfterMs += this.#pauseMs();
      alerts.push({ name: `a${alerts.length + 1}`, firesAfterMs: this.#firesAfterMs, ...this.#drawOne() });
    }
    return alerts;
  }

  /** Alerts come in bursts: several conditions are met at the close of a bar. */
  #pauseMs(): number {
    return rollChance(this.#random, 0.5)
      ? rollWhole(this.#random, 0, 400)
      : rollWhole(this.#random, 2000, 25_000);
  }

  #drawOne(): Pick<Alert, 'account' | 'body' | 'isForged'> {
    const ground = pickOne(this.#random, grounds);
    const roll = this.#random();
    const message = this.#drawMessage(ground, roll);
    this.#signalCount += [message].flat().length;
    return { account: ground.account, isForged: roll < 0.03, body: JSON.stringify(message) };
  }

  /** One signal, or an array of two. */
  #drawMessage(ground: Ground, roll: number): object | readonly object[] {
    if (roll < 0.6) return this.#order(ground);
    if (roll < 0.78) return this.#cancel(ground);
    if (roll < 0.84) return this.#cancelAll(ground);
    if (roll < 0.88) return [this.#cancelAll(ground), this.#order(ground)];
    if (roll < 0.91) return [this.#order(ground), this.#order(ground)];
    if (roll < 0.93) return [this.#order(ground), this.#borrower(ground)];
    return this.#oddOne(ground);
  }

  /** An order under the id of another alert. */
  #borrower(ground: Ground): object {
    return this.#order(ground, { id: this.#named.at(-1)?.id ?? 's1' });
  }

  /** @param reach how far the limit price lies beyond the stop price, in parts of itself; absent: by 1 */
  #order(ground: Ground, changes: object = {}, reach?: number): object {
    this.#orderCount += 1;
    const { ticker, price, quantity } = ground;
    const random = this.#random;
    const isBuy = rollChance(random, 0.7);
    const limit = Math.round(price * (isBuy ? 1.001 : 0.999)) + rollWhole(random, 0, 3);
    // The cents tell the order: no two of a run have the same, whatever ids they carry.
    const limitPrice = `${limit}.${String(this.#orderCount).padStart(2, '0')}`;
    const distance = reach === undefined ? 1 : Math.round(limit * reach);
    const size = rollChance(random, 0.25) ? { quoteQuantity: '100' } : { quantity };
    const exits = isBuy
      ? { stopLoss: String(price * 0.9), takeProfit: String(price * 1.1) }
      : { stopLoss: String(price * 1.1), takeProfit: String(price * 0.9) };
    return {
      ...this.#identity(ground),
      ticker,
      action: isBuy ? 'buy' : 'sell',
      ...size,
      stopPrice: String(isBuy ? limit - distance : limit + distance),
      limitPrice,
      ...(rollChance(random, 0.5) ? exits : {}),
      comment: bodyMarker,
      ...changes,
    };
  }

  /** An id of its own, the time it fired, or both. */
  #identity(ground: Ground): object {
    const hasId = rollChance(this.#random, 0.7);
    const id = `s${this.#orderCount}`;
    if (hasId) this.#named.push({ id, ground });
    const lag = pickOne(this.#random, [{}, {}, { maxLag: 8 }, { maxLag: 20 }, { maxLag: 120 }]);
    const isTimed = !hasId || rollChance(this.#random, 0.6);
    return { ...(hasId ? { id } : {}), ...(isTimed ? this.#time(lag) : {}) };
  }

  #time(lag: object, agoMs = 0): object {
    const firedAtMs = this.#startMs + this.#firesAfterMs - agoMs;
    return {
      time: new Date(firedAtMs).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      ...lag,
    };
  }

  #cancel({ account, ticker }: Ground): object {
    const mates = this.#named.filter(({ ground }) => ground.account === account && ground.ticker === ticker);
    const target = mates.at(-1)?.id ?? 'never-sent';
    const isById = rollChance(this.#random, 0.6);
    return {
      id: `c${this.#signalCount}`,
      ticker,
      action: 'cancel',
      ...(isById ? { signalId: target } : { clientOrderId: clientOrderIdOf(account, target) }),
      comment: bodyMarker,
    };
  }

  #cancelAll({ ticker }: Ground): object {
    return { id: `c${this.#signalCount}`, ticker, action: 'cancel_all', comment: bodyMarker };
  }

  /** Alerts that must come to nothing, each in its own way; of those with a wide reach some may pass. */
  #oddOne(ground: Ground): object {
    return pickOne(this.#random, [
      () => ({ ...this.#order(ground), stoplos: '1' }),
      () => this.#order(ground, { quantity: 'NaN', quoteQuantity: undefined }),
      () => this.#order(ground, this.#time({ maxLag: 30 }, 200_000)),
      () => this.#order(ground, { id: this.#named[0]?.id ?? 'x' }),
      () => this.#order(ground, { ticker: 'XRPUSDT' }),
      () => this.#order(ground, { quantity: '100000', quoteQuantity: undefined }),
      () => this.#order(ground, {}, pickOne(this.#random, reaches)),
    ])();
  }
}
