import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../lib/base/clock.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createSqliteQueue, type SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import {
  describeQueue,
  idsOf,
  maxReceives,
  message,
  type QueueFixture,
  receiptsOf,
} from './queue-contract.ts';

const noonMs = 1_767_268_800_000;

/** A clock that stands still; the test wakes sleepers itself. */
class StillClock implements Clock {
  readonly sleptMs: number[] = [];
  readonly #sleepers: (() => void)[] = [];

  nowMs(): number {
    return noonMs;
  }

  sleep(durationMs: number): Promise<void> {
    this.sleptMs.push(durationMs);
    return new Promise((resolve) => this.#sleepers.push(resolve));
  }

  async wakeAll(): Promise<void> {
    for (const wake of this.#sleepers.splice(0)) wake();
    // The queue learns of it in the microtasks before the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function openQueue(path: string, clock: Clock): { readonly file: SqliteFile; readonly queue: SqliteQueue } {
  const file = openSqlite(path);
  return { file, queue: createSqliteQueue(file, { clock, maxReceives, retryDelayMs: 750 }) };
}

async function openOnDisk(): Promise<QueueFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'queue-'));
  const clock = new StillClock();
  const open = () => openQueue(join(folder, 'relay.db'), clock);
  let { file, queue } = open();
  return {
    queue,
    source: queue,
    rest: () => clock.wakeAll(),
    deadLetterBodies: async () => (await queue.deadLetters(10)).map(({ body }) => body),
    async reopen() {
      file.close();
      ({ file, queue } = open());
      return { queue, source: queue };
    },
    async close() {
      file.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openInMemory(): Promise<QueueFixture> {
  const clock = new StillClock();
  const { file, queue } = openQueue(':memory:', clock);
  return {
    queue,
    source: queue,
    rest: () => clock.wakeAll(),
    deadLetterBodies: async () => (await queue.deadLetters(10)).map(({ body }) => body),
    async reopen() {
      const again = createSqliteQueue(file, { clock, maxReceives });
      return { queue: again, source: again };
    },
    close: async () => file.close(),
  };
}

describeQueue('a queue on the disk', openOnDisk);
describeQueue('a queue in memory', openInMemory);

describe('a queue on SQLite', () => {
  let clock: StillClock;
  let file: SqliteFile;
  let queue: SqliteQueue;

  beforeEach(() => {
    clock = new StillClock();
    ({ file, queue } = openQueue(':memory:', clock));
  });
  afterEach(() => file.close());

  async function enqueueAll(...messages: readonly Parameters<typeof queue.enqueue>[0][]): Promise<void> {
    for (const each of messages) await queue.enqueue(each);
  }

  /** Whether the promise is settled once all microtasks have run. */
  async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    let settled = false;
    void promise.then(() => {
      settled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    return settled;
  }

  test('delivers one group at a time, the longest waiting first', async () => {
    await enqueueAll(message('b1'), message('e1', 'ETH_USDT'), message('b2'), message('e2', 'ETH_USDT'));
    const first = await queue.receive(10);
    const second = await queue.receive(10);
    expect([idsOf(first), idsOf(second)]).toEqual([
      ['b1', 'b2'],
      ['e1', 'e2'],
    ]);
  });

  test('lets a group that was just served wait for its turn', async () => {
    await enqueueAll(message('b1'), message('b2'), message('e1', 'ETH_USDT'), message('b3'));
    const served: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const deliveries = await queue.receive(2);
      served.push(idsOf(deliveries).join());
      await queue.remove(receiptsOf(deliveries));
    }
    expect(served).toEqual(['b1,b2', 'e1', 'b3', '']);
  });

  test('keeps the order of messages that were enqueued at once', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `s-${i}`);
    await Promise.all(ids.map((id) => queue.enqueue(message(id))));
    expect(idsOf(await queue.receive(50))).toEqual(ids);
  });

  test('reports when a message was sent', async () => {
    await enqueueAll(message('a'));
    expect(await queue.receive(1)).toMatchObject([{ sentAtMs: 1_767_268_800_000 }]);
  });

  test('accepts a message again once the earlier one is removed', async () => {
    await enqueueAll(message('a'));
    await queue.remove(receiptsOf(await queue.receive(1)));
    await enqueueAll(message('a'));
    expect(idsOf(await queue.receive(1))).toEqual(['a']);
  });

  test('a group pauses for the retry delay after a release, and other groups do not', async () => {
    await enqueueAll(message('a'), message('e', 'ETH_USDT'));
    await queue.release(receiptsOf(await queue.receive(1)));
    expect(clock.sleptMs).toEqual([750]);
    expect(idsOf(await queue.receive(1))).toEqual(['e']);
    expect(await queue.receive(1)).toEqual([]);
    await clock.wakeAll();
    expect(idsOf(await queue.receive(1))).toEqual(['a']);
  });

  test('a group pauses for 2 seconds by default', async () => {
    const other = createSqliteQueue(file, { clock, maxReceives });
    await other.enqueue(message('a'));
    await other.release(receiptsOf(await other.receive(1)));
    expect(clock.sleptMs).toEqual([2000]);
  });

  test('does not pause after a message became a dead letter', async () => {
    const { file: once, queue: impatient } = openQueue(':memory:', clock);
    const strict = createSqliteQueue(once, { clock, maxReceives: 1 });
    await strict.enqueue(message('poison'));
    await strict.enqueue(message('next'));
    await strict.release(receiptsOf(await strict.receive(1)));
    expect(idsOf(await strict.receive(1))).toEqual(['next']);
    expect(await impatient.deadLetters(5)).toStrictEqual([
      {
        group: 'main.BTC_USDT',
        body: '{"account":"main","signalId":"poison","market":"BTC_USDT"}',
        receiveCount: 1,
        sentAtMs: 1_767_268_800_000,
        diedAtMs: 1_767_268_800_000,
      },
    ]);
    once.close();
  });

  test('reports each message that becomes a dead letter, and no other', async () => {
    const reported: string[] = [];
    const strict = createSqliteQueue(file, {
      clock,
      maxReceives: 2,
      onDeadLetter: ({ group }) => reported.push(group),
    });
    await strict.enqueue(message('poison'));

    await strict.release(receiptsOf(await strict.receive(1)));
    expect(reported).toEqual([]);
    await clock.wakeAll();
    await strict.release(receiptsOf(await strict.receive(1)));

    expect(reported).toEqual(['main.BTC_USDT']);
  });

  test('lists dead letters newest first, as many as asked for', async () => {
    const strict = createSqliteQueue(file, { clock, maxReceives: 1 });
    for (const id of ['a', 'b', 'c']) {
      await strict.enqueue(message(id));
      await strict.release(receiptsOf(await strict.receive(1)));
    }
    const letters = await strict.deadLetters(2);
    expect(letters.map(({ body }) => body)).toEqual([
      '{"account":"main","signalId":"c","market":"BTC_USDT"}',
      '{"account":"main","signalId":"b","market":"BTC_USDT"}',
    ]);
  });

  test('ignores receipts that were used before or never given', async () => {
    await enqueueAll(message('a'), message('b'));
    const receipts = receiptsOf(await queue.receive(1));
    await queue.remove(receipts);
    await queue.remove(receipts);
    await queue.release([...receipts, 'never given']);
    expect(await queue.receive(1)).toMatchObject([{ receiveCount: 1, body: expect.stringContaining('"b"') }]);
  });

  test('counts deliveries across restarts, but not the one that crashed', async () => {
    await enqueueAll(message('a'));
    await queue.release(receiptsOf(await queue.receive(1)));
    await clock.wakeAll();
    await queue.receive(1);
    const next = createSqliteQueue(file, { clock, maxReceives });
    expect(await next.receive(1)).toMatchObject([{ receiveCount: 2 }]);
  });

  describe('when the disk refuses writes', () => {
    function refuseWrites(): void {
      file.database.exec('PRAGMA query_only = ON');
    }

    test('enqueue rejects, and a repetition completes it', async () => {
      refuseWrites();
      await expect(queue.enqueue(message('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await queue.receive(1)).toEqual([]);
      file.database.exec('PRAGMA query_only = OFF');
      await queue.enqueue(message('a'));
      expect(idsOf(await queue.receive(1))).toEqual(['a']);
    });

    test.each(['remove', 'release'] as const)(
      '%s rejects, and the message is delivered again later',
      async (settle) => {
        await enqueueAll(message('a'), message('b'));
        const receipts = receiptsOf(await queue.receive(1));
        refuseWrites();
        await expect(queue[settle](receipts)).rejects.toMatchObject({ code: 'store_unavailable' });
        expect(await queue.receive(1)).toEqual([]);
        file.database.exec('PRAGMA query_only = OFF');
        await clock.wakeAll();
        expect(await queue.receive(1)).toMatchObject([
          { receiveCount: 1, body: expect.stringContaining('"a"') },
        ]);
      },
    );
  });

  describe('waitForWork', () => {
    test('resolves at once when something is free', async () => {
      await enqueueAll(message('a'));
      expect(await isSettled(queue.waitForWork())).toBe(true);
    });

    test('resolves when a message comes', async () => {
      const waiting = queue.waitForWork();
      expect(await isSettled(waiting)).toBe(false);
      await enqueueAll(message('a'));
      expect(await isSettled(waiting)).toBe(true);
    });

    test('does not resolve for a message of a busy group, but when that group is free again', async () => {
      await enqueueAll(message('a'));
      const receipts = receiptsOf(await queue.receive(1));
      const waiting = queue.waitForWork();
      await enqueueAll(message('b'));
      expect(await isSettled(waiting)).toBe(false);
      await queue.remove(receipts);
      expect(await isSettled(waiting)).toBe(true);
    });

    test('resolves when the pause of a group ends', async () => {
      await enqueueAll(message('a'));
      await queue.release(receiptsOf(await queue.receive(1)));
      const waiting = queue.waitForWork();
      expect(await isSettled(waiting)).toBe(false);
      await clock.wakeAll();
      expect(await isSettled(waiting)).toBe(true);
    });

    test('wakes every worker that waits', async () => {
      const workers = [queue.waitForWork(), queue.waitForWork()];
      await enqueueAll(message('a'));
      expect(await isSettled(Promise.all(workers))).toBe(true);
    });

    test('resolves when it is aborted, before or while it waits', async () => {
      const controller = new AbortController();
      const waiting = queue.waitForWork(controller.signal);
      expect(await isSettled(waiting)).toBe(false);
      controller.abort();
      expect(await isSettled(waiting)).toBe(true);
      expect(await isSettled(queue.waitForWork(controller.signal))).toBe(true);
    });
  });
});
