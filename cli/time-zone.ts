import { formatMillisecond } from './print.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The offset of a time zone from UTC at a moment, in milliseconds.
 *
 * @param timeZone IANA name
 */
export function offsetAt(timeMs: number, timeZone: string): number {
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  formats.set(timeZone, format);
  const name = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(name) ?? [];
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -offsetMs : offsetMs;
}

/**
 * Converts a local time to a moment. When the clocks change and the local time exists twice or never, the
 * result is a moment within that hour.
 *
 * @param wallMs the local time, written as if it were UTC
 */
export function momentOf(wallMs: number, timeZone: string): number {
  const guessMs = wallMs - offsetAt(wallMs, timeZone);
  return wallMs - offsetAt(guessMs, timeZone);
}

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
