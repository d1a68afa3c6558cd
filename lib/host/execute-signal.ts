import { parseSignalMessage } from '../queue/queue.ts';
import { executeSignal } from '../relay/execute-signal.ts';
import type { ExecuteServices } from '../relay/services.ts';
import { createWorker, type WorkerHandler } from './worker.ts';

/** The signal queue's consumer: carries signals out, in order for each account and market. */
export function createExecuteSignal(services: ExecuteServices): WorkerHandler {
  return createWorker(services.log, async (body) => {
    await executeSignal(services, parseSignalMessage(body));
  });
}
