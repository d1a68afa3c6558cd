import type { ReducedPosition } from '../../account/exit-claims.ts';
import { type ExpectedExits, expectExits } from '../../account/expected-exits.ts';
import type { AccountServices } from '../../account/read-exposure.ts';
import { type Remains, readRemains, relistPauseMs } from '../../account/read-remains.ts';
import { describeAmount } from '../../account/seen-position.ts';
import { type Alarm, joinAlarms } from '../../base/alarms.ts';
import { toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import { listEndedOrders } from '../../exchange/list-account.ts';
import type { StepFacts } from '../../model/step-facts.ts';
import {
  type CancelledExits,
  cancelExits,
  type Exit,
  type ExitOutcome,
  type ExitScope,
} from '../cancel/cancel-exits.ts';
import type { Outcome, Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { closesWhole } from './closes-whole.ts';

/**
 * Cancels what only protected the position, once the order of the plan has closed all of it.
 *
 * @see DECISIONS 154
 */
export function withExitsCancelled(
  services: ExecuteServices,
  client: ExchangeClient,
  closed: ReducedPosition,
  plan: Plan,
): Plan {
  if (plan.verdict !== 'ready') return plan;
  const { action } = plan;
  return {
    verdict: 'ready',
    action: {
      ...action,
      async send(options) {
        const outcome = await action.send(withTimeToCancel(services, options));
        return await cancelExitsAfter(services, client, closed, outcome, options);
      },
    },
  };
}

/** The services that cancel what a close leaves. */
export type CloseServices = AccountServices & Pick<ExecuteServices, 'exchangeTimeoutMs'>;

/**
 * Cancels what only protected the position, if the outcome of an order shows that it has closed all of it.
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
  const isWhole = closesWhole(outcome, closed);
  if (isWhole === 'no') return outcome;
  const exits = await expectExits(services, closed, outcome);
  if (!exits.mayExist) return describe(outcome, { exits: [], left: [] }, null, []);
  const limits = limitsFor(services, options);
  const remains = await readRemains(services, client, closed, outcome, limits);
  if (remains.kind === 'held') return isWhole === 'yes' ? withAlarm(outcome, heldAlarm(remains)) : outcome;
  // Only the list of positions proves that nothing is left when no order closed it.
  const isProven = isWhole === 'yes' && outcome.status === 'placed';
  if (remains.kind === 'unknown' && !isProven) return withAlarm(outcome, perhapsAlarm);
  const told = remains.kind === 'turned' ? withAlarm(outcome, turnedAlarm(remains)) : outcome;
  return await cancelLeft(services, client, { market: closed.market, exits }, told, limits);
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

async function cancelLeft(
  services: CloseServices,
  client: ExchangeClient,
  { market, exits }: { readonly market: string; readonly exits: ExpectedExits },
  outcome: Outcome,
  limits: SendOptions,
): Promise<Outcome> {
  try {
    const scope: ExitScope = {
      market,
      isExit: (order) => exits.isExit(order),
      see: (order) => exits.see(order),
    };
    const done: ExitOutcome[] = [];
    // What one reading has shown, and none has cancelled: a later reading may lag.
    const before = new Map<string, Exit>();
    for (;;) {
      const { exits: ended, left } = await cancelExits(client, scope, limits);
      done.push(...ended);
      for (const { name, result } of ended)
        if (result === 'cancelled' || result === 'gone') before.delete(name);
      for (const exit of left ?? []) before.set(exit.name, exit);
      if (exits.isAwaited(services.clock.nowMs())) await seeEnded(services, client, exits, limits);
      const nowMs = services.clock.nowMs();
      const isAwaited = exits.isAwaited(nowMs);
      const mayRepeat = nowMs + relistPauseMs + services.exchangeTimeoutMs / 2 < (limits.endByMs ?? nowMs);
      if (!isAwaited || !mayRepeat)
        return describe(
          outcome,
          { exits: done, left: left === null ? null : [...before.values()] },
          exits.isWhole ? (isAwaited ? awaitedNote : null) : partNote,
          exits.endedFor(),
        );
      await services.clock.sleep(relistPauseMs);
    }
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return unread(outcome, error.message);
  }
}

/** Reads the history: exits that have ended are awaited no more, nor are those of entries that ended without a fill. */
async function seeEnded(
  { clock }: Pick<CloseServices, 'clock'>,
  client: ExchangeClient,
  exits: ExpectedExits,
  limits: SendOptions,
): Promise<void> {
  try {
    // One that cannot be read is awaited longer.
    const ended = await listEndedOrders(client, clock.nowMs() - longestLagMs, limits);
    for (const order of ended) exits.seeEnded(order);
  } catch (error) {
    // Without the history, the close only waits longer.
    if (!(error instanceof ExchangeError)) throw error;
  }
}

const partNote = 'more orders are followed than are read here, so an exit among them may be unknown';
const awaitedNote =
  'an entry that may have filled within the last minute may have a stop-loss or take-profit that no list shows yet';

/**
 * @param doubt why an exit may be unknown; null: none may be
 * @param endedFor the signals whose exits have ended, if nothing is left or may still come
 */
function describe(
  outcome: Outcome,
  { exits, left }: CancelledExits,
  doubt: string | null,
  endedFor: readonly string[],
): Outcome {
  const leftIds = left === null ? null : left.flatMap(({ orderIds }) => orderIds);
  const ended = exits.filter(({ result }) => result === 'cancelled' || result === 'gone');
  const isClean = leftIds?.length === 0 && doubt === null;
  const evidence = toJson({
    ...Object(outcome.evidence),
    cancelledExits: ended.flatMap(({ orderIds }) => orderIds),
    leftExits: leftIds,
  });
  const facts: StepFacts = {
    ...outcome.facts,
    ...(isClean && endedFor.length > 0 ? { exitsEndedFor: endedFor } : {}),
  };
  const contradicted = exits.map(({ alarm }) => alarm);
  const alarm = joinAlarms([outcome.alarm, ...contradicted, isClean ? undefined : leftAlarm]);
  const names = ended.map(({ name }) => name).join(', ');
  const which = [
    ...(leftIds ?? ['the open orders could not be read back']),
    ...(doubt === null ? [] : [doubt]),
  ].join(', ');
  const notes = [
    outcome.note,
    ...(names === '' ? [] : [`orders that only protected it are cancelled: ${names}`]),
    ...(isClean ? [] : [`orders that protected it may still be open: ${which}`]),
  ];
  return { ...outcome, evidence, facts, note: notes.join('; '), ...(alarm === undefined ? {} : { alarm }) };
}

const leftAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'a position was closed, and orders that protected it may still be open and could open a new one: cancel them',
};

/** Nobody knows which of them belong to what was closed, and a position without a stop-loss is worse than one with two. */
function heldAlarm({ amount }: Extract<Remains, { readonly kind: 'held' }>): Alarm {
  return {
    name: 'orders_left_open',
    message: `a position was closed, and another order has filled meanwhile: the position is ${describeAmount(amount)} now; all stop-losses and take-profits are left open: check that they fit it`,
  };
}

function turnedAlarm({ amount }: Extract<Remains, { readonly kind: 'turned' }>): Alarm {
  return {
    name: 'orders_left_open',
    message: `a position was closed, and another order, perhaps its stop-loss, has opened one of the other side meanwhile: ${describeAmount(amount)}; check whether you want it`,
  };
}

const perhapsAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'it is not known whether a position was closed, and its stop-losses and take-profits are left open: check the position, and cancel them if it is closed',
};

function withAlarm(outcome: Outcome, added: Alarm): Outcome {
  const alarm = joinAlarms([outcome.alarm, added]);
  const note = `${outcome.note}; ${added.message}`;
  return { ...outcome, note, ...(alarm === undefined ? {} : { alarm }) };
}

function unread(outcome: Outcome, reason: string): Outcome {
  const alarm = joinAlarms([outcome.alarm, leftAlarm]);
  return {
    ...outcome,
    note: `${outcome.note}; orders that protected it could not be read (${reason})`,
    evidence: toJson({ ...Object(outcome.evidence), cancelledExits: [], leftExits: null }),
    ...(alarm === undefined ? {} : { alarm }),
  };
}
