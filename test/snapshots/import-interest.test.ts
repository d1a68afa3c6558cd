import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import {
  type ImportServices,
  importInterest,
  retryRefusedImport,
} from '../../lib/snapshots/import-interest.ts';
import type { ListedPayment } from '../../lib/snapshots/read-payments.ts';
import type { InterestPayment, SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import { override } from '../support/override.ts';
import { createHistory, type ListedHistory, listed } from './listed-history.ts';
import { openSnapshotWorld, type SnapshotWorld } from './snapshot-world.ts';
import { collect } from './snapshots-contract.ts';

let world: SnapshotWorld;
beforeEach(async () => {
  world = await openSnapshotWorld();
});
afterEach(() => world.close());

/** After every payment that the paper exchange begins with. */
const firstNewSecond = 1_800_000_000;
const period = { fromMs: 0, untilMs: 10 ** 14 };
const stored = (account = 'main') => collect(world.store.interest.list(account, period));

const payment = { planId: 'plan-9', investmentId: 'i-9', amount: '0.25', ticker: 'USDT' };
const pay = (timestamp: number, changes = {}) =>
  world.paper.control.payInterest('main', { ...payment, timestamp, ...changes });
const ofPlan9 = (payments: readonly InterestPayment[]) =>
  payments
    .filter(({ planId }) => planId === 'plan-9')
    .map(({ paidAtMs, nth }) => [paidAtMs / 1000 - firstNewSecond, nth]);

const importMain = (changes: Partial<ImportServices> = {}) =>
  importInterest({ ...world.services, accounts: ['main'], ...changes });
const clockAt = (nowMs: number): Clock => ({ ...systemClock, nowMs: () => nowMs });

describe('an import of interest', () => {
  test('takes the whole history at first, each payment as it is listed', async () => {
    await importMain();
    const payments = await stored();
    expect(payments).toHaveLength(250);
    expect(payments[0]).toMatchObject({
      planId: '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a01',
      investmentId: '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4101',
      ticker: 'USDT',
      paidAtMs: Date.UTC(2026, 0, 1),
      nth: 1,
    });
    expect(payments.at(-1)?.paidAtMs).toBe(Date.UTC(2026, 0, 1) + 249 * 8 * 3_600_000);
    expect(await world.store.interest.readProgress('main')).toMatchObject({
      completeUntilMs: Date.UTC(2026, 0, 1) + 249 * 8 * 3_600_000,
      gaps: [],
      refusal: null,
    });
  });

  test('adds nothing when repeated, and reads no further than it must', async () => {
    await importMain();
    const callsBefore = world.callsOf('main', 'interest-payments');
    await importMain();
    expect(await stored()).toHaveLength(250);
    expect(world.callsOf('main', 'interest-payments') - callsBefore).toBe(1);
  });

  test('writes only what is not there yet', async () => {
    await importMain();
    pay(Date.UTC(2026, 0, 1) / 1000 + 249 * 8 * 3600 + 60);
    const written: number[] = [];
    const interest = override(world.store.interest, {
      write(account, payments) {
        written.push(payments.length);
        return world.store.interest.write(account, payments);
      },
    });
    await importMain({ store: { ...world.store, interest } });
    expect(written).toEqual([1]);
  });

  test('adds the payments since the last import', async () => {
    await importMain();
    for (const second of [1, 2, 2, 3]) pay(firstNewSecond + second);
    await importMain();
    expect(ofPlan9(await stored())).toEqual([
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 1],
    ]);
  });

  test('adds one more payment that equals stored ones', async () => {
    pay(firstNewSecond);
    pay(firstNewSecond);
    await importMain();
    pay(firstNewSecond);
    await importMain();
    expect(ofPlan9(await stored())).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
  });

  test('finds a payment added late, with a time of the last day', async () => {
    pay(firstNewSecond);
    await importMain();
    pay(firstNewSecond - 86_399);
    pay(firstNewSecond - 3600);
    await importMain();
    expect(ofPlan9(await stored())).toEqual([
      [-86_399, 1],
      [-3600, 1],
      [0, 1],
    ]);
  });

  test('finds a payment added days late, though pages of newer ones are stored', async () => {
    const day = 86_400;
    // Sixty days, a payment every hour: 31 days are eight pages.
    const history = createHistory(Array.from({ length: 60 * 24 }, (_, hour) => listed(hour * 3600)));
    const importAll = () => importMain({ exchangeFor: async () => clientOf(history) });
    await importAll();
    history.add(listed(57 * day + 1, 'late'), listed(29 * day + 1, 'late'));
    await importAll();
    const late = (await stored()).filter(({ investmentId }) => investmentId === 'late');
    expect(late.map(({ paidAtMs }) => paidAtMs / 1000)).toEqual([29 * day + 1, 57 * day + 1]);
  });

  test('does not find a payment added with a time before its look-back of 31 days', async () => {
    const day = 86_400;
    const history = createHistory(Array.from({ length: 60 * 24 }, (_, hour) => listed(hour * 3600)));
    const importAll = () => importMain({ exchangeFor: async () => clientOf(history) });
    await importAll();
    // More than a page lies between the two payments, so no page that the import reads has the older one.
    history.add(listed(30 * day + 1, 'late'), listed(20 * day + 1, 'late'));
    await importAll();
    const late = (await stored()).filter(({ investmentId }) => investmentId === 'late');
    expect(late.map(({ paidAtMs }) => paidAtMs / 1000)).toEqual([30 * day + 1]);
  });

  test('that overlaps with another stores each payment once', async () => {
    await Promise.all([importMain(), importMain(), importMain()]);
    expect(await stored()).toHaveLength(250);
    expect((await world.store.interest.readProgress('main')).version).toBe(1);
  });

  test('completes for an account without any payment', async () => {
    await importMain({ exchangeFor: async () => clientOf(createHistory([])), clock: clockAt(7) });
    expect(await stored()).toEqual([]);
    expect(await world.store.interest.readProgress('main')).toMatchObject({
      importedAtMs: 7,
      completeUntilMs: null,
    });
  });

  test('stores its start time even without new payments', async () => {
    await importMain({ clock: clockAt(5) });
    let nowMs = 8;
    world.beforeCall = () => {
      nowMs = 9_000;
    };
    await importMain({ clock: { ...systemClock, nowMs: () => nowMs } });
    expect((await world.store.interest.readProgress('main')).importedAtMs).toBe(8);
  });

  test('that fails leaves the start time of the last complete import', async () => {
    await importMain({ clock: clockAt(5) });
    world.beforeCall = () => {
      throw new Error('no response came');
    };
    await expect(importMain({ clock: clockAt(8) })).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    expect((await world.store.interest.readProgress('main')).importedAtMs).toBe(5);
  });

  test.each([
    ['limit', { limit: 50 }],
    ['offset', { offset: 7 }],
  ])('rejects a response with another %s than it requested', async (_, echo) => {
    const history = createHistory(Array.from({ length: 150 }, (_, index) => listed(index + 1)));
    const importing = importMain({ exchangeFor: async () => clientOf(history, echo) });
    await expect(importing).rejects.toMatchObject({ cause: { code: 'history_unreadable' } });
    expect(await stored()).toEqual([]);
  });
});

