import { type Command, InvalidArgumentError } from 'commander';
import type { Period } from '../lib/snapshots/snapshot-store.ts';
import { createUsageFailure } from './failure.ts';
import { formatMinute } from './print.ts';
import { momentOf } from './time-zone.ts';

/** A time on the command line is a stretch: a date is its whole day, anything finer one millisecond. */
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

/** A time on the command line that goes by the clocks of the terminal, unless a Z says that it is in UTC. */
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
  return { ...readTime(text), isUtc: text.endsWith('Z') };
}

/** The same range as moments. */
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
 * The range that was asked for, which never reaches beyond now.
 *
 * @param findStart where a range that ends then begins when nobody says it
 * @throws CommandFailure (usage) when it would be empty
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
    `the range begins at ${formatMinute(fromMs)} UTC and ends before, at ${formatMinute(untilMs)} UTC`,
    'Give --from a time before --to, and before now.',
  );
}

/** `2026-11-01 00:00 to 2026-11-21 11:45 UTC`; one time where both ends are of the same minute. */
export function describeRange({ fromMs, untilMs }: Period): string {
  const [start, end] = [formatMinute(fromMs), formatMinute(untilMs - 1)];
  return start === end ? `${start} UTC` : `${start} to ${end} UTC`;
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export function startOfDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}

/** Years of four digits: what is sorted and padded elsewhere as text stays so. */
const timePattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?Z?)?$/;

/** @throws InvalidArgumentError when the text is no date or time, or one that does not exist */
export function readTime(text: string): Period {
  const [, date, minutes, seconds = ':00'] = timePattern.exec(text) ?? [];
  const written = `${date}T${minutes ?? '00:00'}${seconds}.000Z`;
  const fromMs = Date.parse(written);
  // The 30th of February would be read as the 2nd of March.
  if (Number.isNaN(fromMs) || new Date(fromMs).toISOString() !== written)
    throw new InvalidArgumentError(
      'It must be a date or a time in UTC, like 2026-11-01 or 2026-11-01T08:30.',
    );
  return { fromMs, untilMs: fromMs + (minutes === undefined ? dayMs : 1) };
}

const unitMs: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };

/** @throws InvalidArgumentError when the text is no length of time */
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
/** About as many as a screen shows. */
const comfortableRows = 40;
/** More than anybody reads; whoever computes with them exports them. */
const maximumRows = 5_000;

/** The step that makes about thirty rows of a range. */
export function chooseStep({ fromMs, untilMs }: Period): number {
  return steps.find((step) => (untilMs - fromMs) / step <= comfortableRows) ?? longestStepMs;
}

/**
 * The times from the start of the range on, a step apart, and its last one.
 *
 * @throws CommandFailure (usage) when they are too many
 */
export function listTimes({ fromMs, untilMs }: Period, stepMs: number): readonly number[] {
  const count = Math.ceil((untilMs - fromMs) / stepMs);
  if (count > maximumRows)
    throw createUsageFailure(
      `that would be ${count} rows, and ${maximumRows} are the most`,
      'Give a longer --every or a shorter range, or take everything with `export balances`.',
    );
  return [...Array.from({ length: count }, (_, index) => fromMs + index * stepMs), untilMs - 1];
}
