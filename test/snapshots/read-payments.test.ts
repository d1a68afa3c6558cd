import { describe, expect, test } from '@jest/globals';
import { createRandom, type Random } from '../../lib/base/random.ts';
import { readPayments } from '../../lib/snapshots/read-payments.ts';
import { alike, countPayments, createHistory, type ListedHistory, listed } from './listed-history.ts';

const seconds = (from: number, until: number) =>
  Array.from({ length: until - from + 1 }, (_, index) => listed(from + index));

async function read(history: ListedHistory, sinceSecond = 0) {
  const { payments, ...rest } = await readPayments(history.ask, sinceSecond * 1000);
  return { ...rest, counts: countPayments(payments), count: payments.length, payments };
}

describe('a history that does not change', () => {
  test('is read in one page when it is short', async () => {
    const history = createHistory([listed(5), listed(7), listed(7, 'b')]);
    expect(await read(history)).toMatchObject({
      isComplete: true,
      oldestMs: 5000,
      counts: { '5 plan-1 a': 1, '7 plan-1 a': 1, '7 plan-1 b': 1 },
    });
    expect(history.asked).toEqual([0]);
  });

  test('may be empty', async () => {
    expect(await read(createHistory([]))).toMatchObject({ isComplete: true, oldestMs: null, count: 0 });
  });

  test('is read page by page, each beginning with the payment before the second that was cut', async () => {
    const history = createHistory(seconds(1, 250));
    expect(await read(history)).toMatchObject({ isComplete: true, oldestMs: 1000, count: 250 });
    expect(history.asked).toEqual([0, 98, 196]);
  });

  test.each([99, 100, 101, 198, 199, 200])('is read to its end when it has %i payments', async (count) => {
    expect(await read(createHistory(seconds(1, count)))).toMatchObject({ isComplete: true, count });
  });

  test('is read back to the requested time and no further', async () => {
    const history = createHistory(seconds(1, 1000));
    const reading = await read(history, 850);
    expect(reading.isComplete).toBe(true);
    expect(reading.counts).toMatchObject({ '851 plan-1 a': 1, '1000 plan-1 a': 1 });
    expect(history.asked).toEqual([0, 98]);
  });

  test('numbers payments that are equal in every field', async () => {
    const { payments } = await read(createHistory([...alike(3, 5), ...alike(2, 5, 'b'), listed(6)]));
    const numbers = payments.map(({ paidAtMs, investmentId, nth }) => [paidAtMs / 1000, investmentId, nth]);
    expect(numbers.sort()).toEqual([
      [5, 'a', 1],
      [5, 'a', 2],
      [5, 'a', 3],
      [5, 'b', 1],
      [5, 'b', 2],
      [6, 'a', 1],
    ]);
  });

  test.each([97, 98, 99, 100, 101, 150, 199, 200, 201, 350])(
    'counts %i payments alike that lie across the ends of pages',
    async (count) => {
      const history = createHistory([...seconds(1, 60), ...alike(count, 61), ...seconds(62, 130)]);
      const reading = await read(history);
      expect(reading.counts['61 plan-1 a']).toBe(count);
      expect(reading.count).toBe(60 + count + 69);
    },
  );

  test.each([100, 101, 250])('counts the newest second though it has %i payments', async (count) => {
    const history = createHistory([...seconds(1, 10), ...alike(count, 11)]);
    expect((await read(history)).counts['11 plan-1 a']).toBe(count);
  });

  test.each([100, 250])('may be one second of %i payments', async (count) => {
    expect(await read(createHistory(alike(count, 5)))).toMatchObject({ isComplete: true, count });
  });
});

describe('a history that grows while it is read', () => {
  const newSecond = (history: ListedHistory, count: number) => listed(1000 + history.payments.length + count);

  test('gives each payment once though every page shifts', async () => {
    const history = createHistory(seconds(1, 250), (self, count) => self.add(newSecond(self, count)));
    const reading = await read(history);
    for (let second = 1; second <= 250; second += 1)
      expect([second, reading.counts[`${second} plan-1 a`]]).toEqual([second, 1]);
  });

  test('gives each payment once though whole pages arrive between two pages', async () => {
    const history = createHistory(seconds(1, 150), (self, count) => {
      if (count === 1) self.add(...seconds(2000, 2250));
    });
    const reading = await read(history);
    for (let second = 1; second <= 150; second += 1)
      expect([second, reading.counts[`${second} plan-1 a`]]).toEqual([second, 1]);
  });

  test('leaves a second that arrived during the reading to the next one when it read only its end', async () => {
    const history = createHistory(seconds(1, 150), (self, count) => {
      if (count === 1) self.add(...alike(130, 2000));
    });
    const reading = await read(history);
    expect(reading.counts['2000 plan-1 a']).toBeUndefined();
    expect(reading.count).toBe(150);
  });

  test('counts equal payments exactly when another one arrives between two pages', async () => {
    const history = createHistory([...seconds(1, 50), ...alike(60, 100)], (self, count) => {
      if (count === 1) self.add(...alike(5, 100));
    });
    const counts = (await read(history)).counts;
    // The first page had the complete second: the next reading finds the later payment.
    expect(counts['100 plan-1 a']).toBe(60);
    expect((await read(history)).counts['100 plan-1 a']).toBe(65);
  });

  test('reads a second of many payments again until nothing arrives during the reading', async () => {
    const history = createHistory([...seconds(1, 10), ...alike(250, 100)], (self, count) => {
      if (count < 12) self.add(listed(100));
    });
    const reading = await read(history);
    expect(reading.counts['100 plan-1 a']).toBe(262);
    expect(reading.count).toBe(272);
  });

  test('fails when it changes faster than it can be read', async () => {
    const history = createHistory(alike(250, 100), (self) => self.add(listed(100)));
    await expect(read(history)).rejects.toMatchObject({
      code: 'history_unreadable',
      message:
        'the interest payments cannot be read: payments of one second arrive faster than they can be read, or change their order between requests',
    });
  });
});

