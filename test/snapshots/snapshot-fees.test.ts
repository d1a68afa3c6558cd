import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../lib/base/clock.ts';
import { snapshotFees } from '../../lib/snapshots/snapshot-fees.ts';
import { override } from '../support/override.ts';
import { openSnapshotWorld, type SnapshotWorld } from './snapshot-world.ts';
import { collect, noonMs } from './snapshots-contract.ts';

let world: SnapshotWorld;
let nowMs: number;
const clock: Clock = { nowMs: () => nowMs, sleep: () => Promise.resolve() };

beforeEach(async () => {
  world = await openSnapshotWorld();
  nowMs = noonMs;
});
afterEach(() => world.close());

const take = () => snapshotFees({ ...world.services, accounts: ['main'], clock });
const takeAt = async (atMs: number) => {
  nowMs = atMs;
  await take();
};
const historyOf = async (ticker: string) =>
  (await collect(world.store.fees.list('main', ticker))).map(({ fromMs, untilMs, fees }) => [
    fromMs - noonMs,
    untilMs === null ? null : untilMs - noonMs,
    fees?.withdraw.fixed.toFixed() ?? null,
  ]);
const notices = () =>
  world.logged.flatMap(({ facts }) => (typeof facts['note'] === 'string' ? [facts['note']] : []));

describe('a snapshot of fees', () => {
  test('stores every currency at first, and then nothing until a fee changes', async () => {
    for (let day = 0; day < 5; day += 1) await takeAt(noonMs + day * 86_400_000);
    const versions = await collect(world.store.fees.list('main'));
    expect(versions.map(({ ticker, untilMs }) => [ticker, untilMs])).toEqual([
      ['BTC', null],
      ['ETH', null],
      ['SOL', null],
      ['UAH', null],
      ['USDT', null],
    ]);
    expect(notices()).toEqual([]);
  });

  test('stores a change as a version and logs it once', async () => {
    await takeAt(noonMs);
    world.paper.control.setFee('BTC', { withdraw: { fixed: '0.0005' } });
    await takeAt(noonMs + 10);
    await takeAt(noonMs + 20);
    expect(await historyOf('BTC')).toEqual([
      [0, 10, '0.0004'],
      [10, null, '0.0005'],
    ]);
    expect(await historyOf('ETH')).toEqual([[0, null, '0.002']]);
    expect(notices()).toEqual(['BTC withdraw fixed 0.0004 → 0.0005']);
  });

  test('does not treat another notation of the same number as a change', async () => {
    await takeAt(noonMs);
    world.paper.control.setFee('BTC', { withdraw: { fixed: '0.00040' } });
    await takeAt(noonMs + 10);
    expect(await historyOf('BTC')).toHaveLength(1);
  });

  test('logs all changes of a currency in one line', async () => {
    await takeAt(noonMs);
    world.paper.control.setFee('USDT', {
      canWithdraw: false,
      canDeposit: true,
      deposit: { minAmount: '7' },
      withdraw: { percentFlex: '0.2', maxFlex: '60' },
    });
    world.paper.control.setFee('UAH', { canWithdraw: true });
    await takeAt(noonMs + 10);
    expect(notices()).toEqual([
      'UAH withdraw closed → open',
      'USDT deposit minAmount 5 → 7, withdraw open → closed, withdraw maxFlex 50 → 60, withdraw percentFlex 0.1 → 0.2',
    ]);
  });

  test('stores and logs a change once when runs overlap', async () => {
    await takeAt(noonMs);
    world.paper.control.setFee('BTC', { withdraw: { fixed: '0.0005' } });
    nowMs += 10;
    await Promise.all([take(), take(), take()]);
    expect(await historyOf('BTC')).toHaveLength(2);
    expect(notices()).toHaveLength(1);
  });

  test('does not overwrite a newer version with an outdated response', async () => {
    await takeAt(noonMs);
    world.paper.control.setFee('BTC', { withdraw: { fixed: '0.0005' } });
    await takeAt(noonMs + 20);
    // A run that requested the fees earlier and is slow to write.
    world.paper.control.setFee('BTC', { withdraw: { fixed: '0.0004' } });
    await takeAt(noonMs + 10);
    expect(await historyOf('BTC')).toEqual([
      [0, 20, '0.0004'],
      [20, null, '0.0005'],
    ]);
  });

  test('logs a change that was written though another write failed, and logs the other once it is written', async () => {
    await takeAt(noonMs);
    world.paper.control.setFee('BTC', { withdraw: { fixed: '0.0005' } });
    world.paper.control.setFee('ETH', { withdraw: { fixed: '0.003' } });
    const answered = Promise.withResolvers<void>();
    const fees = override(world.store.fees, {
      async append(account, known, version) {
        if (version.ticker === 'BTC') throw new Error('the database is busy');
        // The failure comes first.
        await answered.promise;
        return world.store.fees.append(account, known, version);
      },
    });
    nowMs = noonMs + 10;
    const store = { ...world.store, fees };
    const run = snapshotFees({ ...world.services, accounts: ['main'], clock, store });
    setImmediate(answered.resolve);
    await expect(run).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      cause: { message: 'the database is busy' },
    });
    expect(notices()).toEqual(['ETH withdraw fixed 0.002 → 0.003']);
    await takeAt(noonMs + 20);
    expect(notices()).toEqual(['ETH withdraw fixed 0.002 → 0.003', 'BTC withdraw fixed 0.0004 → 0.0005']);
  });

  test('writes the changes that a crash left unwritten', async () => {
    let appended = 0;
    const fees = override(world.store.fees, {
      append(...args) {
        appended += 1;
        if (appended === 3) throw new Error('the process ends here');
        return world.store.fees.append(...args);
      },
    });
    const store = { ...world.store, fees };
    const services = { ...world.services, accounts: ['main'], clock, store };
    await expect(snapshotFees(services)).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    await takeAt(noonMs + 10);
    expect((await collect(world.store.fees.list('main'))).map(({ ticker }) => ticker)).toEqual([
      'BTC',
      'ETH',
      'SOL',
      'UAH',
      'USDT',
    ]);
  });
});

