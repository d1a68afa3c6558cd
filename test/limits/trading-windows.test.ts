import { describe, expect, test } from '@jest/globals';
import { checkTradingWindow, isWindowOpen, nextOpeningMs } from '../../lib/limits/trading-windows.ts';
import type { TradingWindow } from '../../lib/model/account.ts';

const workdays: TradingWindow = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  fromMinute: 540,
  untilMinute: 1050,
};
const night: TradingWindow = { days: ['fri'], fromMinute: 1320, untilMinute: 360 };
/** 2026-11-20 is a Friday. */
const at = (text: string) => Date.parse(`2026-11-${text}Z`);
const utc = (...tradingWindows: readonly TradingWindow[]) => ({ tradingWindows, timeZone: 'Etc/UTC' });

describe('A trading window', () => {
  test.each([
    ['20T08:59:59.999', false],
    ['20T09:00:00.000', true],
    ['20T17:29:59.999', true],
    ['20T17:30:00.000', false],
    ['21T12:00:00.000', false],
  ])('of working days is at %s open: %s', (time, isOpen) => {
    expect(isWindowOpen(utc(workdays), at(time))).toBe(isOpen);
  });

  test.each([
    ['20T21:59:59.999', false],
    ['20T22:00:00.000', true],
    ['21T05:59:59.999', true],
    ['21T06:00:00.000', false],
    ['20T05:00:00.000', false],
    ['21T22:00:00.000', false],
  ])('across midnight belongs to the day on which it begins: at %s open: %s', (time, isOpen) => {
    expect(isWindowOpen(utc(night), at(time))).toBe(isOpen);
  });

  test('is read in its time zone, also after the clocks have changed', () => {
    const kyiv = { tradingWindows: [workdays], timeZone: 'Europe/Kyiv' };

    expect(isWindowOpen(kyiv, Date.parse('2026-07-01T06:00:00Z'))).toBe(true);
    expect(isWindowOpen(kyiv, Date.parse('2026-07-01T05:59:59Z'))).toBe(false);
    expect(isWindowOpen(kyiv, Date.parse('2026-12-01T06:59:59Z'))).toBe(false);
    expect(isWindowOpen(kyiv, Date.parse('2026-12-01T07:00:00Z'))).toBe(true);
  });

  test('of a whole day is open until its last moment', () => {
    const sunday = utc({ days: ['sun'], fromMinute: 0, untilMinute: 1440 });

    expect(isWindowOpen(sunday, at('22T23:59:59.999'))).toBe(true);
    expect(isWindowOpen(sunday, at('23T00:00:00.000'))).toBe(false);
  });

  test('that is closed says when the next one opens', () => {
    expect(nextOpeningMs(utc(workdays, night), at('20T17:30'))).toBe(at('20T22:00'));
    expect(nextOpeningMs(utc(night), at('20T22:00'))).toBe(at('27T22:00'));
    expect(checkTradingWindow(utc(workdays), at('20T17:30'))).toMatchObject({
      rule: 'trading_windows',
      limit: 'mon tue wed thu fri 09:00–17:30',
      actual: 'fri 17:30',
      message: expect.stringContaining('the next window opens mon 09:00'),
    });
    expect(checkTradingWindow({ tradingWindows: null, timeZone: 'Etc/UTC' }, at('21T12:00'))).toBeNull();
  });
});
