import { hasPassed } from '../../base/clock.ts';
import { formatDecimal } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { createTeller, type TellServices, type Told } from '../../ledger/tell-once.ts';
import type { Denial } from '../../model/outcome.ts';
import { isProtecting, type ProtectSignal } from '../../model/signal.ts';
import type { GuardedPosition } from '../../protection/shares.ts';
import { describeGuard } from '../../protection/wanted.ts';
import type { EndedRest } from '../position/judge-closing.ts';

export function nameOf({ role }: Pick<ProtectSignal, 'role'>): string {
  return role === 'stop_loss' ? 'stop-loss' : 'take-profit';
}

type Protecting = Pick<Entry, 'account' | 'signalId'> & { readonly signal: ProtectSignal };

async function tell(
  services: TellServices,
  { account, signalId, signal: { market } }: Protecting,
  {
    message,
    facts = {},
    ...told
  }: Pick<Told, 'key' | 'everyMs'> & Partial<Told> & { readonly message: string },
): Promise<void> {
  const alarm = { name: 'protection_failed', message } as const;
  await createTeller(services).tell(account, { ...told, alarm, facts: { signalId, market, ...facts } });
}

/** Of a stop-loss or take-profit that should be placed, and is not. */
function failedMessage({ signal }: Protecting, reason: string): string {
  return `the ${nameOf(signal)} of "${signal.of}" in ${signal.market} does not fit the position, and could not be placed: ${reason}`;
}

/** When what still holds is told again. */
export const againAfterHours = 6;
const longestCause = 100;

/**
 * Tells that an order was not placed: for the stop-losses and for the take-profits of a position of one size once for each
 * reason, and again after hours. The relay tries again all the same.
 */
export async function tellFailed(
  services: TellServices,
  entry: Protecting,
  { market, side, openedAtMs, amount }: GuardedPosition,
  reason: string,
): Promise<void> {
  // The figures of a reason may differ with each try.
  const cause = reason.replaceAll(/[\d.]+/g, '').slice(0, longestCause);
  const promise = `the relay tries again, and tells this again after ${againAfterHours} hours, or when the position changes`;
  await tell(services, entry, {
    key: `failed: ${market} ${side} ${openedAtMs} ${formatDecimal(amount)} ${entry.signal.role} ${cause}`,
    message: failedMessage(entry, `${reason}; ${promise}`),
    everyMs: againAfterHours * 3_600_000,
  });
}

/**
 * Tells that a rule does not let the relay place what protects a position: of each market once for each rule and role, and
 * again after hours.
 */
export async function tellNotAllowed(
  services: TellServices,
  entry: Protecting,
  { rule, message: reason }: Denial,
): Promise<void> {
  const { market, role, of, turnedBy } = entry.signal;
  const failed =
    turnedBy === undefined
      ? failedMessage(entry, reason)
      : `what the ${nameOf(entry.signal)} of "${of}" in ${market} has opened could not be closed: ${reason}`;
  await tell(services, entry, {
    key: `not allowed: ${market} ${role} ${rule}`,
    message: `${failed}; until that has changed, look after the position on the website of the exchange`,
    everyMs: againAfterHours * 3_600_000,
  });
}

/** How often it is told of a market that what protects its positions must wait, and of a stop-loss what the book has left. */
const waitingEveryMs = 10 * 60_000;

/** Tells that what a stop-loss should have closed was closed at market in part alone. The relay tries again. */
export async function tellRest(
  services: TellServices,
  entry: Protecting,
  { filled, rest }: EndedRest,
): Promise<void> {
  const { signal } = entry;
  const [whole, part, left] = [formatDecimal(filled.plus(rest)), formatDecimal(filled), formatDecimal(rest)];
  await tell(services, entry, {
    key: `rest: ${signal.market} ${describeGuard(signal)}`,
    message: `the price has passed the stop-loss of "${signal.of}" in ${signal.market}, and of ${whole} an order at market has closed ${part}, since the book held no more within its price bound: ${left} is left without a stop-loss; the relay tries again; see \`npx relay positions\``,
    facts: { closed: part, left },
    everyMs: waitingEveryMs,
  });
}

/** Tells why what protects the positions of a market waits: of each reason once in a while. */
export async function tellHeldBack(services: TellServices, entry: Protecting, reason: string): Promise<void> {
  await tell(services, entry, {
    key: `protection held back in ${entry.signal.market}: ${reason}`,
    message: failedMessage(entry, `${reason}; the relay tries again`),
    everyMs: waitingEveryMs,
  });
}

/** Tells that a pause stops what should protect a position: of each stop-loss and take-profit once in each pause. */
export async function tellPaused(
  services: TellServices,
  entry: Protecting,
  { actual, message }: Denial,
): Promise<void> {
  await tell(services, entry, {
    key: `${actual}: ${describeGuard(entry.signal)}`,
    message: failedMessage(entry, message),
    everyMs: null,
  });
}

const longestQuietWaitMs = 60_000;

/** Tells that what protects a position has to wait for an order whose outcome has not been known for a minute. */
export async function tellUnsettled(
  services: TellServices,
  entry: Protecting,
  sinceMs: number,
  reason: string,
): Promise<void> {
  if (!hasPassed(sinceMs, longestQuietWaitMs, services.clock.nowMs())) return;
  await tellHeldBack(services, entry, `${reason}: settle that one with \`npx relay resolve\``);
}

/**
 * Tells of each market where a signal that keeps a stop-loss or take-profit fitting has not been looked at for a minute.
 * Signals before it in the line of its market wait, for example until the outcome of an order is known.
 *
 * @param waiting signals that are `accepted`
 */
export async function tellWaiting(services: TellServices, waiting: readonly Entry[]): Promise<void> {
  const nowMs = services.clock.nowMs();
  const told = new Set<string>();
  for (const { account, signalId, signal, createdAtMs } of waiting) {
    if (!isProtecting(signal) || !hasPassed(createdAtMs, longestQuietWaitMs, nowMs)) continue;
    const { market } = signal;
    // Each asks the store: many may wait in one market.
    if (told.has(`${account} ${market}`)) continue;
    told.add(`${account} ${market}`);
    const list = `npx relay signals --account ${account} --market ${market}`;
    await tell(
      services,
      { account, signalId, signal },
      {
        key: `waiting: ${market}`,
        message: `the ${nameOf(signal)} of "${signal.of}" in ${market} may not fit the position: for over a minute nothing could be placed, since earlier signals of the market wait; see \`${list}\``,
        everyMs: waitingEveryMs,
      },
    );
  }
}
