import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import type { SnapshotServices } from '../snapshots/each-account.ts';
import { type ImportServices, importInterest } from '../snapshots/import-interest.ts';
import { snapshotBalances } from '../snapshots/snapshot-balances.ts';
import { snapshotFees } from '../snapshots/snapshot-fees.ts';
import { createSchedule, type ScheduleHandler } from './schedule.ts';

/** Keeps what every account holds, for the time of the schedule that the event names. */
export function createSnapshotBalances(services: SnapshotServices): ScheduleHandler {
  return createSchedule('snapshot-balances', services.log, (event) =>
    snapshotBalances(services, readSlot(event, services.clock)),
  );
}

/** Keeps what changed of the fees. */
export function createSnapshotFees(services: SnapshotServices): ScheduleHandler {
  return createSchedule('snapshot-fees', services.log, () => snapshotFees(services));
}

/** Brings the interest payments up to date. */
export function createImportInterest(services: ImportServices): ScheduleHandler {
  return createSchedule('import-interest', services.log, () => importInterest(services));
}

/** What a schedule sends: the time it stands for, the same when it is sent again. */
export interface SlotEvent {
  /** For example `2026-11-21T12:00:00Z`; `<aws.scheduler.scheduled-time>` on AWS. */
  readonly slot: string;
}

const SlotEventSchema = z.object({ slot: z.iso.datetime({ offset: true }) });
const minuteMs = 60_000;

/** The time that an event names; one that names none was sent by hand, and stands for the minute it comes in. */
function readSlot(event: unknown, clock: Clock): number {
  const parsed = SlotEventSchema.safeParse(event);
  const atMs = parsed.success ? Date.parse(parsed.data.slot) : clock.nowMs();
  return Math.floor(atMs / minuteMs) * minuteMs;
}
