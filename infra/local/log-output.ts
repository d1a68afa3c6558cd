import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import { readJson } from '../../lib/base/json.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import { appendToLogFile } from './log-file.ts';

type Colour = Parameters<typeof styleText>[0];
const colours: Readonly<Record<string, Colour>> = { INFO: 'dim', WARN: 'yellow', ERROR: 'red' };

/** Together with the file before it, this is all the room the log takes; strangers can make it grow. */
const defaultMaximumFileBytes = 10 * 1024 * 1024;

/**
 * Keeps every log line in a file, and shows it to whoever watches in a shape for people.
 *
 * The terminal is told first and whatever becomes of the file. Lines that the file cannot take are missing there and
 * nowhere kept; the terminal is told once that it is so, the file how many are missing, as soon as it takes lines again.
 *
 * @param terminal null when nobody watches
 */
export function createLogOutput(
  logPath: string,
  terminal: NodeJS.WritableStream | null,
  options: { readonly maximumFileBytes?: number; readonly clock?: Clock } = {},
): Writable {
  const { maximumFileBytes = defaultMaximumFileBytes, clock = systemClock } = options;
  let gap: Gap | null = null;
  // The reader of a pipe may leave at any time.
  terminal?.on('error', () => undefined);

  function show(text: string): void {
    if (terminal === null) return;
    for (const line of text.split('\n'))
      if (line !== '' && !isRoutine(line)) terminal.write(`${describeLine(line)}\n`);
  }

  function keep(text: string): void {
    const report = gap === null ? '' : describeGap(gap, clock);
    try {
      appendToLogFile(logPath, report + text, maximumFileBytes);
      gap = null;
      show(report);
    } catch (error) {
      // Told once: whoever watches for alarms should see those.
      if (gap === null) show(describeBeginning(describeError(error), logPath, clock));
      gap = { reason: describeError(error), lines: (gap?.lines ?? 0) + 1 };
    }
  }

  return new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      show(chunk);
      keep(chunk);
      done();
    },
  });
}

/** While the file cannot be written. */
interface Gap {
  /** Why the newest line was not. */
  readonly reason: string;
  readonly lines: number;
}

function describeBeginning(reason: string, logPath: string, clock: Clock): string {
  const message = `the log file ${logPath} cannot be written; each further line tries again`;
  return createLine(clock, 'ERROR', message, { reason });
}

function describeGap({ reason, lines }: Gap, clock: Clock): string {
  const message = `the log file could not be written; ${lines} lines are missing before this one`;
  return createLine(clock, 'WARN', message, { reason });
}

function createLine(clock: Clock, level: string, message: string, facts: LogFacts): string {
  const timestamp = new Date(clock.nowMs()).toISOString();
  return `${JSON.stringify({ level, message, timestamp, ...facts })}\n`;
}

/** That a run of the clock went well is for the file: once a minute it would bury what somebody watches for. */
function isRoutine(line: string): boolean {
  return line.includes('"message":"scheduled run done"');
}

/** `08:31:45.120  signal placed  main h-1f… BTC_USDT  buy 0.01 …` */
export function describeLine(line: string): string {
  const fields = readFields(line);
  if (fields === null) return line;
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  const time = text('timestamp').slice(11, 23);
  const level = text('level');
  const subject = ['schedule', 'account', 'signalId', 'market', 'group']
    .map(text)
    .filter((word) => word !== '');
  const detail = ['code', 'note', 'reason'].map(text).filter((word) => word !== '');
  return [
    styleText('dim', time),
    styleText(colours[level] ?? 'reset', text('message')),
    subject.join(' '),
    detail.join(': '),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

/** Null for what is no line of the log: a library may write to it as well. */
function readFields(line: string): Readonly<Record<string, unknown>> | null {
  const fields = readJson(line);
  return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : null;
}
