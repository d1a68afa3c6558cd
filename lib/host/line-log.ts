import type { Writable } from 'node:stream';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Log, LogFacts } from '../base/log.ts';

/**
 * Creates a log that writes the lines of `createLog` to a stream: the same fields in the same order, with the time in
 * UTC. Facts that are null or empty are left out, as there.
 *
 * An order has two lines. Written here they cost a third of what the logger for Lambda takes, which merges and formats
 * attributes that exist on Lambda alone. The lines of one turn of the event loop are written together, except that a
 * warning or an error, and what came before it, is written at once.
 */
export function createLineLog(serviceName: string, output: Writable, clock: Clock = systemClock): Log {
  let isCorked = false;

  function uncork(): void {
    if (!isCorked) return;
    isCorked = false;
    output.uncork();
  }

  function write(level: string, message: string, facts: LogFacts): void {
    const timestamp = new Date(clock.nowMs()).toISOString();
    const line: Record<string, unknown> = {
      level,
      message,
      timestamp,
      service: serviceName,
      sampling_rate: 0,
    };
    for (const [name, fact] of Object.entries(facts))
      if (fact !== null && fact !== '' && fact !== undefined && !Object.hasOwn(line, name)) line[name] = fact;
    output.write(`${JSON.stringify(line)}\n`);
  }

  return {
    info(message, facts) {
      if (!isCorked) {
        isCorked = true;
        output.cork();
        process.nextTick(uncork);
      }
      write('INFO', message, facts);
    },
    warn(message, facts) {
      write('WARN', message, facts);
      uncork();
    },
    error(message, facts) {
      write('ERROR', message, facts);
      uncork();
    },
  };
}
