import type { Alarm } from '../../base/alarms.ts';
import { hasPassed } from '../../base/clock.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { Entry, SignalEntry, Step } from '../../ledger/entry.ts';
import { denyOrderRate } from '../../limits/check-order.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import type { Denial, Status } from '../../model/outcome.ts';
import { isCancellation, isProtecting } from '../../model/signal.ts';
import { type CountedFact, triedAgain } from '../../model/step-facts.ts';
import { checkStaleness, lastFreshMs } from '../../signals/staleness.ts';
import type { ClearedEntries } from '../position/cleared-entries.ts';
import { tellPaused } from '../protect/failed-alarm.ts';
import { arrivalOf, type ExecuteServices } from '../services.ts';
import { denialOutcome, settleEntry, staleAlarm } from '../settle/settle-entry.ts';
import type { BegunOrder, Outcome, PreparedAction } from './action.ts';
import type { KillSwitch } from './kill-switch.ts';
import { longestReadingMs } from './read-market.ts';
import { settleSent } from './settle-sent.ts';
import { sendingTimeMs, sendWindowMs } from './signal-time.ts';

/** What one execution of a signal has, from its first plan on. */
export interface Begun {
  /** When its first plan was begun. */
  readonly startedAtMs: number;
  readonly killSwitch: KillSwitch;
  readonly cleared: ClearedEntries;
  /**
   * Present when an order is sent as one that only reduces, because a pause or the rate of orders lets it through for that
   * alone. `counted`: how the limits counted it before; null: the account has none.
   */
  reduction?: { readonly counted: CountedFact | null };
}

/**
 * Writes `sending`, sends the requests and stores the outcome. Age and kill switch are checked a second time,
 * because preparing took time.
 *
 * @returns null, and does nothing, when the order must be planned anew: what it was sized on is too old by now, or it must be
 * sent as one that only reduces
 */
export async function carryOut(
  services: ExecuteServices,
  account: Account,
  entry: SignalEntry,
  action: PreparedAction,
  begun: Begun,
): Promise<Status | null> {
  const { cleared } = begun;
  const rehearsalReason = findRehearsalReason(account.mode, services.isPaperExchange);
  // Before the other checks: it takes time, and an order that exists is no order that may be denied.
  const sentBefore =
    rehearsalReason === null ? await services.settleSentBefore?.(entry, action, cleared) : null;
  if (typeof sentBefore === 'string') return sentBefore;
  const settleDenied = (denied: Denial) =>
    settleUnsent(
      services,
      entry,
      cleared.tell({ ...denialOutcome(denied), ...staleAlarm(services, entry, denied) }),
    );
  const { reduces, isPaused, mustReduce } = await checkPaused(begun, action);
  if (mustReduce) return planAsReduction(begun, action);
  const atMs = services.clock.nowMs();
  const { signal } = entry;
  const arrival = arrivalOf(services, entry.createdAtMs);
  const denial = checkStaleness(signal, arrival, atMs) ?? isPaused ?? action.limits?.checkTime(atMs) ?? null;
  if (isPaused !== null && denial === isPaused && isProtecting(signal)) {
    await tellPaused(services, { ...entry, signal }, isPaused);
    return await settleUnsent(services, entry, { ...denialOutcome(isPaused), facts: triedAgain });
  }
  if (denial !== null) return await settleDenied(denial);
  const { readAtMs = atMs } = action;
  const freshUntilMs = action.readAtMs === undefined ? Number.POSITIVE_INFINITY : readAtMs + longestReadingMs;
  if (hasPassed(readAtMs, longestReadingMs, atMs)) return null;
  if (rehearsalReason !== null)
    return await settleEntry(services, entry, {
      ...dryRunOutcome(rehearsalReason, action),
      ...(await findLeftOpen(services, entry)),
    });

  // No rule about how fast orders come may keep a position open.
  const mayOpen = action.isOrder && !reduces;
  const maxPerMinute = mayOpen ? account.maxOrdersPerMinute : null;
  const { evidence, facts = {} } = action;
  const told = action.note === undefined ? '' : `; ${action.note}`;
  const note = `on its way to the exchange${told}`;
  const said = { note, ...(evidence === undefined ? {} : { evidence }), facts };
  const step: Step = { status: 'sending', atMs, ...cleared.tell(said) };
  const started = await services.ledger.start(entry, step, maxPerMinute === null ? null : { maxPerMinute });
  if (started.result === 'over_limit' && (await action.limits?.readReduces?.()))
    return planAsReduction(begun, action);
  if (started.result === 'conflict') return started.entry.status;
  if (started.result === 'over_limit')
    return await settleDenied(denyOrderRate(started.count + 1, maxPerMinute ?? 0));
  // A retry must not send a signal that has become stale, and a worker that was frozen must not send an order
  // that has been looked up since. One millisecond is added because the signal is still fresh at
  // `lastFreshMs` itself, while nothing is sent at `notAfterMs` itself.
  const notAfterMs = Math.min(lastFreshMs(signal, arrival) + 1, atMs + sendWindowMs, freshUntilMs);
  const { exchangeTimeoutMs: timeoutMs } = services;
  const endByMs = services.clock.nowMs() + sendingTimeMs(atMs - begun.startedAtMs, timeoutMs);
  // Waiting for other orders leaves the time of one request.
  const waitUntilMs = Math.min(notAfterMs, endByMs - timeoutMs);
  const crowdedOut = await findCrowding(action, { entry, waitUntilMs });
  if (crowdedOut !== null) return await settleSent(services, { ...entry, status: 'sending' }, crowdedOut);
  const isStillOwn = () => isSending(services, entry);
  const outcome = await action.send({ timeoutMs, notAfterMs, endByMs, isStillOwn });
  return await settleSent(services, { ...entry, status: 'sending' }, outcome);
}

