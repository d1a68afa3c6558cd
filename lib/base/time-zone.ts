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

export const dayMs = 86_400_000;

/**
 * The last midnight of the time zone, at or before the moment; on a day whose midnight the clocks skip, the moment at which
 * they do.
 */
export function startOfDayAt(timeMs: number, timeZone: string): number {
  const wallMs = timeMs + offsetAt(timeMs, timeZone);
  const midnightMs = wallMs - (((wallMs % dayMs) + dayMs) % dayMs);
  const startMs = momentOf(midnightMs, timeZone);
  // A time that does not exist leads to a moment before the change, which is still the day before.
  return startMs + Math.max(0, midnightMs - startMs - offsetAt(startMs, timeZone));
}
