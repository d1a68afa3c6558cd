import { openExecuteServices } from '../lib/host/aws-services.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createExecuteSignal } from '../lib/host/worker.ts';
import { checkedConfig } from './checked-config.ts';

/** Called by the signal queue. */
export const handler = createExecuteSignal(
  openExecuteServices(readShippedConfig(checkedConfig), process.env),
);
