import { type ReconcileServices, reconcileSignals } from '../relay/reconcile-signals.ts';
import { createSchedule, type ScheduleHandler } from './schedule.ts';

/** Runs every minute: looks after signals that were left behind. */
export function createReconcileSignals(services: ReconcileServices): ScheduleHandler {
  const { log } = services;
  return createSchedule('reconcile-signals', log, async () => {
    const { enqueued, stuck } = await reconcileSignals(services);
    if (enqueued > 0) log.warn('signals were left behind; they are enqueued again', { signals: enqueued });
    if (stuck > 0)
      log.error('signals wait since more than 15 minutes: look at the dead letters, then redrive', {
        signals: stuck,
        alarm: true,
      });
  });
}
