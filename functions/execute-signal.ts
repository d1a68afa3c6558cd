import { openExecuteServices } from '../lib/host/aws-services.ts';
import { keepingWarm } from '../lib/host/keep-warm.ts';
import { settling } from '../lib/host/recorded-alarms.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createWorker } from '../lib/host/worker.ts';
import type { SignalMessage } from '../lib/queue/queue.ts';
import { executeSignal } from '../lib/relay/execute/execute-signal.ts';
import { checkedConfig } from './checked-config.ts';

const services = openExecuteServices(readShippedConfig(checkedConfig), process.env);

/** Called by the signal queue, and by a schedule that keeps it warm. */
export const handler = keepingWarm(
  services,
  services.keepWarm,
  createWorker(
    services.log,
    settling(services.alarms, async (message: SignalMessage, metColdStart: boolean) => {
      await executeSignal(services, message);
      // The order is sent, and its outcome known.
      await services.coldStarts.tell(message, { receive: metColdStart, execute: services.start.isCold });
    }),
    services.postponeMessage,
  ),
);
