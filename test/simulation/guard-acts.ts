import {
  type Decimal,
  floorToStep,
  formatDecimal,
  maximum,
  parseDecimal,
  zero,
} from '../../lib/base/decimal.ts';
import type { Random } from '../../lib/base/random.ts';
import { isPerpetualName } from '../../lib/model/market.ts';
import type { Side } from '../../lib/model/order.ts';
import type { PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { marketNamed, type PaperMarket } from '../../lib/paper/engine/markets.ts';
import type { Position } from '../../lib/paper/engine/position-records.ts';
import { override } from '../support/override.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import type { HandOrder, SimulatedExchange } from './exchange.ts';
import type { Ground } from './grounds.ts';
import type { GuardRun, MarketHazards } from './guard-runs.ts';
import { isTrade } from './history.ts';
import { handPrefix } from './own-orders.ts';
import { driftsForMs, type MiddlePrice } from './price-drift.ts';
import type { Stage } from './process.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** After the owner has placed a stop beside an exit: lists have shown it for their longest lag. */
const gapAfterMs = 30_000;
/** Before the end of the acts. */
const staysAfterMs = 5 * 60_000;

function isStopOf(side: Side, positionSide: Position['side']): (order: PaperOrder) => boolean {
  return (order) => positionSide === 'BOTH' && order.side === side && order.activationPrice !== null;
}

/** What the owner and the market do to guarded positions. */
export class GuardActs {
  readonly #random: Random;
  readonly #middleOf: MiddlePrice;
  readonly #hazards: MarketHazards | null;
  readonly #losses: Random | null;
  readonly #held: readonly Ground[];
  readonly #stage: Stage;
  readonly #exchange: SimulatedExchange;
  readonly #marketOf: (ground: Ground) => string;
  readonly #untilMs: number;
  #count = 0;

  /** @param exchange on which nobody meddles, so that an act calls for no other one */
  constructor(
    { random, held, middleOf, market, losses }: GuardRun,
    { stage, exchange, settings }: SimulatedWorld,
    untilMs: number,
  ) {
    this.#random = random;
    this.#middleOf = middleOf;
    this.#hazards = market;
    this.#losses = losses;
    this.#held = held;
    this.#stage = stage;
    this.#exchange = exchange;
    this.#marketOf = ({ ticker }) => settings.tickers[ticker] ?? '';
    this.#untilMs = untilMs;
  }

  /**
   * Acts at any time, jumps of the price, and its drift. Where a loss counts, the price also jumps seconds before alerts: no list
   * of deals shows the loss yet then.
   *
   * @param alertsAfterMs when they fire, in milliseconds from now
   */
  schedule(alertsAfterMs: readonly number[]): void {
    const { loop } = this.#stage;
    const sometime = () => rollWhole(this.#random, 0, this.#untilMs - loop.nowMs);
    const acts = rollWhole(this.#random, 1, 6);
    for (let number = 0; number < acts; number += 1) loop.schedule(sometime(), () => this.act());
    const jumps = rollWhole(this.#random, 1, 6);
    for (let number = 0; number < jumps; number += 1) loop.schedule(sometime(), () => this.jump());
    const losses = this.#losses;
    if (losses !== null)
      for (const afterMs of alertsAfterMs.filter(() => rollChance(losses, 0.4)))
        loop.schedule(Math.max(0, afterMs - rollWhole(losses, 500, 8000)), () => this.jump(losses));
    if (this.#hazards !== null) this.#drift(this.#hazards, loop.nowMs + driftsForMs);
  }

  /** Moves the prices of the guarded markets to the middle ones, as these change. */
  #drift(hazards: MarketHazards, untilMs: number): void {
    const { loop, history } = this.#stage;
    const market = this.#marketOf(pickOne(hazards.random, this.#held as readonly [Ground, ...Ground[]]));
    const price = this.#middleIn(market);
    this.#exchange.setPrice(market, price, loop.nowMs, this.#volumeIn(market));
    const kind = hazards.isDrifting ? 'price: drift' : 'price: return';
    history.note(loop.nowMs, 'exchange', `${market} trades at ${price}`, kind);
    if (loop.nowMs < untilMs)
      loop.schedule(rollWhole(hazards.random, 2000, 9000), () => this.#drift(hazards, untilMs));
  }

  #middleIn(market: string): string {
    const middle = parseDecimal(this.#middleOf(market, this.#stage.loop.nowMs).toFixed(2));
    return formatDecimal(floorToStep(middle, marketNamed(market).priceStep));
  }

  /** What a trade fills of the orders that it reaches; undefined: all. */
  #volumeIn(market: string): Decimal | undefined {
    if (this.#hazards?.isThin !== true) return undefined;
    const { random } = this.#hazards;
    const share = pickOne(random, [null, '0.1', '0.3', '0.7']);
    if (share === null) return undefined;
    const { bookDepth, amountStep } = marketNamed(market);
    return floorToStep(bookDepth.times(parseDecimal(share)), amountStep);
  }

  /** One act of the owner, on the exchange's own page. */
  act(): void {
    const ground = pickOne(this.#random, this.#held as readonly [Ground, ...Ground[]]);
    const [first, ...others] = this.#positionsOf(ground);
    if (first === undefined) return;
    const position = others.length === 0 ? first : pickOne(this.#random, [first, ...others]);
    const open = () => this.#openOther(ground, position);
    const ofSides = position.side === 'BOTH' ? [] : [open, open];
    pickOne(this.#random, [
      () => this.#trade(ground, position, pickOne(this.#random, ['0.25', '0.5']), 'reduces'),
      () => this.#trade(ground, position, '1', 'closes'),
      () => this.#close(ground, position),
      () => this.#trade(ground, position, '-0.5', 'enlarges'),
      () => this.#cancel(ground, 'stop-loss'),
      () => this.#cancel(ground, 'stop-loss'),
      () => this.#cancel(ground, 'take-profit'),
      () => this.#stop(ground, position),
      () => this.#tradeOnSpot(ground, position),
      ...ofSides,
    ])();
  }

  /** Enlarges each position of the owner by half. */
  enlarge(): void {
    for (const ground of this.#held)
      for (const position of this.#positionsOf(ground)) this.#trade(ground, position, '-0.5', 'enlarges');
  }

  /** Moves the price through the trigger or the limit of an order that closes a position, and back. */
  jump(random = this.#random): void {
    const { loop } = this.#stage;
    const ground = pickOne(random, this.#held as readonly [Ground, ...Ground[]]);
    const exits = this.#exitsOf(ground);
    const exit = exits[rollWhole(random, 0, Math.max(0, exits.length - 1))];
    if (exit !== undefined && loop.nowMs < this.#untilMs) this.#jumpThrough(exit, random);
  }

  #jumpThrough(exit: PaperOrder, random: Random): void {
    const { loop, history } = this.#stage;
    const { market } = exit;
    const { priceStep } = marketNamed(market);
    const price = floorToStep(this.#beyond(exit, random), priceStep);
    this.#exchange.setPrice(market, formatDecimal(price), loop.nowMs, this.#volumeIn(market));
    history.note(loop.nowMs, 'exchange', `${market} jumps to ${formatDecimal(price)}`, 'price: jump');
    // The last ones may stay, so that a stop-loss whose limit price was passed rests in the book.
    if (this.#isLate() && rollChance(random, 0.6)) return;
    loop.schedule(rollWhole(random, 500, 20_000), () => {
      const middle = this.#middleIn(market);
      this.#exchange.setPrice(market, middle, loop.nowMs);
      history.note(loop.nowMs, 'exchange', `${market} trades at ${middle} again`);
    });
  }

  /** Just beyond it; of a stop sometimes so far that its limit price is passed, too. */
  #beyond({ side, price, activationPrice }: PaperOrder, random: Random): Decimal {
    const isStop = activationPrice !== null;
    const rate = isStop && rollChance(random, this.#isLate() ? 0.7 : 0.3) ? 0.025 : 0.0005;
    const falls = isStop === (side === 'sell');
    return (activationPrice ?? price ?? zero).times(parseDecimal(String(falls ? 1 - rate : 1 + rate)));
  }

  #isLate(): boolean {
    return this.#stage.loop.nowMs > this.#untilMs - staysAfterMs;
  }

  #positionsOf(ground: Ground): readonly Position[] {
    const market = this.#marketOf(ground);
    const positions = this.#exchange.state.accounts.get(ground.account)?.collateral.positions.values() ?? [];
    return [...positions].filter((position) => position.market === market);
  }

  /** What the exchange made from entries, and what the relay itself placed for them. */
  #exitsOf(ground: Ground): readonly PaperOrder[] {
    const market = this.#marketOf(ground);
    return [...this.#exchange.state.open.values()].filter(
      (order) =>
        order.account === ground.account &&
        order.market === market &&
        !order.activated === (order.activationPrice !== null) &&
        (order.parentId !== null || order.reduceOnly) &&
        !order.clientOrderId.startsWith(handPrefix),
    );
  }

  #note(ground: Ground, what: string, kind: string): void {
    const { loop, history } = this.#stage;
    history.note(loop.nowMs, 'owner', `${what} in ${this.#marketOf(ground)}`, `owner: ${kind}`);
  }

  /** @param share of the position; below zero enlarges it */
  #trade(ground: Ground, { amount, side: positionSide }: Position, share: string, what: string): void {
    const market = marketNamed(this.#marketOf(ground));
    const traded = floorToStep(amount.abs().times(parseDecimal(share)).abs(), market.amountStep);
    if (traded.lt(market.minAmount)) return;
    const side: Side = amount.gt(zero) === parseDecimal(share).gt(zero) ? 'sell' : 'buy';
    const price = formatDecimal(this.#crossing(market, side));
    this.#place(ground, { type: 'limit', side, amount: formatDecimal(traded), price, positionSide });
    this.#note(ground, `${what} the position by ${formatDecimal(traded)}`, `${what} by hand`);
  }

  /** Coins in the market of a position, with a stop: they are no part of it, and the stop protects nothing of it. */
  #tradeOnSpot(ground: Ground, { amount }: Position): void {
    const market = marketNamed(this.#marketOf(ground));
    const traded = floorToStep(amount.abs().times(parseDecimal('0.5')), market.amountStep);
    if (isPerpetualName(market.name) || traded.lt(market.minAmount)) return;
    const coins = formatDecimal(traded);
    const side = pickOne(this.#random, ['buy', 'buy', 'sell'] as const);
    const price = formatDecimal(this.#crossing(market, side));
    this.#place(ground, { type: 'spot_limit', side, amount: coins, price });
    const last = this.#exchange.state.prices.get(market.name) ?? zero;
    const trigger = formatDecimal(floorToStep(last.times(parseDecimal('0.93')), parseDecimal('1')));
    this.#place(ground, { type: 'spot_stop_market', side: 'sell', amount: coins, activationPrice: trigger });
    this.#note(ground, `trades ${coins} on spot`, 'trades on spot by hand');
  }

  /** In hedge mode: opens a position of the other side, or enlarges it. */
  #openOther(ground: Ground, { amount, side: held }: Position): void {
    const market = marketNamed(this.#marketOf(ground));
    const share = parseDecimal(pickOne(this.#random, ['0.5', '1', '1.5']));
    const traded = maximum(floorToStep(amount.abs().times(share), market.amountStep), market.minAmount);
    const positionSide = held === 'LONG' ? 'SHORT' : 'LONG';
    const side = positionSide === 'LONG' ? 'buy' : 'sell';
    const price = formatDecimal(this.#crossing(market, side));
    this.#place(ground, { type: 'limit', side, amount: formatDecimal(traded), price, positionSide });
    this.#note(ground, `opens ${formatDecimal(traded)} ${positionSide}`, 'opens the other side by hand');
  }

  /** A limit so far beyond the price that it fills at once. */
  #crossing({ name, priceStep }: PaperMarket, side: Side): Decimal {
    const last = this.#exchange.state.prices.get(name) ?? zero;
    return floorToStep(last.times(parseDecimal(side === 'buy' ? '1.04' : '0.96')), priceStep);
  }

  /** As the button of the exchange's page does it, which cancels what the exchange made from entries. */
  #close(ground: Ground, { positionId }: Position): void {
    const market = this.#marketOf(ground);
    this.#exchange.closeByHand({ account: ground.account, market, positionId }, this.#stage.loop.nowMs);
    this.#note(ground, `closes position ${positionId}`, 'position closed');
  }

  #cancel(ground: Ground, what: 'stop-loss' | 'take-profit'): void {
    const { loop, history } = this.#stage;
    const exits = this.#exitsOf(ground).filter(
      ({ activationPrice }) => (activationPrice !== null) === (what === 'stop-loss'),
    );
    const exit = exits[rollWhole(this.#random, 0, Math.max(0, exits.length - 1))];
    if (exit === undefined) return;
    this.#exchange.cancelByHand(exit, loop.nowMs);
    history.handCancels.push({ orderId: exit.orderId, atMs: loop.nowMs });
    this.#note(ground, `cancels the ${what} ${exit.orderId}`, `${what} cancelled`);
  }

  /** A stop of the owner's own, for a part of the position or all of it. */
  #stop(ground: Ground, { amount, side: positionSide }: Position): void {
    const { name, amountStep, minAmount } = marketNamed(this.#marketOf(ground));
    const share = parseDecimal(pickOne(this.#random, ['0.4', '1']));
    const stopped = floorToStep(amount.abs().times(share), amountStep);
    if (stopped.lt(minAmount)) return;
    const side: Side = amount.gt(zero) ? 'sell' : 'buy';
    const last = this.#exchange.state.prices.get(name) ?? zero;
    const far = last.times(parseDecimal(side === 'sell' ? '0.93' : '1.07'));
    // One that does not only reduce turns the position where the price goes through it and through the relay's own in one jump.
    const beside = this.#exitsOf(ground).find(isStopOf(side, positionSide));
    this.#place(ground, {
      type: 'stop_market',
      side,
      amount: formatDecimal(stopped),
      activationPrice: formatDecimal(beside?.activationPrice ?? floorToStep(far, parseDecimal('1'))),
      reduceOnly: beside === undefined,
      positionSide,
    });
    if (beside !== undefined) this.#stage.loop.schedule(gapAfterMs, () => this.#gapThrough(beside));
    this.#note(ground, `places a stop of ${formatDecimal(stopped)}`, 'stop by hand');
  }

  #gapThrough({ orderId }: PaperOrder): void {
    const exit = this.#exchange.state.open.get(orderId);
    if (exit !== undefined) this.#jumpThrough(exit, this.#random);
  }

  #place(ground: Ground, order: Omit<HandOrder, 'account' | 'market' | 'clientOrderId'>): void {
    this.#count += 1;
    const { account } = ground;
    const clientOrderId = `${handPrefix}guard-${this.#count}`;
    this.#exchange.placeByHand(
      { ...order, account, market: this.#marketOf(ground), clientOrderId },
      this.#stage.loop.nowMs,
    );
  }

  /** An exchange on which the owner, or the price, is sometimes faster than a request that changes something. */
  meddling(): SimulatedExchange {
    return override(this.#exchange, {
      serve: async (request, atMs, lagMs) => {
        const isEarly = atMs < this.#untilMs;
        if (isEarly && isTrade(request.path) && rollChance(this.#random, 0.1)) this.act();
        if (isEarly && request.body !== null && rollChance(this.#random, 0.015)) this.jump();
        const response = await this.#exchange.serve(request, atMs, lagMs);
        if (isEarly && isTrade(request.path) && rollChance(this.#random, 0.06)) this.jump();
        return response;
      },
    });
  }
}