describe('an interrupted import', () => {
  /** The world's store, which breaks at the n-th write: payments one by one, then the progress. */
  function breakAt(nth: number): SnapshotStore {
    let writes = 0;
    const count = () => {
      writes += 1;
      if (writes === nth) throw new Error('the process ends here');
    };
    const { interest } = world.store;
    return {
      ...world.store,
      interest: override(interest, {
        async write(account, payments) {
          for (const one of payments) {
            count();
            await interest.write(account, [one]);
          }
        },
        writeProgress(account, progress) {
          count();
          return interest.writeProgress(account, progress);
        },
      }),
    };
  }

  test('leaves no hole, at whichever write it stops and whatever arrives before the next import', async () => {
    await importMain();
    const expected: (readonly [number, number])[] = [];
    // 6 payments and the progress are 7 writes. A new payment and a complete import follow each interruption.
    for (let nth = 1; nth <= 7; nth += 1) {
      for (const second of [1, 2, 2, 3, 4, 4]) pay(firstNewSecond + nth * 10 + second);
      await expect(importMain({ store: breakAt(nth) })).rejects.toThrow();
      pay(firstNewSecond + nth * 10 + 4);
      await importMain({ store: breakAt(Number.POSITIVE_INFINITY) });
      for (const [second, count] of [
        [1, 1],
        [2, 2],
        [3, 1],
        [4, 3],
      ] as const)
        for (let number = 1; number <= count; number += 1) expected.push([nth * 10 + second, number]);
      expect(ofPlan9(await stored())).toEqual(expected);
    }
  });

  test.each([1, 2, 50, 125, 249, 250, 251])(
    'that stops the first import at write %i is completed by the next',
    async (nth) => {
      await expect(importMain({ store: breakAt(nth) })).rejects.toThrow();
      expect((await stored()).length).toBe(Math.min(nth - 1, 250));
      await importMain();
      expect(await stored()).toHaveLength(250);
      expect(new Set((await stored()).map(({ paidAtMs }) => paidAtMs)).size).toBe(250);
    },
  );

  test('leaves no hole, at whichever request it stops', async () => {
    for (const fault of [1, 2, 3]) {
      let asked = 0;
      world.beforeCall = () => {
        asked += 1;
        if (asked === fault) throw new Error('the process ends here');
      };
      await expect(importMain()).rejects.toThrow();
      expect((await world.store.interest.readProgress('main')).version).toBe(0);
    }
    world.beforeCall = () => undefined;
    await importMain();
    expect(await stored()).toHaveLength(250);
  });
});

