import type { Writing } from './facts.ts';

/** An alarm, as a line of the log has it. Absent fields are empty. */
export interface RaisedAlarm {
  readonly name: string;
  readonly message: string;
  readonly atMs: number;
  readonly account: string;
  readonly signalId: string;
  readonly market: string;
}

/** The alarms of the log files and the journal; one that stands in both is listed twice. */
export function readAlarms(writings: readonly Writing[]): readonly RaisedAlarm[] {
  return writings
    .filter(({ kind }) => kind === 'log')
    .flatMap(({ text }) => text.split('\n'))
    .flatMap((line) => readAlarm(line) ?? []);
}

/** @returns null for a line that is no alarm, or that was cut short */
export function readAlarm(line: string): RaisedAlarm | null {
  // Parsing every line of a long log would take many times as long.
  if (!line.includes('"alarm":true')) return null;
  try {
    const fields = JSON.parse(line) as Record<string, unknown>;
    if (fields['alarm'] !== true) return null;
    const textOf = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
    return {
      name: textOf('alarmName'),
      message: textOf('message'),
      atMs: Date.parse(textOf('timestamp')),
      account: textOf('account'),
      signalId: textOf('signalId'),
      market: textOf('market'),
    };
  } catch {
    return null;
  }
}
