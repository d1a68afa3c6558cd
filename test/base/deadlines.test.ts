import { afterAll, expect, test } from '@jest/globals';
import { Deadlines } from '../../lib/base/deadlines.ts';

/** Expires after that time, and says so in the list. */
function date(name: string, afterMs: number, expired: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    dueMs: performance.now() + afterMs,
    promise,
    expire() {
      expired.push(performance.now() >= this.dueMs ? name : `${name}, early`);
      resolve();
    },
  };
}

/** The timer does not keep the process alive, nor does waiting for it. */
const keepAlive = setInterval(() => undefined, 1000);
afterAll(() => clearInterval(keepAlive));

test('each is ended at its time, in whatever order they were added', async () => {
  const expired: string[] = [];
  const deadlines = new Deadlines();
  const dated = [date('last', 50, expired), date('first', 10, expired), date('second', 30, expired)];
  for (const each of dated) deadlines.add(each);

  await Promise.all(dated.map(({ promise }) => promise));

  expect(expired).toEqual(['first', 'second', 'last']);
});

test('what has ended before is left alone', async () => {
  const expired: string[] = [];
  const deadlines = new Deadlines();
  const ended = date('ended', 10, expired);
  const lasting = date('lasting', 20, expired);
  deadlines.add(ended);
  deadlines.add(lasting);

  deadlines.delete(ended);
  await lasting.promise;

  expect(expired).toEqual(['lasting']);
});

test('a time that moves later while it is awaited counts', async () => {
  const expired: string[] = [];
  const deadlines = new Deadlines();
  const moved = date('moved', 10, expired);
  deadlines.add(moved);

  moved.dueMs += 20;
  await moved.promise;

  expect(expired).toEqual(['moved']);
});
