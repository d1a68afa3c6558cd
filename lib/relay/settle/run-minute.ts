import type { Follower } from '../follow/follow-orders.ts';
import { lastRequestMs, type ReconcileServices, reconcileSignals } from './reconcile-signals.ts';

/**
 * What the reconciler does every minute: looks up unknown orders, enqueues signals that got stuck, and then follows placed
 * orders. Following comes last and has its own failures: a slow list must not stop the lookups, nor a broken queue the
 * following.
 *
 * @param follower null where another loop follows the orders
 */
export async function runMinute(services: ReconcileServices, follower: Follower | null): Promise<void> {
  const startedAtMs = services.clock.nowMs();
  const [reconciled] = await Promise.allSettled([reconcile(services)]);
  const [followed] = await Promise.allSettled([follower?.run(startedAtMs + lastRequestMs)]);
  for (const part of [reconciled, followed]) if (part.status === 'rejected') throw part.reason;
}

async function reconcile(services: ReconcileServices): Promise<void> {
  const { enqueued } = await reconcileSignals(services);
  if (enqueued > 0)
    services.log.warn('signals were stored but not executed; they are enqueued again', { signals: enqueued });
}
