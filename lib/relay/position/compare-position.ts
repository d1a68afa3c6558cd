import { type PositionReading, readPosition } from '../../account/read-position.ts';
import { describeAmount, stateOfAmount } from '../../account/seen-position.ts';
import type { Alarm } from '../../base/alarms.ts';
import { formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { Entry } from '../../ledger/entry.ts';
import { type OrderRecord, orderRecordOf } from '../../ledger/order-record.ts';
import { reducesWhole } from '../../ledger/sent-order.ts';
import type { Account } from '../../model/account.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { isMarketOrder } from '../../orders/order-kinds.ts';
import { saysItReduces } from '../../signals/may-open.ts';
import { changeAction, type Outcome, type Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { withAlarm } from './close-alarms.ts';
import { judgeEnded } from './judge-closing.ts';

/** Much less than the age at which other readings are too old to send an order on. */
const longestReadMs = 1000;

/**
 * Compares the position with what the alert says of it. It only tells: the order is planned at the same time, and whatever
 * fails here fails nothing.
 *
 * @returns null where there is nothing to tell
 */
export async function comparePosition(
  services: ExecuteServices,
  account: Account,
  signalId: string,
  signal: OrderSignal,
): Promise<Compared | null> {
  const { told, market, positionSide } = signal;
  if (told === undefined || account.markets[market]?.tradesOn === 'spot') return null;
  try {
    const client = await services.exchangeFor(account.name);
    if (client.dialect !== 'live') return null;
    const query = { account: account.name, market, signalId, positionSide };
    const limits = { timeoutMs: Math.min(longestReadMs, services.exchangeTimeoutMs / 2) };
    return describe(signal, await readPosition(services, client, query, limits));
  } catch (error) {
    return noted(`${notCompared}: ${describeSafely(error)}`);
  }
}

/** What is told of a position that is not surely what the alert says. */
interface Compared {
  /** One sentence. */
  readonly note: string;
  /** Whether the position outlasts an order after which the alert says that it is flat. */
  readonly leavesRest: boolean;
}

const noted = (note: string): Compared => ({ note, leavesRest: false });

const notCompared = 'the position could not be compared with what the alert says of it';

function describe({ told = {}, size }: OrderSignal, reading: PositionReading): Compared | null {
  if (reading.kind === 'waits') return noted(`${notCompared}: ${reading.reason}`);
  if (reading.kind === 'denied') return noted(`${notCompared}: ${reading.denial.message}`);
  const { amount } = reading.position;
  const { before = stateOfAmount(amount), after } = told;
  const seen = describeAmount(amount);
  if (stateOfAmount(amount) !== before)
    return noted(`the alert says that the position was ${before}, and it is ${seen}`);
  const isLess = size.unit === 'base' && parseDecimal(size.quantity).lt(amount.abs());
  const note = `the alert says that the position is flat afterwards, and its size is less than ${seen}: a rest stays`;
  return after === 'flat' && isLess ? { note, leavesRest: true } : null;
}

/** The note stands in the step in which the order is sent or rehearsed. A position that outlasts its order is an alarm. */
export function withNote(
  { log }: Pick<ExecuteServices, 'log'>,
  plan: Plan,
  compared: Compared | null,
  names: { readonly account: string; readonly signalId: string },
): Plan {
  if (compared === null || plan.verdict !== 'ready') return plan;
  const { note, leavesRest } = compared;
  log.warn('the position may not be what the alert wants', { ...names, note });
  return changeAction(plan, (action) => ({
    note: action.note === undefined ? note : `${action.note}; ${note}`,
    ...(leavesRest ? { facts: { ...action.facts, leaves: note } } : {}),
    send: async (options) => {
      const outcome = await action.send(options);
      return leavesRest ? withLeft(outcome, note) : outcome;
    },
  }));
}

function withLeft(outcome: Outcome, note: string): Outcome {
  if (outcome.status !== 'placed') return outcome;
  const message = `${note}; close it, unless another strategy or you hold it`;
  return withAlarm(outcome, { name: 'close_incomplete', message });
}

/** What an order was for that is to reduce what is held. On spot there is no position, and nothing closes one. */
export type Reducing = 'order' | 'target' | 'sale';

/** An order that was to reduce a position, or to sell on spot, and filled only in part is an alarm: nothing tries its rest again. */
export function withRestTold(plan: Plan, of: Reducing): Plan {
  return changeAction(plan, ({ send }) => ({ send: async (options) => withRest(await send(options), of) }));
}

function withRest(outcome: Outcome, of: Reducing): Outcome {
  const { rest = zero } = judgeEnded(outcome) ?? {};
  return rest.gt(zero) ? withAlarm(outcome, unfilledAlarm(formatDecimal(rest), of)) : outcome;
}

/** Tells of an order whose response was lost what the relay would have told of it at once. */
export function withFoundRest(entry: Entry, outcome: Outcome): Outcome {
  const record = orderRecordOf(entry);
  if (record === null) return outcome;
  const told = record.leaves === null ? outcome : withLeft(outcome, record.leaves);
  const of = reducingOf(entry, record);
  return of === null ? told : withRest(told, of);
}

/** Null for an order that was not to reduce anything, or whose rest is told in another way. */
function reducingOf(entry: Entry, { asked, spot }: OrderRecord): Reducing | null {
  const action = entry.signal?.action;
  if (asked === null) return null;
  if (action === 'target') return asked.reduceOnly && !reducesWhole(entry) ? 'target' : null;
  if (action !== 'order' || !isMarketOrder(asked.orderType)) return null;
  if (!saysItReduces(asked, spot === null ? undefined : 'spot')) return null;
  return spot === null ? 'order' : 'sale';
}

function unfilledAlarm(rest: string, of: Reducing): Alarm {
  const what = of === 'sale' ? 'a sale on spot' : 'an order that was to reduce a position';
  const advice = {
    order: 'close what is left, or write "action": "close", which tries again',
    target: 'send the target again, or reduce the position by hand',
    sale: `send another sale, with "quantity": "${rest}"`,
  }[of];
  return {
    name: 'close_incomplete',
    message: `${what} filled only in part, and nothing tries the rest again: ${rest} of it did not fill; ${advice}`,
  };
}
