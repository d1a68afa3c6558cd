import { describe, expect, test } from '@jest/globals';
import { createRandom } from '../../lib/base/random.ts';
import { createLane, nonceFields, nonceSequenceOf } from '../../lib/exchange/nonce.ts';
import { createManualClock } from '../support/manual-clock.ts';

const startMs = 1_594_297_865_000;

describe('nonces', () => {
  test('are the current time, or one more than the last nonce within the same millisecond', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');

    const first = [nonces.next('window'), nonces.next('window'), nonces.next('window')];
    clock.advance(10);

    expect([...first, nonces.next('window')]).toEqual([
      1_594_297_865_000, 1_594_297_865_001, 1_594_297_865_002, 1_594_297_865_010,
    ]);
  });

  test('come from one sequence for all clients of a key', () => {
    const clock = createManualClock(startMs);

    const drawn = [
      nonceSequenceOf(clock, 'key-1').next('increasing'),
      nonceSequenceOf(clock, 'key-1').next('increasing'),
      nonceSequenceOf(clock, 'key-2').next('increasing'),
    ];

    expect(drawn).toEqual([startMs, startMs + 1, startMs]);
  });

  test('keep increasing when the clock is set back by less than the window', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');
    nonces.next('window');

    clock.advance(-4000);

    expect(nonces.next('window')).toBe(startMs + 1);
  });

  test('follow a clock that was set back by more than the window, where order does not matter', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');
    nonces.next('window');

    clock.advance(-60_000);

    expect(nonces.next('window')).toBe(startMs - 60_000);
  });

  test('never decrease where they must increase', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');
    nonces.next('increasing');

    clock.advance(-60_000);

    expect(nonces.next('increasing')).toBe(startMs + 1);
  });

  test('never repeat in a burst that runs ahead of the clock', () => {
    const nonces = nonceSequenceOf(createManualClock(startMs), 'key-1');

    const drawn = Array.from({ length: 12_000 }, () => nonces.next('window'));

    expect(new Set(drawn).size).toBe(12_000);
  });

  test('of creates lie ahead of every read, and apart from those of a function that started with this one', () => {
    const functions = [1, 2].map((seed) => ({
      nonces: nonceSequenceOf(createManualClock(startMs), 'key-1'),
      random: createRandom(seed),
    }));

    const [first, second] = functions.map(({ nonces, random }) => {
      const read = nonces.next('window');
      return [read, nonces.nextOfCreate('window', random), nonces.nextOfCreate('window', random)];
    });

    expect(first).toEqual([startMs, startMs + 1440, startMs + 504]);
    expect(second).toEqual([startMs, startMs + 1601, startMs + 987]);
  });

  test('of creates and reads never repeat, whatever is drawn', () => {
    const clock = createManualClock(startMs);
    const nonces = nonceSequenceOf(clock, 'key-1');

    const drawn = Array.from({ length: 3000 }, () => {
      clock.advance(1);
      return [nonces.nextOfCreate('window', () => 0), nonces.next('window')];
    }).flat();

    expect(new Set(drawn).size).toBe(6000);
  });

  test('of creates increase with the others where they must', () => {
    const nonces = nonceSequenceOf(createManualClock(startMs), 'key-1');

    expect([nonces.next('increasing'), nonces.nextOfCreate('increasing', () => 0.5)]).toEqual([
      startMs,
      startMs + 1,
    ]);
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

  test('rejects a caller whose time ran out, and removes it from the queue', async () => {
    const lane = createLane();
    await lane.enter(10_000);

    const tooLate = await lane.enter(1);
    lane.leave();
    const next = await lane.enter(10_000);

    expect([tooLate, next]).toEqual([false, true]);
  });
});
