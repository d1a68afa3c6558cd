import { createHash } from 'node:crypto';
import type { PositionsReading } from '../../lib/account/read-positions.ts';
import type { AlarmName } from '../../lib/base/alarms.ts';
import type { LogLevel } from '../../lib/base/errors.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import type { WireOutcome } from '../../lib/base/wire.ts';
import type { Endpoint } from '../../lib/exchange/endpoint.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import { orderTypes } from '../../lib/model/order.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { endpointOfType } from '../../lib/orders/order-types.ts';
import type { Alert } from './alerts.ts';
import type { Invocation } from './process.ts';

export interface LogLine {
  readonly atMs: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly facts: LogFacts;
}

export interface RaisedAlarm {
  readonly atMs: number;
  readonly name: AlarmName;
  readonly facts: LogFacts;
}

/** One response to a sender. */
export interface SenderResponse {
  readonly atMs: number;
  readonly alert: Alert;
  readonly httpStatus: number;
  readonly body: string;
}

/** A request that was sent to the exchange: a private one, or a public reading of one market. */
export interface WireSend {
  readonly atMs: number;
  /** The time on the clock of the sending process. */
  readonly relayNowMs: number;
  readonly path: string;
  /** Empty for a public request. */
  readonly body: string;
  /** The exchange's account whose key signed it; null for a public request, and for a key of nobody. */
  readonly signer: string | null;
  readonly invocation: Invocation | null;
  /** The signal that it was sent for. */
  readonly key: EntryKey | null;
  /** The response that the relay got; null when its process died before. */
  outcome: WireOutcome | null;
  /** Whether the response reported another order than the requested one. */
  isContradicted: boolean;
}

function pathsOf(endpoints: readonly Endpoint[]): ReadonlySet<string> {
  return new Set(endpoints.flatMap(({ path }) => Object.values(path)));
}

const createEndpoints: readonly Endpoint[] = orderTypes.map(endpointOfType);
const createPaths = pathsOf(createEndpoints);
const cancelPaths = pathsOf([cancelOrder]);
const tradePaths = pathsOf([...createEndpoints, cancelOrder, cancelAll]);

/** Whether the request creates an order, and so must not be repeated. */
export function isCreate(path: string): boolean {
  return createPaths.has(path);
}

/** Whether the request cancels one order. */
export function isCancel(path: string): boolean {
  return cancelPaths.has(path);
}

/** Whether the request changes something at the exchange. */
export function isTrade(path: string): boolean {
  return tradePaths.has(path);
}

export interface Unsent {
  readonly note: string;
  readonly process: string;
  readonly startedAtMs: number;
}

/** A time in which an account was paused. */
export interface PauseSpan {
  readonly account: string;
  readonly fromMs: number;
  /** Infinity until the account is resumed. */
  untilMs: number;
}

/** How far the clock of a relay may be off. */
export const widestSkewMs = 8000;

/** One line of the printed timeline. */
export interface TimelineRow {
  readonly atMs: number;
  readonly actor: string;
  readonly what: string;
  /** The fault that was injected here. */
  readonly fault: string | null;
}

export function keyText({ account, signalId }: EntryKey): string {
  return `${account} ${signalId}`;
}