/** A pause of entries stops no order that only reduces a position. Where no limit had to know that, it is read now. */
async function checkPaused(
  { killSwitch }: Begun,
  { limits }: PreparedAction,
): Promise<{ readonly reduces: boolean; readonly isPaused: Denial | null; readonly mustReduce: boolean }> {
  const reduces = limits?.reduces ?? false;
  const isPaused = await killSwitch.check(reduces);
  const known = { reduces, isPaused, mustReduce: false };
  if (isPaused === null || limits?.readReduces === undefined) return known;
  const stopsAll = (await killSwitch.check()) !== null;
  return { ...known, mustReduce: !stopsAll && (await limits.readReduces()) };
}

/** The position may be gone by the time the order arrives: the exchange is told that it must open none. */
function planAsReduction(begun: Begun, { facts }: PreparedAction): null {
  begun.reduction = { counted: facts?.counted ?? null };
  return null;
}

/** Another order may have been planned at the same time. What cannot be checked is not sent. */
async function findCrowding({ limits }: PreparedAction, begun: BegunOrder): Promise<Outcome | null> {
  try {
    const denial = await limits?.checkOthers(begun);
    return denial === undefined || denial === null ? null : denialOutcome(denial);
  } catch (error) {
    const note = `nothing was sent: orders that are sent at the same time could not be checked (${describeSafely(error)})`;
    return { status: 'not_sent', note, evidence: null };
  }
}

/** The reconciler may have taken this worker for dead, and a cancellation may have been sent since. */
async function isSending({ ledger }: ExecuteServices, entry: Entry): Promise<boolean> {
  const now = await ledger.read(entry).catch(() => null);
  return now?.status === 'sending';
}

/**
 * A cancellation that is not sent raises an alarm: it may leave an order open that the owner wants closed.
 */
export function settleUnsent(
  services: ExecuteServices,
  entry: SignalEntry,
  outcome: Outcome,
): Promise<Status> {
  const isHarmless = !isCancellation(entry.signal) || !cancelsNothing.has(outcome.status);
  return settleEntry(services, entry, isHarmless ? outcome : { ...outcome, alarm: notCancelledAlarm });
}

const notCancelledAlarm: Alarm = {
  name: 'orders_left_open',
  message: 'a cancellation was not carried out: orders may still be open',
};

const cancelsNothing: ReadonlySet<Status> = new Set(['denied', 'not_sent']);

/** A cancellation that is only rehearsed cancels nothing: orders from the time when the account was live stay open. */
async function findLeftOpen(
  { ledger }: ExecuteServices,
  { account, signal }: SignalEntry,
): Promise<{ readonly alarm?: Alarm }> {
  if (!isCancellation(signal)) return {};
  const open = await ledger.openOrders(account, signal.market, 1);
  return open.length === 0 ? {} : { alarm: notCancelledAlarm };
}

function dryRunOutcome(reason: string, action: PreparedAction): Outcome {
  return {
    status: 'dry_run',
    note: `${reason}: nothing was sent; these requests would have been sent${action.note === undefined ? '' : `; ${action.note}`}`,
    evidence: {
      requests: action.requests,
      ...(action.evidence === undefined ? {} : { prepared: action.evidence }),
    },
    ...(action.facts === undefined ? {} : { facts: action.facts }),
  };
}
