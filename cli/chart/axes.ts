import { nice, tickStep, ticks } from 'd3-array';
import { utcTicks } from 'd3-time';
import { dayMs } from '../../lib/base/time-zone.ts';
import type { Period } from '../../lib/snapshots/snapshot-store.ts';
import type { Trace } from './trace-balances.ts';

/** A tick of an axis. */
export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** The values that a panel shows, lowest and highest, with round numbers at both ends. */
export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly Tick[];
}

/** The scale begins at zero, unless all values are in its upper half, where changes would look flat. */
export function createScale({ spans }: Trace, tickCount: number): Scale {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const span of spans.values()) {
    least = Math.min(least, span.least);
    most = Math.max(most, span.most);
  }
  const [low, high] = nice(...openBounds(least, most), tickCount);
  const format = createNumberFormat(tickStep(low, high, tickCount), Math.max(Math.abs(low), Math.abs(high)));
  return { low, high, ticks: ticks(low, high, tickCount).map((value) => ({ value, label: format(value) })) };
}

/** Adds a margin around equal values, because a scale needs a length. */
function openBounds(least: number, most: number): [number, number] {
  if (least === most) return most === 0 ? [0, 1] : most > 0 ? [0, most * 1.25] : [most * 1.25, 0];
  if (least > 0 && least < most / 2) return [0, most];
  return most < 0 && most > least / 2 ? [least, 0] : [least, most];
}

const compactFrom = 1e8;
const maximumSignificantDigits = 21;

/** Enough digits to distinguish adjacent ticks. */
function createNumberFormat(step: number, largest: number): (value: number) => string {
  const stepPlace = findPlace(step);
  const digits = Math.min(18, Math.max(0, -stepPlace));
  const significant = Math.min(maximumSignificantDigits, Math.max(1, findPlace(largest) - stepPlace + 1));
  const format = new Intl.NumberFormat(
    'en',
    largest < compactFrom
      ? { minimumFractionDigits: digits, maximumFractionDigits: digits }
      : { notation: 'compact', maximumSignificantDigits: significant },
  );
  return (value) => format.format(value);
}

/** The place of the first digit: 2 for hundreds, -1 for tenths. */
function findPlace(value: number): number {
  return Math.floor(Math.log10(value) + 1e-9);
}

/** Round times within the period, with the shortest labels that distinguish them. */
export function createTimeTicks({ fromMs, untilMs }: Period, count: number): readonly Tick[] {
  const times = utcTicks(new Date(fromMs), new Date(untilMs - 1), count);
  const hasHours = times.some((time) => time.getTime() % dayMs !== 0);
  const hasDays = times.some((time) => time.getUTCDate() !== 1);
  const hasMonths = times.some((time) => time.getUTCMonth() !== 0);
  const namings = hasHours
    ? [nameHour, nameDayAndHour, nameSecond, nameMillisecond]
    : [hasDays ? nameDay : hasMonths ? nameMonth : nameYear];
  const labels = namings.map((name) => times.map(name)).find(areDistinct) ?? times.map(nameMillisecond);
  return times.map((time, index) => ({ value: time.getTime(), label: labels[index] ?? '' }));
}

function areDistinct(labels: readonly string[]): boolean {
  return new Set(labels).size === labels.length;
}

function nameHour(time: Date): string {
  return time.getTime() % dayMs === 0 ? nameDay(time) : time.toISOString().slice(11, 16);
}

function nameDayAndHour(time: Date): string {
  return time.getTime() % dayMs === 0 ? nameDay(time) : `${nameDay(time)} ${nameHour(time)}`;
}

function nameSecond(time: Date): string {
  return time.toISOString().slice(11, 19);
}

function nameMillisecond(time: Date): string {
  return time.toISOString().slice(11, 23);
}

const monthFormat = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });

function nameDay(time: Date): string {
  return `${time.getUTCDate()} ${monthFormat.format(time)}`;
}

function nameMonth(time: Date): string {
  return `${monthFormat.format(time)} ${nameYear(time)}`;
}

function nameYear(time: Date): string {
  return String(time.getUTCFullYear());
}
