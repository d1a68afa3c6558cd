import { describe, expect, test } from '@jest/globals';
import { createRateBudgets } from '../../lib/exchange/rate-limit.ts';
import { createManualClock } from '../support/manual-clock.ts';

const address = 'https://exchange.test';
const threePer10s = { name: 'three', requestsPer10s: 3 };

describe('a rate budget', () => {
  test('admits its number of requests and then returns how long to wait', () => {
    const clock = createManualClock(1000);
    const budget = createRateBudgets(clock).of(address, threePer10s);

    const taken = [budget.take(), budget.take(), budget.take(), budget.take()];

    expect(taken).toEqual([0, 0, 0, 10_001]);
  });

  test('slides: each request frees its place ten seconds after it was made', () => {
    const clock = createManualClock(1000);
    const budget = createRateBudgets(clock).of(address, threePer10s);
    budget.take();
    clock.advance(4000);
    budget.take();
    budget.take();

    clock.advance(6000);
    const atTenSeconds = budget.take();
    clock.advance(1);
    const justAfter = [budget.take(), budget.take()];

    expect(atTenSeconds).toBe(1);
    expect(justAfter).toEqual([0, 4000]);
  });

  test('never admits more than its number of requests in any window, whatever the times of the calls', () => {
    const clock = createManualClock(0);
    const budget = createRateBudgets(clock).of(address, threePer10s);
    const takenAtMs: number[] = [];

    for (let step = 0; step < 400; step += 1) {
      if (budget.take() === 0) takenAtMs.push(clock.nowMs());
      clock.advance((step * 37) % 911);
    }

    const spans = takenAtMs.slice(3).map((atMs, index) => atMs - (takenAtMs[index] ?? 0));
    expect(spans.length).toBeGreaterThan(20);
    expect(Math.min(...spans)).toBeGreaterThan(10_000);
  });

  test('is shared by all clients of one address and not across addresses', () => {
    const budgets = createRateBudgets(createManualClock(1000));
    for (let count = 0; count < 3; count += 1) budgets.of(address, threePer10s).take();

    const waits = [
      budgets.of(address, threePer10s).take(),
      budgets.of('https://other.test', threePer10s).take(),
      budgets.of(address, { name: 'other', requestsPer10s: 3 }).take(),
    ];

    expect(waits).toEqual([10_001, 0, 0]);
  });

  test('does not block for an hour when the clock is set back by an hour', () => {
    const clock = createManualClock(7_200_000);
    const budget = createRateBudgets(clock).of(address, threePer10s);
    for (let count = 0; count < 3; count += 1) budget.take();

    clock.advance(-3_600_000);

    expect(budget.take()).toBe(0);
  });
});
