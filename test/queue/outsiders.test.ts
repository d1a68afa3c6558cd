import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Delivery } from '../../lib/queue/queue.ts';
import { createSqliteQueue, type SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { idsOf, message, receiptsOf } from './queue-contract.ts';

interface Opened {
  readonly file: SqliteFile;
  readonly queue: SqliteQueue;
}

let folder: string;
let opened: Opened[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outsiders-'));
  opened = [];
});
afterEach(() => {
  for (const { file } of opened) file.close();
  rmSync(folder, { recursive: true });
});

/** Another connection to the same file, as another or the next process has. */
function open(): Opened {
  const file = openSqlite(join(folder, 'relay.db'));
  const process = { file, queue: createSqliteQueue(file, { clock: createManualClock(0), maxReceives: 5 }) };
  opened.push(process);
  return process;
}

const markets = Array.from({ length: 20 }, (_, index) => `M${index}_USDT`);
/** Ids that sort against the order of the messages. */
const nameOf = (index: number) => `s-${99_999 - index}`;
const messageOf = (index: number) => message(nameOf(index), markets[index % markets.length]);
const messagesFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => messageOf(from + index));

/** All in one transaction. */
async function put({ file, queue }: Opened, from: number, count: number): Promise<void> {
  const deliver = await file.write(() => queue.stage(messagesFrom(from, count)));
  deliver();
}

test('ten thousand messages are delivered once each, in their order, while other processes write to the file', async () => {
  const first = open();
  await put(first, 0, 10_000);
  first.file.close();
  const relay = open();
  const outsider = open();
  const delivered: Delivery[] = [];
  const inFlight: Delivery[] = [];

  for (let turn = 0; ; turn += 1) {
    // New messages, and some that are already waiting or in flight.
    if (turn < 20) {
      await put(outsider, 10_000 + 10 * turn, 10);
      await outsider.queue.enqueue(messageOf(9000 + turn));
    }
    relay.queue.takeInOutsiders();
    const deliveries = await relay.queue.receive(50);
    delivered.push(...deliveries);
    inFlight.push(...deliveries);
    if (deliveries.length === 0 && inFlight.length === 0) break;
    // Messages in flight are removed or released only after several more deliveries.
    if (turn % 5 === 4 || deliveries.length === 0) await relay.queue.remove(receiptsOf(inFlight.splice(0)));
  }

  const ids = idsOf(delivered);
  expect(ids).toHaveLength(10_200);
  expect(new Set(ids).size).toBe(10_200);
  for (const ofGroup of Map.groupBy(delivered, ({ group }) => group).values())
    expect(idsOf(ofGroup)).toEqual([...idsOf(ofGroup)].sort().reverse());
  expect(relay.file.database.prepare('SELECT count(*) AS n FROM messages').get()).toEqual({ n: 0 });
});

test('messages of other processes are not delivered before they are loaded, and then once', async () => {
  const [relay, outsider] = [open(), open()];
  await outsider.queue.enqueue(messageOf(1));
  // The webhook enqueues the same message before the queue has checked the file.
  await relay.queue.enqueue(messageOf(1));
  expect(await relay.queue.receive(5)).toEqual([]);

  relay.queue.takeInOutsiders();
  relay.queue.takeInOutsiders();

  const deliveries = await relay.queue.receive(5);
  expect(idsOf(deliveries)).toEqual(['s-99998']);
  await relay.queue.remove(receiptsOf(deliveries));
  expect(idsOf(await open().queue.receive(5))).toEqual([]);
});

test('the file is not read again after a write of the relay itself', async () => {
  const relay = open();
  await put(relay, 0, 1);
  relay.file.database.exec("UPDATE messages SET deduplication_id = 'written by itself'");
  relay.queue.takeInOutsiders();
  expect(await relay.queue.receive(5)).toHaveLength(1);
});

test('a delivered message stays before an older one that was loaded later', async () => {
  const [relay, outsider] = [open(), open()];
  await outsider.queue.enqueue(message('older'));
  await relay.queue.enqueue(message('newer'));
  const deliveries = await relay.queue.receive(5);
  relay.queue.takeInOutsiders();

  await relay.queue.release(receiptsOf(deliveries));
  await relay.queue.waitForWork();

  expect(idsOf(deliveries)).toEqual(['newer']);
  expect(idsOf(await relay.queue.receive(5))).toEqual(['newer', 'older']);
});
