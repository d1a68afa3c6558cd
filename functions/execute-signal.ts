import { openExecuteServices } from '../lib/host/aws-services.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createWorker } from '../lib/host/worker.ts';
import { executeSignal } from '../lib/relay/execute/execute-signal.ts';
import { checkedConfig } from './checked-config.ts';

const services = openExecuteServices(readShippedConfig(checkedConfig), process.env);

/** Called by the signal queue. */
export const handler = createWorker(
  services.log,
  (message) => executeSignal(services, message),
  services.postponeMessage,
);
