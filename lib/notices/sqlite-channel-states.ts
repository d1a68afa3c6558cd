import { RelayError } from '../base/errors.ts';
import { parseOwnJson } from '../base/json.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import { type ChannelState, type ChannelStates, firstState } from './channel-state.ts';
import type { ChannelName } from './notice-settings.ts';

export const channelStatesMigrations: readonly string[] = [
  'CREATE TABLE notice_channels (channel TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID;',
];

/** The states of all channels, and what only one machine needs. */
export interface SqliteChannelStates extends ChannelStates {
  /** The states of the channels that are set; the others are removed. A new channel begins after the place. */
  keepOnly(channels: readonly ChannelName[], seq: number): Promise<void>;
}

/** @throws RelayError `store_unavailable` when the file was written by a newer release */
export function createSqliteChannelStates(file: SqliteFile): SqliteChannelStates {
  migrateTables(file, 'notices', channelStatesMigrations);
  const { database } = file;
  const select = database.prepare('SELECT state FROM notice_channels WHERE channel = ?');
  const all = database.prepare('SELECT channel FROM notice_channels');
  const replace = database.prepare('INSERT OR REPLACE INTO notice_channels VALUES (?, ?)');
  const create = database.prepare('INSERT OR IGNORE INTO notice_channels VALUES (?, ?)');
  const remove = database.prepare(
    'DELETE FROM notice_channels WHERE channel NOT IN (SELECT value FROM json_each(?))',
  );
  /** What a channel has told, where that could not be noted. */
  const unwritten = new Map<ChannelName, ChannelState>();
  const owed = new Set<ChannelName>();

  function put(channel: ChannelName): void {
    const state = unwritten.get(channel);
    if (state !== undefined) replace.run(channel, JSON.stringify(state));
  }

  async function write(channel: ChannelName, state: ChannelState): Promise<void> {
    unwritten.set(channel, state);
    try {
      await file.write(() => put(channel));
      if (unwritten.get(channel) === state) unwritten.delete(channel);
    } catch (error) {
      owe(channel);
      throw error;
    }
  }

  /** The next request of the channel may hang: whoever writes first when the disk has room writes this, too. */
  function owe(channel: ChannelName): void {
    if (owed.has(channel)) return;
    owed.add(channel);
    try {
      file.insist(
        () => put(channel),
        () => owed.delete(channel),
      );
    } catch (error) {
      throwUnlessUnavailable(error);
    }
  }

  return {
    async read(channel) {
      const waiting = unwritten.get(channel);
      if (waiting !== undefined) {
        // While the disk is full, memory says what was told: otherwise every turn would tell the same again.
        await write(channel, waiting).catch(throwUnlessUnavailable);
        return waiting;
      }
      const row = file.read(() => select.get(channel));
      return row === undefined
        ? null
        : { ...firstState, ...parseOwnJson<ChannelState>(String(row['state'])) };
    },
    write,
    async keepOnly(channels, seq) {
      const known = file.read(() => all.all()).map(({ channel }) => String(channel));
      // Reading needs no lock, and nearly always there is nothing to do.
      if (known.length === channels.length && channels.every((name) => known.includes(name))) return;
      await file.write(() => {
        remove.run(JSON.stringify(channels));
        for (const channel of channels) create.run(channel, JSON.stringify({ ...firstState, seq }));
      });
    },
  };
}

function throwUnlessUnavailable(error: unknown): void {
  if (!(error instanceof RelayError) || error.code !== 'store_unavailable') throw error;
}
