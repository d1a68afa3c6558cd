import { openExecuteServices } from '../lib/host/aws-services.ts';
import { createExecuteSignal } from '../lib/host/worker.ts';
import config from '../relay.config.ts';

/** Called by the signal queue. */
export const handler = createExecuteSignal(openExecuteServices(config, process.env));
