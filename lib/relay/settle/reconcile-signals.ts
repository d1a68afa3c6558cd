import type { SendOptions } from '../../exchange/client.ts';
import type { Entry, LookupProgress } from '../../ledger/entry.ts';
import type { SignalQueue } from '../../queue/queue.ts';
import { watchPositions } from '../../watch/watch-positions.ts';
import type { Outcome } from '../execute/action.ts';
import { createTurnedCloser } from '../protect/ask-to-close-turned.ts';
import { tellWaiting } from '../protect/failed-alarm.ts';
import type { ExecuteServices } from '../services.ts';
import { lookUpSafely } from './look-up.ts';
import { addLookup, isAlarmDue, provesAbsence, scheduleLookup } from './lookup-progress.ts';
import { lostResponseOutcome, settleEntry, unlessMoved } from './settle-entry.ts';
import { denyForgotten, type SweepWindow, sweepAccepted, tellStuck } from './sweep-accepted.ts';

/** The services that the reconciler needs. */
export interface ReconcileServices
  extends Omit<ExecuteServices, 'markets' | 'settleSentBefore' | 'lostProtection'> {
  /** Null when the ledger itself is the line of waiting signals: then none can have lost its message. */
  readonly queue: SignalQueue | null;
}

/** The results of one run, as numbers of signals. */
export interface Reconciliation {
  /** Still `accepted`, and perhaps never enqueued: enqueued again. */
  readonly enqueued: number;
  /** Never executed and stale by now: denied. */
  readonly denied: number;
  /** Not executed for long, but not stale yet: the message is a dead letter, or fails repeatedly. */
  readonly stuck: number;
  /** Left in `sending` by a worker that died: now `unknown`. */
  readonly takenOver: number;
  /** `unknown`, and looked up in this run. */
  readonly lookedUp: number;
  /** Of those looked up: settled. */
  readonly settled: number;
}

/** The name of the reconciler in the steps that it writes. */
export const reconciler = 'reconcile-signals';

/**
 * Entries younger than this are left alone: receive-signal enqueues an entry within seconds of storing it.
 */
const youngestMs = 30_000;
/** Older entries are not enqueued again: their messages have failed repeatedly, or no reconciler ran. */
const oldestMs = 15 * 60_000;
/** A worker that wrote `sending` this long ago is dead: this is twice the time limit of a function. */
const leaseMs = 60_000;
/** No lookup starts later than this in a run, so that the run ends before the next one starts. */
const lastLookupMs = 30_000;
/** No request starts later than this in a run; the last lookup may need many requests. */
export const lastRequestMs = 40_000;
const mostLookups = 100;

/**
 * Settles unfinished signals. It enqueues stored signals that lost their messages, takes over entries that a
 * dead worker left in `sending`, and looks up the orders whose responses were lost. It never sends an order.
 *
 * It may run at any time and in several processes at once, because every step is a conditional write.
 *
 * @throws RelayError `store_unavailable`; entries that were already settled stay settled
 */
export async function reconcileSignals(services: ReconcileServices): Promise<Reconciliation> {
  const startedAtMs = services.clock.nowMs();
  // In parallel: a slow or broken queue must not delay the lookups.
  const [swept, found, watched] = await Promise.allSettled([
    sweep(services, startedAtMs),
    settleLost(services, startedAtMs),
    watchPositions({ ...services, turnedCloser: createTurnedCloser(services) }, startedAtMs, {
      notAfterMs: startedAtMs + lastRequestMs,
    }),
  ]);
  if (swept.status === 'rejected') throw swept.reason;
  if (found.status === 'rejected') throw found.reason;
  if (watched.status === 'rejected') throw watched.reason;
  // What waited for a position that is known now must not wait for the next run.
  if (found.value.settled > 0)
    await sweepAccepted(services, windowAt(startedAtMs, 0), `${startedAtMs}-settled`);
  return { ...swept.value, ...found.value };
}

function windowAt(nowMs: number, minimumAgeMs: number): SweepWindow {
  return { fromMs: nowMs - oldestMs, untilMs: nowMs - minimumAgeMs, aheadMs: nowMs + leaseMs };
}

async function settleLost(services: ReconcileServices, startedAtMs: number) {
  const takenOver = await takeOverLost(services);
  return { takenOver, ...(await lookUpLostOrders(services, startedAtMs)) };
}

async function sweep(services: ReconcileServices, nowMs: number) {
  const window = windowAt(nowMs, youngestMs);
  const { enqueued, tooOld, waiting } = await sweepAccepted(services, window, String(nowMs));
  await tellWaiting(services, waiting);
  const { denied, stuck } = await denyForgotten(services, tooOld, reconciler);
  await tellStuck(services, stuck);
  return { enqueued, denied, stuck: stuck.length };
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
  // A time in the future was written before the clock was set back; how long ago that was is not known.
  const lost = entries.filter(({ updatedAtMs }) => Math.abs(nowMs - updatedAtMs) >= leaseMs);
  let takenOver = 0;
  for (const entry of lost) if (await settle(services, entry, lostResponseOutcome(entry))) takenOver += 1;
  return takenOver;
}

/** @returns whether this lookup settled the entry */
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
    scheduleLookup(reminded, result, services.settings.unknownAlarmAfterMs, nowMs),
  );
  return false;
}

/** A damaged entry cannot be looked up. It stays `unknown`, with an alarm in every run until it is repaired. */
function alarmDamaged({ alarms }: ReconcileServices, { account, signalId, clientOrderId }: Entry): false {
  const message = 'an entry with an unknown outcome is damaged: compare it with the exchange by hand';
  alarms.raise({ name: 'outcome_unknown', message }, { account, signalId, clientOrderId, status: 'unknown' });
  return false;
}

function settle(services: ReconcileServices, entry: Entry, outcome: Outcome): Promise<boolean> {
  return unlessMoved(() => settleEntry(services, entry, outcome, reconciler));
}

function withLookups(outcome: Outcome, { notFound, firstNotFoundAtMs, lastAtMs }: LookupProgress): Outcome {
  return { ...outcome, evidence: { notFound, firstNotFoundAtMs, lastAtMs, found: outcome.evidence } };
}

/** Logs the alarm before its time is stored: an alarm too many is better than one lost in a crash. */
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
