import type { Entry } from '../../ledger/entry.ts';
import { type Ledger, listPages } from '../../ledger/ledger.ts';
import { createTeller, type TellServices } from '../../ledger/tell-once.ts';
import type { Denial } from '../../model/outcome.ts';
import type { Settings } from '../../model/settings.ts';
import { isPositionSignal, isReduction, placesOrder } from '../../model/signal.ts';
import { groupOf, type SignalQueue } from '../../queue/queue.ts';
import { checkStaleness } from '../../signals/staleness.ts';
import type { Outcome } from '../execute/action.ts';
import { messagesOf } from '../receive/message-of.ts';
import { arrivalOf } from '../services.ts';
import { denialOutcome, type SettleServices, settleEntry, unlessMoved } from './settle-entry.ts';

/**
 * Selects signals stored at or after `fromMs` and before `untilMs`, or after `aheadMs`; in a market where one of those may wait
 * for the position, signals of any age.
 */
export interface SweepWindow {
  readonly fromMs: number;
  readonly untilMs: number;
  /** No clock is this far ahead: an entry with a later time was stored before the clock was set back. */
  readonly aheadMs: number;
}

/** The result of a sweep over the `accepted` signals. */
export interface Sweep {
  /** The number of signals that it enqueued. */
  readonly enqueued: number;
  /** The signals stored before its window, oldest first. */
  readonly tooOld: readonly Entry[];
  /** Those and the ones of its window, oldest first. */
  readonly waiting: readonly Entry[];
}

const pageSize = 100;
/** The most signals read by one sweep; the next sweep takes the rest, once these are executed. */
const mostSwept = 1000;

/**
 * Enqueues signals that are still `accepted`, oldest first, because a crash may have come between storing and
 * enqueuing. The queue drops the message of a signal that is already waiting there.
 *
 * @param services `queue`: null when no message can be missing; then nothing is enqueued
 * @param window which of them, by the time they were stored
 * @param attempt another text for every sweep
 * @throws RelayError `store_unavailable`
 * @see DECISIONS 42
 */
export async function sweepAccepted(
  services: { readonly ledger: Ledger; readonly queue: SignalQueue | null },
  { fromMs, untilMs, aheadMs }: SweepWindow,
  attempt: string,
): Promise<Sweep> {
  const accepted = await listAccepted(services.ledger);
  const isAhead = ({ createdAtMs }: Entry) => createdAtMs > aheadMs;
  const waiting = accepted.filter(({ createdAtMs }) => createdAtMs < untilMs);
  const waitingGroups = new Set([...waiting, ...accepted.filter(isAhead)].filter(mayWait).map(groupOfEntry));
  const isInWindow = (entry: Entry) =>
    (entry.createdAtMs >= fromMs && entry.createdAtMs < untilMs) || isAhead(entry);
  // What waits may have no message left, however long it waits. Nor may those behind it, however young.
  const due = accepted.filter((entry) => isInWindow(entry) || waitingGroups.has(groupOfEntry(entry)));
  const { queue } = services;
  const messages = queue === null ? [] : messagesOf(due);
  // Messages of signals that wait have been handled, and the queue would take theirs for duplicates.
  for (const message of messages)
    await queue?.enqueue(message, waitingGroups.has(groupOf(message)) ? attempt : undefined);
  const tooOld = waiting.filter(({ createdAtMs }) => createdAtMs < fromMs);
  return { enqueued: messages.length, tooOld, waiting };
}

/** Whether the signal may have waited for an order, the position or the exchange, and those behind it in its market with it. */
function mayWait({ signal }: Entry): boolean {
  if (signal?.action === 'protect_position') return true;
  if (signal?.action === 'cancel_all') return (signal.afterOrders ?? []).length > 0;
  if (signal === null || !placesOrder(signal) || signal.action === 'protect') return false;
  if (isPositionSignal(signal) || isReduction(signal)) return true;
  return signal.requirePosition !== undefined || signal.strategy !== undefined;
}

function groupOfEntry({ account, signal }: Entry): string {
  return groupOf({ account, market: signal?.market ?? '' });
}

async function listAccepted(ledger: Ledger): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  const query = { status: 'accepted', oldestFirst: true, limit: pageSize } as const;
  for await (const { entries } of listPages(ledger, query)) {
    found.push(...entries);
    if (found.length >= mostSwept) break;
  }
  return found;
}

/**
 * Denies signals that were never executed and are stale by now: even if their messages are delivered later,
 * nothing is sent for them. A damaged entry is denied at any age, because it cannot be executed.
 *
 * @returns how many it denied, and the others, which wait although their time is not up
 * @throws RelayError `store_unavailable`
 */
export async function denyForgotten(
  services: SettleServices & { readonly settings: Settings },
  entries: readonly Entry[],
  by: string,
): Promise<{ readonly denied: number; readonly stuck: readonly Entry[] }> {
  const stuck: Entry[] = [];
  let denied = 0;
  for (const entry of entries) {
    const { signal, createdAtMs } = entry;
    const denial =
      signal === null
        ? denyDamaged()
        : checkStaleness(signal, arrivalOf(services, createdAtMs), services.clock.nowMs());
    if (denial === null) {
      stuck.push(entry);
      continue;
    }
    const why = signal === null ? 'is damaged in the store' : 'is too old by now';
    const message = `a signal was never executed and ${why}`;
    const outcome: Outcome = {
      ...denialOutcome(denial),
      alarm: { name: 'signal_not_executed', message },
    };
    if (await unlessMoved(() => settleEntry(services, entry, outcome, by))) denied += 1;
  }
  return { denied, stuck };
}

/**
 * Tells of each account that signals of it are stuck: again after a while, and not in every run. An alarm of AWS that never
 * ends would keep the mails of all others back.
 */
export async function tellStuck(
  services: TellServices & { readonly settings: Settings },
  stuck: readonly Entry[],
): Promise<void> {
  const teller = createTeller(services);
  const message = 'signals have waited for more than 15 minutes: check the dead letters, then run redrive';
  const alarm = { name: 'signals_waiting', message } as const;
  const everyMs = services.settings.unknownAlarmAfterMs;
  for (const [account, { length }] of Map.groupBy(stuck, (entry) => entry.account))
    await teller.tell(account, { key: alarm.name, alarm, facts: { signals: length }, everyMs });
}

function denyDamaged(): Denial {
  return {
    rule: 'damaged',
    limit: 'a signal that can be read',
    actual: 'a damaged entry',
    message: 'the stored entry is damaged: its instruction cannot be read, and nothing was sent',
  };
}
