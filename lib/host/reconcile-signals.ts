import { type ReconcileServices, reconcileSignals } from '../relay/reconcile-signals.ts';
import { createSchedule, type ScheduleHandler } from './schedule.ts';

/** The reconciler, which runs every minute: looks up unknown orders and enqueues signals that got stuck. */
export function createReconcileSignals(services: ReconcileServices): ScheduleHandler {
  const { log, alarms } = services;
  return createSchedule('reconcile-signals', log, async () => {
    const { enqueued, stuck } = await reconcileSignals(services);
    if (enqueued > 0)
      log.warn('signals were stored but not executed; they are enqueued again', { signals: enqueued });
    if (stuck > 0)
      alarms.raise(
        {
          name: 'signals_waiting',
          message: 'signals have waited for more than 15 minutes: check the dead letters, then run redrive',
        },
        { signals: stuck },
      );
  });
}
