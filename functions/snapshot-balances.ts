import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { readShippedConfig } from '../lib/host/shipped-config.ts';
import { createSnapshotBalances } from '../lib/host/snapshots.ts';
import { checkedConfig } from './checked-config.ts';

/** Called by the schedule of balances, whose event contains the scheduled time. */
export const handler = createSnapshotBalances(
  openSnapshotServices('snapshot-balances', readShippedConfig(checkedConfig), process.env),
);
