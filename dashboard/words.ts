import type { Status } from '../lib/model/outcome.ts';
import type { AccountAbout } from './documents.ts';

/** How urgent a status is; its colour follows. */
export type Tone = 'good' | 'bad' | 'waiting' | 'alarm' | 'faint';

const statusTones: Readonly<Record<Status, Tone>> = {
  accepted: 'waiting',
  sending: 'waiting',
  placed: 'good',
  cancelled: 'faint',
  satisfied: 'good',
  denied: 'bad',
  dry_run: 'faint',
  rejected: 'bad',
  not_sent: 'bad',
  unknown: 'alarm',
  not_placed: 'bad',
  invalid: 'bad',
};

/** A status that this page does not know, of a newer release or a damaged entry, is for a person to look at. */
export function toneOfStatus(status: string): Tone {
  return Object.hasOwn(statusTones, status) ? statusTones[status as Status] : 'alarm';
}

/** Whether an order of an account goes nowhere in this mode. The mode of an account that is not configured is not known. */
export function sendsNothing(mode: AccountAbout['mode'] | undefined, isPaper: boolean): boolean {
  return mode === 'dry-run' || (mode === 'paper' && !isPaper);
}

/** `14:05:09`, with the date before it unless it is today's. */
export function showTime(ms: number): string {
  const [date, now] = [new Date(ms), new Date()];
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return isSameDay(date, now) ? time : `${dayOf(date)} ${time}`;
}

/** `2026-11-24 14:05:09.123` */
export function showMoment(ms: number): string {
  const date = new Date(ms);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${dayOf(date)} ${time}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

export function dayOf(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function isSameDay(a: Date, b: Date): boolean {
  return dayOf(a) === dayOf(b);
}

function two(count: number): string {
  return String(count).padStart(2, '0');
}

/** `12 ms`, `3.4 s`, `5 min`, `2 h`, `3 d` */
export function showDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

export function showAge(ms: number | null): string {
  return ms === null ? 'never' : `${showDuration(Math.max(0, Date.now() - ms))} ago`;
}

/** The beginning of a local day, in milliseconds; undefined for a text that is no day. */
export function firstMsOfDay(day: string): number | undefined {
  const [year, month, date] = day.split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined || !/^\d{4}-\d\d-\d\d$/.test(day))
    return undefined;
  return new Date(year, month - 1, date).getTime();
}

/** The next local day, for a range that includes its last day. */
export function endMsOfDay(day: string): number | undefined {
  const start = firstMsOfDay(day);
  if (start === undefined) return undefined;
  const date = new Date(start);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}

/** A number for a table, with at most this many decimals. Only for show: nothing is worked out with the result. */
export function showNumber(text: string | null | undefined, places = 8): string {
  if (text === null || text === undefined || text === '') return '–';
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  return value.toLocaleString('en-US', { maximumFractionDigits: places }).replaceAll(',', ' ');
}
