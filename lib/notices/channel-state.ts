import { createHash } from 'node:crypto';
import type { ChannelName } from './notice-settings.ts';

/** What a channel has told, and how its last requests went. */
export interface ChannelState {
  /** The place of the last change that it has told or passed over, where changes have places. */
  readonly seq: number;
  /** The ids of the last changes that it has told or passed over, where they have none. */
  readonly seen: readonly string[];
  /** Marks of the news that it told lately, and when. */
  readonly told: readonly (readonly [mark: string, atMs: number])[];
  /** Nothing is sent before this time; 0: at once. */
  readonly retryAtMs: number;
  /** How many requests in a row have failed. */
  readonly failures: number;
  /** Why the last one failed, without a secret; null when it did not. */
  readonly failure: string | null;
  /** Null: it never told anything. */
  readonly sentAtMs: number | null;
}

export const firstState: ChannelState = {
  seq: 0,
  seen: [],
  told: [],
  retryAtMs: 0,
  failures: 0,
  failure: null,
  sentAtMs: null,
};

/** Keeps the states. @throws RelayError `store_unavailable` */
export interface ChannelStates {
  /** Null: the channel is new. */
  read(channel: ChannelName): Promise<ChannelState | null>;
  /** Durable once it resolves. */
  write(channel: ChannelName, state: ChannelState): Promise<void>;
}

/** Within this time the same news is told once. */
const sameNewsMs = 600_000;
/** Each start raises the alarm of every unknown outcome once more, and thousands may be unknown after an outage. */
const mostTold = 5_000;
const mostSeen = 300;

/** Short, because an item of DynamoDB holds 400 KB at most, and all marks are in one. */
function markOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 16);
}

/** @returns whether the news with a key was told a short time before that time */
export function recallTold({ told }: ChannelState, nowMs: number): (key: string) => boolean {
  const marks = new Set(told.filter(([, atMs]) => isRecent(atMs, nowMs)).map(([mark]) => mark));
  return (key) => marks.has(markOf(key));
}

function isRecent(atMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < sameNewsMs;
}

/** The state after a message was told. */
export function afterSending(state: ChannelState, keys: readonly string[], nowMs: number): ChannelState {
  const recent = state.told.filter(([, atMs]) => isRecent(atMs, nowMs));
  const told = [...recent, ...keys.map((key) => [markOf(key), nowMs] as const)].slice(-mostTold);
  return { ...state, told, retryAtMs: 0, failures: 0, failure: null, sentAtMs: nowMs };
}

/** After these failures in a row the pauses grow no more. */
const mostDoublings = 6;
const firstPauseMs = 5_000;

/** The state after a request failed: the pauses grow to five minutes. @param waitMs what the service asked for; null: nothing */
export function afterFailure(
  state: ChannelState,
  reason: string,
  waitMs: number | null,
  nowMs: number,
): ChannelState {
  const failures = state.failures + 1;
  const pauseMs = Math.min(300_000, firstPauseMs * 2 ** Math.min(failures - 1, mostDoublings));
  return { ...state, retryAtMs: nowMs + (waitMs ?? pauseMs), failures, failure: reason };
}

/** The state after changes were told or passed over. */
export function afterSeeing(state: ChannelState, ids: readonly string[]): ChannelState {
  return { ...state, seen: [...state.seen, ...ids].slice(-mostSeen) };
}
