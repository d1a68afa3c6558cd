import type { Alarm, Alarms } from '../../base/alarms.ts';
import type { Clock } from '../../base/clock.ts';
import { RelayError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import type { ContestedFacts } from '../../ledger/account-facts.ts';
import type { Entry, Step } from '../../ledger/entry.ts';
import type { Ledger, Move } from '../../ledger/ledger.ts';
import { tradingGroundOf } from '../../model/account.ts';
import { type Denial, type Status, withoutOrder } from '../../model/outcome.ts';
import { findAccount, type Settings } from '../../model/settings.ts';
import { isReduction, type Signal, wantsNoPosition } from '../../model/signal.ts';
import { staleRule } from '../../signals/staleness.ts';
import type { Outcome } from '../execute/action.ts';
import { anotherHasMarket } from '../position/one-strategy.ts';
import { nothingToTurn, saysNothingToReduce } from '../position/reduce-leg.ts';
import { noteCancelledSale } from '../protect/answered-stops.ts';

/** The services that storing an outcome needs. */
export interface SettleServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly facts: Pick<ContestedFacts, 'read' | 'replace'>;
}

/**
 * Raises the alarms of an outcome and stores it, if the entry still has the status that the caller read.
 *
 * @param by who settles it, if it is not the worker that executes the signal
 * @throws RelayError `entry_conflict` when the entry has another status by now; `store_unavailable`
 */
export async function settleEntry(
  services: SettleServices,
  entry: Entry,
  outcome: Outcome,
  by?: string,
): Promise<Status> {
  raiseAlarms(services, entry, outcome);
  return await storeOutcome(services, entry, outcome, by);
}

/**
 * Called before the outcome is stored: an alarm too many is better than one that is lost with a crash or with the
 * response of the store.
 */
export function raiseAlarms(services: SettleServices, entry: Entry, outcome: Outcome): void {
  const { account, signalId, signal } = entry;
  const alarm = outcome.alarm ?? undoneAlarm(services, entry, outcome);
  const place = signal === null ? { account } : { account, market: signal.market };
  if (alarm !== undefined) services.alarms.raise(alarm, { ...place, signalId });
  if (outcome.status === 'unknown')
    services.alarms.raise(
      { name: 'outcome_unknown', message: 'signal outcome unknown' },
      describeOutcome(services, entry, outcome),
    );
}

/** Of a signal that was to reduce what is held: what may stand as it was without its order. */
type Standing = 'position' | 'coins';

/** The part of an entry that tells what may stand. */
type Told = Pick<Entry, 'account' | 'signalId'> & { readonly signal: Signal };

/** On spot every sale reduces what is held. Null: the signal was not to reduce anything. */
function standingWithout(
  { settings }: Pick<SettleServices, 'settings'>,
  { account, signal }: Told,
): Standing | null {
  const configured = findAccount(settings, account);
  const ground = configured === null ? undefined : tradingGroundOf(configured, signal.market);
  const isSale = signal.action === 'order' && signal.side === 'sell' && ground === 'spot';
  // Where the owner allows no sale, none was to be made.
  if (isSale) return configured?.markets[signal.market]?.sides.includes('sell') === false ? null : 'coins';
  return isReduction(signal) ? 'position' : null;
}

/** What was to be closed, reduced or sold may stand, unless there is nothing, or the owner sells nothing there. */
function undoneAlarm(services: SettleServices, entry: Entry, outcome: Outcome): Alarm | undefined {
  const { account, signalId, signal } = entry;
  const { status, note, facts, deniedBy, nothingHeld } = outcome;
  if (signal === null || !withoutOrder.has(status)) return undefined;
  const told = { account, signalId, signal };
  const standing = standingWithout(services, told);
  if (standing === null || nothingHeld === true || saysNothingToReduce(facts)) return undefined;
  if (signal.action === 'reverse' && deniedBy === nothingToTurn) return undefined;
  // The position is that of another strategy, which this one wanted to turn.
  if (signal.action !== 'close' && !wantsNoPosition(signal) && deniedBy === anotherHasMarket)
    return undefined;
  return notReducedAlarm(told, standing, `${status.replace('_', ' ')}: ${note}`);
}

