import type { CancelSignal } from '../../model/signal.ts';
import { fingerprintOf } from '../../signals/identity.ts';
import type { FollowServices } from './follow-services.ts';

/**
 * Stores a cancellation that the relay itself asks for, in the line of the market, as of an alert. Each second has another id.
 *
 * @throws RelayError `store_unavailable`
 */
export async function storeCancellation(
  { entrance, clock }: Pick<FollowServices, 'entrance' | 'clock'>,
  account: string,
  orderId: number,
  cancellation: Omit<CancelSignal, 'action' | 'timeMs' | 'maxLagMs'>,
): Promise<void> {
  const atMs = clock.nowMs();
  const signalId = `${cancellationIdOf(orderId)}${Math.floor(atMs / 1000)}`;
  const signal: CancelSignal = { ...cancellation, timeMs: null, maxLagMs: null, action: 'cancel' };
  const fingerprint = fingerprintOf(Buffer.from(signalId));
  await entrance.accept([{ account, signalId, signal, clientOrderId: null, fingerprint, atMs }], null);
}

/** How the ids of the relay's own cancellations of an order begin. */
export function cancellationIdOf(orderId: number): string {
  return `cancel-${orderId}-`;
}
