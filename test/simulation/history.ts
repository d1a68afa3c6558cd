import { createHash } from 'node:crypto';
import type { AlarmName } from '../../lib/base/alarms.ts';
import type { LogLevel } from '../../lib/base/errors.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import type { WireOutcome } from '../../lib/exchange/transport.ts';
import type { EntryKey } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { routes } from '../../lib/paper/routes.ts';
import type { Route } from '../../lib/paper/visit.ts';
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

/** What a sender was told. */
export interface Answered {
  readonly atMs: number;
  readonly alert: Alert;
  readonly httpStatus: number;
  readonly body: string;
}

/** A private request that went on the wire. */
export interface WireSend {
  readonly atMs: number;
  /** What the clock of the sending process said. */
  readonly relayNowMs: number;
  readonly path: string;
  readonly body: string;
  readonly invocation: Invocation | null;
  /** The signal it was sent for. */
  readonly key: EntryKey | null;
  /** What its sender heard; null when it died before. */
  outcome: WireOutcome | null;
  /** Whether what it heard was about another order than it had asked for. */
  isContradicted: boolean;
}

function pathsOf(chosen: readonly Route[]): ReadonlySet<string> {
  return new Set(chosen.flatMap(({ endpoint }) => Object.values(endpoint.path)));
}

const createPaths = pathsOf(routes.filter(({ endpoint }) => !endpoint.repeatable));
const tradePaths = pathsOf(routes.filter(({ trades }) => trades));

/** Whether it is a request that makes an order: one that must not be repeated. */
export function isCreate(path: string): boolean {
  return createPaths.has(path);
}

/** Whether it is a request that changes something. */
export function isTrade(path: string): boolean {
  return tradePaths.has(path);
}

export interface Unsent {
  readonly note: string;
  readonly process: string;
  readonly startedAtMs: number;
}

/** While this was so, an account was stopped. */
export interface PauseSpan {
  readonly account: string;
  readonly fromMs: number;
  /** Infinite until it is resumed. */
  untilMs: number;
}

/** One line of what happened, for people. */
export interface TimelineRow {
  readonly atMs: number;
  readonly actor: string;
  readonly what: string;
  /** What was injected here. */
  readonly fault: string | null;
}

export function keyText({ account, signalId }: EntryKey): string {
  return `${account} ${signalId}`;
}

/** Everything that the invariants need to know of one run, written down while it happens. */
export class History {
  readonly timeline: TimelineRow[] = [];
  /** Kind of fault → how often it was injected. */
  readonly faults = new Map<string, number>();
  readonly logs: LogLine[] = [];
  readonly alarms: RaisedAlarm[] = [];
  readonly answers: Answered[] = [];
  /** What each sending was answered, in order: an HTTP status, or `none`. */
  readonly replies: string[] = [];
  readonly sends: WireSend[] = [];
  /** By key: every status the entry was seen to have, in order, and since when. */
  readonly statuses = new Map<string, { readonly status: Status; readonly atMs: number }[]>();
  /** By key: the place of each signal in the order in which they were stored. */
  readonly stored = new Map<string, number>();
  /** By key: signals whose order on the wire proves nothing any more, with why. */
  readonly outOfTurn = new Map<string, string>();
  readonly pauses: PauseSpan[] = [];
  /** Every copy of the market list that was kept, in order. */
  readonly keptMarkets: { readonly atMs: number; readonly names: readonly string[] }[] = [];
  /** Signals that waited for the market list although their process held a copy of it. */
  readonly heldUp: { readonly key: EntryKey; readonly waitedMs: number }[] = [];
  /** Names of processes that once could not load the kept copy. */
  readonly failedLoads = new Set<string>();
  /** By key of an entry that ended `not_sent`: what was noted, in which process, and when that telling began. */
  readonly unsent = new Map<string, Unsent>();
  alertsSent = 0;

  note(atMs: number, actor: string, what: string, fault: string | null = null): void {
    this.timeline.push({ atMs, actor, what, fault });
    if (fault !== null) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  noteStored(key: EntryKey): void {
    if (!this.stored.has(keyText(key))) this.stored.set(keyText(key), this.stored.size);
  }

  noteStatus(key: EntryKey, status: Status, atMs: number): void {
    const seen = this.statuses.get(keyText(key));
    if (seen === undefined) this.statuses.set(keyText(key), [{ status, atMs }]);
    else if (seen.at(-1)?.status !== status) seen.push({ status, atMs });
  }

  /** Whether an alarm was about the signal. */
  hasAlarm({ account, signalId }: EntryKey): boolean {
    return this.alarms.some(({ facts }) => facts['account'] === account && facts['signalId'] === signalId);
  }

  /** The same for the same history, and for no other. */
  digest(): string {
    const hash = createHash('sha256');
    for (const { atMs, actor, what, fault } of this.timeline)
      hash.update(`${atMs} ${actor} ${what} ${fault}\n`);
    for (const line of this.logs) hash.update(`${JSON.stringify(line)}\n`);
    for (const { atMs, httpStatus, body } of this.answers) hash.update(`${atMs} ${httpStatus} ${body}\n`);
    return hash.digest('hex');
  }
}
