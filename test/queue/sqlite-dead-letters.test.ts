import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import { createSqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type DeadLettersFixture, describeDeadLetters } from './dead-letters-contract.ts';
import { idsOf, maxReceives, message, receiptsOf } from './queue-contract.ts';

const noonMs = 1_767_268_800_000;

/** A queue, and its dead letters over a connection of their own, as in another process. */
function openBeside(folder: string) {
  const clock = createManualClock(noonMs);
  const path = join(folder, 'relay.db');
  const file = openSqlite(path);
  const queue = createSqliteQueue(file, { clock, maxReceives, retryDelayMs: 750 });
  const besideFile = openSqlite(path);
  const beside = createSqliteDeadLetters(besideFile, clock);
  return {
    clock,
    file,
    queue,
    beside,
    close() {
      file.close();
      besideFile.close();
    },
  };
}

async function openFixture(): Promise<DeadLettersFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'dead-letters-'));
  const { clock, queue, beside, close } = openBeside(folder);
  return {
    queue,
    source: queue,
    deadLetters: {
      async redrive() {
        const redriven = await beside.redrive();
        queue.takeInOutsiders();
        return redriven;
      },
    },
    rest: () => clock.sleep(750),
    deadLetterBodies: async () => (await queue.deadLetters(10)).map(({ body }) => body),
    reopen: () => Promise.reject(new Error('no part of this contract')),
    async close() {
      close();
      rmSync(folder, { recursive: true });
    },
  };
}

describeDeadLetters('a queue on SQLite', openFixture);

describe('dead letters on SQLite', () => {
  let folder: string;
  let opened: ReturnType<typeof openBeside>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dead-letters-'));
    opened = openBeside(folder);
  });
  afterEach(() => {
    opened.close();
    rmSync(folder, { recursive: true });
  });

  async function bury(signalId: string): Promise<void> {
    const { queue, clock } = opened;
    await queue.enqueue(message(signalId));
    for (let failure = 0; failure < maxReceives; failure += 1) {
      await queue.release(receiptsOf(await queue.receive(1)));
      await clock.sleep(750);
    }
  }

  test('are counted next to the waiting messages, with the time of the oldest', async () => {
    const { queue, beside, clock } = opened;
    expect(beside.count()).toEqual({ waiting: 0, deadLetters: 0, oldestSentAtMs: null });
    await bury('dead');
    const enqueuedAtMs = clock.nowMs();
    await queue.enqueue(message('first'));
    await queue.enqueue(message('second'));

    expect(beside.count()).toEqual({ waiting: 2, deadLetters: 1, oldestSentAtMs: enqueuedAtMs });
  });

  test('wake a worker that waits, and are not loaded twice', async () => {
    const { queue, beside } = opened;
    await bury('dead');
    await beside.redrive();
    const work = queue.waitForWork();

    queue.takeInOutsiders();
    queue.takeInOutsiders();
    await work;

    expect(idsOf(await queue.receive(10))).toEqual(['dead']);
    expect(await queue.receive(10)).toEqual([]);
  });

  test('stay behind messages in flight and before later ones', async () => {
    const { queue, beside } = opened;
    await bury('dead');
    await queue.enqueue(message('in-flight'));
    const inFlight = await queue.receive(1);
    await beside.redrive();
    await queue.enqueue(message('later'));

    queue.takeInOutsiders();
    await queue.remove(receiptsOf(inFlight));

    expect(idsOf(await queue.receive(10))).toEqual(['dead', 'later']);
  });
});
