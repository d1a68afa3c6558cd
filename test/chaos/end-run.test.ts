import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createDataFolder, type DataFolder } from '../../lib/host/data-folder.ts';
import { openWorld, type World } from '../support/world.ts';
import { auditRun } from './audit.ts';
import { createRest, gatherFacts } from './end-run.ts';
import type { RelayKeeper } from './relay-keeper.ts';

let folder: DataFolder;
let world: World;
beforeEach(async () => {
  folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-end-run-')));
  world = await openWorld({ dialect: 'live', folder });
});
afterEach(async () => {
  await world.close();
  rmSync(folder.path, { recursive: true });
});

const limitSell = {
  id: 'one',
  ticker: 'BTCUSDT',
  action: 'sell',
  orderType: 'limit',
  quantity: '0.001',
  limitPrice: '60010.6',
};

/** The relay of the world: until it has stopped, the price may move and the relay may read what that filled. */
function keeperOf(stop: () => Promise<void>): RelayKeeper {
  return { stop, ownEnds: [] } as Partial<RelayKeeper> as RelayKeeper;
}

test('an order that fills while the relay is stopped is filled in the facts of both', async () => {
  world.setPrice('BTC_USDT', '60000');
  await world.post(JSON.stringify({ ...limitSell, time: new Date().toISOString() }));
  await world.settled('one');
  const keeper = keeperOf(async () => {
    world.setPrice('BTC_USDT', '60036');
    await world.follow();
  });

  const stage = { folder, paper: world.paper, keeper, service: null, journal: [], terminal: [] };
  const facts = await gatherFacts(stage, [], Date.now(), false);

  expect(facts.entries.map(({ signalId, orderOpen }) => [signalId, orderOpen])).toEqual([['one', false]]);
  expect(facts.exchange.orders.map(({ status }) => status)).toEqual(['filled']);
  expect(auditRun(facts).map(({ what }) => what)).not.toContain('the ledger counts an open order as closed');
});

test('a run rests when the relay has asked for nothing more for fifteen seconds', () => {
  const isAtRest = createRest();

  expect([isAtRest(3, 0), isAtRest(3, 14_999), isAtRest(4, 15_000)]).toEqual([false, false, false]);
  expect([isAtRest(4, 29_999), isAtRest(4, 30_000)]).toEqual([false, true]);
});
