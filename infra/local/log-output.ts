import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import { readJson } from '../../lib/base/json.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import { appendToLogFile } from './log-file.ts';

/** The service that every line of a live run names, so that it is never taken for one of play money. */
export const liveService = 'relay-live';

type Colour = Parameters<typeof styleText>[0];
const colours: Readonly<Record<string, Colour>> = { INFO: 'dim', WARN: 'yellow', ERROR: 'red' };

/**
 * The log takes at most twice this, with the previous file. It needs a limit, because any sender can make it
 * grow.
 */
const defaultMaximumFileBytes = 10 * 1024 * 1024;

/** What waits for a terminal that is not read lies in memory. */
const mostWaitingBytes = 1024 * 1024;

/**
 * Writes every log line to a file, and shows it in a readable form in the terminal.
 *
 * The file gets each line first, whether the terminal can be written or not: a full disk behind it, or a terminal that is
 * gone or not read, is told once in the file and ends nothing. Lines that cannot be written to the file are not kept elsewhere. The
 * terminal is notified once when that begins. When the file can be written again, a line in it says how many are missing.
 *
 * @param terminal null: lines are only written to the file
 */
export function createLogOutput(
  logPath: string,
  terminal: (NodeJS.WritableStream & { readonly writableLength?: number }) | null,
  options: { readonly maximumFileBytes?: number; readonly clock?: Clock } = {},
): Writable {
  const { maximumFileBytes = defaultMaximumFileBytes, clock = systemClock } = options;
  let gap: Gap | null = null;
  let isTerminalLost = false;
  terminal?.on('error', noteLoss);

  function noteLoss(error: unknown): void {
    if (isTerminalLost) return;
    isTerminalLost = true;
    const message = 'the console cannot be written, so lines may be in this file alone';
    keep(createLine(clock, 'WARN', message, { reason: describeError(error) }));
  }

  function show(text: string): void {
    if (terminal === null) return;
    try {
      if ((terminal.writableLength ?? 0) > mostWaitingBytes)
        throw new Error('nobody reads what it was given');
      for (const line of text.split('\n'))
        if (line !== '' && !isRoutine(line)) terminal.write(`${describeLine(line)}\n`);
    } catch (error) {
      noteLoss(error);
    }
  }

  function keep(text: string): void {
    const report = gap === null ? '' : describeGap(gap, clock);
    try {
      appendToLogFile(logPath, report + text, maximumFileBytes);
      gap = null;
      show(report);
    } catch (error) {
      // Shown once, so that alarms stay visible in the terminal.
      if (gap === null) show(describeBeginning(describeError(error), logPath, clock));
      gap = { reason: describeError(error), lines: (gap?.lines ?? 0) + countLines(text) };
    }
  }

  function take(text: string): void {
    keep(text);
    show(text);
  }

  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      take(text);
      done();
    },
    // Lines that were corked together: the file is opened once for all of them.
    writev(chunks: readonly { readonly chunk: string }[], done) {
      take(chunks.map(({ chunk }) => chunk).join(''));
      done();
    },
  });
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** A period in which the file cannot be written. */
interface Gap {
  /** Why the newest line could not be written. */
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

/** Successful scheduled runs appear only in the file: once a minute, they would hide more important lines. */
function isRoutine(line: string): boolean {
  return line.includes('"message":"scheduled run done"');
}

/**
 * `08:31:45.120  signal placed  main h-1f… BTC_USDT  buy 0.01 …`. An alarm begins with `ALARM` and its name, and what to do
 * about it has a line of its own.
 */
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
  const parts = [
    styleText('dim', time),
    text('service') === liveService ? styleText('red', 'LIVE') : '',
    fields['alarm'] === true ? styleText('red', `ALARM ${text('alarmName')}`.trim()) : '',
    styleText(colours[level] ?? 'reset', text('message')),
    subject.join(' '),
    detail.join(': '),
  ];
  const shown = parts.filter((part) => part !== '').join('  ');
  const advice = text('whatToDo');
  return advice === '' ? shown : `${shown}\n    ${advice}`;
}

/** Null for text that is not a log line: a library may write to the same stream. */
function readFields(line: string): Readonly<Record<string, unknown>> | null {
  const fields = readJson(line);
  return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : null;
}
