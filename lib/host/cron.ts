/** The six fields of a cron expression, each checked; days of the week count from 1 for Sunday. */
export interface Cron {
  readonly minutes: string;
  readonly hours: string;
  /** `?` when the days of the week say it, and the other way round. */
  readonly daysOfMonth: string;
  readonly months: string;
  readonly daysOfWeek: string;
  readonly years: string;
}

interface FieldRule {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** What may stand for numbers, the first for the least. */
  readonly words?: readonly string[];
  readonly mayBeOpen?: true;
}

const monthWords = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const dayWords = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const rules: Readonly<Record<keyof Cron, FieldRule>> = {
  minutes: { name: 'minutes', least: 0, most: 59 },
  hours: { name: 'hours', least: 0, most: 23 },
  daysOfMonth: { name: 'day of the month', least: 1, most: 31, mayBeOpen: true },
  months: { name: 'month', least: 1, most: 12, words: monthWords },
  daysOfWeek: { name: 'day of the week', least: 1, most: 7, words: dayWords, mayBeOpen: true },
  years: { name: 'year', least: 1970, most: 2199 },
};

/**
 * Reads a cron expression as EventBridge Scheduler writes it, as far as a local run can follow it to the same times:
 * numbers, names, `*`, `?`, lists, ranges, steps, and `L` for the last day of a month.
 *
 * Names become numbers and `5/15` becomes `5-59/15`, so that nothing is left to be read in two ways.
 *
 * @param text for example `cron(0 * * * ? *)`
 * @throws RangeError that says what is wrong with it
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
 */
export function parseCron(text: string): Cron {
  const parts = /^cron\((.*)\)$/.exec(text)?.[1]?.trim().split(/\s+/) ?? [];
  const [minutes, hours, daysOfMonth, months, daysOfWeek, years, ...others] = parts;
  if (years === undefined || others.length > 0)
    throw new RangeError(
      'must be cron(minutes hours day-of-month month day-of-week year), for example "cron(0 * * * ? *)"',
    );
  const given = { minutes, hours, daysOfMonth, months, daysOfWeek, years } as Cron;
  if ((given.daysOfMonth === '?') === (given.daysOfWeek === '?'))
    throw new RangeError('must have ? as day of the month or as day of the week, and not as both');
  return {
    minutes: parseField(rules.minutes, given.minutes),
    hours: parseField(rules.hours, given.hours),
    daysOfMonth: given.daysOfMonth === 'L' ? 'L' : parseField(rules.daysOfMonth, given.daysOfMonth),
    months: parseField(rules.months, given.months),
    daysOfWeek: parseField(rules.daysOfWeek, given.daysOfWeek),
    years: parseField(rules.years, given.years),
  };
}

function parseField(rule: FieldRule, text: string): string {
  if (text === '*' || (text === '?' && rule.mayBeOpen === true)) return text;
  return text
    .split(',')
    .map((part) => parsePart(rule, part))
    .join(',');
}

// `3`, `MON-FRI`, `*/15`, `5/15` or `9-17/2`
function parsePart(rule: FieldRule, part: string): string {
  const [, from = '', to, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,2}))?$/.exec(part) ?? [];
  if (/^\d*[LW]+$|#/i.test(part)) throw refuse(rule, part, 'L, W and # are not taken here');
  if (from === '' || (from === '*' && (to !== undefined || step === undefined)))
    throw refuse(rule, part, 'it is not a number, a range or a step');
  const first = from === '*' ? rule.least : parseNumber(rule, part, from);
  const last = to === undefined ? rule.most : parseNumber(rule, part, to);
  if (last < first) throw refuse(rule, part, 'a range goes upward');
  if (step === undefined) return to === undefined ? String(first) : `${first}-${last}`;
  if (Number(step) < 1 || Number(step) > rule.most) throw refuse(rule, part, 'no such step');
  return `${first}-${last}/${Number(step)}`;
}

function parseNumber(rule: FieldRule, part: string, text: string): number {
  const word = rule.words?.indexOf(text.toUpperCase()) ?? -1;
  const value = word >= 0 ? word + rule.least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rule.least && value <= rule.most) return value;
  throw refuse(rule, part, `it takes ${rule.least} to ${rule.most}`);
}

function refuse({ name }: FieldRule, part: string, reason: string): RangeError {
  return new RangeError(`has "${part}" as ${name}: ${reason}`);
}

/**
 * Whether both know the time zone: a name of the tz database, for an offset like `+02:00` is one here and not on AWS.
 *
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#time-zones
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
