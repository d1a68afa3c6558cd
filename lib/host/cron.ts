/**
 * The six fields of a valid cron expression; days of the week count from 1 for Sunday.
 *
 * @see DECISIONS 62
 */
export interface Cron {
  readonly minutes: string;
  readonly hours: string;
  /** `?` when `daysOfWeek` is given, and the other way round. */
  readonly daysOfMonth: string;
  readonly months: string;
  readonly daysOfWeek: string;
  readonly years: string;
}

interface FieldRule {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names for the numbers; the first one stands for `least`. */
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
 * Parses a cron expression of EventBridge Scheduler. It accepts the syntax for which a local run computes the
 * same times: numbers, names, `*`, `?`, lists, ranges, steps, and `L` for the last day of a month.
 *
 * Names become numbers and `5/15` becomes `5-59/15`, so that the result has one meaning only.
 *
 * @param text for example `cron(0 * * * ? *)`
 * @throws RangeError whose message says what is invalid
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
    throw new RangeError('must have ? either as day of the month or as day of the week, not as both');
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
  if (/^\d*[LW]+$|#/i.test(part)) throw refuse(rule, part, 'L, W and # are not supported here');
  if (from === '' || (from === '*' && (to !== undefined || step === undefined)))
    throw refuse(rule, part, 'it is no number, range or step');
  const first = from === '*' ? rule.least : parseNumber(rule, part, from);
  const last = to === undefined ? rule.most : parseNumber(rule, part, to);
  if (last < first) throw refuse(rule, part, 'the end of the range is below its start');
  if (step === undefined) return to === undefined ? String(first) : `${first}-${last}`;
  if (Number(step) < 1 || Number(step) > rule.most)
    throw refuse(rule, part, `the step must be 1 to ${rule.most}`);
  return `${first}-${last}/${Number(step)}`;
}

function parseNumber(rule: FieldRule, part: string, text: string): number {
  const word = rule.words?.indexOf(text.toUpperCase()) ?? -1;
  const value = word >= 0 ? word + rule.least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rule.least && value <= rule.most) return value;
  throw refuse(rule, part, `the value must be ${rule.least} to ${rule.most}`);
}

function refuse({ name }: FieldRule, part: string, reason: string): RangeError {
  return new RangeError(`has "${part}" as ${name}: ${reason}`);
}

/**
 * Whether both this machine and AWS accept the time zone: it must be a name of the tz database. Node also
 * accepts an offset such as `+02:00`, but AWS does not.
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
