import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createRandom, type Random } from '../../lib/base/random.ts';
import { importInterest } from '../../lib/snapshots/import-interest.ts';
import { override } from '../support/override.ts';
import { openSnapshotWorld, type SnapshotWorld } from './snapshot-world.ts';

let world: SnapshotWorld;
beforeEach(async () => {
  world = await openSnapshotWorld();
});
afterEach(() => world.close());

const firstSecond = 1_800_000_000;

/** Makes random payments: often equal ones, sometimes many at once, sometimes with a slightly past time. */
function createPayer(random: Random) {
  const paid: Record<string, number> = {};
  let second = firstSecond;
  const draw = (most: number) => Math.floor(random() * most);

  function payOnce(): void {
    const timestamp = draw(10) === 0 ? second - draw(3600) : second;
    const planId = `plan-${draw(2)}`;
    const payment = {
      planId,
      investmentId: 'i',
      amount: draw(2) === 0 ? '1.5' : '2.5',
      ticker: 'USDT',
      timestamp,
    };
    world.paper.control.payInterest('main', payment);
    const name = `${timestamp} ${planId} ${payment.amount}`;
    paid[name] = (paid[name] ?? 0) + 1;
  }

  return {
    paid,
    pay(most: number): void {
      second += draw(3);
      const count = draw(8) === 0 ? draw(most * 20) : draw(most);
      for (let index = 0; index < count; index += 1) payOnce();
    },
  };
}

/** Counts the stored payments; equal payments must be numbered from 1 without a gap. */
async function countStored(): Promise<Readonly<Record<string, number>>> {
  const numbers: Record<string, number[]> = {};
  const period = { fromMs: (firstSecond - 3600) * 1000, untilMs: 10 ** 14 };
  for await (const { paidAtMs, planId, amount, nth } of world.store.interest.list('main', period)) {
    const name = `${paidAtMs / 1000} ${planId} ${amount.toFixed()}`;
    numbers[name] = [...(numbers[name] ?? []), nth];
  }
  return Object.fromEntries(
    Object.entries(numbers).map(([name, all]) => {
      expect(all.toSorted((a, b) => a - b)).toEqual(all.map((_, index) => index + 1));
      return [name, all.length];
    }),
  );
}

describe('imports, while payments arrive and processes die', () => {
  test.each([1, 2, 3, 5, 8, 13, 21, 34])('miss nothing and take nothing twice (seed %i)', async (seed) => {
    const random = createRandom(seed);
    const { paid, pay } = createPayer(random);
    let writesLeft = Number.POSITIVE_INFINITY;
    const { interest } = world.store;
    const breaking = override(interest, {
      async write(account, payments) {
        for (const payment of payments) {
          writesLeft -= 1;
          if (writesLeft < 0) throw new Error('the process ends here');
          await interest.write(account, [payment]);
        }
      },
    });
    const services = {
      ...world.services,
      accounts: ['main'],
      store: { ...world.store, interest: breaking },
    };

    for (let run = 0; run < 6; run += 1) {
      pay(30);
      world.beforeCall = () => (random() < 0.4 ? pay(10) : undefined);
      writesLeft = random() < 0.5 ? Math.floor(random() * 60) : Number.POSITIVE_INFINITY;
      // Some imports are interrupted, and some overlap.
      await Promise.allSettled([
        importInterest(services),
        ...(random() < 0.3 ? [importInterest(services)] : []),
      ]);
    }
    world.beforeCall = () => undefined;
    writesLeft = Number.POSITIVE_INFINITY;
    await importInterest(services);

    expect(await countStored()).toEqual(paid);
    expect(Object.keys(paid).length).toBeGreaterThan(5);
    const progress = await interest.readProgress('main');
    expect(progress.gaps).toEqual([]);
  });
});
