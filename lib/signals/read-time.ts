import { decimalOrUndefined, formatDecimal, parseDecimal } from '../base/decimal.ts';
import type { Field } from './fields.ts';
import type { Issues } from './issues.ts';
import { millisecondsInSecond } from './read-number.ts';
import { describe, isPlaceholder, placeholderHint, textOf } from './written-value.ts';

const isoPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;
const timeHint =
  'write "{{timenow}}", a UTC time such as 2026-01-31T12:00:00Z, or Unix seconds or milliseconds';
/** 2001-09-09 in seconds. A smaller number is not a Unix time. */
const earliestSeconds = parseDecimal('1000000000');
/** A Unix time below this is in seconds (up to the year 5138), any other in milliseconds (from 1973 on). */
const firstMilliseconds = parseDecimal('100000000000');

/** The bounds of a valid time. */
export interface TimeBounds {
  readonly nowMs: number;
  /** How far ahead the sender's clock may be. */
  readonly futureAllowanceMs: number;
}

/**
 * Reads when an alert fired.
 *
 * Accepts `yyyy-MM-ddTHH:mm:ssZ` with or without a fraction, as `{{timenow}}` gives it, and Unix times in
 * seconds or milliseconds, as Pine's `timenow` gives them.
 *
 * A time in the future is refused: such an alert would stay fresh for too long.
 *
 * @returns milliseconds since the Unix epoch, rounded down, so that an alert never counts as younger than it
 *   is
 * @see https://www.tradingview.com/support/solutions/43000531021/ the placeholders and their formats
 */
export function readTimeMs(field: Field, bounds: TimeBounds, issues: Issues): number | undefined {
  const text = textOf(field.node)?.trim();
  const timeMs = text === undefined ? undefined : (parseIso(text) ?? parseUnix(text));
  if (timeMs === undefined)
    return issues.add(
      field.path,
      `${describe(field.node)} is not a time`,
      isPlaceholder(text ?? '') ? placeholderHint : timeHint,
    );
  if (timeMs <= bounds.nowMs + bounds.futureAllowanceMs) return timeMs;
  return issues.add(
    field.path,
    `${describe(field.node)} is in the future; the relay's clock says ${new Date(bounds.nowMs).toISOString()}`,
    'send {{timenow}}, which is UTC; convert a local time to UTC first',
  );
}

function parseIso(text: string): number | undefined {
  const [, seconds, fraction = ''] = isoPattern.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  const timeMs = Date.parse(`${seconds}Z`);
  // Date.parse accepts 30 February and returns 2 March.
  if (new Date(timeMs).getUTCDate() !== Number(seconds.slice(8, 10))) return undefined;
  return timeMs + Number(fraction.padEnd(3, '0').slice(0, 3));
}

function parseUnix(text: string): number | undefined {
  const time = decimalOrUndefined(text);
  if (time === undefined || time.lt(earliestSeconds)) return undefined;
  const timeMs = time.lt(firstMilliseconds) ? time.times(millisecondsInSecond) : time;
  return Number(formatDecimal(timeMs.round(0, 0)));
}
