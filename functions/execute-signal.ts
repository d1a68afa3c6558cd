import { createWorker, type WorkerHandler } from '../lib/host/worker.ts';
import { parseSignalMessage } from '../lib/queue/queue.ts';
import { executeSignal } from '../lib/relay/execute-signal.ts';
import type { ExecuteServices } from '../lib/relay/services.ts';

/** The signal queue's consumer: carries signals out, in order for each account and market. */
export function createExecuteSignal(services: ExecuteServices): WorkerHandler {
  return createWorker(services.log, async (body) => {
    await executeSignal(services, parseSignalMessage(body));
  });
}
