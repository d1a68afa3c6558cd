import { createPaperHandler } from '../lib/host/paper-handler.ts';
import { openPaperServices } from '../lib/host/paper-services.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { checkedConfig } from './checked-config.ts';

/** Called by its own URL, in a paper stage alone. */
export const handler = createPaperHandler(openPaperServices(readShippedConfig(checkedConfig), process.env));
