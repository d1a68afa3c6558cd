import { openSnapshotServices } from '../lib/host/aws-services.ts';
import { createImportInterest } from '../lib/host/snapshots.ts';
import config from '../relay.config.ts';

/** Called by the schedule of interest payments. */
export const handler = createImportInterest(openSnapshotServices('import-interest', config, process.env));
