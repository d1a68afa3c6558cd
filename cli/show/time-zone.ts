import { offsetAt } from '../../lib/base/time-zone.ts';
import { formatMillisecond } from './print.ts';

export function isUtc(timeZone: string): boolean {
  return /^(Etc\/)?(UTC|GMT|Zulu|Universal|UCT)$/.test(timeZone);
}

/** `2026-11-21 09:32:19.123`, in the time zone. */
export function formatLocal(timeMs: number, timeZone: string): string {
  return formatMillisecond(timeMs + offsetAt(timeMs, timeZone));
}

/** `UTC`, or the offset of the time zone at that moment: `+01:00`. */
export function nameOffset(timeMs: number, timeZone: string): string {
  if (isUtc(timeZone)) return 'UTC';
  const offsetMs = offsetAt(timeMs, timeZone);
  const text = new Date(Math.abs(offsetMs)).toISOString().slice(11, 16);
  return `${offsetMs < 0 ? '-' : '+'}${text}`;
}

/** `2026-11-21 09:32:19 +01:00`: for sentences. */
export function describeTime(timeMs: number, timeZone: string): string {
  return `${formatLocal(timeMs, timeZone).slice(0, -4)} ${nameOffset(timeMs, timeZone)}`;
}
