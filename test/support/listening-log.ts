import { EventEmitter, once } from 'node:events';
import type { LogLevel } from '../../lib/base/errors.ts';
import type { Log, LogFacts } from '../../lib/base/log.ts';

export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly facts: LogFacts;
}

/** A log that keeps its lines and says when one comes. */
export interface ListeningLog {
  readonly log: Log;
  readonly lines: readonly LoggedLine[];
  /** Resolves with the next line. */
  nextLine(): Promise<unknown>;
}

export function createListeningLog(): ListeningLog {
  const lines: LoggedLine[] = [];
  const events = new EventEmitter().setMaxListeners(0);
  const writer = (level: LogLevel) => (message: string, facts: LogFacts) => {
    lines.push({ level, message, facts });
    events.emit('line');
  };
  const log: Log = { info: writer('info'), warn: writer('warn'), error: writer('error') };
  return { log, lines, nextLine: () => once(events, 'line') };
}
