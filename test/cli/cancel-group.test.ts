import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;
beforeEach(async () => {
  relay = await startRelay('live');
  relay.world.setPrice('BTC_USDT', '60000');
});
afterEach(() => relay.world.close());

const statuses = () => relay.world.paper.control.state().orders.map(({ status }) => status);

/** A limit order with a stop-loss and a take-profit. */
async function place(price: string): Promise<void> {
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const client = createExchangeClient({ address: relay.world.paper.url, dialect: 'live', credentials });
  await prepareOrder(client, {
    type: 'limit',
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('0.01'),
    price: parseDecimal(price),
    stopLoss: parseDecimal('50000'),
    takeProfit: parseDecimal('75000'),
    clientOrderId: `limit-${price}`,
  }).send();
  client.close();
}

/** The ids under which the exchange lists the groups, and `orders` shows them. */
async function groupIds(): Promise<readonly string[]> {
  const { stdout } = await runCli(relay.here('orders'));
  return [...new Set(stdout.match(/^O[CT]O \d+/gm))];
}

describe('a group of orders', () => {
  test('is named by every order of it, and cancelled by its id with both legs', async () => {
    await place('60100');
    const [group = ''] = await groupIds();
    expect(group).toMatch(/^OCO \d+$/);

    const { stdout } = await runCli(relay.here('cancel', 'BTC_USDT', '--oco', group.slice(4)));

    expect(stdout).toContain(`${relay.targetLine}${group} of account main is cancelled. Its orders were:\n`);
    expect(stdout).toMatch(/^OCO \d+ +stop loss +\d+ +BTC_USDT +sell +0 +0\.01 +≤ 50000 +49500 /m);
    expect(stdout).toMatch(/^OCO \d+ +take profit +\d+ +BTC_USDT +sell +0 +0\.01 +– +75000 /m);
    expect(statuses()).toEqual(['filled', 'cancelled', 'cancelled']);
  });

  test('is cancelled by its id with what is only planned', async () => {
    await place('55000');
    const [group = ''] = await groupIds();

    const done = await runForJson(relay.here('cancel', 'BTC_USDT', '--oto', group.slice(4)));

    expect(done).toMatchObject({
      account: 'main',
      group: { kind: 'oto', id: Number(group.slice(4)), stopLossPrice: '50000' },
      isCancelled: true,
    });
    expect(statuses()).toEqual(['cancelled']);
  });

  test('is only shown in a dry run', async () => {
    await place('60100');
    const [group = ''] = await groupIds();

    const { stdout } = await runCli(relay.here('cancel', 'BTC_USDT', '--oco', group.slice(4), '--dry-run'));

    expect(stdout).toContain(`${group} of account main would be cancelled. Its orders:\n`);
    expect(statuses()).toEqual(['filled', 'open', 'open']);
  });

  test('that is not open, or is of the other kind, is not found', async () => {
    await place('55000');
    const [group = ''] = await groupIds();

    expect(await runForFailure(relay.here('cancel', 'BTC_USDT', '--oco', group.slice(4)))).toMatchObject({
      exitCode: 1,
      code: 'order_not_open',
      message: `no OCO ${group.slice(4)} is open in BTC_USDT: one of its orders was filled, or it was cancelled before`,
    });
    expect(statuses()).toEqual(['open']);
  });

  test('whose cancellation lost its response is not reported as refused', async () => {
    await place('60100');
    const [group = ''] = await groupIds();
    relay.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'cancel-conditional' });

    expect(await runForFailure(relay.here('cancel', 'BTC_USDT', '--oco', group.slice(4)))).toMatchObject({
      exitCode: 1,
      code: 'perhaps_cancelled',
    });
    expect(statuses()).toEqual(['filled', 'cancelled', 'cancelled']);
  });

  test.each([
    [['--oco', '5', '--order-id', '6']],
    [['--oco', '5', '--oto', '6']],
    [['--order-id', '5', '--dry-run']],
  ])('is named alone: %j', async (options) => {
    expect(await runForFailure(relay.here('cancel', 'BTC_USDT', ...options))).toMatchObject({ exitCode: 2 });
  });
});

test('in the documented dialect no group can be cancelled by its id', async () => {
  const documented = await startRelay('documented');

  const failure = await runForFailure(documented.here('cancel', 'BTC_USDT', '--oco', '5'));

  expect(failure).toMatchObject({ exitCode: 1, code: 'not_in_dialect' });
  await documented.world.close();
});
