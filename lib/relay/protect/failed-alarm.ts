import type { Alarm } from '../../base/alarms.ts';
import type { Entry } from '../../ledger/entry.ts';
import { createTeller, type TellServices } from '../../ledger/tell-once.ts';
import type { Denial } from '../../model/outcome.ts';
import type { ProtectSignal } from '../../model/signal.ts';
import { describeGuard } from '../../protection/wanted.ts';

/** A stop-loss or take-profit that should be placed, and is not; or what one has turned, and what is not closed. */
export function failedAlarm(signal: ProtectSignal, reason: string): Alarm {
  if (signal.turnedBy !== undefined)
    return {
      name: 'position_turned',
      message: `a stop-loss or take-profit of signal "${signal.of}" has opened the opposite position in ${signal.market}, and the relay could not close that: ${reason}; \`relay positions\` shows it, \`relay close ${signal.market}\` closes it`,
    };
  return {
    name: 'protection_failed',
    message: `the ${nameOf(signal)} of "${signal.of}" in ${signal.market} does not fit the position, and could not be placed: ${reason}`,
  };
}

export function nameOf({ role }: Pick<ProtectSignal, 'role'>): string {
  return role === 'stop_loss' ? 'stop-loss' : 'take-profit';
}

/** How often it is told that orders wait for their turn. */
const heldBackEveryMs = 10 * 60_000;

/** Tells that so many orders were sent to protect the positions of a market that others wait. */
export async function tellHeldBack(
  services: TellServices,
  { account, signalId }: Entry,
  signal: ProtectSignal,
  reason: string,
): Promise<void> {
  await createTeller(services).tell(account, {
    key: `protection held back in ${signal.market}`,
    alarm: failedAlarm(signal, `${reason}; the relay tries again`),
    facts: { signalId },
    everyMs: heldBackEveryMs,
  });
}

/** Tells that a pause stops what should protect a position: of each stop-loss and take-profit once in each pause. */
export async function tellPaused(
  services: TellServices,
  { account, signalId }: Entry,
  signal: ProtectSignal,
  { actual, message }: Denial,
): Promise<void> {
  await createTeller(services).tell(account, {
    key: `${actual}: ${signal.turnedBy === undefined ? describeGuard(signal) : `turned ${signal.turnedBy}`}`,
    alarm: failedAlarm(signal, message),
    facts: { signalId },
    everyMs: null,
  });
}
