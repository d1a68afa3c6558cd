import { openExecuteServices } from '../lib/host/aws-services.ts';
import { settling } from '../lib/host/recorded-alarms.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createWorker } from '../lib/host/worker.ts';
import type { SignalMessage } from '../lib/queue/queue.ts';
import { executeSignal } from '../lib/relay/execute/execute-signal.ts';
import { checkedConfig } from './checked-config.ts';

const services = openExecuteServices(readShippedConfig(checkedConfig), process.env);

/** Called by the signal queue. */
export const handler = createWorker(
  services.log,
  settling(services.alarms, (message: SignalMessage) => executeSignal(services, message)),
  services.postponeMessage,
);
