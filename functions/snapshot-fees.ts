import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createSnapshotFees } from '../lib/host/snapshots.ts';
import { checkedConfig } from './checked-config.ts';

/** Called by the schedule of transfer fees. */
export const handler = createSnapshotFees(
  openSnapshotServices('snapshot-fees', readShippedConfig(checkedConfig), process.env),
);
