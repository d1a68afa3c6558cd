import { stripVTControlCharacters } from 'node:util';
import type { Evidence, Violation } from './evidence.ts';

/** Checks that the terminal showed every alarm, even while the log file could not be written. */
export function checkTerminal({ writings, notices }: Evidence): readonly Violation[] {
  // The lines for the journal and for the terminal are two writes: a process may end between them.
  const endsAt = (atMs: number) =>
    notices?.endedAtMs.some((endMs) => endMs >= atMs && endMs - atMs < betweenWritesMs) === true;
  const shown = writings
    .filter(({ place }) => place === 'terminal')
    .flatMap(({ text }) => stripVTControlCharacters(text).split('\n'));
  const shownAt = Map.groupBy(shown, (line) => line.slice(0, timeLength));
  const logged = writings.filter(({ place, kind }) => kind === 'log' && place !== 'terminal');
  const alarms = new Set(logged.flatMap(({ text }) => text.split('\n').filter(isAlarm)));
  return [...alarms].flatMap((alarm) => {
    const { timestamp, ...facts } = readAlarm(alarm);
    const time = timestamp?.slice(11, 11 + timeLength) ?? '';
    const words = Object.values(facts).filter((word) => word !== undefined);
    const isShown = (shownAt.get(time) ?? []).some((line) => words.every((word) => line.includes(word)));
    return isShown || endsAt(Date.parse(timestamp ?? ''))
      ? []
      : [{ wrong: 'silent' as const, what: 'an alarm did not reach the terminal', details: [alarm] }];
  });
}

const timeLength = '08:31:45.120'.length;
/** The end of a process is noticed a moment after it. */
const betweenWritesMs = 100;

/** A line that was cut short or overwritten does not count: the journal has the complete line. */
function isAlarm(line: string): boolean {
  if (!line.includes('"alarm":true')) return false;
  try {
    return (JSON.parse(line) as Record<string, unknown>)['alarm'] === true;
  } catch {
    return false;
  }
}

/** The parts of an alarm that the terminal must show. */
interface Alarm {
  readonly timestamp: string | undefined;
  readonly message: string | undefined;
  readonly account: string | undefined;
  readonly signalId: string | undefined;
}

function readAlarm(line: string): Alarm {
  const { timestamp, message, account, signalId } = JSON.parse(line) as Partial<Alarm>;
  return { timestamp, message, account, signalId };
}
