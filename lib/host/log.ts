import { Console } from 'node:console';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../base/log.ts';

/**
 * A log of JSON lines.
 *
 * @param output where the lines go; absent: standard output and error, as Lambda wants them
 */
export function createLog(serviceName: string, output?: NodeJS.WritableStream): Log {
  const logger = new Logger({ serviceName, logLevel: 'INFO' });
  if (output !== undefined) {
    // The logger offers no other way to write elsewhere than to the process's own streams.
    logger['console'] = new Console({ stdout: output, stderr: output });
  }
  return logger;
}
