import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Alarms, createLogAlarms } from '../../lib/base/alarms.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import {
  type NoticeOutbox,
  noteAlarms,
  openNoticeOutbox,
  tellChanges,
} from '../../lib/notices/notice-outbox.ts';
import { type ChannelName, defaultLevels, type NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { openRequestChannel } from '../../lib/notices/request-channel.ts';
import { createListeningLog } from '../support/listening-log.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const settings: NoticeSettings = {
  channels: ['telegram', 'slack'],
  levels: defaultLevels,
  accounts: {},
  heartbeatAt: '08:00',
  timeZone: 'Etc/UTC',
};

const clock = createManualClock(Date.UTC(2026, 10, 24, 12));
let [folder, standIn, wire]: [string, StandIn, Transport] = ['', {} as StandIn, {} as Transport];
let [file, outbox, alarms]: [SqliteFile, NoticeOutbox, Alarms] = [
  {} as SqliteFile,
  {} as NoticeOutbox,
  {} as Alarms,
];
const { log } = createListeningLog();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relay-full-disk-'));
  standIn = await startStandIn();
  wire = createTransport();
  await start();
});
afterEach(async () => {
  file.close();
  wire.close();
  await standIn.close();
  rmSync(folder, { recursive: true });
});

async function start(): Promise<void> {
  file = openSqlite(join(folder, 'relay.db'));
  outbox = await openNoticeOutbox(file, settings.channels);
  alarms = noteAlarms(createLogAlarms(log), outbox, clock, log);
}

/** A turn of the event loop, after which a failed transaction no longer counts. */
const afterFailure = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** @returns why the turn failed; null when it did not */
async function tell({ awaitsFailure } = { awaitsFailure: true }): Promise<string | null> {
  const openChannel = async (name: ChannelName) =>
    openRequestChannel(name as 'slack', standIn.ways, { transport: wire, clock });
  if (awaitsFailure) await afterFailure();
  try {
    await tellChanges({ outbox, settings, clock, log, ledger: createSqliteLedger(file), openChannel });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function setFull(isFull: boolean): void {
  file.database.exec(`PRAGMA query_only = ${isFull ? 'ON' : 'OFF'}`);
}

const raise = (signalId: string) =>
  alarms.raise({ name: 'alerts_not_taken', message: 'no alert can be taken' }, { account: 'main', signalId });

/** How many messages of each service name the signal. */
const countTold = (signalId: string) =>
  (['telegram', 'slack'] as const).map(
    (name) => standIn.shown[name].filter(({ text }) => text.includes(signalId)).length,
  );

test('an alarm that the disk does not take is told from memory, once', async () => {
  setFull(true);
  raise('signal-1');
  await tell();
  await tell();
  expect(countTold('signal-1')).toEqual([1, 1]);

  raise('signal-2');
  expect(await tell()).toContain('could not be written');
  expect(countTold('signal-2')).toEqual([1, 1]);

  clock.advance(300_000);
  await tell();
  setFull(false);
  raise('signal-3');
  expect(await tell()).toBeNull();
  expect(await tell()).toBeNull();
  expect(['signal-1', 'signal-2', 'signal-3'].map(countTold)).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
});

test('what the ledger has noted is told while the disk is full, once, and is known to be told by the next process', async () => {
  raise('signal-1');
  await file.write(() => undefined);
  setFull(true);
  await tell();
  await tell();
  setFull(false);
  expect(await tell()).toBeNull();
  file.close();
  await start();
  expect(await tell()).toBeNull();
  expect(countTold('signal-1')).toEqual([1, 1]);
});

test('what was told while the disk was full is noted with the next write of anyone, so a kill after it repeats nothing', async () => {
  raise('signal-1');
  await file.write(() => undefined);
  setFull(true);
  await tell();
  setFull(false);
  await afterFailure();
  await file.write(() => undefined);
  // Nothing that only this process knows is written any more.
  const killed = file;
  await start();
  expect(await tell()).toBeNull();
  killed.database.close();
  expect(countTold('signal-1')).toEqual([1, 1]);
});

test('what was told from memory is not told again by a disk that was full for hours', async () => {
  setFull(true);
  raise('signal-1');
  await tell();
  clock.advance(2 * 3_600_000);
  setFull(false);
  raise('signal-2');
  expect(await tell()).toBeNull();
  expect(await tell()).toBeNull();
  expect(['signal-1', 'signal-2'].map(countTold)).toEqual([
    [1, 1],
    [1, 1],
  ]);
});

test('an alarm that no service took while the disk was full is told when one does', async () => {
  setFull(true);
  raise('signal-1');
  standIn.replies.push({ status: 500 }, { status: 500 });
  await tell();
  expect(countTold('signal-1')).toEqual([0, 0]);
  clock.advance(60_000);
  await tell();
  expect(countTold('signal-1')).toEqual([1, 1]);
});

test('what was told of a transaction that was lost hides nothing of what is written in its place', async () => {
  const ledger = createSqliteLedger(file);
  const lost = ledger.writePause('lost', { sinceMs: 1, reason: 'a reason', kind: 'entries' });
  const telling = tell({ awaitsFailure: false });
  // The turn has read what is not on the disk yet.
  await new Promise((resolve) => queueMicrotask(() => queueMicrotask(() => resolve(null))));
  file.database.exec('ROLLBACK');
  await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
  await telling;

  await ledger.writePause('kept', { sinceMs: 1, reason: 'a reason', kind: 'entries' });
  expect(await tell()).toBeNull();

  expect(countTold('kept')).toEqual([1, 1]);
});
