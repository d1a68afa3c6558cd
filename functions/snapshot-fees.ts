import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createSnapshotFees } from '../lib/host/snapshots.ts';
import config from '../relay.config.ts';

/** Called by the schedule of transfer fees. */
export const handler = createSnapshotFees(openSnapshotServices('snapshot-fees', config, process.env));
