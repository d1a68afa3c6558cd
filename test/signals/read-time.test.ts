import { describe, expect, test } from '@jest/globals';
import { issueOf, orderSignal, orderText, readSignal } from './reading.ts';

describe('the time', () => {
  const now = { nowMs: Date.UTC(2026, 0, 31, 12, 0, 5) };
  test.each([
    ['"2026-01-31T12:00:00Z"', 1769860800000],
    ['"2026-01-31T12:00:00.5Z"', 1769860800500],
    ['"2026-01-31T12:00:00.123999999Z"', 1769860800123],
    ['"2024-02-29T00:00:00Z"', 1709164800000],
    ['1769860800', 1769860800000],
    ['"1769860800"', 1769860800000],
    ['1769860800.25', 1769860800250],
    ['1769860800.2509', 1769860800250],
    ['1769860800123', 1769860800123],
    ['"1769860800123"', 1769860800123],
    ['1.7698608E+12', 1769860800000],
    ['1000000000', 1000000000000],
  ])('%s is read to the millisecond', (time, timeMs) => {
    const body = `{${orderText.replace('"2026-01-31T12:00:00Z"', time)}}`;

    expect(readSignal(body, now)).toEqual({ ...orderSignal, timeMs });
  });

  test.each([
    '"2026-01-31 12:00:00"',
    '"2026-01-31T12:00:00"',
    '"2026-01-31T12:00:00+02:00"',
    '"2026-02-30T12:00:00Z"',
    '"2026-13-01T12:00:00Z"',
    '"2026-01-31T24:00:00Z"',
    '"2026-01-31T12:00:60Z"',
    '"now"',
    '""',
    '0',
    '999999999',
    '-1769860800',
    'null',
    'true',
  ])('%s is no time', (time) => {
    const issue = issueOf(`{${orderText.replace('"2026-01-31T12:00:00Z"', time)}}`);

    expect(issue.path).toBe('time');
    expect(issue.message).toMatch(/ is not a time$/);
    expect(issue.hint).toBe(
      'write "{{timenow}}", a UTC time such as 2026-01-31T12:00:00Z, or Unix seconds or milliseconds',
    );
  });

  test('that is an unfilled placeholder gets a hint of its own', () => {
    const issue = issueOf(`{${orderText.replace('2026-01-31T12:00:00Z', '{{timenov}}')}}`);

    expect(issue).toEqual({
      path: 'time',
      message: '"{{timenov}}" is not a time',
      hint: 'TradingView did not fill the placeholder: check its spelling; alert() fills no placeholders, and {{strategy.…}} needs a strategy alert',
    });
  });

  test.each([
    ['time', '"time":"2026-01-31T11:45:00Z","timenow":"2026-01-31T12:00:00Z"'],
    ['time', '"timenow":"2026-01-31T12:00:00Z","time":"2026-01-31T11:45:00Z"'],
    ['timestamp', '"timestamp":1769859900,"timenow":1769860800'],
  ])('is when the alert was sent, and %s beside it is that of a bar: %s', (name, times) => {
    const { info, ...signal } = readSignal(`{${orderText.replace('"time":"2026-01-31T12:00:00Z"', times)}}`);

    expect(signal).toEqual(orderSignal);
    expect(info).toEqual({ [name]: expect.stringMatching(/^(?:2026-01-31T11:45:00Z|1769859900)$/) });
  });

  test('that was not filled is refused as `timenow`, whatever the time of the bar says', () => {
    const times = '"time":"2026-01-31T12:00:00Z","timenow":"{{timenov}}"';

    expect(issueOf(`{${orderText.replace('"time":"2026-01-31T12:00:00Z"', times)}}`).path).toBe('timenow');
  });

  test.each(['{}', '["2026-01-31T11:45:00Z"]'])('beside it may not be %s', (time) => {
    const times = `"time":${time},"timenow":"2026-01-31T12:00:00Z"`;

    expect(issueOf(`{${orderText.replace('"time":"2026-01-31T12:00:00Z"', times)}}`).path).toBe('time');
  });

  test('may run ahead by the allowance, and not by a millisecond more', () => {
    const nowMs = Date.UTC(2026, 0, 31, 11, 59, 55);

    expect(readSignal(`{${orderText}}`, { nowMs })).toEqual(orderSignal);
    expect(issueOf(`{${orderText}}`, { nowMs: nowMs - 1 })).toEqual({
      path: 'time',
      message: '"2026-01-31T12:00:00Z" is in the future; the relay\'s clock says 2026-01-31T11:59:54.999Z',
      hint: 'send {{timenow}}, which is UTC; convert a local time to UTC first',
    });
  });

  test.each(['1e15', '1e40', '17698608000000000'])('%s, in too small a unit, is in the future', (time) => {
    const issue = issueOf(`{${orderText.replace('"2026-01-31T12:00:00Z"', time)}}`);

    expect(issue.message).toContain('is in the future');
  });

  test('may be any time in the past: age is checked elsewhere', () => {
    const body = `{${orderText.replace('2026-01-31', '2020-01-31')}}`;

    expect(readSignal(body)).toEqual({ ...orderSignal, timeMs: 1580472000000 });
  });
});
