import type { Clock } from '../base/clock.ts';
import { type Decimal, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import { listPositionsIn } from '../exchange/list-positions.ts';
import { type OpenPosition, positionAt } from '../model/holdings.ts';
import type { StepFacts } from '../model/step-facts.ts';
import type { ReducedPosition } from './exit-claims.ts';

/** What is left of a position after the order that closed it. Amounts are signed, in base units. */
export type Remains =
  /** What is open now was opened since. */
  | { readonly kind: 'nothing' }
  /** Another order had enlarged it just before the close. */
  | { readonly kind: 'held'; readonly amount: Decimal }
  /** Another order has opened one of the other side. */
  | { readonly kind: 'turned'; readonly amount: Decimal }
  /** The list could not be read, or not all of it, or shows what was before the close. */
  | { readonly kind: 'unknown' };

/** Between two readings of a list that may lag. */
export const relistPauseMs = 1000;
/** A position that changed within this time after the order was created was changed by that order. */
const fillMs = 1000;

/**
 * Reads the position after its close. While the list shows what was before, it is read again: at most until it must show
 * the close, and until a timeout is left.
 *
 * @param outcome of the order that closed it
 */
export async function readRemains(
  { clock, exchangeTimeoutMs }: { readonly clock: Clock; readonly exchangeTimeoutMs: number },
  client: ExchangeClient,
  closed: ReducedPosition,
  outcome: { readonly facts?: StepFacts },
  limits: SendOptions,
): Promise<Remains> {
  const startMs = clock.nowMs();
  const lastMs = Math.min(startMs + longestPositionLagMs, (limits.endByMs ?? startMs) - exchangeTimeoutMs);
  try {
    for (;;) {
      const positions = await listPositionsIn(client, closed.market, clock.nowMs(), limits);
      const remains = judgeRemains(closed, outcome, positions);
      if (remains.kind !== 'unknown' || clock.nowMs() + relistPauseMs >= lastMs) return remains;
      await clock.sleep(relistPauseMs);
    }
  } catch (error) {
    if (error instanceof ExchangeError) return { kind: 'unknown' };
    throw error;
  }
}

function judgeRemains(
  { market, position, modifiedAtMs }: ReducedPosition,
  { facts }: { readonly facts?: StepFacts },
  positions: readonly OpenPosition[],
): Remains {
  const held = positionAt(positions, { market, side: position.side });
  if (held === undefined || held.amount.eq(zero)) return { kind: 'nothing' };
  const { amount, modifiedAtMs: changedAtMs, openedAtMs } = held;
  const closedAtMs = facts?.report?.createdAtMs ?? null;
  // Without an order there was nothing to close: a change since the reading is another one.
  const sinceMs = closedAtMs ?? (modifiedAtMs === null ? null : modifiedAtMs + 1);
  if (changedAtMs === null || sinceMs === null || changedAtMs < sinceMs) return { kind: 'unknown' };
  if (amount.times(position.amount).lt(zero)) return { kind: 'turned', amount };
  // One that stood before the order and has changed since is still the same one.
  const isOlder = openedAtMs !== null && closedAtMs !== null && openedAtMs <= closedAtMs;
  const isNew = !isOlder && closedAtMs !== null && changedAtMs > closedAtMs + fillMs;
  return isNew ? { kind: 'nothing' } : { kind: 'held', amount };
}
