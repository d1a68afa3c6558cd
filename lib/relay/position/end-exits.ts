import type { ReducedPosition } from '../../account/exit-claims.ts';
import type { ExpectedExits } from '../../account/expected-exits.ts';
import { relistPauseMs } from '../../account/read-remains.ts';
import { joinAlarms } from '../../base/alarms.ts';
import type { Clock } from '../../base/clock.ts';
import { type Decimal, maximum, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { toJson } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import { listEndedOrders, listOrderDeals } from '../../exchange/list-account.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import { findAccount, type Settings } from '../../model/settings.ts';
import type { StepFacts } from '../../model/step-facts.ts';
import {
  cancelExits,
  type Exit,
  type ExitOutcome,
  type ExitScope,
  listOpenExits,
} from '../cancel/cancel-exits.ts';
import type { Outcome } from '../execute/action.ts';
import { noteTaken } from '../protect/taken-stops.ts';
import { leftAlarm } from './close-alarms.ts';

interface EndServices {
  readonly clock: Clock;
  readonly exchangeTimeoutMs: number;
  readonly facts: Pick<AccountFacts, 'read' | 'write'>;
  readonly log: Log;
  readonly settings: Settings;
}

/** What became of the exits of a position that is gone. */
export type EndedExits =
  | {
      readonly kind: 'ended';
      readonly exits: readonly ExitOutcome[];
      /** What is still open; null when the lists could not be read whole. */
      readonly left: readonly Exit[] | null;
      /** Why an exit may be unknown; null: none may be, or following cancels it. */
      readonly doubt: string | null;
      /** Whether an exit may be unknown that following cancels once a list shows it. */
      readonly mayFollow: boolean;
      /** The signals whose exits have ended, if nothing is left or may still come. */
      readonly endedFor: readonly string[];
    }
  | { readonly kind: 'unread'; readonly reason: string };

/**
 * Cancels the expected exits of a market. The lists are read again until none of them is missing, or the time is up. Where the
 * relay keeps the protection, that is a few seconds after their entry: following cancels what comes later.
 *
 * @throws RelayError `store_unavailable`
 */
export async function endExits(
  services: EndServices,
  client: ExchangeClient,
  { account, market, exits }: Pick<ReducedPosition, 'account' | 'market'> & { readonly exits: ExpectedExits },
  limits: SendOptions,
): Promise<EndedExits> {
  const keeps = findAccount(services.settings, account)?.protection === 'keep';
  try {
    const done: ExitOutcome[] = [];
    // What one reading has shown, and none has cancelled: a later reading may lag.
    const before = new Map<string, Exit>();
    for (;;) {
      const tried = new Set(done.flatMap(({ orderIds }) => orderIds));
      const unlistedIds = exits.attached.filter((orderId) => !tried.has(orderId));
      const scope = { ...scopeOf(market, exits), unlistedIds };
      const { exits: ended, left } = await cancelExits(client, scope, limits);
      for (const { isUnlisted, order } of ended)
        if (isUnlisted && order !== undefined) exits.seeHidden(order);
      done.push(...ended);
      // An entry that fills more may be followed for longer than the close that tells who has cancelled its exits.
      const cancelled = cancelledIds(ended);
      if (cancelled.length > 0) await noteCancelled(services, account, market, cancelled);
      const over = endedIds(done);
      for (const [name, { orderIds }] of before)
        if (orderIds.every((orderId) => over.has(orderId))) before.delete(name);
      for (const exit of left ?? []) before.set(exit.name, exit);
      if (exits.isAwaited(services.clock.nowMs())) await seeEnded(services, client, exits, limits);
      const nowMs = services.clock.nowMs();
      const isSought = keeps ? exits.isSought(nowMs) : exits.isAwaited(nowMs);
      const mayRepeat = nowMs + relistPauseMs + services.exchangeTimeoutMs / 2 < (limits.endByMs ?? nowMs);
      if (!isSought || !mayRepeat)
        return {
          kind: 'ended',
          exits: done,
          left: left === null ? null : [...before.values()],
          ...judgeDoubt(exits, nowMs, keeps),
          endedFor: exits.endedFor(nowMs),
        };
      await services.clock.sleep(relistPauseMs);
    }
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { kind: 'unread', reason: error.message };
  }
}

function judgeDoubt(
  exits: ExpectedExits,
  nowMs: number,
  keeps: boolean,
): Pick<Extract<EndedExits, { readonly kind: 'ended' }>, 'doubt' | 'mayFollow'> {
  const isDoubted = exits.isDoubted(nowMs);
  const mayFollow = keeps && isDoubted;
  if (!exits.isWhole) return { doubt: partNote, mayFollow };
  const mayStay = exits.mayBeHidden || (isDoubted && !keeps);
  return { doubt: mayStay ? awaitedNote : null, mayFollow };
}

/** The ids of orders whose cancellation the exchange has confirmed. */
function cancelledIds(exits: readonly ExitOutcome[]): readonly number[] {
  return exits.flatMap(({ result, orderIds }) => (result === 'cancelled' ? orderIds : []));
}

/** A failure of the store is logged: it must not make an outcome unknown that is known, and the outcome names the same ids. */
async function noteCancelled(
  { facts, log }: EndServices,
  account: string,
  market: string,
  orderIds: readonly number[],
): Promise<void> {
  try {
    await noteTaken(facts, account, market, orderIds);
  } catch (error) {
    const names = { account, market, orderIds, reason: describeSafely(error) };
    log.warn('what a close has cancelled may count as cancelled by hand later', names);
  }
}

/** The ids of orders that are surely open no more. */
function endedIds(exits: readonly ExitOutcome[]): ReadonlySet<number> {
  const ended = exits.filter(({ result }) => result === 'cancelled' || result === 'gone');
  return new Set(ended.flatMap(({ orderIds }) => orderIds));
}

function scopeOf(market: string, exits: ExpectedExits): ExitScope {
  return {
    market,
    isExit: (order) => exits.isExit(order),
    see: (order) => exits.see(order),
  };
}

/** Whether none of the expected exits of a market is open, or may still come; nothing is cancelled. */
export async function areExitsGone(
  services: EndServices,
  client: ExchangeClient,
  { market, exits }: { readonly market: string; readonly exits: ExpectedExits },
  limits: SendOptions,
): Promise<boolean> {
  if (!exits.mayExist) return true;
  try {
    const open = await listOpenExits(client, scopeOf(market, exits), limits);
    if (open === null || open.length > 0) return false;
    if (exits.isAwaited(services.clock.nowMs())) await seeEnded(services, client, exits, limits);
    return exits.isWhole && !exits.isAwaited(services.clock.nowMs());
  } catch (error) {
    if (error instanceof ExchangeError) return false;
    throw error;
  }
}

/** Reads the history: exits that have ended are awaited no more, nor are those of entries that ended without a fill. */
async function seeEnded(
  { clock }: Pick<EndServices, 'clock'>,
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

/**
 * What exits have filled since the position was closed, as the history shows it. An exit that a close cancels may have filled
 * in part long before: only its deals tell when.
 *
 * @param sinceMs on the exchange's clock
 * @returns in base units; of a fill whose time no list shows, it counts as one since
 */
export async function readExitFills(
  client: ExchangeClient,
  exits: ExpectedExits,
  sinceMs: number,
  limits: SendOptions,
): Promise<Decimal> {
  let sum = zero;
  try {
    for (const order of await listEndedOrders(client, sinceMs, limits)) {
      if (order.filled.eq(zero) || (order.endedAtMs ?? 0) < sinceMs || !exits.mayHaveBeenExit(order))
        continue;
      const before = sum;
      sum = before.plus(order.filled);
      const { deals } = await listOrderDeals(client, order.orderId, limits);
      const earlier = deals.filter(({ atMs }) => atMs < sinceMs);
      sum = maximum(
        before,
        earlier.reduce((left, { amount }) => left.minus(amount), sum),
      );
    }
  } catch (error) {
    // What is not read is left to the list of positions.
    if (!(error instanceof ExchangeError)) throw error;
  }
  return sum;
}

const partNote = 'more orders are followed than are read here, so an exit among them may be unknown';
const followedNote =
  'a stop-loss or take-profit of an entry that no list shows yet is cancelled once one does';
const awaitedNote = 'an entry may have a stop-loss or take-profit that no list shows yet, or none will show';

/** Adds to the outcome of a close what became of the exits. */
export function tellExits(outcome: Outcome, ended: EndedExits): Outcome {
  if (ended.kind === 'unread') return tellUnread(outcome, ended.reason);
  const { exits, left, doubt, mayFollow, endedFor } = ended;
  const leftIds = left === null ? null : left.flatMap(({ orderIds }) => orderIds);
  const over = exits.filter(({ result }) => result === 'cancelled' || result === 'gone');
  const isClean = leftIds?.length === 0 && doubt === null;
  const evidence = toJson({
    ...Object(outcome.evidence),
    cancelledExits: over.flatMap(({ orderIds }) => orderIds),
    leftExits: leftIds,
  });
  const cancelled = cancelledIds(exits);
  const facts: StepFacts = {
    ...outcome.facts,
    ...(cancelled.length === 0 ? {} : { replaced: cancelled }),
    ...(isClean && endedFor.length > 0 ? { exitsEndedFor: endedFor } : {}),
  };
  const contradicted = exits.map(({ alarm }) => alarm);
  const alarm = joinAlarms([outcome.alarm, ...contradicted, isClean ? undefined : leftAlarm(outcome)]);
  const names = over.map(({ name }) => name).join(', ');
  const which = [
    ...(leftIds ?? ['the open orders could not be read back']),
    ...(doubt === null ? [] : [doubt]),
  ].join(', ');
  const notes = [
    outcome.note,
    ...(names === '' ? [] : [`orders that only protected it are cancelled: ${names}`]),
    ...(isClean ? [] : [`orders that protected it may still be open: ${which}`]),
    ...(mayFollow ? [followedNote] : []),
  ];
  return { ...outcome, evidence, facts, note: notes.join('; '), ...(alarm === undefined ? {} : { alarm }) };
}

function tellUnread(outcome: Outcome, reason: string): Outcome {
  const alarm = joinAlarms([outcome.alarm, leftAlarm(outcome)]);
  return {
    ...outcome,
    note: `${outcome.note}; orders that protected it could not be read (${reason})`,
    evidence: toJson({ ...Object(outcome.evidence), cancelledExits: [], leftExits: null }),
    ...(alarm === undefined ? {} : { alarm }),
  };
}