describe('an account that is no business partner', () => {
  const importSecond = () => importInterest({ ...world.services, accounts: ['second'] });
  const asked = () => world.callsOf('second', 'interest-payments');
  const told = () => world.logged.filter(({ message }) => message.startsWith('no interest payments'));

  test('is logged once, and the exchange is not asked again', async () => {
    for (let day = 0; day < 3; day += 1) await importSecond();
    expect(asked()).toBe(1);
    expect(told()).toMatchObject([{ level: 'info', facts: { account: 'second' } }]);
    expect((await world.store.interest.readProgress('second')).refusal?.reason).toBe(
      'refused with HTTP 403, code 0: This action is unauthorized.',
    );
  });

  test('is nothing to tell on a paper exchange, whose second account is none', async () => {
    await importInterest({ ...world.services, accounts: ['second'], isPaperExchange: true });

    expect(told()).toEqual([]);
    expect((await world.store.interest.readProgress('second')).refusal).not.toBeNull();
  });

  test('does not stop the import of other accounts and is no failure', async () => {
    await importInterest(world.services);
    expect([(await stored()).length, (await stored('second')).length]).toEqual([250, 0]);
  });

  test('is tried again with another key', async () => {
    await importSecond();
    world.setKey('second', 'paper-key', 'paper-secret');
    await importSecond();
    expect(await stored('second')).toHaveLength(250);
    expect((await world.store.interest.readProgress('second')).refusal).toBeNull();
  });

  test('is logged again when its new key is refused too', async () => {
    await importSecond();
    world.setKey('second', 'paper-key-3', 'paper-secret-3');
    // This key is disabled. It may be enabled any day, so the import keeps asking.
    await expect(importSecond()).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    await expect(importSecond()).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    expect(asked()).toBe(3);
  });

  test('is tried again when the operator asks for a retry', async () => {
    await importSecond();
    await retryRefusedImport(world.store.interest, 'second');
    await importSecond();
    expect(asked()).toBe(2);
    expect(told()).toHaveLength(2);
  });

  test('stays unchanged when the operator asks for a retry without a refusal', async () => {
    await retryRefusedImport(world.store.interest, 'main');
    expect((await world.store.interest.readProgress('main')).version).toBe(0);
  });
});

