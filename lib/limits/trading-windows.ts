import { dayMs, momentOf, offsetAt } from '../base/time-zone.ts';
import { type TradingWindow, weekdays } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import { type RiskLimit, unused } from './risk-limit.ts';

interface WindowLimits {
  readonly tradingWindows: readonly TradingWindow[] | null;
  readonly timeZone: string;
}

const minuteMs = 60_000;
const minutesOfDay = 1440;

/** When orders may be sent that enlarge what is at stake. */
export const tradingWindows: RiskLimit = {
  name: 'tradingWindows',
  again: 'time',
  needs: ({ limits }) =>
    (limits?.tradingWindows ?? null) === null ? null : { holdings: false, allMarkets: false, deals: false },
  check: (_, { nowMs }, { limits }) => (limits === undefined ? null : checkTradingWindow(limits, nowMs)),
  use({ nowMs }, { limits }) {
    if (limits === undefined || limits.tradingWindows === null) return [];
    const denial = checkTradingWindow(limits, nowMs);
    const opening = nextOpeningMs(limits, nowMs);
    return [
      {
        ...unused('tradingWindows'),
        limit: `${limits.tradingWindows.map(describeWindow).join(', ')} (${limits.timeZone})`,
        used: denial === null ? 'open' : 'closed',
        left: denial === null || opening === null ? null : `opens ${new Date(opening).toISOString()}`,
        denies: denial?.message ?? null,
      },
    ];
  },
};

/** Whether a trading window of the account is open. The beginning of a window belongs to it, its end does not. */
export function isWindowOpen({ tradingWindows: windows, timeZone }: WindowLimits, nowMs: number): boolean {
  if (windows === null) return true;
  const wallMs = nowMs + offsetAt(nowMs, timeZone);
  const minute = Math.floor((wallMs % dayMs) / minuteMs);
  return windows.some((window) => {
    const { fromMinute, untilMinute } = window;
    const begins = isOnDay(window, wallMs) && minute >= fromMinute;
    if (fromMinute < untilMinute) return begins && minute < untilMinute;
    return begins || (isOnDay(window, wallMs - dayMs) && minute < untilMinute);
  });
}

/** When the next window opens; null when none is configured. */
export function nextOpeningMs(
  { tradingWindows: windows, timeZone }: WindowLimits,
  nowMs: number,
): number | null {
  const wallMs = nowMs + offsetAt(nowMs, timeZone);
  const midnightMs = wallMs - (wallMs % dayMs);
  const openings = (windows ?? []).flatMap((window) =>
    // A window that opened today opens again in a week.
    Array.from({ length: 8 }, (_, days) => midnightMs + days * dayMs)
      .filter((day) => isOnDay(window, day))
      .map((day) => momentOf(day + window.fromMinute * minuteMs, timeZone))
      .filter((openingMs) => openingMs > nowMs),
  );
  return openings.length === 0 ? null : Math.min(...openings);
}

/** Denies an order outside the account's trading windows. */
export function checkTradingWindow(limits: WindowLimits, nowMs: number): Denial | null {
  if (isWindowOpen(limits, nowMs)) return null;
  const { tradingWindows: windows, timeZone } = limits;
  const limit = (windows ?? []).map(describeWindow).join(', ');
  const actual = describeWall(nowMs, timeZone);
  const opening = nextOpeningMs(limits, nowMs);
  const next = opening === null ? '' : `; the next window opens ${describeWall(opening, timeZone)}`;
  return {
    rule: 'trading_windows',
    limit,
    actual,
    message: `it is ${actual} (${timeZone}), outside the account's trading windows (${limit})${next}; orders that only reduce a position are sent at any time; change tradingWindows in relay.config.ts if it should trade now`,
  };
}

/** `mon tue 22:00–06:00` */
function describeWindow({ days, fromMinute, untilMinute }: TradingWindow): string {
  const named = days.length === weekdays.length ? 'every day' : days.join(' ');
  return `${named} ${timeText(fromMinute)}–${timeText(untilMinute)}`;
}

function timeText(minute: number): string {
  const hours = minute === minutesOfDay ? 24 : Math.floor(minute / 60);
  return `${String(hours).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

/** `sun 14:05` */
function describeWall(timeMs: number, timeZone: string): string {
  const wall = new Date(timeMs + offsetAt(timeMs, timeZone));
  return `${weekdays[wall.getUTCDay()]} ${wall.toISOString().slice(11, 16)}`;
}

function isOnDay({ days }: TradingWindow, wallMs: number): boolean {
  const day = weekdays[new Date(wallMs).getUTCDay()];
  return day !== undefined && days.includes(day);
}
