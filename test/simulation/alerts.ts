import type { Random } from '../../lib/base/random.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { kindOfType, type OrderKindName } from '../../lib/model/order.ts';
import { orderKinds } from '../../lib/orders/order-kinds.ts';
import { carriedTypes } from '../../lib/orders/order-types.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import type { Ground, Grounds } from './grounds.ts';
import { drawOrderFields } from './order-draw.ts';

/** One alert that will fire: its bytes and the account it is sent to. */
export interface Alert {
  readonly name: string;
  readonly account: string;
  readonly body: string;
  /** In milliseconds after the start of the run. */
  readonly firesAfterMs: number;
  /** Whether it is sent with a token that was never valid; then it must not be accepted. */
  readonly isForged: boolean;
}

/** Part of the comment of every alert; no log line, error or response may contain it. */
export const bodyMarker = 'marker-of-the-raw-body';

/**
 * Limit distances just within the maximum of every account, just beyond it, and as a typing error makes them.
 */
const reaches = [0.025, 0.035, 0.9] as const;

/** The most signals that can have unique prices. */
export const mostSignals = 99;

type Kinds = readonly [OrderKindName, ...OrderKindName[]];

/** Whether the dialect has orders of this kind somewhere. */
export function hasKind(dialect: Dialect, kind: OrderKindName): boolean {
  return carriedTypes(dialect).some((type) => kindOfType[type] === kind);
}

/** Every kind of order that the dialect has, and rarely one that it does not have. */
export function usualKinds(dialect: Dialect): Kinds {
  const [first, ...others] = orderKinds.flatMap(({ name }) =>
    Array.from({ length: hasKind(dialect, name) ? 20 : 1 }, () => name),
  );
  if (first === undefined) throw new Error('there is no kind of order');
  return [first, ...others];
}

/** What the alerts of a run have in common. */
interface DrawTerms {
  readonly dialect: Dialect;
  /** Where they trade. */
  readonly grounds: Grounds;
  /** Kinds of orders; a kind that is listed more often is drawn more often. */
  readonly kinds: Kinds;
  /** Whether the account that trades perpetuals is in hedge mode. */
  readonly isHedged: boolean;
}

/** What scripts send besides, and what decides nothing. The position before the order is true or not. */
function drawInforming(random: Random): object {
  if (rollChance(random, 0.85)) return {};
  const before = pickOne(random, ['flat', 'long', 'short', '{{strategy.prev_market_position}}']);
  return {
    close: '60000',
    volume: '12.5',
    exchange: 'BINANCE',
    prev_market_position: before,
    apikey: 'theirs',
  };
}

/** Draws alerts one after the other, and keeps their ids, because cancellations name earlier orders. */
export class AlertDraw {
  readonly #random: Random;
  readonly #terms: DrawTerms;
  readonly #startMs: number;
  readonly #named: { readonly id: string; readonly ground: Ground }[] = [];
  #orderCount = 0;
  #signalCount = 0;
  #firesAfterMs = 0;

  /** @param startMs the time of the start of the run, for alerts that say when they fired */
  constructor(random: Random, startMs: number, terms: DrawTerms) {
    this.#random = random;
    this.#terms = terms;
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

  /** Alerts come in bursts, because several conditions are met at the close of a bar. */
  #pauseMs(): number {
    return rollChance(this.#random, 0.5)
      ? rollWhole(this.#random, 0, 400)
      : rollWhole(this.#random, 2000, 25_000);
  }

  #drawOne(): Pick<Alert, 'account' | 'body' | 'isForged'> {
    const ground = pickOne(this.#random, this.#terms.grounds);
    const roll = this.#random();
    const message = this.#drawMessage(ground, roll);
    this.#signalCount += [message].flat().length;
    return { account: ground.account, isForged: roll < 0.03, body: JSON.stringify(message) };
  }

  /** One signal, or an array of two. */
  #drawMessage(ground: Ground, roll: number): object | readonly object[] {
    if (roll < 0.58) return this.#order(ground);
    if (roll < 0.75) return this.#cancel(ground);
    if (roll < 0.81) return this.#cancelAll(ground);
    if (roll < 0.85) return [this.#cancelAll(ground), this.#order(ground)];
    if (roll < 0.9) return [this.#order(ground), this.#order(ground)];
    if (roll < 0.93) return [this.#order(ground), this.#borrower(ground)];
    if (roll < 0.96) return this.#farOrder(ground);
    return this.#oddOne(ground);
  }

  /** An order with the id of another alert. */
  #borrower(ground: Ground): object {
    return this.#order(ground, { id: this.#named.at(-1)?.id ?? 's1' });
  }

  /** @param reach as in {@link drawOrderFields} */
  #order(ground: Ground, changes: object = {}, reach?: number): object {
    this.#orderCount += 1;
    const kind = reach === undefined ? pickOne(this.#random, this.#terms.kinds) : this.#kindWithReach();
    const [random, number] = [this.#random, this.#orderCount];
    const hasShares = this.#terms.dialect === 'live';
    const isHedged = this.#terms.isHedged && ground.tradesOn === 'futures';
    return {
      ...this.#identity(ground),
      ...drawOrderFields({ random, ground, kind, number, hasShares, isHedged, reach }),
      comment: bodyMarker,
      ...drawInforming(random),
      ...changes,
    };
  }

  /** Only an order with a stop price can have a limit price far beyond it. */
  #kindWithReach(): OrderKindName {
    return this.#terms.kinds.find((kind) => kind === 'stop_limit') ?? this.#terms.kinds[0];
  }

  /** An id, the time when the alert fired, or both. */
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
    const scope = this.#terms.dialect === 'live' && rollChance(this.#random, 0.3) ? { scope: 'market' } : {};
    return { id: `c${this.#signalCount}`, ticker, action: 'cancel_all', ...scope, comment: bodyMarker };
  }

  /** An order whose prices are far apart; some of them are allowed. */
  #farOrder(ground: Ground): object {
    return this.#order(ground, {}, pickOne(this.#random, reaches));
  }

  /** Alerts that must not lead to an order, each for another reason. */
  #oddOne(ground: Ground): object {
    return pickOne(this.#random, [
      () => ({ ...this.#order(ground), stoplos: '1' }),
      () => this.#order(ground, { quantity: 'NaN', quoteQuantity: undefined }),
      () => this.#order(ground, { trailPrice: '1' }),
      () => this.#order(ground, this.#time({ maxLag: 30 }, 200_000)),
      () => this.#order(ground, { id: this.#named[0]?.id ?? 'x' }),
      () => this.#order(ground, { ticker: 'XRPUSDT' }),
      () => this.#order(ground, { quantity: '100000', quoteQuantity: undefined }),
    ])();
  }
}
