import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerChange } from '../ledger/ledger-change.ts';
import { createSqliteChanges, type PlacedChange, type SqliteChanges } from '../ledger/sqlite-changes.ts';
import { afterSeeing, type ChannelState } from './channel-state.ts';
import type { ChannelName, NoticeSettings } from './notice-settings.ts';
import { createSqliteChannelStates, type SqliteChannelStates } from './sqlite-channel-states.ts';
import { type OpenChannel, openChannelSafely, tellOnce } from './tell-channel.ts';

/** What is left to tell on one machine: the changes that the ledger notes, and how far each channel has come. */
export interface NoticeOutbox {
  readonly changes: SqliteChanges;
  readonly states: SqliteChannelStates;
}

/**
 * Opens the outbox. With channels, every change is noted from now on, and those that an earlier run left are kept; without, none
 * is, and none is kept.
 *
 * @throws RelayError `store_unavailable`
 */
export async function openNoticeOutbox(
  file: SqliteFile,
  channels: readonly ChannelName[],
): Promise<NoticeOutbox> {
  const changes = createSqliteChanges(file);
  const states = createSqliteChannelStates(file);
  if (channels.length > 0) await changes.begin();
  else await changes.end();
  await states.keepOnly(channels, changes.last());
  return { changes, states };
}

/**
 * Notes each alarm where it is raised, before the write that follows it. An alarm that cannot be noted is logged all the same,
 * and told from memory: the next transaction that succeeds notes it.
 */
export function noteAlarms(alarms: Alarms, { changes }: NoticeOutbox, clock: Clock, log: Log): Alarms {
  return {
    raise(alarm, facts) {
      alarms.raise(alarm, facts);
      try {
        changes.addAlarm(alarm, facts, clock.nowMs());
      } catch (error) {
        log.error('an alarm could not be noted for the notices yet', { reason: describeSafely(error) });
      }
    },
  };
}

export interface OutboxServices {
  readonly outbox: NoticeOutbox;
  readonly settings: NoticeSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'read'>;
  /** @throws RelayError `secrets_missing` when nobody has said how the channel is reached */
  openChannel(name: ChannelName): Promise<OpenChannel>;
}

/** What one turn reads at once, and at most: a trade must not wait for a notice. */
const pageSize = 100;
const mostPages = 10;

/**
 * One turn: each channel tells what it has not told, by one request at most, side by side with the others. What every channel
 * has told is forgotten. While the database cannot be written, memory says what was told; a process that ends meanwhile leaves
 * it to the next one to tell it again.
 *
 * @throws RelayError `store_unavailable`
 */
export async function tellChanges(services: OutboxServices): Promise<void> {
  const { outbox, settings } = services;
  if (settings.channels.length === 0) return;
  const turns = settings.channels.map((name) => tellChannel(services, name));
  // A channel that the next turn found at work would tell the same twice.
  await Promise.allSettled(turns);
  await outbox.changes.forget(Math.min(...(await Promise.all(turns))));
}

/** @returns the place up to which the channel has told everything */
async function tellChannel(services: OutboxServices, name: ChannelName): Promise<number> {
  const { outbox, clock } = services;
  const state = await outbox.states.read(name);
  if (state === null) return 0;
  if (state.retryAtMs > clock.nowMs()) return state.seq;
  const waiting = await readWaiting(outbox.changes, state.seq);
  const isTold = ({ id }: LedgerChange) => state.seen.includes(id);
  const unnoted = outbox.changes.unnoted().filter((change) => !isTold(change));
  if (waiting.length + unnoted.length === 0) return state.seq;
  const channel = await openChannelSafely(services, name);
  const noted = waiting.map(({ change }) => (change === null || isTold(change) ? null : change));
  const changes = [...noted, ...unnoted];
  const told = await tellOnce(channel, state, changes, services);
  const seq = waiting[Math.min(told.count, waiting.length) - 1]?.seq ?? state.seq;
  const seen = unnoted.slice(0, Math.max(0, told.count - waiting.length)).map(({ id }) => id);
  const next = afterSeeing({ ...told.state, seq }, seen);
  logFailure(services, name, state, next);
  await outbox.states.write(name, next);
  return next.seq;
}

/** Page by page, so that the other work of the process goes on in between. */
async function readWaiting(changes: SqliteChanges, after: number): Promise<readonly PlacedChange[]> {
  const waiting: PlacedChange[] = [];
  for (let page = 0; page < mostPages; page += 1) {
    const found = await changes.list(waiting.at(-1)?.seq ?? after, pageSize);
    waiting.push(...found);
    if (found.length < pageSize) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return waiting;
}

/** The first failure in a row, and each with another reason. */
function logFailure(
  { log }: OutboxServices,
  channel: ChannelName,
  before: ChannelState,
  now: ChannelState,
): void {
  if (now.failure !== null && now.failure !== before.failure)
    log.warn('notices could not be sent; they are kept, and sent again', { channel, reason: now.failure });
}
