import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { settling } from '../lib/host/recorded-alarms.ts';
import { createSchedule } from '../lib/host/schedule.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { importInterest } from '../lib/snapshots/import-interest.ts';
import { checkedConfig } from './checked-config.ts';

const services = openSnapshotServices('import-interest', readShippedConfig(checkedConfig), process.env);

/** Called by the schedule of interest payments. */
export const handler = createSchedule(
  'import-interest',
  services.log,
  settling(services.alarms, () => importInterest(services)),
);
