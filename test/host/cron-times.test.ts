import { describe, expect, test } from '@jest/globals';
import { createNextTime } from '../../lib/host/cron-times.ts';

/** The first times after a given one, in UTC. */
function timesOf(cron: string, timeZone: string, after: string, count: number): readonly string[] {
  const nextTime = createNextTime(cron, timeZone);
  const times: string[] = [];
  for (let at = nextTime(Date.parse(after)); at !== null && times.length < count; at = nextTime(at))
    times.push(new Date(at).toISOString().slice(0, 16));
  return times;
}

describe('the times of a cron expression', () => {
  test('begin after the given time, even if that is one of them', () => {
    expect(timesOf('cron(0 * * * ? *)', 'Etc/UTC', '2026-11-21T11:59:59.999Z', 2)).toEqual([
      '2026-11-21T12:00',
      '2026-11-21T13:00',
    ]);
    expect(timesOf('cron(0 * * * ? *)', 'Etc/UTC', '2026-11-21T12:00:00Z', 1)).toEqual(['2026-11-21T13:00']);
  });

  test('count days of the week from 1 for Sunday', () => {
    // The 22nd of November 2026 is a Sunday.
    expect(timesOf('cron(0 0 ? * 1 *)', 'Etc/UTC', '2026-11-21T00:00:00Z', 2)).toEqual([
      '2026-11-22T00:00',
      '2026-11-29T00:00',
    ]);
    expect(timesOf('cron(0 0 ? * MON-TUE *)', 'Etc/UTC', '2026-11-21T00:00:00Z', 3)).toEqual([
      '2026-11-23T00:00',
      '2026-11-24T00:00',
      '2026-11-30T00:00',
    ]);
  });

  test('may be steps from a start', () => {
    expect(timesOf('cron(5/20 * * * ? *)', 'Etc/UTC', '2026-11-21T12:00:00Z', 4)).toEqual([
      '2026-11-21T12:05',
      '2026-11-21T12:25',
      '2026-11-21T12:45',
      '2026-11-21T13:05',
    ]);
  });

  test('include the last day of each month', () => {
    expect(timesOf('cron(0 0 L * ? *)', 'Etc/UTC', '2028-01-31T00:00:00Z', 3)).toEqual([
      '2028-02-29T00:00',
      '2028-03-31T00:00',
      '2028-04-30T00:00',
    ]);
  });

  test('end with the years of the expression, and may be none', () => {
    expect(timesOf('cron(0 0 1 1 ? 2027-2028)', 'Etc/UTC', '2026-11-21T00:00:00Z', 9)).toEqual([
      '2027-01-01T00:00',
      '2028-01-01T00:00',
    ]);
    expect(timesOf('cron(0 0 31 2 ? *)', 'Etc/UTC', '2026-11-21T00:00:00Z', 1)).toEqual([]);
  });

  test('are in the time zone', () => {
    expect(timesOf('cron(30 9 * * ? *)', 'Asia/Kolkata', '2026-11-21T00:00:00Z', 1)).toEqual([
      '2026-11-21T04:00',
    ]);
    expect(timesOf('cron(0 0 * * ? *)', 'America/New_York', '2026-11-21T00:00:00Z', 1)).toEqual([
      '2026-11-21T05:00',
    ]);
  });
});

describe('when clocks go forward', () => {
  test('a time that does not exist is skipped', () => {
    // In Berlin, 2:00 to 3:00 of the 29th of March 2026 does not exist.
    expect(timesOf('cron(30 2 * * ? *)', 'Europe/Berlin', '2026-03-28T00:00:00Z', 2)).toEqual([
      '2026-03-28T01:30',
      '2026-03-30T00:30',
    ]);
    expect(timesOf('cron(30 * * * ? *)', 'Europe/Berlin', '2026-03-28T23:45:00Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:30',
      '2026-03-29T02:30',
    ]);
  });

  test('a midnight may be skipped', () => {
    expect(timesOf('cron(0 0 * * ? *)', 'America/Sao_Paulo', '2018-11-03T00:00:00Z', 2)).toEqual([
      '2018-11-03T03:00',
      '2018-11-05T02:00',
    ]);
  });
});

describe('when clocks go back', () => {
  test('a time that comes twice counts once', () => {
    // In Berlin, 2:00 to 3:00 of the 25th of October 2026 comes twice.
    expect(timesOf('cron(0,30 2 * * ? *)', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-26T01:00',
    ]);
    expect(timesOf('cron(0 * * * ? *)', 'Europe/Berlin', '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T02:00',
      '2026-10-25T03:00',
    ]);
  });

  test('the same holds for half an hour, and west of Greenwich', () => {
    expect(timesOf('cron(15,45 * * * ? *)', 'Australia/Lord_Howe', '2026-04-04T14:00:00Z', 4)).toEqual([
      '2026-04-04T14:15',
      '2026-04-04T14:45',
      '2026-04-04T15:45',
      '2026-04-04T16:15',
    ]);
    expect(timesOf('cron(30 1 * * ? *)', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ]);
  });
});
