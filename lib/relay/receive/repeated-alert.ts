import type { Alarm } from '../../base/alarms.ts';
import { hasPassed } from '../../base/clock.ts';
import { RelayError } from '../../base/errors.ts';
import { type Entry, isSignal } from '../../ledger/entry.ts';
import { isExplicitId } from '../../signals/identity.ts';

/** What came again, and when. */
interface Delivery {
  /** Of its bytes. */
  readonly fingerprint: string;
  readonly arrivedAtMs: number;
  /** The position of its signal in an array, for example `[1].`; empty for a single signal. */
  readonly prefix: string;
}

/** An alert that places nothing, because its id or its bytes were used before: it is no resend, or may be none. */
export class RepeatedAlert extends RelayError {
  /** The signal that used them first. */
  readonly firstSignalId: string;
  readonly arrivedAtMs: number;
  /** The id, or the fingerprint of the bytes, that came again. */
  readonly repeated: string;

  constructor(first: Entry, { fingerprint, arrivedAtMs, prefix }: Delivery) {
    const isById = isExplicitId(first.signalId);
    const use = isById ? `the id "${first.signalId}" was used before` : 'the same message came before';
    const message = `${use}, ${describeAge(first, arrivedAtMs)}, by signal "${first.signalId}" (${first.status}): this alert places nothing`;
    const path = `${prefix}${isById ? 'id' : 'time'}`;
    super('invalid_signal', message, {
      issues: [{ path, message: explainFirst(first, fingerprint, isById), hint: isById ? idHint : timeHint }],
    });
    this.firstSignalId = first.signalId;
    this.arrivedAtMs = arrivedAtMs;
    this.repeated = isById ? first.signalId : fingerprint;
  }
}

function describeAge({ createdAtMs }: Entry, arrivedAtMs: number): string {
  const seconds = Math.round((arrivedAtMs - createdAtMs) / 1000);
  return seconds < 0 ? 'and the clock was set back since' : `${seconds} s earlier`;
}

function explainFirst(first: Entry, fingerprint: string, isById: boolean): string {
  const by = first.fingerprint === fingerprint ? 'the same message' : 'a different alert';
  if (isById) return `"${first.signalId}" was used before, by ${by}: an id places one order, ever`;
  return isSignal(first) && first.signal.timeMs === null
    ? 'without a time, an alert cannot be told from a resend of the one before it'
    : 'its time is the one of an earlier alert';
}

const timeHint = 'send "time": "{{timenow}}", which differs from alert to alert';
const idHint = `give every signal an id of its own, or leave "id" out and ${timeHint}`;

export const repeatAlarm: Alarm = {
  name: 'alert_repeated',
  message:
    'an alert placed nothing: its id, or its whole message without a time, was used before; let TradingView write a new id or "time": "{{timenow}}" into each alert',
};

/** Remembers which repeats this process has told. */
export interface RepeatWatch {
  /** @returns whether no alarm was raised within the last hour for this id, or these bytes, of the account */
  note(account: string, repeated: string, nowMs: number): boolean;
  /** A name for the record of one repeat: two that arrive in one millisecond have two records. */
  nextName(): string;
}

/** Repeats within this time of an alarm raise no other. */
const alarmPauseMs = 60 * 60_000;
/** More are not remembered: a repeat that was forgotten raises an alarm too many. */
const mostRemembered = 1000;

/**
 * In memory only: after a restart, and in another process, the first repeat raises an alarm again.
 *
 * @param processName differs from process to process
 */
export function createRepeatWatch(processName: string): RepeatWatch {
  const alarmedAtMs = new Map<string, number>();
  let named = 0;
  return {
    nextName() {
      named += 1;
      return `${processName} ${named}`;
    },
    note(account, repeated, nowMs) {
      const key = `${account} ${repeated}`;
      const lastMs = alarmedAtMs.get(key);
      const isNews = lastMs === undefined || hasPassed(lastMs, alarmPauseMs, nowMs);
      if (!isNews) return false;
      if (alarmedAtMs.size >= mostRemembered) alarmedAtMs.clear();
      alarmedAtMs.set(key, nowMs);
      return true;
    },
  };
}
