import type { ReducedPosition } from '../../account/exit-claims.ts';
import { relistPauseMs } from '../../account/read-remains.ts';
import type { Clock } from '../../base/clock.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { listPositionsIn } from '../../exchange/list-positions.ts';
import { positionAt } from '../../model/holdings.ts';
import type { StepFacts } from '../../model/step-facts.ts';

interface ReadServices {
  readonly clock: Clock;
  readonly exchangeTimeoutMs: number;
}

/** @param sinceMs how long it has been read */
type Judge = (amount: Decimal, modifiedAtMs: number | null, sinceMs: number) => boolean;

/** An order that filled in part. */
interface LeftBy {
  /** What it closed, in base units. */
  readonly filled: Decimal;
  readonly facts: StepFacts | undefined;
  /** Whether another order is known to have filled, which may have closed the rest. */
  readonly mayBeGone: boolean;
}

/**
 * Reads what an order has left that was to close a position and filled in part.
 *
 * @returns signed, in base units; null while no list shows what the order did
 */
export async function readLeft(
  services: ReadServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  { filled, facts, mayBeGone }: LeftBy,
  limits: SendOptions,
): Promise<Decimal | null> {
  const { amount: before } = closed.position;
  const expected = before.gt(zero) ? before.minus(filled) : before.plus(filled);
  const closedAtMs = facts?.report?.createdAtMs ?? Number.POSITIVE_INFINITY;
  return await readUntil(
    services,
    client,
    closed,
    (amount, changedAtMs, sinceMs) =>
      amount.eq(expected) ||
      (changedAtMs !== null && changedAtMs >= closedAtMs) ||
      // A list that lags may also show the time before the position was opened.
      (amount.eq(zero) && (mayBeGone || sinceMs >= longestPositionLagMs)),
    limits,
  );
}

/**
 * Reads whether a position of the other side stands after a close.
 *
 * @param isPatient whether an order may have filled that the list does not show yet: then it is read until it must
 * @returns signed, in base units; null when there is none, or when it cannot be read
 */
export async function readTurned(
  services: ReadServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  isPatient: boolean,
  limits: SendOptions,
): Promise<Decimal | null> {
  const {
    position: { amount: before },
    modifiedAtMs,
  } = closed;
  let turned: Decimal | null = null;
  const judge: Judge = (amount, changedAtMs) => {
    // A list that lags may also show a position of the other side from before the one that was closed.
    const isOlder = changedAtMs !== null && modifiedAtMs !== null && changedAtMs < modifiedAtMs;
    turned = !isOlder && !amount.eq(zero) && amount.times(before).lte(zero) ? amount : null;
    return !isPatient || turned !== null;
  };
  await readUntil(services, client, closed, judge, limits);
  return turned;
}

/** Reads the position until a reading will do: at most until the list must show what was done, and until a timeout is left. */
async function readUntil(
  { clock, exchangeTimeoutMs }: ReadServices,
  client: ExchangeClient,
  { market, position: { side } }: ReducedPosition,
  willDo: Judge,
  limits: SendOptions,
): Promise<Decimal | null> {
  const startMs = clock.nowMs();
  const lastMs = Math.min(
    startMs + longestPositionLagMs + relistPauseMs,
    (limits.endByMs ?? startMs) - exchangeTimeoutMs / 2,
  );
  try {
    for (;;) {
      const positions = await listPositionsIn(client, market, clock.nowMs(), limits);
      const held = positionAt(positions, { market, side });
      const amount = held?.amount ?? zero;
      if (willDo(amount, held?.modifiedAtMs ?? null, clock.nowMs() - startMs)) return amount;
      if (clock.nowMs() + relistPauseMs > lastMs) return null;
      await clock.sleep(relistPauseMs);
    }
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}
