import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createSchedule } from '../lib/host/schedule.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { snapshotSlot } from '../lib/snapshots/snapshot-slot.ts';
import { checkedConfig } from './checked-config.ts';

const services = openSnapshotServices('snapshot-balances', readShippedConfig(checkedConfig), process.env);

/** Called by the schedule of balances, whose event contains the scheduled time. */
export const handler = createSchedule('snapshot-balances', services.log, (event) =>
  snapshotSlot(services, event),
);
