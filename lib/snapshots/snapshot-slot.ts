import * as z from 'zod/mini';
import type { SnapshotServices } from './each-account.ts';
import { snapshotBalances } from './snapshot-balances.ts';

/**
 * The event of a schedule: the scheduled time, which a repeated event has too.
 *
 * @see DECISIONS 56
 */
export interface SlotEvent {
  /** For example `2026-11-21T12:00:00Z`; `<aws.scheduler.scheduled-time>` on AWS. */
  readonly slot: string;
}

/** A run on AWS starts this late at most: the scheduler and Lambda give it up after 15 minutes each. */
const maximumDistanceMs = 30 * 60_000;
const minuteMs = 60_000;

/**
 * The placeholder that AWS replaces with the time. Unchanged,
 * as an emulator sends it, it means that no time is given.
 */
const unfilledSlot = '<aws.scheduler.scheduled-time>';
const SlotEventSchema = z.object({ slot: z.unknown() });
const SlotSchema = z.iso.datetime({ offset: true });

/**
 * Stores the balances of every account for the scheduled time in the event.
 * If that time is too far in the past or the future, it stores nothing.
 *
 * @param event a {@link SlotEvent}; an event without a time was sent manually and means the current minute
 * @throws RangeError when the time cannot be parsed, because any other time would be a guess
 * @throws RelayError `snapshot_incomplete` when an account could not be read or stored
 */
export async function snapshotSlot(services: SnapshotServices, event: unknown): Promise<void> {
  const nowMs = services.clock.nowMs();
  const slotMs = readSlot(event, nowMs);
  if (Math.abs(nowMs - slotMs) <= maximumDistanceMs) return await snapshotBalances(services, slotMs);
  services.log.warn('no balances stored: the slot is too far from now for the current balances', {
    slot: new Date(slotMs).toISOString(),
    now: new Date(nowMs).toISOString(),
  });
}

function readSlot(event: unknown, nowMs: number): number {
  const slot = SlotEventSchema.safeParse(event).data?.slot ?? unfilledSlot;
  return Math.floor((slot === unfilledSlot ? nowMs : parseSlot(slot)) / minuteMs) * minuteMs;
}

function parseSlot(slot: unknown): number {
  const parsed = SlotSchema.safeParse(slot);
  if (parsed.success) return Date.parse(parsed.data);
  const written = JSON.stringify(slot).slice(0, 64);
  throw new RangeError(
    `the slot ${written} of the event is not a time such as "2026-11-21T12:00:00Z"; leave it out to use the current minute`,
  );
}
