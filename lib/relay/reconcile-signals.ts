import { describeSafely } from '../base/describe-error.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import type { Entry, LookupProgress } from '../ledger/entry.ts';
import type { Settings } from '../model/settings.ts';
import type { SignalQueue } from '../queue/queue.ts';
import type { Outcome } from './action.ts';
import { closeEnded } from './close-ended.ts';
import { type LookupResult, lookUp } from './look-up.ts';
import { addLookup, isAlarmDue, provesAbsence, scheduleLookup } from './lookup-progress.ts';
import {
  logOutcome,
  lostResponseOutcome,
  type SettleServices,
  settleEntry,
  unlessMoved,
} from './settle-entry.ts';
import { denyForgotten, sweepAccepted } from './sweep-accepted.ts';

/** What looking after signals that were left behind needs of the world. */
export interface ReconcileServices extends SettleServices {
  readonly settings: Settings;
  readonly queue: SignalQueue;
  /** How long one request to the exchange may take, retries included. */
  readonly exchangeTimeoutMs: number;
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/** What one run did, in numbers of signals. */
export interface Reconciliation {
  /** Stored, but perhaps never queued: queued again. */
  readonly enqueued: number;
  /** Never carried out, and too old by now: denied. */
  readonly denied: number;
  /** Never carried out for long, but not too old yet: their messages were set aside, or are stuck. */
  readonly stuck: number;
  /** Left in `sending` by a worker that died: unknown now. */
  readonly takenOver: number;
  /** Of those `unknown`: looked for, and settled. */
  readonly lookedUp: number;
  readonly settled: number;
  /** Believed open, and ended at the exchange: closed. */
  readonly closed: number;
}

/** Who settles, in the ledger's words. */
export const reconciler = 'reconcile-signals';

/** Younger ones are on their way: the door enqueues within seconds of storing. */
const youngestMs = 30_000;
/** Older ones were handed out and failed, again and again, or nobody swept for that long. */
const oldestMs = 15 * 60_000;
/** Twice what a function may take: whoever wrote `sending` longer ago is dead, and its request long on the wire. */
const leaseMs = 60_000;
/** A run ends before the next one begins: no lookup begins later than this, */
const lastLookupMs = 30_000;
/** nor any request of the last lookup, which may be many. */
const lastRequestMs = 40_000;
const mostLookups = 100;

/**
 * Looks after what was left behind: queues what was stored and forgotten, takes over what a dead worker was sending,
 * and looks for the orders whose responses were lost. It never sends an order.
 *
 * Safe to run at any time, also beside itself: every step is a conditional write.
 *
 * @throws RelayError `store_unavailable`; what was settled until then stays settled
 */
export async function reconcileSignals(services: ReconcileServices): Promise<Reconciliation> {
  const startedAtMs = services.clock.nowMs();
  // Side by side: a queue that is slow or out of order must not keep lost responses from being found.
  const [swept, found] = await Promise.allSettled([
    sweep(services, startedAtMs),
    settleLost(services, startedAtMs),
  ]);
  if (swept.status === 'rejected') throw swept.reason;
  if (found.status === 'rejected') throw found.reason;
  return { ...swept.value, ...found.value, closed: await closeNowAndThen(services, startedAtMs) };
}

const closeEveryMinutes = 10;
/** A minute of its own, away from the full hour at which snapshots are taken. */
const closeAtMinute = 7;

/** An order that has ended and is believed open costs time, never money: now and then is enough. */
async function closeNowAndThen(services: ReconcileServices, startedAtMs: number): Promise<number> {
  if (Math.floor(startedAtMs / 60_000) % closeEveryMinutes !== closeAtMinute) return 0;
  const options = { timeoutMs: services.exchangeTimeoutMs, notAfterMs: startedAtMs + lastRequestMs };
  return await closeEnded(services, options);
}

async function settleLost(services: ReconcileServices, startedAtMs: number) {
  const takenOver = await takeOverLost(services);
  return { takenOver, ...(await lookUpLostOrders(services, startedAtMs)) };
}

async function sweep(services: ReconcileServices, nowMs: number) {
  const window = { fromMs: nowMs - oldestMs, untilMs: nowMs - youngestMs, aheadMs: nowMs + leaseMs };
  const { enqueued, tooOld } = await sweepAccepted(services, window);
  const denied = await denyForgotten(services, tooOld, reconciler);
  return { enqueued, denied, stuck: tooOld.length - denied };
}

async function lookUpLostOrders(services: ReconcileServices, startedAtMs: number) {
  const options = { timeoutMs: services.exchangeTimeoutMs, notAfterMs: startedAtMs + lastRequestMs };
  let lookedUp = 0;
  let settled = 0;
  for (const entry of await services.ledger.dueLookups(services.clock.nowMs(), mostLookups)) {
    if (services.clock.nowMs() - startedAtMs > lastLookupMs) break;
    lookedUp += 1;
    if (await lookUpEntry(services, entry, options)) settled += 1;
  }
  return { lookedUp, settled };
}

async function takeOverLost(services: ReconcileServices): Promise<number> {
  const { entries } = await services.ledger.list({
    status: 'sending',
    oldestFirst: true,
    limit: mostLookups,
  });
  const nowMs = services.clock.nowMs();
  // What lies ahead was written before the clock was set back, however long ago that is.
  const lost = entries.filter(({ updatedAtMs }) => Math.abs(nowMs - updatedAtMs) >= leaseMs);
  let takenOver = 0;
  for (const entry of lost) if (await settle(services, entry, lostResponseOutcome(entry))) takenOver += 1;
  return takenOver;
}

/** @returns whether the entry is settled by it */
async function lookUpEntry(
  services: ReconcileServices,
  entry: Entry,
  options: SendOptions,
): Promise<boolean> {
  const { lookup } = entry;
  if (lookup === null) return alarmDamaged(services, entry);
  const result = await lookUpSafely(services, entry, options);
  if (result.kind === 'found') return await settle(services, entry, result.outcome);
  const nowMs = services.clock.nowMs();
  const next = addLookup(lookup, result, nowMs);
  if (result.kind === 'not_found' && provesAbsence(next))
    return await settle(services, entry, withLookups(result.outcome, next));
  const reminded = remind(services, entry, next, nowMs);
  await services.ledger.postpone(
    entry,
    lookup,
    scheduleLookup(reminded, services.settings.unknownAlarmAfterMs, nowMs),
  );
  return false;
}

/** What it was, nobody can look for; it stays unknown, and is told of until somebody mends the store. */
function alarmDamaged({ alarms }: ReconcileServices, { account, signalId, clientOrderId }: Entry): false {
  const message = 'an entry whose outcome is unknown is damaged: compare with the exchange by hand';
  alarms.raise({ name: 'outcome_unknown', message }, { account, signalId, clientOrderId, status: 'unknown' });
  return false;
}

async function settle(services: ReconcileServices, entry: Entry, outcome: Outcome): Promise<boolean> {
  try {
    return await unlessMoved(() => settleEntry(services, entry, outcome, reconciler));
  } catch (error) {
    // It may be written all the same, and who comes next finds nothing left to tell.
    if (outcome.status === 'unknown') logOutcome(services, entry, outcome);
    throw error;
  }
}

/**
 * What cannot be looked up now, for whatever reason, is looked up later: one account's missing key must not keep the
 * others' orders from being found. A ledger that is out of order shows when the lookup is to be written down.
 */
async function lookUpSafely(
  services: ReconcileServices,
  entry: Entry,
  options: SendOptions,
): Promise<LookupResult> {
  try {
    return await lookUp(services, entry, options);
  } catch (error) {
    return { kind: 'inconclusive', finding: `could not be looked up: ${describeSafely(error)}` };
  }
}

function withLookups(outcome: Outcome, { notFound, firstNotFoundAtMs, lastAtMs }: LookupProgress): Outcome {
  return { ...outcome, evidence: { notFound, firstNotFoundAtMs, lastAtMs, found: outcome.evidence } };
}

/** Said before it is written down: an alarm too many is better than one too few. */
function remind(
  services: ReconcileServices,
  entry: Entry,
  lookup: LookupProgress,
  nowMs: number,
): LookupProgress {
  if (!isAlarmDue(lookup, services.settings.unknownAlarmAfterMs, nowMs)) return lookup;
  services.alarms.raise(
    { name: 'outcome_unknown', message: 'signal outcome still unknown' },
    {
      account: entry.account,
      signalId: entry.signalId,
      market: entry.signal?.market ?? null,
      clientOrderId: entry.clientOrderId,
      status: 'unknown',
      unknownForMs: nowMs - entry.updatedAtMs,
      lookups: lookup.count,
      note: lookup.finding ?? '',
    },
  );
  return { ...lookup, alarmedAtMs: nowMs };
}
