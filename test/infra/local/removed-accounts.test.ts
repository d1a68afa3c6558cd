import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseConfig } from '../../../lib/host/config.ts';
import { createDataFolder, type DataFolder } from '../../../lib/host/data-folder.ts';
import { openWorld, testConfig, type World } from '../../support/world.ts';

let folder: DataFolder;
let world: World;

/** A relay with the account `slow` has placed an order for it that rests. */
beforeEach(async () => {
  folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-')));
  world = await openWorld({ dialect: 'live', folder });
  const alert = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', limitPrice: '40000', id: 'rest' };
  await world.post(JSON.stringify(alert), { account: 'slow' });
  await world.settled('rest', 'slow');
  await world.close();
});

afterEach(async () => {
  await world.close();
  rmSync(folder.path, { recursive: true });
});

const told = () => world.logged.filter(({ facts }) => facts['alarmName'] === 'orders_unread');

test('An account that was removed while its orders are followed is an alarm at the start', async () => {
  const { main } = testConfig.accounts;
  const { settings } = parseConfig({ ...testConfig, accounts: { main } });
  world = await openWorld({ dialect: 'live', folder, settings });

  expect(told()).toMatchObject([{ facts: { account: 'slow', markets: ['BTC_USDT'] } }]);
  expect(told()[0]?.message).toContain(
    'account slow is not in relay.config.ts any more, and orders that the relay has placed for it in BTC_USDT may be open',
  );
});

test('An account that is still configured is none', async () => {
  world = await openWorld({ dialect: 'live', folder });

  expect(told()).toEqual([]);
});
