import { formatMillisecond } from './print.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * How far the clocks of a time zone are ahead of UTC at a moment.
 *
 * @param timeZone its IANA name
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
 * The moment at which the clocks of a time zone show a time. On the night on which they are changed, when they show a
 * time twice or never, it is one within that hour.
 *
 * @param wallMs what they show, as if it were UTC
 */
export function momentOf(wallMs: number, timeZone: string): number {
  const guessMs = wallMs - offsetAt(wallMs, timeZone);
  return wallMs - offsetAt(guessMs, timeZone);
}

export function isUtc(timeZone: string): boolean {
  return /^(Etc\/)?(UTC|GMT|Zulu|Universal|UCT)$/.test(timeZone);
}

/** `2026-11-21 09:32:19.123`, as the clocks of the time zone show it. */
export function formatLocal(timeMs: number, timeZone: string): string {
  return formatMillisecond(timeMs + offsetAt(timeMs, timeZone));
}

/** `UTC`, or what the clocks of the time zone show beyond it at that moment: `+01:00`. */
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