/** The record of one run, from which the invariants are checked. */
export class History {
  readonly timeline: TimelineRow[] = [];
  /** Kind of fault → how often it was injected. */
  readonly faults = new Map<string, number>();
  readonly logs: LogLine[] = [];
  readonly alarms: RaisedAlarm[] = [];
  /** Errors that the relay has no name for. */
  readonly failures: string[] = [];
  readonly responses: SenderResponse[] = [];
  /** The response to each delivery, in order: an HTTP status, or `none`. */
  readonly replies: string[] = [];
  readonly sends: WireSend[] = [];
  /** By key: every status that the entry has had, in order, and since when. */
  readonly statuses = new Map<string, { readonly status: Status; readonly atMs: number }[]>();
  /** By key: the position of each signal in the order of storing. */
  readonly stored = new Map<string, number>();
  /** By key: signals that may be sent out of order, with the reason. */
  readonly outOfTurn = new Map<string, string>();
  #places = 0;
  readonly pauses: PauseSpan[] = [];
  /** Times in which a process stood still; no clock of a relay is further off than `widestSkewMs`. */
  readonly freezes: { readonly fromMs: number; readonly untilMs: number }[] = [];
  /** Every copy of the market list that was stored, in order. */
  readonly keptMarkets: { readonly atMs: number; readonly names: readonly string[] }[] = [];
  /** Signals that waited for the market list although their process had a copy of it. */
  readonly heldUp: { readonly key: EntryKey; readonly waitedMs: number }[] = [];
  /** Names of the processes that once failed to load the stored copy. */
  readonly failedLoads = new Set<string>();
  /** By key of an entry that became `satisfied`: when, and in which invocation. */
  readonly satisfied = new Map<string, { readonly atMs: number; readonly invocation: Invocation | null }>();
  /** By key of an entry that became `sending`: when that was first asked for, and in which invocation. */
  readonly started = new Map<string, { readonly atMs: number; readonly invocation: Invocation | null }>();
  /** By id of a deal: when its fill was last stored. */
  readonly storedDeals = new Map<number, number>();
  /** By account and id of a deal: when it was first stored as one of no signal. */
  readonly storedOthers = new Map<string, number>();
  /** Readings of the positions that were stored, oldest first. */
  readonly keptPositions: (PositionsReading & { readonly account: string; readonly atMs: number })[] = [];
  /** By key of an entry that became `not_sent`: its note, the process, and when that invocation started. */
  readonly unsent = new Map<string, Unsent>();
  /** By key: whether the last delivery of a signal on one machine only waited for an earlier one. */
  readonly waited = new Map<string, boolean>();
  /** Signals that became dead letters although their last delivery only waited. */
  readonly deadByWaiting: EntryKey[] = [];
  /** The stop-losses and take-profits that the owner has cancelled on the exchange's own page. */
  readonly handCancels: { readonly orderId: number; readonly atMs: number }[] = [];
  alertsSent = 0;

  note(atMs: number, actor: string, what: string, fault: string | null = null): void {
    this.timeline.push({ atMs, actor, what, fault });
    if (fault !== null) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** A place after all earlier ones, for signals that are stored at this moment. */
  nextPlace(): number {
    this.#places += 1;
    return this.#places;
  }

  /** @param place of the moment at which it was executed, which may be before it is on the disk */
  noteStored(key: EntryKey, place: number): void {
    const known = this.stored.get(keyText(key)) ?? Number.POSITIVE_INFINITY;
    this.stored.set(keyText(key), Math.min(known, place));
  }

  noteStatus(key: EntryKey, status: Status, atMs: number): void {
    const seen = this.statuses.get(keyText(key));
    if (seen === undefined) this.statuses.set(keyText(key), [{ status, atMs }]);
    else if (seen.at(-1)?.status !== status) seen.push({ status, atMs });
  }

  /** Records the statuses that an entry has had, when several became durable at the same moment, too. */
  noteEntry(entry: Entry, atMs: number): void {
    const seen = this.statuses.get(keyText(entry)) ?? [];
    // It was read before what has been noted meanwhile.
    if (entry.steps.length < seen.length && entry.steps.every(({ status }, i) => seen[i]?.status === status))
      return;
    const isContinued = seen.every(({ status }, index) => entry.steps[index]?.status === status);
    if (isContinued)
      for (const { status } of entry.steps.slice(seen.length)) this.noteStatus(entry, status, atMs);
    this.noteStatus(entry, entry.status, atMs);
  }

  /** Whether an alarm named the signal. */
  hasAlarm({ account, signalId }: EntryKey): boolean {
    return this.alarms.some(({ facts }) => facts['account'] === account && facts['signalId'] === signalId);
  }

  /** A hash that differs for different histories. */
  digest(): string {
    const hash = createHash('sha256');
    for (const { atMs, actor, what, fault } of this.timeline)
      hash.update(`${atMs} ${actor} ${what} ${fault}\n`);
    for (const line of this.logs) hash.update(`${JSON.stringify(line)}\n`);
    for (const { atMs, httpStatus, body } of this.responses) hash.update(`${atMs} ${httpStatus} ${body}\n`);
    return hash.digest('hex');
  }
}
