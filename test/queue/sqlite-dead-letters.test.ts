import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import {
  bury,
  deny,
  drain,
  idsOf,
  keyOf,
  noonMs,
  type OpenStore,
  openStore,
  orderIn,
  rest,
  takeAll,
} from './open-store.ts';

let folder: string;
let opened: OpenStore[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'line-'));
  opened = [];
});
afterEach(() => {
  for (const { file } of opened) file.close();
  rmSync(folder, { recursive: true });
});

/** Another connection to the same file, as another or the next process has. */
function open(): OpenStore {
  const store = openStore(join(folder, 'relay.db'));
  opened.push(store);
  return store;
}

async function accept({ ledger }: OpenStore, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await ledger.accept([orderIn(id)], null);
}

describe('dead letters on SQLite', () => {
  test('are none at first', async () => {
    expect(await createSqliteDeadLetters(open().file).redrive()).toEqual([]);
  });

  test('are not delivered after a restart; signals that only failed are, with a new count', async () => {
    const relay = open();
    await accept(relay, 'dead');
    await bury(relay);
    await accept(relay, 'failed');
    const [failed] = takeAll(relay);
    if (failed !== undefined) await relay.line.release(failed);
    relay.file.close();

    const next = open();

    expect(next.line.length).toBe(1);
    expect(takeAll(next)).toMatchObject([{ key: { signalId: 'failed' }, deliveries: 1 }]);
    expect(next.line.find(keyOf('dead'))).toMatchObject({ isOldest: true });
  });

  test('come back after a redrive by another process, in their places and as often as new ones', async () => {
    const [relay, tool] = [open(), open()];
    for (const id of ['first', 'second']) {
      await accept(relay, id);
      await bury(relay);
    }
    await accept(relay, 'third');
    const deadLetters = createSqliteDeadLetters(tool.file);

    const redriven = await deadLetters.redrive();
    relay.line.takeInChanges();

    expect(redriven).toEqual([
      { group: 'main.BTC_USDT', body: '{"account":"main","signalId":"first","market":"BTC_USDT"}' },
      { group: 'main.BTC_USDT', body: '{"account":"main","signalId":"second","market":"BTC_USDT"}' },
    ]);
    expect(await deadLetters.redrive()).toEqual([]);
    const [first] = takeAll(relay);
    expect(first).toMatchObject({ key: { signalId: 'first' }, deliveries: 1 });
    if (first !== undefined) await relay.line.release(first);
    await rest(relay);
    expect(await drain(relay)).toEqual(['first', 'second', 'third']);
  });

  test('wake a worker that waits, as soon as the line has taken in the change', async () => {
    const [relay, tool] = [open(), open()];
    await accept(relay, 'dead');
    await bury(relay);
    const work = relay.line.waitForWork();
    await createSqliteDeadLetters(tool.file).redrive();

    relay.line.takeInChanges();
    relay.line.takeInChanges();
    await work;

    expect(idsOf(takeAll(relay))).toEqual(['dead']);
  });

  test('are counted next to the waiting signals, with the time of the oldest', async () => {
    const [relay, tool] = [open(), open()];
    const { count } = createSqliteDeadLetters(tool.file);
    expect(count()).toEqual({ waiting: 0, deadLetters: 0, oldestSentAtMs: null });
    await accept(relay, 'dead');
    await bury(relay);
    await accept(relay, 'denied');
    await deny(relay.ledger, keyOf('denied'));
    await relay.ledger.accept([{ ...orderIn('first'), atMs: noonMs + 5 }], null);
    await relay.ledger.accept([{ ...orderIn('second'), atMs: noonMs + 9 }], null);

    expect(count()).toEqual({ waiting: 2, deadLetters: 1, oldestSentAtMs: noonMs + 5 });
  });

  test('leave when their signal is moved on, and are not redriven then', async () => {
    const [relay, tool] = [open(), open()];
    await accept(relay, 'dead');
    await bury(relay);
    await deny(relay.ledger, keyOf('dead'));

    expect(relay.line.find(keyOf('dead'))).toBeNull();
    expect(await createSqliteDeadLetters(tool.file).redrive()).toEqual([]);
  });
});

