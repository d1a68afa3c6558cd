import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SignalQueue } from '../queue/queue.ts';
import { sweepAccepted } from '../relay/sweep-accepted.ts';
import { createSchedule, type ScheduleHandler } from './schedule.ts';

/** What looking after signals that were left behind needs of the world. */
export interface ReconcileServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly queue: SignalQueue;
}

/** Younger ones are on their way: the door enqueues within seconds of storing. */
const youngestMs = 30_000;
/**
 * Older ones were handed out and failed, again and again, or nobody swept for that long. Another copy would keep
 * their market waiting without end; a person must look.
 */
const oldestMs = 15 * 60_000;

/** Runs every minute: enqueues signals that were stored and then lost on their way to the queue. */
export function createReconcileSignals(services: ReconcileServices): ScheduleHandler {
  const { clock, log } = services;
  return createSchedule('reconcile-signals', log, async () => {
    const nowMs = clock.nowMs();
    const { enqueued, tooOld } = await sweepAccepted(services, {
      fromMs: nowMs - oldestMs,
      untilMs: nowMs - youngestMs,
    });
    if (enqueued > 0) log.warn('signals were left behind; they are enqueued again', { signals: enqueued });
    if (tooOld > 0)
      log.error('signals wait since more than 15 minutes: look at the dead letters, then redrive', {
        signals: tooOld,
        alarm: true,
      });
  });
}
