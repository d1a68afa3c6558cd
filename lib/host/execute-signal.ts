import { type PostponeMessage, parseSignalMessage } from '../queue/queue.ts';
import { executeSignal } from '../relay/execute-signal.ts';
import type { ExecuteServices } from '../relay/services.ts';
import { createWorker, type WorkerHandler } from './worker.ts';

/**
 * The consumer of the signal queue: executes signals in order for each account and market.
 *
 * @param services `postponeMessage`: see `createWorker`
 */
export function createExecuteSignal(
  services: ExecuteServices & { readonly postponeMessage?: PostponeMessage },
): WorkerHandler {
  return createWorker(
    services.log,
    async (body) => {
      await executeSignal(services, parseSignalMessage(body));
    },
    services.postponeMessage,
  );
}
