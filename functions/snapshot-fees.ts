import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createSnapshotFees } from '../lib/host/snapshots.ts';
import config from '../relay.config.ts';

/** Behind the schedule of fees. */
export const handler = createSnapshotFees(openSnapshotServices('snapshot-fees', config, process.env));
