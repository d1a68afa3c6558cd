import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../base/log.ts';

/** Creates a log of JSON lines on standard output and error, as Lambda expects. */
export function createLog(serviceName: string): Log {
  return new Logger({ serviceName, logLevel: 'INFO' });
}
