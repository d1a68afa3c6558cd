import type { ReducedPosition } from '../../account/exit-claims.ts';
import { type ExitServices, type ExpectedExits, expectExits } from '../../account/expected-exits.ts';
import { readRemains } from '../../account/read-remains.ts';
import { type Decimal, formatDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import { changeAction, type Outcome, type Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import {
  heldAlarm,
  incompleteAlarm,
  perhapsAlarm,
  perhapsTurnedAlarm,
  turnedAlarm,
  withAlarm,
} from './close-alarms.ts';
import { areExitsGone, type EndedExits, endExits, readExitFills, tellExits } from './end-exits.ts';
import { type Closing, judgeClosing } from './judge-closing.ts';
import { readLeft, readTurned } from './read-left.ts';

/**
 * Cancels what only protected the position, once the order of the plan has closed all of it, and tells what it has not
 * closed, or what has turned it.
 *
 * @see DECISIONS 154
 */
export function withExitsCancelled(
  services: ExecuteServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  plan: Plan,
): Plan {
  return changeAction(plan, (action) => ({
    async send(options) {
      const outcome = await action.send(withTimeToCancel(services, options));
      return await cancelExitsAfter(services, client, closed, outcome, options);
    },
  }));
}

/** The services that cancel what a close leaves. */
export interface CloseServices
  extends ExitServices,
    Pick<ExecuteServices, 'exchangeTimeoutMs' | 'log' | 'settings'> {
  readonly facts: Pick<AccountFacts, 'read' | 'write'>;
}

/**
 * Looks after a position that an order was to reduce, by the outcome of that order. What only protected a position that is
 * gone is cancelled. What is left of one that was to be closed, and what has turned it, is told.
 *
 * @returns the outcome, with what became of the exits
 * @throws RelayError `store_unavailable`
 */
export async function cancelExitsAfter(
  services: CloseServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  outcome: Outcome,
  options: SendOptions,
): Promise<Outcome> {
  const closing = judgeClosing(outcome, closed);
  const limits = limitsFor(services, options);
  switch (closing.kind) {
    case 'other':
      return outcome;
    case 'rest':
      return await tellRest(services, client, closed, { closing, outcome }, limits);
    default:
      return await endClosed(services, client, closed, { closing, outcome }, limits);
  }
}

/**
 * Cancels the exits of entries, and the orders that only reduce, of a position that is gone although no order of this signal
 * closed it.
 *
 * @throws RelayError `store_unavailable`
 */
export async function cancelExitsOfNothing(
  services: CloseServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  outcome: Outcome,
  options: SendOptions,
): Promise<Outcome> {
  const exits = await expectExits(services, closed, outcome);
  if (!exits.mayExist) return outcome;
  return await endAndWatch(services, client, { closed, exits }, outcome, limitsFor(services, options));
}

/** The close leaves half a timeout for the cancellations, but keeps the one timeout that sending an order always has. */
function withTimeToCancel(
  { clock, exchangeTimeoutMs: timeoutMs }: ExecuteServices,
  options: SendOptions,
): SendOptions {
  const { endByMs } = options;
  if (endByMs === undefined) return options;
  const spareMs = Math.max(0, endByMs - clock.nowMs() - timeoutMs);
  return { ...options, endByMs: endByMs - Math.min(timeoutMs / 2, spareMs) };
}

function limitsFor({ exchangeTimeoutMs }: CloseServices, { endByMs, notAfterMs }: SendOptions): SendOptions {
  const endBy = endByMs ?? notAfterMs;
  return { timeoutMs: exchangeTimeoutMs / 2, ...(endBy === undefined ? {} : { endByMs: endBy }) };
}

interface Judged<Kind extends Closing['kind']> {
  readonly closing: Extract<Closing, { readonly kind: Kind }>;
  readonly outcome: Outcome;
}

async function endClosed(
  services: CloseServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  { closing, outcome }: Judged<'whole' | 'perhaps'>,
  limits: SendOptions,
): Promise<Outcome> {
  const exits = await expectExits(services, closed, outcome);
  // Nothing of the relay can have filled beside an order that filled for all that was read: one reading will do.
  const isPlain = !exits.mayExist && closing.kind === 'whole' && closing.cut?.eq(zero) === true;
  const patience = isPlain ? { timeoutMs: services.exchangeTimeoutMs / 2 } : limits;
  const remains = await readRemains(services, client, closed, outcome, patience);
  if (remains.kind === 'held') {
    const { amount } = remains;
    if (closing.kind === 'perhaps') return withAlarm(outcome, incompleteAlarm(null, amount));
    return withAlarm(outcome, heldAlarm(outcome, amount));
  }
  // Only the list of positions proves that nothing is left when no order closed it.
  const isProven = closing.kind === 'whole' && outcome.status === 'placed';
  if (remains.kind === 'unknown' && !isProven) {
    // An exit may have closed it. The refusal itself is told.
    const isOver =
      closing.kind === 'whole' && (await areExitsGone(services, client, { ...closed, exits }, limits));
    return isOver ? { ...outcome, note: `${outcome.note}; ${noneLeft}` } : withAlarm(outcome, perhapsAlarm);
  }
  const told = remains.kind === 'turned' ? tellTurned(outcome, remains.amount) : outcome;
  if (!exits.mayExist) return tellExits(told, nothingEnded);
  const watched = { closed, exits, cut: (closing.kind === 'whole' ? closing.cut : null) ?? zero };
  return await endAndWatch(services, client, watched, told, limits, remains.kind === 'turned');
}

const noneLeft = 'no list shows yet that the position is gone; no order that protected it is open';

const nothingEnded: EndedExits = {
  kind: 'ended',
  exits: [],
  left: [],
  doubt: null,
  mayFollow: false,
  endedFor: [],
};

/** What is left keeps its exits. */
async function tellRest(
  services: CloseServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  { closing: { rest, filled }, outcome }: Judged<'rest'>,
  limits: SendOptions,
): Promise<Outcome> {
  const exits = await expectExits(services, closed, outcome);
  const sinceMs = outcome.facts?.report?.createdAtMs ?? services.clock.nowMs();
  const mayBeGone = (await readExitFills(client, exits, sinceMs, limits)).gt(zero);
  const { facts } = outcome;
  const left = await readLeft(services, client, closed, { filled, facts, mayBeGone }, limits);
  if (left?.eq(zero) === true) {
    const note = `${outcome.note}; another order has closed the rest of ${formatDecimal(rest)}`;
    // Whatever closed the rest has filled before now.
    const watched = { closed, exits, sinceMs: services.clock.nowMs() + 1 };
    return await endAndWatch(services, client, watched, { ...outcome, note }, limits);
  }
  if (left?.times(closed.position.amount).lt(zero) === true)
    return await endAndWatch(services, client, { closed, exits }, tellTurned(outcome, left), limits, true);
  const told = { ...outcome, facts: { ...facts, rest: formatDecimal(rest) } };
  const alarm = incompleteAlarm(rest, left, closed.isTriedAgain);
  // The alarm of the first order says that the relay tries again. That it does so no more is told by the last try, or by following.
  if (closed.isFurtherTry && closed.isTriedAgain)
    return { ...told, note: `${outcome.note}; ${alarm.message}` };
  return withAlarm(told, alarm);
}

interface Watched {
  readonly closed: ReducedPosition;
  readonly exits: ExpectedExits;
  /** On the exchange's clock: fills of exits before it have closed the position. Absent: when the order was created. */
  readonly sinceMs?: number;
  /** What others had closed just before the order, in base units: their fills may be of its millisecond. Absent: nothing. */
  readonly cut?: Decimal;
}

/**
 * Cancels the exits, and reads the position once more: one of them may have filled before it could be cancelled. Where the
 * history shows such a fill, the list of positions is read until it must show it.
 *
 * @param isTold whether it is known, and told, that the position is turned
 */
async function endAndWatch(
  services: CloseServices,
  client: ExchangeClient,
  { closed, exits, sinceMs, cut = zero }: Watched,
  outcome: Outcome,
  limits: SendOptions,
  isTold = false,
): Promise<Outcome> {
  // Without an order, the position was gone before the exits were read.
  const closedAtMs = sinceMs ?? outcome.facts?.report?.createdAtMs ?? services.clock.nowMs() + 1;
  const ended = await endExits(services, client, { ...closed, exits }, limits);
  const told = tellExits(outcome, ended);
  if (isTold || ended.kind === 'unread') return told;
  const filled = await readExitFills(client, exits, closedAtMs, limits);
  const hasFilled = filled.gt(cut);
  const isGone = ended.exits.some(({ result }) => result !== 'cancelled');
  const turned = await readTurned(services, client, closed, hasFilled || isGone, limits);
  if (turned === null && !hasFilled) return told;
  return tellTurned(told, turned);
}

/** @param amount the position of the other side; null when no list shows it yet */
function tellTurned(outcome: Outcome, amount: Decimal | null): Outcome {
  const facts = { ...outcome.facts, turned: amount === null ? null : formatDecimal(amount) };
  const alarm = amount === null ? perhapsTurnedAlarm(outcome) : turnedAlarm(outcome, amount);
  return withAlarm({ ...outcome, facts }, alarm);
}
