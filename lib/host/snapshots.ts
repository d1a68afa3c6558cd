import * as z from 'zod';
import type { SnapshotServices } from '../snapshots/each-account.ts';
import { type ImportServices, importInterest } from '../snapshots/import-interest.ts';
import { snapshotBalances } from '../snapshots/snapshot-balances.ts';
import { snapshotFees } from '../snapshots/snapshot-fees.ts';
import { createSchedule, type ScheduleHandler } from './schedule.ts';

/**
 * Keeps what every account holds, for the time of the schedule that the event names. A time that is long past, or far
 * ahead, has nothing kept for it.
 */
export function createSnapshotBalances(services: SnapshotServices): ScheduleHandler {
  return createSchedule('snapshot-balances', services.log, async (event) => {
    const nowMs = services.clock.nowMs();
    const slotMs = readSlot(event, nowMs);
    if (Math.abs(nowMs - slotMs) <= maximumDistanceMs) return await snapshotBalances(services, slotMs);
    services.log.warn('no balances kept: what is held now is not what was held then', {
      slot: new Date(slotMs).toISOString(),
      now: new Date(nowMs).toISOString(),
    });
  });
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

/** A run on AWS begins this late at the most: the scheduler and Lambda give it up after 15 minutes each. */
const maximumDistanceMs = 30 * 60_000;
const minuteMs = 60_000;

/** What AWS puts the time in place of; where it comes unchanged, as from an emulator, no time was named. */
const unfilledSlot = '<aws.scheduler.scheduled-time>';
const SlotEventSchema = z.object({ slot: z.unknown() });
const SlotSchema = z.iso.datetime({ offset: true });

/**
 * The time that an event names; one that names none was sent by hand, and stands for the minute it comes in.
 *
 * @throws RangeError when it names one that cannot be read: another would be made up for it
 */
function readSlot(event: unknown, nowMs: number): number {
  const slot = SlotEventSchema.safeParse(event).data?.slot ?? unfilledSlot;
  return Math.floor((slot === unfilledSlot ? nowMs : parseSlot(slot)) / minuteMs) * minuteMs;
}

function parseSlot(slot: unknown): number {
  const parsed = SlotSchema.safeParse(slot);
  if (parsed.success) return Date.parse(parsed.data);
  const written = JSON.stringify(slot).slice(0, 64);
  throw new RangeError(
    `the slot ${written} of the event is no time like "2026-11-21T12:00:00Z"; leave it out for this minute`,
  );
}