describe('the line after a crash', () => {
  test('has every signal that is accepted or was being sent, in the order of storing', async () => {
    const relay = open();
    await accept(relay, 'done', 'in-flight', 'z', 'a');
    await relay.ledger.accept([orderIn('eth', 'ETH_USDT')], null);
    const [done] = takeAll(relay);
    await deny(relay.ledger, keyOf('done'));
    if (done !== undefined) relay.line.finish(done);
    takeAll(relay);
    await relay.ledger.start(keyOf('a'), { status: 'sending', atMs: noonMs, note: '' }, null);
    relay.file.close();

    const next = open();

    expect(idsOf(takeAll(next))).toEqual(['in-flight', 'eth']);
    expect(next.line.length).toBe(4);
    expect(next.line.find(keyOf('z'))).toMatchObject({ stored: null, isOldest: false });
  });
});

describe('a signal that was being sent when the relay was killed', () => {
  async function killWhileSending(): Promise<OpenStore> {
    const relay = open();
    await accept(relay, 'lost', 'next');
    await relay.ledger.start(keyOf('lost'), { status: 'sending', atMs: noonMs, note: '' }, null);
    relay.file.close();
    return open();
  }

  test('is delivered first after the start, once', async () => {
    const next = await killWhileSending();
    const [lost, ...others] = takeAll(next);
    expect([lost?.key.signalId, others]).toEqual(['lost', []]);
    const { entry, earlier } = await next.ledger.readDue(keyOf('lost'), 10);
    expect([entry?.status, earlier]).toEqual(['sending', []]);
    const step = { status: 'unknown', atMs: noonMs, note: '' } as const;
    await next.ledger.move(keyOf('lost'), { from: 'sending', step });
    if (lost !== undefined) next.line.finish(lost);
    expect(idsOf(takeAll(next))).toEqual(['next']);
  });

  test('never becomes a dead letter: the reconciler has it then', async () => {
    const next = await killWhileSending();
    await bury(next);
    expect(next.buried).toEqual([]);
    expect(idsOf(takeAll(next))).toEqual(['next']);
  });
});

describe('what another process writes', () => {
  test('is not delivered before the line has taken it in, and then once', async () => {
    const [relay, tool] = [open(), open()];
    await accept(tool, 'a');
    // The webhook receives the same alert before the line has checked the file.
    await accept(relay, 'a');
    expect(takeAll(relay)).toEqual([]);

    relay.line.takeInChanges();
    relay.line.takeInChanges();

    expect(idsOf(takeAll(relay))).toEqual(['a']);
  });

  test('leaves the line when the signal was moved on', async () => {
    const [relay, tool] = [open(), open()];
    await accept(relay, 'a', 'b', 'c');
    const [a] = takeAll(relay);
    await deny(tool.ledger, keyOf('a'));
    await deny(tool.ledger, keyOf('b'));

    relay.line.takeInChanges();
    if (a !== undefined) relay.line.finish(a);

    expect(idsOf(takeAll(relay))).toEqual(['c']);
    expect(relay.line.length).toBe(1);
  });

  test('is noticed at the end of a delivery, too', async () => {
    const [relay, tool] = [open(), open()];
    await accept(relay, 'a', 'b');
    const [a] = takeAll(relay);
    await deny(tool.ledger, keyOf('a'));

    if (a !== undefined) relay.line.finish(a);

    expect(idsOf(takeAll(relay))).toEqual(['b']);
  });

  test('comes before what was stored later, and after a delivery in progress', async () => {
    const [relay, tool] = [open(), open()];
    await accept(tool, 'older');
    await accept(relay, 'newer');
    const [newer] = takeAll(relay);

    relay.line.takeInChanges();

    expect(idsOf(newer === undefined ? [] : [newer])).toEqual(['newer']);
    expect(relay.line.find(keyOf('newer'))).toMatchObject({ isOldest: false });
    expect(takeAll(relay)).toEqual([]);
    if (newer !== undefined) await relay.line.release(newer);
    await rest(relay);
    expect(await drain(relay)).toEqual(['older', 'newer']);
  });

  test('is not read again after a write of the relay itself', async () => {
    const relay = open();
    relay.line.takeInChanges();
    await accept(relay, 'a');
    relay.file.database.exec("UPDATE entries SET signal_id = 'written by itself'");
    relay.line.takeInChanges();
    expect(idsOf(takeAll(relay))).toEqual(['a']);
  });
});
