import { openReceiveServices } from '../lib/host/aws-services.ts';
import { createReceiveSignal } from '../lib/host/receive-signal.ts';
import config from '../relay.config.ts';

/** Behind `POST /signals/{account}/{token}`. */
export const handler = createReceiveSignal(openReceiveServices(config, process.env));
