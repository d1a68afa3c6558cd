import { ceilToStep, type Decimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { pickOne, rollChance, rollWhole } from '../simulation/dice.ts';
import type { StrategyRun } from './strategy-run.ts';

/** What a strategy does next. Each sends one alert, some after the price has moved. */
export interface Strategy {
  readonly step: (run: StrategyRun) => Promise<void>;
  /** Leaves the strategy flat. */
  readonly finish: (run: StrategyRun) => Promise<void>;
}

const unit = parseDecimal('0.001');

function units(count: number): Decimal {
  return unit.times(String(count));
}

function signOf(amount: Decimal): 1 | -1 {
  return amount.lt(zero) ? -1 : 1;
}

/** The order that leads from what the strategy holds to what it wants. */
function orderTo(run: StrategyRun, wanted: Decimal) {
  const missing = wanted.minus(run.wanted);
  return { action: missing.lt(zero) ? 'sell' : 'buy', contracts: missing.abs() } as const;
}

/** What a strategy may want next: an entry, an addition, a part closed, a reversal, all closed. */
export function nextPosition({ random, wanted }: StrategyRun, mayBeShort: boolean): Decimal {
  const size = units(rollWhole(random, 1, 9) * 2);
  const sign = mayBeShort && rollChance(random, 0.5) ? '-1' : '1';
  if (wanted.eq(zero)) return size.times(sign);
  const side = String(signOf(wanted));
  const part = ceilToStep(wanted.abs().div('2'), unit);
  return pickOne(random, [
    () => wanted.plus(size.times(side)),
    () => wanted.minus(part.times(side)),
    () => (mayBeShort ? size.times(side).times('-1') : wanted.minus(part.times(side))),
    () => zero,
  ])();
}

async function wander(run: StrategyRun): Promise<void> {
  if (rollChance(run.random, 0.5)) await run.move(pickOne(run.random, ['0.997', '1.003', '0.99', '1.01']));
}

/** Every order of the strategy is sent as the message of one file. */
export function repeatOrders(message: string, mayBeShort: boolean): Strategy {
  const go = async (run: StrategyRun, wanted: Decimal) =>
    await run.send(message, orderTo(run, wanted), wanted);
  return {
    async step(run) {
      await wander(run);
      await go(run, nextPosition(run, mayBeShort));
    },
    async finish(run) {
      if (!run.wanted.eq(zero)) await go(run, zero);
    },
  };
}

/** The order waits at a price, which the market then reaches. */
export function waitForPrice(
  message: string,
  mayBeShort: boolean,
  { isBehind }: { readonly isBehind: boolean },
): Strategy {
  const go = async (run: StrategyRun, wanted: Decimal) => {
    const order = orderTo(run, wanted);
    const isBelow = (order.action === 'buy') === isBehind;
    const price = run.price.times(isBelow ? '0.995' : '1.005').round(0);
    await run.send(message, { ...order, price }, wanted);
    await run.move(isBelow ? '0.9945' : '1.0055');
  };
  return {
    step: async (run) => await go(run, nextPosition(run, mayBeShort)),
    async finish(run) {
      if (!run.wanted.eq(zero)) await go(run, zero);
    },
  };
}

/** Buys with all, and sells all. */
export function allInAllOut(message: string): Strategy {
  const go = async (run: StrategyRun, wanted: Decimal) =>
    await run.send(message, orderTo(run, wanted), wanted);
  return {
    async step(run) {
      await wander(run);
      await go(run, run.wanted.eq(zero) ? unit : zero);
    },
    async finish(run) {
      if (!run.wanted.eq(zero)) await go(run, zero);
    },
  };
}

/** An entry at a price that stands in its file, and how it is left. */
export interface FixedEntry {
  readonly entry: string;
  /** Beyond the trigger price. */
  readonly through: string;
  /** The message that closes the position, and the side of its order. */
  readonly leave: string;
  readonly leaveBy?: 'buy' | 'sell';
  /** Prices at which the exchange closes it; absent: none. */
  readonly exits?: readonly string[];
  /** The message that cancels the entry; absent: none does. */
  readonly cancel?: string;
}

/** Each time from the first price on: the entry waits, fills, and is left by an exit or a close; or it is cancelled. */
export function enterAtFixedPrice({
  entry,
  through,
  leave,
  leaveBy = 'sell',
  exits = [],
  cancel,
}: FixedEntry): Strategy {
  let start: Decimal | null = null;
  let isOpen = false;
  const close = async (run: StrategyRun) => {
    isOpen = false;
    await run.send(leave, { action: leaveBy, contracts: unit }, zero);
  };
  return {
    async step(run) {
      start ??= run.price;
      if (isOpen) return await close(run);
      await run.moveTo(start);
      await run.send(entry, { action: 'buy', contracts: unit }, zero);
      if (cancel !== undefined && rollChance(run.random, 0.4)) {
        const named = cancel.replace(/("signalId": ".+?)"/, `$1-${run.sent}"`);
        return await run.send(named, { action: 'buy', contracts: unit }, zero);
      }
      isOpen = true;
      await run.moveTo(parseDecimal(through));
      const [exit] = rollChance(run.random, 0.6) ? exits.toSorted(() => run.random() - 0.5) : [];
      if (exit === undefined) return;
      await run.moveTo(parseDecimal(exit));
      isOpen = false;
    },
    finish: async (run) => (isOpen ? await close(run) : undefined),
  };
}

/** Each entry is a share of what there is; a close ends them all. */
export function enterByShare(entry: string, leave: string): Strategy {
  let action: 'buy' | 'sell' | null = null;
  const close = async (run: StrategyRun) => {
    const leaveBy = action === 'buy' ? 'sell' : 'buy';
    action = null;
    await run.send(leave, { action: leaveBy, contracts: unit }, zero);
  };
  return {
    async step(run) {
      await wander(run);
      if (action !== null && rollChance(run.random, 0.4)) return await close(run);
      action ??= pickOne(run.random, ['buy', 'sell']);
      await run.send(entry, { action, contracts: unit }, zero);
    },
    finish: async (run) => (action === null ? undefined : await close(run)),
  };
}

/** The part of a position that one order opened, with the prices at which the exchange closes it. */
interface Lot {
  readonly amount: Decimal;
  readonly stop: Decimal;
  readonly target: Decimal;
}

/** How an entry with a stop-loss and a take-profit is left. */
export interface Exits {
  readonly entry: string;
  /** The message that closes a part of the position. */
  readonly reduceBy: string;
  /** The message that closes all of it. */
  readonly leave: string;
  readonly mayBeShort: boolean;
  /** Whether an order against the position may be larger than it. */
  readonly mayTurn: boolean;
  /** Of each entry; null: any, which the strategy fills in. */
  readonly amount: Decimal | null;
  /** On spot there is no take-profit. */
  readonly hasTarget?: boolean;
}

/** Enters with a stop-loss of 2 % and a take-profit of 4 %, and leaves by them or by a close. */
export function enterWithExits({
  entry,
  reduceBy,
  leave,
  mayBeShort,
  mayTurn,
  amount,
  hasTarget = true,
}: Exits): Strategy {
  let lots: Lot[] = [];
  const held = () => lots.reduce((sum, lot) => sum.plus(lot.amount), zero);
  const closing = (run: StrategyRun) => orderTo(run, zero);

  async function enter(run: StrategyRun): Promise<void> {
    const size = amount ?? units(rollWhole(run.random, 1, 9) * 2);
    const isFree = run.wanted.eq(zero);
    const side = isFree ? (mayBeShort && rollChance(run.random, 0.5) ? -1 : 1) : signOf(run.wanted);
    lots.push(lotAt(run.price, size.times(String(side))));
    const order = { action: side === 1 ? 'buy' : 'sell', contracts: size } as const;
    await run.send(entry, order, held());
  }

  async function turn(run: StrategyRun): Promise<void> {
    const size = units(rollWhole(run.random, 1, 9) * 2).times(String(-signOf(run.wanted)));
    lots = [lotAt(run.price, size)];
    await run.send(entry, orderTo(run, size), size);
  }

  async function reduce(run: StrategyRun): Promise<void> {
    const half = ceilToStep(held().abs().div('2'), unit);
    let rest = half;
    lots = lots.flatMap((lot) => {
      const taken = minimum(lot.amount.abs(), rest);
      rest = rest.minus(taken);
      const left = lot.amount
        .abs()
        .minus(taken)
        .times(String(signOf(lot.amount)));
      return left.eq(zero) ? [] : [{ ...lot, amount: left }];
    });
    const order = orderTo(run, held());
    await run.send(reduceBy, order, held());
  }

  async function close(run: StrategyRun): Promise<void> {
    lots = [];
    await run.send(leave, closing(run), zero);
  }

  /** The exchange closes every lot whose stop-loss or take-profit the price has reached. */
  async function jump(run: StrategyRun, rate: string): Promise<void> {
    const price = run.price.times(rate).round(0);
    lots = lots.filter(({ amount: own, stop, target }) =>
      own.gt(zero)
        ? price.gt(stop) && (!hasTarget || price.lt(target))
        : price.lt(stop) && (!hasTarget || price.gt(target)),
    );
    run.exited(held());
    await run.move(rate);
  }

  return {
    async step(run) {
      if (rollChance(run.random, 0.6))
        await jump(run, pickOne(run.random, ['0.975', '1.045', '0.96', '1.025', '0.993', '1.006']));
      if (run.wanted.eq(zero)) return await enter(run);
      const acts: [Act, ...Act[]] = [enter, close, reduce];
      if (mayTurn) acts.push(turn);
      await pickOne<Act>(run.random, acts)(run);
    },
    async finish(run) {
      if (!run.wanted.eq(zero)) await close(run);
    },
  };
}

type Act = (run: StrategyRun) => Promise<void>;

function lotAt(price: Decimal, amount: Decimal): Lot {
  const isLong = amount.gt(zero);
  return {
    amount,
    stop: price.times(isLong ? '0.98' : '1.02'),
    target: price.times(isLong ? '1.04' : '0.96'),
  };
}
