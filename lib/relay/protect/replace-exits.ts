import { joinAlarms } from '../../base/alarms.ts';
import { formatDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { cancelExits, type ExitOutcome } from '../cancel/cancel-exits.ts';
import { leftOpenAlarm } from '../cancel/cancel-outcomes.ts';
import type { Outcome } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';

/** What became of exits whose place another order takes, or that protect nothing any more. */
export interface Replaced {
  readonly exits: readonly ExitOutcome[];
  /** Whether the exchange has confirmed that each of them is cancelled. */
  readonly areCancelled: boolean;
  /** Those of them that no list of orders has ever shown. */
  readonly hidden: readonly number[];
  /** Why they could not be read; null: they were. */
  readonly unread: string | null;
}

/** Which orders of a market are to go. */
interface Leaving {
  readonly market: string;
  readonly cancels: readonly number[];
  /** Those of them that no list of orders has ever shown; absent: none. */
  readonly hidden?: readonly number[];
}

/**
 * Cancels these orders of a market, a pair by the id of the pair, and by its own id what no list shows: the lists may lag
 * behind the one that showed it. Failures of the exchange are results, too.
 */
export async function cancelReplaced(
  { exchangeTimeoutMs }: Pick<ExecuteServices, 'exchangeTimeoutMs'>,
  client: ExchangeClient,
  { market, cancels, hidden = [] }: Leaving,
  { endByMs }: SendOptions,
): Promise<Replaced> {
  const ids = new Set(cancels);
  const isExit = ({ orderId }: { readonly orderId: number }) => ids.has(orderId);
  const scope = { market, isExit, unlistedIds: cancels };
  const options = { timeoutMs: exchangeTimeoutMs / 2, ...(endByMs === undefined ? {} : { endByMs }) };
  try {
    const { exits } = await cancelExits(client, scope, options);
    const cancelled = new Set(
      exits.flatMap(({ result, orderIds }) => (result === 'cancelled' ? orderIds : [])),
    );
    const areCancelled = cancels.every((orderId) => cancelled.has(orderId));
    return { exits, areCancelled, hidden, unread: null };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { exits: [], areCancelled: false, hidden, unread: error.message };
  }
}

/** The outcome, with what became of the exits. */
export function withReplaced(outcome: Outcome, { exits, hidden, unread }: Replaced): Outcome {
  // Nothing shows what became of a hidden one. Any other one that is gone may have filled: its fills are still to be read.
  const isSettled = ({ result, orderIds }: ExitOutcome) =>
    result === 'cancelled' || (result === 'gone' && orderIds.every((orderId) => hidden.includes(orderId)));
  const replaced = exits.flatMap((exit) => (isSettled(exit) ? exit.orderIds : []));
  const isDoubtful =
    unread !== null || exits.some(({ result }) => result === 'failed' || result === 'unknown');
  const alarm = joinAlarms([
    outcome.alarm,
    ...exits.map((exit) => exit.alarm),
    isDoubtful ? leftOpenAlarm : undefined,
  ]);
  const notes = [outcome.note, ...exits.map(({ note }) => note), ...(unread === null ? [] : [unread])];
  return {
    ...outcome,
    note: notes.join('; '),
    facts: { ...outcome.facts, ...(replaced.length === 0 ? {} : { replaced }) },
    ...(alarm === undefined ? {} : { alarm }),
  };
}

/**
 * The same of exits on spot, with what they had sold when they were cancelled: until the follower has seen that, nothing else
 * would tell it, and what is left would have a stop-loss of the old size.
 */
export function withReplacedOnSpot(outcome: Outcome, done: Replaced): Outcome {
  const sold = done.exits.flatMap(({ order }) =>
    order?.filled.gt(zero) === true ? [[order.orderId, formatDecimal(order.filled)] as const] : [],
  );
  if (sold.length === 0) return withReplaced(outcome, done);
  const stopsSold = { ...Object.fromEntries(sold), ...outcome.facts?.stopsSold };
  return withReplaced({ ...outcome, facts: { ...outcome.facts, stopsSold } }, done);
}