describe('a history whose order within a second is not always the same', () => {
  const crowd = Array.from({ length: 150 }, (_, index) => listed(100, `i-${index}`));

  function shuffle<T>(items: readonly T[], random: Random): readonly T[] {
    const ranks = new Map(items.map((item) => [item, random()]));
    return items.toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
  }

  /** @param randomFor decides the order of the crowded second in a response */
  function readUnstable(newer: number, randomFor: (offset: number, count: number) => Random) {
    let count = 0;
    return readPayments(async (offset) => {
      count += 1;
      const mixed = shuffle(crowd, randomFor(offset, count));
      const list = [...seconds(101, 100 + newer).toReversed(), ...mixed, listed(99)];
      return list.slice(offset, offset + 100);
    }, 0);
  }

  const refusal = { code: 'history_unreadable' };

  test.each([0, 1, 5, 60, 99])(
    'is refused when it is another in every response, after %i newer payments',
    async (newer) => {
      const random = createRandom(7);
      await expect(readUnstable(newer, () => random)).rejects.toMatchObject(refusal);
    },
  );

  test.each([0, 1, 5, 60, 99])(
    'is refused when it depends on where the page begins, after %i newer payments',
    async (newer) => {
      const reading = readUnstable(newer, (offset) => createRandom(offset + 1));
      await expect(reading).rejects.toMatchObject(refusal);
    },
  );

  test('is read once it stays the same', async () => {
    const { payments } = await readUnstable(1, (_, count) => createRandom(Math.min(count, 5)));
    expect(payments).toHaveLength(152);
    expect(new Set(payments.map(({ investmentId }) => investmentId)).size).toBe(151);
    expect(payments.every(({ nth }) => nth === 1)).toBe(true);
  });
});

describe('an invalid history', () => {
  test('is refused when it is not sorted newest first', async () => {
    const history = createHistory([]);
    history.payments.push(listed(1), listed(2));
    await expect(read(history)).rejects.toMatchObject({
      code: 'history_unreadable',
      message: 'the interest payments cannot be read: the list is not sorted newest first',
    });
  });

  test.each([
    ['some', (history: ListedHistory) => void history.payments.splice(0, 5)],
    ['all', (history: ListedHistory) => void history.payments.splice(0)],
  ])('is refused when %s of its payments vanish while it is read', async (_, vanish) => {
    const history = createHistory(seconds(1, 150), (self, count) => {
      if (count === 1) vanish(self);
    });
    await expect(read(history)).rejects.toMatchObject({ code: 'history_unreadable' });
  });
});

describe('a history longer than the exchange shows', () => {
  test('is read as far as the exchange shows it, and reported as incomplete', async () => {
    const history = createHistory(seconds(1, 10_101));
    const reading = await read(history);
    // 10 100 payments are shown; the oldest second of them may be incomplete.
    expect(reading).toMatchObject({ isComplete: false, oldestMs: 3000, count: 10_099 });
    expect(Math.max(...history.asked)).toBe(10_000);
  });

  test('is complete when its last payment is the last one shown', async () => {
    const history = createHistory(seconds(1, 10_099));
    expect(await read(history)).toMatchObject({ isComplete: true, oldestMs: 1000, count: 10_099 });
  });

  test('is complete when everything back to the requested time is shown', async () => {
    const history = createHistory(seconds(1, 20_000));
    expect(await read(history, 9_950)).toMatchObject({ isComplete: true });
  });

  test('ends before a second of many payments that continues beyond what is shown', async () => {
    const history = createHistory([...alike(200, 5), ...seconds(10, 9_950)]);
    expect(await read(history)).toMatchObject({ isComplete: false, oldestMs: 10_000, count: 9_941 });
  });

  test('has no complete second when it lies in a single one', async () => {
    const history = createHistory(alike(10_200, 5));
    expect(await read(history)).toMatchObject({ isComplete: false, oldestMs: null, count: 0 });
  });
});