describe('an import logs', () => {
  /** The progress is stored, and then `afterwards` runs instead of the response. */
  function writtenAnd(afterwards: () => boolean): SnapshotStore {
    const { interest } = world.store;
    return {
      ...world.store,
      interest: override(interest, {
        async writeProgress(account, progress) {
          await interest.writeProgress(account, progress);
          return afterwards();
        },
      }),
    };
  }
  const breaks = () => {
    throw new Error('the process ends here');
  };
  const isLost = () => false;
  const tooLong = () =>
    clientOf(createHistory(Array.from({ length: 10_200 }, (_, index) => listed(index + 1))));
  const told = (level: string) =>
    world.logged.filter((line) => line.level === level).map(({ facts }) => facts);

  test.each([
    ['breaks', breaks],
    ['has its response lost', isLost],
  ])('its gap, though it %s when its progress is stored', async (_, afterwards) => {
    const changes = { exchangeFor: async () => tooLong() };
    await importMain({ ...changes, store: writtenAnd(afterwards) }).catch(() => undefined);
    await importMain(changes);
    expect((await world.store.interest.readProgress('main')).gaps).toHaveLength(1);
    expect(world.raised).toMatchObject([{ name: 'interest_missing', account: 'main' }]);
  });

  test.each([
    ['breaks', breaks],
    ['has its response lost', isLost],
  ])('the refusal, though it %s when the refusal is stored', async (_, afterwards) => {
    const accounts = ['second'];
    await importMain({ accounts, store: writtenAnd(afterwards) }).catch(() => undefined);
    await importMain({ accounts });
    expect((await world.store.interest.readProgress('second')).refusal).not.toBeNull();
    expect(told('info')).toMatchObject([
      { account: 'second', response: expect.stringContaining('HTTP 403') },
    ]);
  });

  test('the number of new payments, though the response of the store is lost', async () => {
    await importMain({ store: writtenAnd(isLost) });
    expect(told('info')).toEqual([{ account: 'main', payments: 250 }]);
  });

  test('nothing that a faster, overlapping import has logged', async () => {
    const { interest } = world.store;
    const overtaken = override(interest, {
      async writeProgress(account, progress) {
        await interest.writeProgress(account, { ...progress, importedAtMs: 1 });
        return interest.writeProgress(account, progress);
      },
    });
    await importMain({ store: { ...world.store, interest: overtaken } });
    expect(told('info')).toEqual([]);
    expect(await interest.readProgress('main')).toMatchObject({ version: 1, importedAtMs: 1 });
  });
});

/** A client whose exchange lists the given history, all of it or one plan's. */
function clientOf(history: ListedHistory, echo: { limit?: number; offset?: number } = {}): ExchangeClient {
  const call = async (_: unknown, params: { offset: number; limit: number; planId?: string }) => {
    const { offset, limit, planId: asked } = params;
    const isAsked = ({ planId }: ListedPayment) => asked === undefined || planId === asked;
    return { ...params, ...echo, records: history.payments.filter(isAsked).slice(offset, offset + limit) };
  };
  return { dialect: 'live', call } as unknown as ExchangeClient;
}

