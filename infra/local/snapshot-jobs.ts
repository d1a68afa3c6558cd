import type { SnapshotSettings } from '../../lib/host/config.ts';
import { createNextTime } from '../../lib/host/cron-times.ts';
import { createSchedule, type ScheduleHandler } from '../../lib/host/schedule.ts';
import { type ImportServices, importInterest } from '../../lib/snapshots/import-interest.ts';
import { snapshotFees } from '../../lib/snapshots/snapshot-fees.ts';
import { snapshotSlot } from '../../lib/snapshots/snapshot-slot.ts';
import type { ScheduledJob } from './schedule-loop.ts';

/**
 * The scheduled jobs of a local run.
 *
 * @param settings null: no jobs
 */
export function createSnapshotJobs(
  settings: SnapshotSettings | null,
  services: ImportServices,
): readonly ScheduledJob[] {
  if (settings === null) return [];
  const { balances, fees, interest, timeZone } = settings;
  const createJob = (
    cron: string | null,
    {
      name,
      run,
      isDueAtStart,
    }: Pick<ScheduledJob, 'name' | 'isDueAtStart'> & { readonly run: ScheduleHandler },
  ): readonly ScheduledJob[] =>
    cron === null
      ? []
      : [
          {
            name,
            isDueAtStart,
            handler: createSchedule(name, services.log, run),
            nextTime: createNextTime(cron, timeZone),
          },
        ];
  return [
    ...createJob(balances, {
      name: 'snapshot-balances',
      run: (event) => snapshotSlot(services, event),
      // A balance snapshot belongs to a time of its schedule. Only the very first one is taken at the start.
      isDueAtStart: () => isAnyWithoutBalances(services),
    }),
    // On a machine that is off every night, a nightly job would otherwise never run.
    ...createJob(fees, {
      name: 'snapshot-fees',
      run: () => snapshotFees(services),
      isDueAtStart: always,
    }),
    ...createJob(interest, {
      name: 'import-interest',
      run: () => importInterest(services),
      isDueAtStart: always,
    }),
  ];
}

const always = async () => true;

async function isAnyWithoutBalances({ accounts, store, clock }: ImportServices): Promise<boolean> {
  const newest = await Promise.all(accounts.map((name) => store.balances.readAt(name, clock.nowMs())));
  return newest.includes(null);
}
