import { describe, expect, test } from '@jest/globals';
import { isTimeZone, parseCron } from '../../lib/host/cron.ts';

describe('a cron expression', () => {
  test.each([
    ['cron(0 * * * ? *)', ['0', '*', '*', '*', '?', '*']],
    ['cron(0/15 8-17 ? * MON-FRI *)', ['0-59/15', '8-17', '?', '*', '2-6', '*']],
    ['cron(*/5 1,13 1,15 JAN,jul ? 2026-2030)', ['0-59/5', '1,13', '1,15', '1,7', '?', '2026-2030']],
    ['cron( 05  00  L  *  ?  * )', ['5', '0', 'L', '*', '?', '*']],
    ['cron(0 9-17/2 ? * 1,SAT 2026/2)', ['0', '9-17/2', '?', '*', '1,7', '2026-2199/2']],
  ])('is accepted: %s', (text, fields) => {
    expect(Object.values(parseCron(text))).toEqual(fields);
  });

  test.each([
    ['0 * * * ? *', 'must be cron(minutes hours day-of-month month day-of-week year)'],
    ['rate(1 hour)', 'must be cron('],
    ['cron(0 * * * ?)', 'must be cron('],
    ['cron(0 0 * * * ? *)', 'must be cron('],
    ['cron(0 0 * * * *)', 'must have ? either as day of the month or as day of the week, not as both'],
    ['cron(0 0 ? * ? *)', 'not as both'],
    ['cron(60 * * * ? *)', 'has "60" as minutes: the value must be 0 to 59'],
    ['cron(0 24 * * ? *)', 'has "24" as hours: the value must be 0 to 23'],
    ['cron(0 0 0 * ? *)', 'has "0" as day of the month: the value must be 1 to 31'],
    ['cron(0 0 * 13 ? *)', 'has "13" as month: the value must be 1 to 12'],
    ['cron(0 0 ? * 0 *)', 'has "0" as day of the week: the value must be 1 to 7'],
    ['cron(0 0 * * ? 1969)', 'has "1969" as year: the value must be 1970 to 2199'],
    ['cron(? * * * ? *)', 'has "?" as minutes'],
    ['cron(0 0 15W * ? *)', 'has "15W" as day of the month: L, W and # are not supported here'],
    ['cron(0 0 LW * ? *)', 'L, W and # are not supported here'],
    ['cron(0 0 ? * 6L *)', 'has "6L" as day of the week: L, W and # are not supported here'],
    ['cron(0 0 ? * L *)', 'L, W and # are not supported here'],
    ['cron(0 0 ? * 3#2 *)', 'L, W and # are not supported here'],
    ['cron(0 17-9 * * ? *)', 'has "17-9" as hours: the end of the range is below its start'],
    ['cron(0 0 ? * FRI-MON *)', 'the end of the range is below its start'],
    ['cron(*/0 * * * ? *)', 'has "*/0" as minutes: the step must be 1 to 59'],
    ['cron(0/60 * * * ? *)', 'the step must be 1 to 59'],
    ['cron(*,5 * * * ? *)', 'has "*" as minutes: it is no number, range or step'],
    ['cron(*-5 * * * ? *)', 'it is no number, range or step'],
    ['cron(1, * * * ? *)', 'has "" as minutes'],
    ['cron(1.5 * * * ? *)', 'it is no number'],
    ['cron(MON * * * ? *)', 'has "MON" as minutes: the value must be 0 to 59'],
    ['cron(0 0 ? * MONDAY *)', 'has "MONDAY" as day of the week'],
  ])('is refused with the reason: %s', (text, reason) => {
    expect(() => parseCron(text)).toThrow(RangeError);
    expect(() => parseCron(text)).toThrow(reason);
  });
});

test.each([
  ['Etc/UTC', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Europe/Kyiv', true],
  ['Europe/Nowhere', false],
  ['+02:00', false],
  ['', false],
])('whether %s is a time zone: %s', (name, isOne) => {
  expect(isTimeZone(name)).toBe(isOne);
});
