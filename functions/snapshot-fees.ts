import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createSchedule } from '../lib/host/schedule.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { snapshotFees } from '../lib/snapshots/snapshot-fees.ts';
import { checkedConfig } from './checked-config.ts';

const services = openSnapshotServices('snapshot-fees', readShippedConfig(checkedConfig), process.env);

/** Called by the schedule of transfer fees. */
export const handler = createSchedule('snapshot-fees', services.log, () => snapshotFees(services));
