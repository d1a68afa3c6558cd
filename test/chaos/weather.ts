import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../lib/base/random.ts';
import type { FaultKind } from '../../lib/paper/faults/fault-rows.ts';
import type { PaperControl } from '../../lib/paper/server/control.ts';
import { drawPriceMove, type PriceMove, pauseBetweenMovesMs, type Weather } from './plan.ts';

/** How often each kind of fault has struck; for `down`, the number of outages. */
export type Strikes = Map<FaultKind, number>;

/** Applies the planned weathers to the exchange, one after the other, and leaves it without faults. */
export async function playWeathers(
  control: PaperControl,
  weathers: readonly Weather[],
  until: (atMs: number) => Promise<void>,
): Promise<Strikes> {
  const strikes: Strikes = new Map();
  for (const { fromMs, untilMs, faults } of weathers) {
    await until(fromMs);
    for (const fault of faults) control.addFault(fault);
    await until(untilMs);
    for (const { fault, struck } of control.faults()) add(strikes, fault, struck);
    for (const { fault } of faults) if (fault === 'down') add(strikes, fault, 1);
    control.clearFaults();
  }
  return strikes;
}

function add(strikes: Strikes, fault: FaultKind, times: number): void {
  strikes.set(fault, (strikes.get(fault) ?? 0) + times);
}

/** Trades at random prices until the signal comes. */
export async function keepPricesMoving(
  control: PaperControl,
  random: Random,
  { signal }: AbortController,
): Promise<void> {
  while (!signal.aborted) {
    const { market, price } = drawPriceMove(random);
    control.setPrice(market, price);
    await sleep(pauseBetweenMovesMs);
  }
}

/** Trades at the planned prices, so that stops are triggered and some orders fill. */
export async function movePrices(
  control: PaperControl,
  moves: readonly PriceMove[],
  until: (atMs: number) => Promise<void>,
): Promise<void> {
  for (const { atMs, market, price } of moves) {
    await until(atMs);
    control.setPrice(market, price);
  }
}
