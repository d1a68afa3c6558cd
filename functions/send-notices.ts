import { openNoticeServices } from '../lib/host/aws-services.ts';
import { createNoticeHandler } from '../lib/host/notice-handler.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { checkedConfig } from './checked-config.ts';

/** Called by the stream of the ledger's table, and once a day by the schedule of the heartbeat. */
export const handler = createNoticeHandler(openNoticeServices(readShippedConfig(checkedConfig), process.env));
