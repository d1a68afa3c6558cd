import { type PositionReading, readPosition } from '../../account/read-position.ts';
import { describeAmount, stateOfAmount } from '../../account/seen-position.ts';
import { parseDecimal } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { Account } from '../../model/account.ts';
import type { OrderSignal } from '../../model/signal.ts';
import type { Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';

/** Much less than the age at which other readings are too old to send an order on. */
const longestReadMs = 1000;

/**
 * Compares the position with what the alert says of it. It only tells: the order is planned at the same time, and whatever
 * fails here fails nothing.
 *
 * @returns a note; null where there is nothing to tell
 */
export async function comparePosition(
  services: ExecuteServices,
  account: Account,
  signalId: string,
  signal: OrderSignal,
): Promise<string | null> {
  const { told, market, positionSide } = signal;
  if (told === undefined || account.markets[market]?.tradesOn === 'spot') return null;
  try {
    const client = await services.exchangeFor(account.name);
    if (client.dialect !== 'live') return null;
    const query = { account: account.name, market, signalId, positionSide };
    const limits = { timeoutMs: Math.min(longestReadMs, services.exchangeTimeoutMs / 2) };
    return describe(signal, await readPosition(services, client, query, limits));
  } catch (error) {
    return `${notCompared}: ${describeSafely(error)}`;
  }
}

const notCompared = 'the position could not be compared with what the alert says of it';

function describe({ told = {}, size }: OrderSignal, reading: PositionReading): string | null {
  if (reading.kind === 'waits') return `${notCompared}: ${reading.reason}`;
  if (reading.kind === 'denied') return `${notCompared}: ${reading.denial.message}`;
  const { amount } = reading.position;
  const { before = stateOfAmount(amount), after } = told;
  const seen = describeAmount(amount);
  if (stateOfAmount(amount) !== before)
    return `the alert says that the position was ${before}, and it is ${seen}`;
  const isLess = size.unit === 'base' && parseDecimal(size.quantity).lt(amount.abs());
  return after === 'flat' && isLess
    ? `the alert says that the position is flat afterwards, and its size is less than ${seen}: a rest stays`
    : null;
}

/** The note stands in the step in which the order is sent or rehearsed. */
export function withNote(
  { log }: Pick<ExecuteServices, 'log'>,
  plan: Plan,
  note: string | null,
  names: { readonly account: string; readonly signalId: string },
): Plan {
  if (note === null || plan.verdict !== 'ready') return plan;
  log.warn('the position is not surely what the alert says', { ...names, note });
  const { action } = plan;
  const notes = action.note === undefined ? note : `${action.note}; ${note}`;
  return { verdict: 'ready', action: { ...action, note: notes } };
}
