import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createImportInterest } from '../lib/host/snapshots.ts';
import { checkedConfig } from './checked-config.ts';

/** Called by the schedule of interest payments. */
export const handler = createImportInterest(
  openSnapshotServices('import-interest', readShippedConfig(checkedConfig), process.env),
);
