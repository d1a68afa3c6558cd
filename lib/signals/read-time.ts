import { formatDecimal, isDecimalText, parseDecimal } from '../base/decimal.ts';
import type { Field } from './fields.ts';
import type { Issues } from './issues.ts';
import { describe, isPlaceholder, placeholderHint, textOf } from './written-value.ts';

const isoPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;
const timeHint =
  'write "{{timenow}}", a UTC time such as 2026-01-31T12:00:00Z, or Unix seconds or milliseconds';
/** 2001-09-09 in seconds; no alert is older. */
const earliestSeconds = parseDecimal('1000000000');
/** Below it a Unix time counts seconds (until the year 5138), from it on milliseconds (since 1973). */
const firstMilliseconds = parseDecimal('100000000000');
const millisecondsInSecond = parseDecimal('1000');

/** What a time is held against. */
export interface TimeBounds {
  readonly nowMs: number;
  /** How far ahead the sender's clock may be. */
  readonly futureAllowanceMs: number;
}

/**
 * When an alert fired.
 *
 * Takes `yyyy-MM-ddTHH:mm:ssZ` with or without a fraction, as `{{timenow}}` gives it, and Unix times in seconds or
 * milliseconds, as Pine's `timenow` gives them.
 *
 * A time to come is refused, for it would not grow stale.
 *
 * @returns milliseconds since the Unix epoch; fractions of one are cut, so that an alert is never taken for younger
 * @see https://www.tradingview.com/support/solutions/43000531021/ the placeholders and their formats
 */
export function readTimeMs(field: Field, bounds: TimeBounds, faults: Issues): number | undefined {
  const text = textOf(field.node)?.trim();
  const timeMs = text === undefined ? undefined : (parseIso(text) ?? parseUnix(text));
  if (timeMs === undefined)
    return faults.add(
      field.path,
      `${describe(field.node)} is not a time`,
      isPlaceholder(text ?? '') ? placeholderHint : timeHint,
    );
  if (timeMs <= bounds.nowMs + bounds.futureAllowanceMs) return timeMs;
  return faults.add(
    field.path,
    `${describe(field.node)} lies in the future; the relay's clock says ${new Date(bounds.nowMs).toISOString()}`,
    'send {{timenow}}, which is UTC; turn a local time into UTC first',
  );
}

function parseIso(text: string): number | undefined {
  const [, seconds, fraction = ''] = isoPattern.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  const timeMs = Date.parse(`${seconds}Z`);
  // 30 February would quietly become 2 March.
  if (Number.isNaN(timeMs) || !new Date(timeMs).toISOString().startsWith(seconds)) return undefined;
  return timeMs + Number(fraction.padEnd(3, '0').slice(0, 3));
}

function parseUnix(text: string): number | undefined {
  if (!isDecimalText(text)) return undefined;
  const time = parseDecimal(text);
  if (time.lt(earliestSeconds)) return undefined;
  const timeMs = time.lt(firstMilliseconds) ? time.times(millisecondsInSecond) : time;
  return Number(formatDecimal(timeMs.round(0, 0)));
}