/** Of an alert that was to close, reduce or sell and is too old, the owner must know what stands. */
export function staleAlarm(
  services: Pick<SettleServices, 'settings'>,
  entry: Told,
  { rule, message, actual }: Denial,
): { readonly alarm?: Alarm } {
  const standing = rule === staleRule ? standingWithout(services, entry) : null;
  if (standing === null) return {};
  // Each try to store the outcome finds it older: with its age, the same alarm would be told again.
  const why = message.replace(`${actual} old, and at most`, 'too old: at most');
  return { alarm: notReducedAlarm(entry, standing, why) };
}

/** @param why one sentence */
function notReducedAlarm({ signalId, signal: { market } }: Told, standing: Standing, why: string): Alarm {
  const [wanted, left] =
    standing === 'coins'
      ? [
          `sell coins on spot in ${market}`,
          'it has sold nothing, and how much of them is held is not known here: look at the balance, and send the sale again, or sell by hand, if they are still to go',
        ]
      : [`close or reduce the position in ${market}`, 'the position may stand as it was'];
  const message = `signal "${signalId}" was to ${wanted}, and was not carried out: ${why}; ${left}`;
  return { name: 'signal_not_executed', message };
}

/**
 * Stores an outcome whose alarms were raised.
 *
 * @throws RelayError as {@link settleEntry}
 */
export async function storeOutcome(
  services: SettleServices,
  entry: Entry,
  outcome: Outcome,
  by?: string,
): Promise<Status> {
  const { status, note, evidence, facts = {}, orderId, orderOpen } = outcome;
  const atMs = services.clock.nowMs();
  const step: Step = { status, atMs, ...(by === undefined ? {} : { by }), note, evidence, facts };
  const move: Move = {
    from: entry.status,
    step,
    ...(orderId === undefined ? {} : { orderId }),
    ...(orderOpen === undefined ? {} : { orderOpen }),
  };
  if (status === 'cancelled') await noteCancelledSale(services.facts, entry);
  await services.ledger.move(entry, move);
  return logOutcome(services, entry, outcome);
}

/**
 * Logs an outcome that was stored: an order or cancellation without effect, or of which that is not known, as a warning.
 *
 * @see DECISIONS 144
 */
export function logOutcome(services: SettleServices, entry: Entry, outcome: Outcome): Status {
  const { status } = outcome;
  const facts = describeOutcome(services, entry, outcome);
  if (troubling.has(status)) services.log.warn(`signal ${status}`, facts);
  else services.log.info(`signal ${status}`, facts);
  return status;
}

function describeOutcome(
  services: SettleServices,
  entry: Entry,
  { status, note, orderId }: Outcome,
): Readonly<Record<string, Json>> {
  return {
    account: entry.account,
    signalId: entry.signalId,
    market: entry.signal?.market ?? null,
    status,
    note,
    orderId: orderId ?? null,
    clientOrderId: entry.clientOrderId,
    tookMs: services.clock.nowMs() - entry.createdAtMs,
  };
}

const troubling: ReadonlySet<Status> = new Set(['rejected', 'not_sent', 'not_placed', 'unknown']);

/**
 * The worker that wrote `sending` died before it stored an outcome: it is not known whether the order exists.
 */
export function lostResponseOutcome({ clientOrderId }: Entry): Outcome {
  return {
    status: 'unknown',
    note: 'the relay stopped after it started to send and before it stored the response; the signal is not sent again',
    evidence: { clientOrderId },
    orderOpen: clientOrderId !== null,
  };
}

/** @param readings what the order was sized on, if anything was read */
export function denialOutcome(
  { rule, limit, actual, message, nothingHeld }: Denial,
  readings?: Json,
): Outcome {
  const evidence = { rule, limit, actual, ...(readings === undefined ? {} : { readings }) };
  const empty = nothingHeld === undefined ? {} : { nothingHeld };
  return { status: 'denied', note: message, evidence, deniedBy: rule, ...empty };
}

/** @returns false when the entry already had another status, which is no error */
export async function unlessMoved(settle: () => Promise<unknown>): Promise<boolean> {
  try {
    await settle();
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'entry_conflict';
}