/** A real response of the exchange, with changes. */
function takeListed(change: (listed: readonly { readonly ticker: string }[]) => readonly unknown[]) {
  return snapshotFees({
    ...world.services,
    accounts: ['main'],
    clock,
    async exchangeFor(account) {
      const client = await world.services.exchangeFor(account);
      return override(client, {
        async call(endpoint, params, options) {
          return change(
            (await client.call(endpoint, params, options)) as readonly { readonly ticker: string }[],
          ) as never;
        },
      });
    },
  });
}

describe('a list of fees', () => {
  const withoutBitcoin = (listed: readonly { readonly ticker: string }[]) =>
    listed.filter(({ ticker }) => ticker !== 'BTC');

  test('without a known currency ends its version; when it is listed again, another version begins', async () => {
    await takeAt(noonMs);
    nowMs = noonMs + 10;
    await takeListed(withoutBitcoin);
    nowMs = noonMs + 20;
    await takeListed(withoutBitcoin);
    await takeAt(noonMs + 30);
    expect(await historyOf('BTC')).toEqual([
      [0, 10, '0.0004'],
      [10, 30, null],
      [30, null, '0.0004'],
    ]);
    expect(notices()).toEqual(['BTC is no longer listed', 'BTC is listed again']);
  });

  test('with a new currency begins its history', async () => {
    await takeListed(withoutBitcoin);
    await takeAt(noonMs + 10);
    expect(await historyOf('BTC')).toEqual([[10, null, '0.0004']]);
    expect(notices()).toEqual(['BTC is listed']);
  });

  test('that is empty is an error and changes nothing', async () => {
    await takeAt(noonMs);
    nowMs = noonMs + 10;
    await expect(takeListed(() => [])).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      cause: { code: 'history_unreadable' },
    });
    expect(await historyOf('BTC')).toEqual([[0, null, '0.0004']]);
  });

  test('with a currency listed twice uses the first record in every run', async () => {
    const twice = (listed: readonly { readonly ticker: string }[]) => [
      ...listed,
      ...listed.filter(({ ticker }) => ticker === 'ETH').map((record) => ({ ...record, ticker: 'BTC' })),
    ];
    for (let run = 0; run < 3; run += 1) {
      nowMs += 10;
      await takeListed(twice);
    }
    expect(await historyOf('BTC')).toEqual([[10, null, '0.0004']]);
  });
});
