import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createSnapshotBalances } from '../lib/host/snapshots.ts';
import config from '../relay.config.ts';

/** Called by the schedule of balances, whose event contains the scheduled time. */
export const handler = createSnapshotBalances(openSnapshotServices('snapshot-balances', config, process.env));
