import type { SnapshotSettings } from '../../lib/host/config.ts';
import { createNextTime } from '../../lib/host/cron-times.ts';
import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import {
  createImportInterest,
  createSnapshotBalances,
  createSnapshotFees,
} from '../../lib/host/snapshots.ts';
import type { ImportServices } from '../../lib/snapshots/import-interest.ts';
import type { ScheduledJob } from './schedule-loop.ts';

/**
 * What a local run keeps by the clock.
 *
 * @param settings null: nothing
 */
export function createSnapshotJobs(
  settings: SnapshotSettings | null,
  services: ImportServices,
): readonly ScheduledJob[] {
  if (settings === null) return [];
  const createJob = (name: string, cron: string | null, handler: ScheduleHandler): readonly ScheduledJob[] =>
    cron === null ? [] : [{ name, nextTime: createNextTime(cron, settings.timeZone), handler }];
  return [
    ...createJob('snapshot-balances', settings.balances, createSnapshotBalances(services)),
    ...createJob('snapshot-fees', settings.fees, createSnapshotFees(services)),
    ...createJob('import-interest', settings.interest, createImportInterest(services)),
  ];
}
