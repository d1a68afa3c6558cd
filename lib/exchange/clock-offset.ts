import type { Clock } from '../base/clock.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { serverTime } from './endpoints/server-time.ts';
import { mostAheadMs } from './nonce.ts';

/** The exchange accepts a nonce that differs from its own clock by at most this. */
const nonceWindowMs = 5_000;
/** The exchange reports its time in whole seconds, so a difference below this is not measurable. */
export const clockStepMs = 1_000;

/**
 * How far this machine's clock is ahead of the exchange's, in ms; below zero: behind it.
 *
 * @throws ExchangeError when the exchange's time cannot be read
 */
export async function readClockOffset(
  client: ExchangeClient,
  clock: Clock,
  options: SendOptions,
): Promise<number> {
  const askedAtMs = clock.nowMs();
  const { nowMs } = await client.call(serverTime, {}, options);
  const ownMs = (askedAtMs + clock.nowMs()) / 2;
  return ownMs - (nowMs + clockStepMs / 2);
}

/** From which offset on, of either sign, the exchange may refuse a nonce. */
export function allowedOffsetMs(offsetMs: number): number {
  // The nonces of orders lie ahead of the clock already.
  return nonceWindowMs - clockStepMs - (offsetMs > 0 ? mostAheadMs : 0);
}
