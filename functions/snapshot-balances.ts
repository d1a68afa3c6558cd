import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createSnapshotBalances } from '../lib/host/snapshots.ts';
import config from '../relay.config.ts';

/** Behind the schedule of balances, which names the time it stands for. */
export const handler = createSnapshotBalances(openSnapshotServices('snapshot-balances', config, process.env));
