import { type Command, InvalidArgumentError } from 'commander';
import { dayMs, momentOf } from '../../lib/base/time-zone.ts';
import type { Period } from '../../lib/snapshots/snapshot-store.ts';
import { createUsageFailure } from '../failure.ts';
import { formatMinute } from '../show/print.ts';

/**
 * Each time of the command line is a period: a date is the whole day, a more precise time is one millisecond.
 */
export interface RangeOptions {
  readonly from?: Period;
  readonly to?: Period;
}

/** Gives a command `--from` and `--to`. */
export function addRangeOptions(command: Command, defaultStart: string): Command {
  return command
    .option(
      '--from <time>',
      `a date or time in UTC, like 2026-11-01 or 2026-11-01T08:30 (default: ${defaultStart})`,
      readTime,
    )
    .option('--to <time>', 'up to and with that time, or all of that day (default: now)', readTime);
}

/** A time of the command line in the terminal's time zone, or in UTC if it ends with Z. */
export interface LocalTime extends Period {
  readonly isUtc: boolean;
}

export interface LocalRangeOptions {
  readonly from?: LocalTime;
  readonly to?: LocalTime;
}

/** Gives a command `--from` and `--to` of the terminal's time zone. */
export function addLocalRangeOptions(command: Command): Command {
  return command
    .option(
      '--from <time>',
      'a date or time in your time zone, like 2026-11-01 or 2026-11-01T08:30; with a Z in UTC',
      readLocalTime,
    )
    .option('--to <time>', 'up to and with that time, or all of that day', readLocalTime);
}

function readLocalTime(text: string): LocalTime {
  return { ...readPeriod(text, 'your time zone, or with a Z at its end in UTC'), isUtc: text.endsWith('Z') };
}

/** Converts local times to UTC. */
export function placeRange({ from, to }: LocalRangeOptions, timeZone: string): RangeOptions {
  return {
    ...(from === undefined ? {} : { from: placeTime(from, timeZone) }),
    ...(to === undefined ? {} : { to: placeTime(to, timeZone) }),
  };
}

function placeTime({ fromMs, untilMs, isUtc }: LocalTime, timeZone: string): Period {
  if (isUtc) return { fromMs, untilMs };
  return { fromMs: momentOf(fromMs, timeZone), untilMs: momentOf(untilMs, timeZone) };
}

/**
 * The requested range, which never ends after now.
 *
 * @param findStart the default start of a range with the given end
 * @throws CommandFailure (usage) when the range would be empty
 */
export function chooseRange(
  { from, to }: RangeOptions,
  nowMs: number,
  findStart: (untilMs: number) => number,
): Period {
  const untilMs = Math.min(to?.untilMs ?? Number.POSITIVE_INFINITY, nowMs + 1);
  const fromMs = from?.fromMs ?? findStart(untilMs);
  if (fromMs < untilMs) return { fromMs, untilMs };
  throw createUsageFailure(
    `the range begins at ${formatMinute(fromMs)} UTC, after its end at ${formatMinute(untilMs)} UTC`,
    'Choose a --from that is before --to, and before now.',
  );
}

/** `2026-11-01 00:00 to 2026-11-21 11:45 UTC`; one time if both ends are in the same minute. */
export function describeRange({ fromMs, untilMs }: Period): string {
  const [start, end] = [formatMinute(fromMs), formatMinute(untilMs - 1)];
  return start === end ? `${start} UTC` : `${start} to ${end} UTC`;
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

export function startOfDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}

/** Years have four digits, because times are sorted and padded as text elsewhere. */
const timePattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?Z?)?$/;

/** @throws InvalidArgumentError when the text is not an existing date or time */
export function readTime(text: string): Period {
  return readPeriod(text, 'UTC');
}

/**
 * @param zone in which the command reads its times, for the message
 * @throws InvalidArgumentError when the text is not an existing date or time
 */
function readPeriod(text: string, zone: string): Period {
  const [, date, minutes, seconds = ':00'] = timePattern.exec(text) ?? [];
  const written = `${date}T${minutes ?? '00:00'}${seconds}.000Z`;
  const fromMs = Date.parse(written);
  // Date.parse accepts 30 February and returns 2 March.
  if (Number.isNaN(fromMs) || new Date(fromMs).toISOString() !== written)
    throw new InvalidArgumentError(
      `It must be a date or a time in ${zone}, like 2026-11-01 or 2026-11-01T08:30.`,
    );
  return { fromMs, untilMs: fromMs + (minutes === undefined ? dayMs : 1) };
}

const unitMs: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };

/** @throws InvalidArgumentError when the text is not a duration */
export function readStep(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([mhdw])$/.exec(text) ?? [];
  const length = unitMs[unit];
  if (length === undefined)
    throw new InvalidArgumentError('It must be a number of m, h, d or w, like 15m, 6h or 1d.');
  return Number(count) * length;
}

const steps = [
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
  dayMs,
  ...[2, 7, 14, 30, 60, 90, 180].map((days) => days * dayMs),
];
const longestStepMs = 365 * dayMs;
/** About as many rows as a screen shows. */
const comfortableRows = 40;
/** For more rows there is `export`. */
const maximumRows = 5_000;

/** The step that divides a range into about thirty rows. */
export function chooseStep({ fromMs, untilMs }: Period): number {
  return steps.find((step) => (untilMs - fromMs) / step <= comfortableRows) ?? longestStepMs;
}

/**
 * The times of a range: from its start, one step apart, and its last time.
 *
 * @throws CommandFailure (usage) when there are too many
 */
export function listTimes({ fromMs, untilMs }: Period, stepMs: number): readonly number[] {
  const count = Math.ceil((untilMs - fromMs) / stepMs);
  if (count > maximumRows)
    throw createUsageFailure(
      `that would be ${count} rows, and at most ${maximumRows} are allowed`,
      'Choose a longer --every or a shorter range, or use `export balances` for all snapshots.',
    );
  return [...Array.from({ length: count }, (_, index) => fromMs + index * stepMs), untilMs - 1];
}
