import { describe, expect, test } from '@jest/globals';
import { createLane, nonceFields, nonceSequenceOf } from '../../lib/exchange/nonce.ts';
import { createManualClock } from '../support/manual-clock.ts';

const startMs = 1_594_297_865_000;

describe('nonces', () => {
  test('are the time, and one more than the last within the same millisecond', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');

    const first = [nonces.next('window'), nonces.next('window'), nonces.next('window')];
    clock.advance(10);

    expect([...first, nonces.next('window')]).toEqual([
      1_594_297_865_000, 1_594_297_865_001, 1_594_297_865_002, 1_594_297_865_010,
    ]);
  });

  test('are drawn from one sequence by all clients of a key', () => {
    const clock = createManualClock(startMs);

    const drawn = [
      nonceSequenceOf(clock, 'key-1').next('increasing'),
      nonceSequenceOf(clock, 'key-1').next('increasing'),
      nonceSequenceOf(clock, 'key-2').next('increasing'),
    ];

    expect(drawn).toEqual([startMs, startMs + 1, startMs]);
  });

  test('go on rising when the clock is set back by a little', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');
    nonces.next('window');

    clock.advance(-4000);

    expect(nonces.next('window')).toBe(startMs + 1);
  });

  test('follow a clock that was set back beyond the window, where order does not matter', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');
    nonces.next('window');

    clock.advance(-60_000);

    expect(nonces.next('window')).toBe(startMs - 60_000);
  });

  test('never fall where they must increase', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');
    nonces.next('increasing');

    clock.advance(-60_000);

    expect(nonces.next('increasing')).toBe(startMs + 1);
  });

  test('a burst that runs ahead of the clock repeats none', () => {
    const nonces = nonceSequenceOf(createManualClock(startMs), 'key-1');

    const drawn = Array.from({ length: 12_000 }, () => nonces.next('window'));

    expect(new Set(drawn).size).toBe(12_000);
  });

  test('are written as text, or as a number with its window', () => {
    expect(nonceFields('increasing', startMs)).toBe('"nonce":"1594297865000"');
    expect(nonceFields('window', startMs)).toBe('"nonce":1594297865000,"nonceWindow":true');
  });
});

describe('a lane', () => {
  test('lets one through at a time, in the order they came', async () => {
    const lane = createLane();
    const order: string[] = [];
    await lane.enter(10_000);
    const second = lane.enter(10_000).then(() => order.push('second'));
    const third = lane.enter(10_000).then(() => order.push('third'));

    order.push('first');
    lane.leave();
    await second;
    lane.leave();
    await third;

    expect(order).toEqual(['first', 'second', 'third']);
  });

  test('turns a caller away whose time ran out, and keeps no place for it', async () => {
    const lane = createLane();
    await lane.enter(10_000);

    const tooLate = await lane.enter(1);
    lane.leave();
    const next = await lane.enter(10_000);

    expect([tooLate, next]).toEqual([false, true]);
  });
});
