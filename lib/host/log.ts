import { Console } from 'node:console';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../base/log.ts';

/**
 * Creates a log of JSON lines.
 *
 * @param output receives the lines; absent: standard output and error, as Lambda expects
 */
export function createLog(serviceName: string, output?: NodeJS.WritableStream): Log {
  const logger = new Logger({ serviceName, logLevel: 'INFO' });
  if (output !== undefined) {
    // The logger has no option for another output than the streams of the process.
    logger['console'] = new Console({ stdout: output, stderr: output });
  }
  return logger;
}
