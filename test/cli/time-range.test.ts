import { describe, expect, test } from '@jest/globals';
import { chooseRange, chooseStep, hourMs, listTimes, readStep, readTime } from '../../cli/read/time-range.ts';
import { dayMs } from '../../lib/base/time-zone.ts';
import { startMs } from './stored-snapshots.ts';

describe('a time on the command line', () => {
  test.each([
    ['2024-03-01', startMs, startMs + dayMs],
    ['2024-03-01T08:30', startMs + 8.5 * hourMs, startMs + 8.5 * hourMs + 1],
    ['2024-03-01 08:30:15', startMs + 8.5 * hourMs + 15_000, startMs + 8.5 * hourMs + 15_001],
    ['2024-03-01T08:30:00Z', startMs + 8.5 * hourMs, startMs + 8.5 * hourMs + 1],
    ['2024-02-29', startMs - dayMs, startMs],
  ])('%s is a day or a moment', (text, fromMs, untilMs) => {
    expect(readTime(text)).toEqual({ fromMs, untilMs });
  });

  test.each([
    '2023-02-29',
    '2024-13-01',
    '2024-03-01T24:00',
    '2024-03-01T08',
    '2024-03-01T08:30+02:00',
    '',
    'now',
  ])('%j is not a time', (text) => {
    expect(() => readTime(text)).toThrow('It must be a date or a time in UTC');
  });
});

test.each([
  ['15m', 900_000],
  ['6h', 21_600_000],
  ['2d', 172_800_000],
  ['1w', 604_800_000],
])('a step of %s is %d ms', (text, stepMs) => {
  expect(readStep(text)).toBe(stepMs);
});

test.each(['0d', '1', 'd', '1.5h', '-1d', '1y', '10000h'])('%j is not a step', (text) => {
  expect(() => readStep(text)).toThrow('It must be a number of m, h, d or w');
});

describe('a range', () => {
  const nowMs = startMs + 10 * dayMs + 5 * hourMs;

  test('ends now and begins at the default start without options', () => {
    expect(chooseRange({}, nowMs, (untilMs) => untilMs - dayMs)).toEqual({
      fromMs: nowMs + 1 - dayMs,
      untilMs: nowMs + 1,
    });
  });

  test('does not reach beyond now', () => {
    const day = readTime('2024-03-11');

    expect(chooseRange({ from: day, to: day }, nowMs, () => 0)).toEqual({
      fromMs: startMs + 10 * dayMs,
      untilMs: nowMs + 1,
    });
  });

  test.each([
    [hourMs, 5 * 60_000],
    [dayMs, hourMs],
    [30 * dayMs, dayMs],
    [365 * dayMs, 14 * dayMs],
    [5 * 365 * dayMs, 60 * dayMs],
    [50 * 365 * dayMs, 365 * dayMs],
  ])('of %d ms is divided by %d', (lengthMs, stepMs) => {
    expect(chooseStep({ fromMs: startMs, untilMs: startMs + lengthMs })).toBe(stepMs);
  });

  test('is divided from its start on, and has its last moment too', () => {
    expect(listTimes({ fromMs: startMs, untilMs: startMs + 5 * hourMs }, 2 * hourMs)).toEqual([
      startMs,
      startMs + 2 * hourMs,
      startMs + 4 * hourMs,
      startMs + 5 * hourMs - 1,
    ]);
  });
});