describe('a history longer than the exchange shows', () => {
  /** Plan 1 pays every second, plan 2 every hundredth. */
  function payFor(from: number, until: number) {
    return Array.from({ length: until - from + 1 }, (_, index) => [
      listed(from + index),
      ...((from + index) % 100 === 0 ? [listed(from + index, 'b', 'plan-2')] : []),
    ]).flat();
  }
  const importFrom = (history: ListedHistory) => importMain({ exchangeFor: async () => clientOf(history) });
  const countOf = async (plan: string) => (await stored()).filter(({ planId }) => planId === plan).length;

  test('is read plan by plan, and the period that may lack payments is stored as a gap', async () => {
    await importFrom(createHistory(payFor(1, 20_000)));
    // All payments of plan 2, which pays rarely, and those of plan
    // 1 that the exchange shows for the plan alone.
    expect(await countOf('plan-2')).toBe(200);
    expect(await countOf('plan-1')).toBe(10_099);
    const { gaps, completeUntilMs } = await world.store.interest.readProgress('main');
    expect(gaps).toEqual([{ fromMs: 0, untilMs: 10_002_000 }]);
    expect(completeUntilMs).toBe(20_000_000);
    expect(world.raised).toHaveLength(1);
  });

  test('is read on from there, and its gap is logged once', async () => {
    const history = createHistory(payFor(1, 20_000));
    await importFrom(history);
    history.add(...payFor(20_001, 20_050));
    await importFrom(history);
    expect(await countOf('plan-1')).toBe(10_149);
    expect((await world.store.interest.readProgress('main')).gaps).toHaveLength(1);
    expect(world.raised).toHaveLength(1);
  });

  test('has a gap when more payments arrived since the last import than the exchange shows', async () => {
    const day = 86_400;
    const history = createHistory([listed(day, 'c', 'plan-3')]);
    await importFrom(history);
    history.add(...payFor(3 * day + 1, 3 * day + 20_000));
    await importFrom(history);
    const { gaps } = await world.store.interest.readProgress('main');
    expect(gaps).toMatchObject([{ fromMs: day * 1000 }]);
    expect(await countOf('plan-3')).toBe(1);
  });

  test('has no gap when all payments since the last import are shown, though not the whole look-back', async () => {
    const day = 86_400;
    const history = createHistory(payFor(day, day + 9_000));
    await importFrom(history);
    history.add(...payFor(day + 9_001, day + 12_000));
    await importFrom(history);
    expect((await world.store.interest.readProgress('main')).gaps).toEqual([]);
    expect(await countOf('plan-1')).toBe(12_001);
  });

  test('is read as far as possible when the exchange no longer knows a plan', async () => {
    const client = clientOf(createHistory(payFor(1, 20_000)));
    const failure = {
      kind: 'rejected',
      httpStatus: 400,
      exchangeCode: 0,
      message: 'Validation failed',
      errors: { planId: ['The selected planId is invalid.'] },
    } as const;
    const forgetful = override(client, {
      call(endpoint, params, options) {
        if (JSON.stringify(params).includes('plan-1'))
          throw new ExchangeError(endpoint, [{ atMs: 0, failure }]);
        return client.call(endpoint, params, options);
      },
    });
    await importMain({ exchangeFor: async () => forgetful });
    expect(await countOf('plan-2')).toBe(200);
    expect(await countOf('plan-1')).toBe(9_999);
  });

  test('has its newest payments stored though a plan cannot be read', async () => {
    const history = createHistory(payFor(1, 20_000));
    const client = clientOf(history);
    const stuck = override(client, {
      call(endpoint, params, options) {
        if (JSON.stringify(params).includes('plan-2')) throw new Error('no response came');
        return client.call(endpoint, params, options);
      },
    });
    const importing = () => importMain({ exchangeFor: async () => stuck });
    await expect(importing()).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    expect((await stored()).at(-1)?.paidAtMs).toBe(20_000_000);
    history.add(...payFor(20_001, 20_050));
    await expect(importing()).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    expect((await stored()).at(-1)?.paidAtMs).toBe(20_050_000);
    // Older payments are still missing: the import is not complete and starts again.
    expect((await world.store.interest.readProgress('main')).version).toBe(0);
    await importFrom(history);
    expect(await countOf('plan-2')).toBe(200);
  });

  test('that lies in a single second cannot be read', async () => {
    const history = createHistory(Array.from({ length: 10_200 }, () => listed(5)));
    await expect(importFrom(history)).rejects.toMatchObject({ cause: { code: 'history_unreadable' } });
  });
});

test('payments of the paper exchange are exact decimals', async () => {
  pay(firstNewSecond, { amount: '0.000000000123' });
  await importMain();
  expect((await stored()).at(-1)?.amount.eq(parseDecimal('0.000000000123'))).toBe(true);
});
