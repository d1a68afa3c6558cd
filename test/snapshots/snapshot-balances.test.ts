import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import type { SnapshotServices } from '../../lib/snapshots/each-account.ts';
import { snapshotBalances } from '../../lib/snapshots/snapshot-balances.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { override } from '../support/override.ts';
import { openSnapshotWorld, type SnapshotWorld } from './snapshot-world.ts';
import { collect, hourMs, noonMs } from './snapshots-contract.ts';

let world: SnapshotWorld;

beforeEach(async () => {
  world = await openSnapshotWorld();
});
afterEach(() => world.close());

const period = { fromMs: 0, untilMs: 10 ** 14 };
const readAll = async (account = 'main') => toJson(await collect(world.store.balances.list(account, period)));

describe('a snapshot of balances', () => {
  test('stores the exact main and collateral balances of each account under its slot', async () => {
    const clock = createManualClock(noonMs + 1500);
    await snapshotBalances({ ...world.services, clock: override(clock, {}) }, noonMs);
    const collateral = { USDT: '1000000', BTC: '10', ETH: '100', SOL: '1000' };
    expect(await readAll()).toEqual([
      {
        slotMs: noonMs,
        takenAtMs: noonMs + 1500,
        main: { BTC: '1.25', ETH: '20', SOL: '0.5', USDT: '25000.75' },
        collateral,
      },
    ]);
    expect(await readAll('second')).toMatchObject([{ main: { USDT: '500' }, collateral }]);
  });

  test('leaves out a ticker whose balance is zero', async () => {
    world.paper.control.setBalance('main', 'ETH', parseDecimal('0'));
    world.paper.control.setBalance('main', 'UAH', parseDecimal('0.000000001'));
    await snapshotBalances(world.services, noonMs);
    expect(await readAll()).toMatchObject([
      { main: { BTC: '1.25', SOL: '0.5', USDT: '25000.75', UAH: '0.000000001' } },
    ]);
  });

  test('is stored once for each slot, however often and late the schedule runs', async () => {
    await snapshotBalances(world.services, noonMs);
    world.paper.control.setBalance('main', 'BTC', parseDecimal('2'));
    await snapshotBalances(world.services, noonMs + hourMs);
    await snapshotBalances(world.services, noonMs);
    expect(await readAll()).toMatchObject([
      { slotMs: noonMs, main: { BTC: '1.25' } },
      { slotMs: noonMs + hourMs, main: { BTC: '2' } },
    ]);
    expect(world.callsOf('main', 'main-balance')).toBe(2);
  });

  test('is stored once when the schedule runs twice at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => snapshotBalances(world.services, noonMs)));
    expect(await readAll()).toHaveLength(1);
    expect(await readAll('second')).toHaveLength(1);
  });

  test('that fails for one account is stored for the others, and a retry of the slot completes it', async () => {
    world.setKey('main', 'paper-key', 'mistyped');
    await expect(snapshotBalances(world.services, noonMs)).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      message: 'the snapshot of balances failed for 1 of 2 accounts: main',
    });
    expect([await readAll(), await readAll('second')]).toMatchObject([[], [{ slotMs: noonMs }]]);

    world.setKey('main', 'paper-key', 'paper-secret');
    await snapshotBalances(world.services, noonMs);
    expect(await readAll()).toHaveLength(1);
    expect(world.callsOf('second', 'main-balance')).toBe(1);
  });

  test('is not stored when the collateral balance fails', async () => {
    world.paper.control.addFault({ fault: 'drop_after', endpoint: 'collateral-balance', probability: 1 });
    const services = { ...world.services, accounts: ['main'], exchangeTimeoutMs: 300 };
    await expect(snapshotBalances(services, noonMs)).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    expect(await readAll()).toEqual([]);
  });

  /** A client of account main whose exchange denies the collateral balance. */
  const refusing = (httpStatus: number, exchangeCode: number | null): SnapshotServices => ({
    ...world.services,
    accounts: ['main'],
    async exchangeFor(account) {
      const client = await world.services.exchangeFor(account);
      return override(client, {
        async call(endpoint, params, options) {
          if (endpoint.name !== 'collateral-balance') return await client.call(endpoint, params, options);
          const failure = { kind: 'rejected', httpStatus, exchangeCode, message: 'No.', errors: {} } as const;
          throw new ExchangeError(endpoint, [{ atMs: noonMs, failure }]);
        },
      });
    },
  });

  test.each([0, 4])('is stored without collateral when HTTP 403 with code %d denies it', async (code) => {
    await snapshotBalances(refusing(403, code), noonMs);
    expect(await readAll()).toMatchObject([{ main: { BTC: '1.25' }, collateral: null }]);
  });

  test('logs once why there is no collateral, and again when the reason changes', async () => {
    for (const [hour, code] of [0, 0, 4, 0, 4].entries())
      await snapshotBalances(refusing(403, code), noonMs + hour * hourMs);
    expect(world.logged.filter(({ level }) => level === 'warn').map(({ facts }) => facts['account'])).toEqual(
      ['main', 'main'],
    );
    expect(await readAll()).toHaveLength(5);
  });

  test.each([
    [401, 10],
    [403, 2],
    [400, 9],
    [422, 30],
    [404, null],
  ])('is not taken by halves when HTTP %d, code %p, refuses the collateral', async (httpStatus, code) => {
    await expect(snapshotBalances(refusing(httpStatus, code), noonMs)).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      cause: { code: 'exchange_rejected' },
    });
    expect(await readAll()).toEqual([]);
  });

  test('fails for an account without a key', async () => {
    const services = { ...world.services, accounts: ['nobody'] };
    await expect(snapshotBalances(services, noonMs)).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      cause: { code: 'secrets_missing' },
    });
  });
});

test('the collateral is not requested in the documented dialect', async () => {
  const documented = await openSnapshotWorld('documented');
  await snapshotBalances(documented.services, noonMs);
  const snapshot = await documented.store.balances.readAt('main', noonMs);
  expect(snapshot?.collateral).toBeNull();
  expect(documented.callsOf('main', 'collateral-balance')).toBe(0);
  await documented.close();
});
