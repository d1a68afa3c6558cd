import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

interface OrderDocument {
  readonly orderId: number;
  readonly clientOrderId: string;
}

interface GroupDocument {
  readonly kind: string;
  readonly id: number;
  readonly stopLoss?: OrderDocument;
  readonly takeProfit?: OrderDocument;
  readonly primary?: OrderDocument;
}

interface OrdersDocument {
  readonly account: string;
  readonly orders: readonly GroupDocument[];
  readonly open: readonly OrderDocument[] | null;
}

describe.each(['live', 'documented'] as const)('in the %s dialect', (dialect) => {
  let relay: RunningRelay;

  beforeAll(async () => {
    relay = await startRelay(dialect);
    relay.world.setPrice('BTC_USDT', '60000');
  });

  afterAll(() => relay.world.close());

  async function placeOrders(
    stopPrices: readonly string[],
    clientOrderId: string,
  ): Promise<readonly number[]> {
    const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
    const client = createExchangeClient({ address: relay.world.paper.url, dialect, credentials });
    const placed = await Promise.all(
      stopPrices.map((stopPrice, index) =>
        prepareOrder(client, {
          type: 'stop_limit',
          market: 'BTC_USDT',
          side: 'buy',
          amount: parseDecimal('0.01'),
          price: parseDecimal('70000'),
          activationPrice: parseDecimal(stopPrice),
          stopLoss: parseDecimal('59000'),
          takeProfit: parseDecimal('75000'),
          clientOrderId: `${clientOrderId}-${index}`,
        }).send(),
      ),
    );
    client.close();
    return placed.map(({ orderId }) => orderId);
  }

  /** Orders without stop-loss and take-profit; only the live dialect has limit orders. */
  async function placePlain(): Promise<void> {
    const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
    const client = createExchangeClient({ address: relay.world.paper.url, dialect, credentials });
    const base = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal('0.01') } as const;
    await prepareOrder(client, {
      ...base,
      type: 'stop_limit',
      price: parseDecimal('70000'),
      activationPrice: parseDecimal('64000'),
      clientOrderId: 'plain-64000',
    }).send();
    if (dialect === 'live')
      await prepareOrder(client, {
        ...base,
        type: 'limit',
        price: parseDecimal('58000'),
        clientOrderId: 'plain-58000',
      }).send();
    client.close();
  }

  test('conditional orders are listed as groups of legs', async () => {
    await placeOrders(['60100', '60500'], 'legs');
    relay.world.setPrice('BTC_USDT', '60200');

    const [document, elsewhere, table] = await Promise.all([
      runForJson(relay.here('orders', '--market', 'BTC_USDT')) as Promise<OrdersDocument>,
      runCli(relay.here('orders', '--market', 'ETH_USDT')),
      runCli(relay.here('orders')),
    ]);

    expect(document.account).toBe('main');
    expect(document.orders).toContainEqual(
      expect.objectContaining({
        kind: 'oto',
        stopLossPrice: '59000',
        takeProfitPrice: '75000',
        primary: expect.objectContaining({ clientOrderId: 'legs-1', status: 'open', amount: '0.01' }),
      }),
    );
    expect(document.orders).toContainEqual(
      expect.objectContaining({
        kind: 'oco',
        stopLoss: expect.objectContaining({ side: 'sell', activationPrice: '59000', type: 'stop_limit' }),
        takeProfit: expect.objectContaining({ side: 'sell', price: '75000', type: 'limit' }),
      }),
    );
    expect(elsewhere.stdout).toMatch(/^No open orders/);
    expect(table.stdout).toMatch(/^OTO \d+ +entry +\d+ +BTC_USDT +buy +0 +0\.01 +(≥ )?60500 +70000 +open +/m);
    expect(table.stdout).toMatch(
      /^OCO \d+ +stop loss +\d+ +BTC_USDT +sell +0 +0\.01 +≤ 59000 +[\d.]+ +open +/m,
    );
    expect(table.stdout).toMatch(/^OCO \d+ +take profit +\d+ +BTC_USDT +sell +0 +0\.01 +– +75000 +open +/m);
    expect(table.stdout).toMatch(/^ +take profit +– +BTC_USDT +sell +– +0\.01 +– +75000 +to come$/m);
  });

  test('a market that the account does not have is refused with those that it has', async () => {
    const failures = await Promise.all(
      [
        ['orders', '--market', 'NOPE'],
        ['cancel', 'NOPE', '--order-id', '1'],
      ].map((args) => runForFailure(relay.here(...args))),
    );

    for (const { message, action } of failures) {
      expect(message).toMatch(/^account main has no market "NOPE", and the exchange refused it: /);
      expect(action).toMatch(/^Name one of: BTC_USDT, .*; or another market as the exchange writes it\.$/);
    }
  });

  test('single orders are listed once if the dialect can list them', async () => {
    await placePlain();

    const document = (await runForJson(relay.here('orders'))) as OrdersDocument;
    const { stdout } = await runCli(relay.here('orders'));
    const narrow = await runCli(relay.here('orders'), '', { width: 80 });

    const legs = document.orders.flatMap(({ stopLoss, takeProfit, primary }) =>
      [stopLoss, takeProfit, primary].flatMap((leg) => leg ?? []),
    );
    const rowsOf = (orderId: number | undefined) =>
      stdout.split('\n').filter((line) => line.includes(` ${orderId} `));
    if (dialect === 'live') {
      const open = document.open ?? [];
      expect(open.map(({ clientOrderId }) => clientOrderId)).toEqual(
        expect.arrayContaining(['plain-58000', 'plain-64000']),
      );
      for (const { orderId } of [...open, ...legs]) expect(rowsOf(orderId)).toHaveLength(1);
      expect(stdout).toMatch(/^ +limit +\d+ +BTC_USDT +buy +0 +0\.01 +– +58000 +open +/m);
      expect(stdout).toMatch(/^ +stop-limit +\d+ +BTC_USDT +buy +0 +0\.01 +(≥ )?64000 +70000 +open +/m);
      expect(stdout).toMatch(/^Markets included: BTC_USDT, /m);
      expect(stdout).toMatch(/^Account main\. Not looked at: rehearsal; /m);
    } else {
      expect(document.open).toBeNull();
      expect(stdout).not.toContain('64000');
      expect(stdout).toContain('cannot list orders without stop-loss and take-profit');
    }
    expect(stdout).toMatch(/^OCO \(one cancels the other\): /m);
    expect(stdout).toMatch(/^OTO \(one triggers the other\): /m);
    expect(Math.max(...narrow.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('all pages of them are read', async () => {
    const before = (await runForJson(relay.here('orders'))) as OrdersDocument;
    await placeOrders(Array(120).fill('61000'), 'many');

    const after = (await runForJson(relay.here('orders'))) as OrdersDocument;

    expect(after.orders).toHaveLength(before.orders.length + 120);
    expect(new Set(after.orders.map(({ id }) => id)).size).toBe(before.orders.length + 120);
  });

  test('an order is cancelled by either of its ids', async () => {
    const [first, second] = await placeOrders(['62000', '62000'], 'cancel');

    const byId = await runForJson(relay.here('cancel', 'BTC_USDT', '--order-id', String(first)));
    const byClientId = await runCli(relay.here('cancel', 'BTC_USDT', '--client-order-id', 'cancel-1'));

    expect(byId).toMatchObject({
      account: 'main',
      order: { orderId: first, clientOrderId: 'cancel-0', remaining: '0.01', filled: '0' },
    });
    expect(byClientId.stdout).toMatch(new RegExp(`^cancelled +order ${second}$`, 'm'));
    expect(byClientId.stdout).toMatch(/^account +main$/m);
    expect(byClientId.stdout).toMatch(/^was +buy 0\.01 of BTC_USDT at 70000$/m);
    const { orders } = relay.world.paper.control.state();
    expect(
      orders.filter(({ orderId }) => orderId === first || orderId === second).map(({ status }) => status),
    ).toEqual(['cancelled', 'cancelled']);
  });

  test('an order that is not open cannot be cancelled', async () => {
    const failure = await runForFailure(relay.here('cancel', 'BTC_USDT', '--order-id', '5'));

    expect(failure).toMatchObject({
      exitCode: 1,
      code: 'order_not_open',
      message: 'no such order is open in BTC_USDT: it was filled, was cancelled before, or was never placed',
      action: expect.stringContaining(
        'Account main. Not looked at: rehearsal; for that: npx relay orders --account rehearsal',
      ),
    });
  });

  test('a cancellation whose response was lost is not reported as refused', async () => {
    const [orderId] = await placeOrders(['63000'], 'lost');
    relay.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'cancel-order' });

    const failure = await runForFailure(relay.here('cancel', 'BTC_USDT', '--order-id', String(orderId)));

    expect(failure).toMatchObject({ exitCode: 1, code: 'perhaps_cancelled' });
    const { orders } = relay.world.paper.control.state();
    expect(orders.find((order) => order.orderId === orderId)?.status).toBe('cancelled');
  });
});

test('an order is listed with the signal whose stop-loss or take-profit it is, on two lines at 80 columns', async () => {
  const relay = await startRelay('live');
  try {
    relay.world.setPrice('BTC_USDT', '50000');
    const alert = { id: 'entry-of-the-pair', ticker: 'BTCUSDT', action: 'buy', orderType: 'market' };
    const exits = { stopLoss: '49000', takeProfit: '52000' };
    await relay.world.post(JSON.stringify({ ...alert, ...exits, maxSlippage: '1%', quantity: '0.01' }));
    const entry = await relay.world.settled('entry-of-the-pair');
    const { orders } = (await runForJson(relay.here('orders'))) as OrdersDocument;
    const legs = [orders[0]?.stopLoss?.orderId ?? 0, orders[0]?.takeProfit?.orderId ?? 0];
    const roles = ['stop_loss', 'take_profit'] as const;
    const order = { endedAtMs: null, filledNotional: '500', fees: {} } as const;
    await relay.world.executions.record(
      entry,
      {
        revision: 1,
        readAtMs: 1,
        isFollowed: true,
        orders: [
          { ...order, role: 'order', orderId: entry.orderId ?? 0, status: 'filled', filled: '0.01' },
          ...roles.map(
            (role, index) =>
              ({ ...order, role, orderId: legs[index] ?? 0, status: 'open', filled: '0' }) as const,
          ),
        ],
      },
      [],
    );

    const wide = await runCli(relay.here('orders'));
    const narrow = await runCli(relay.here('orders'), '', { width: 80 });
    const document = await runForJson(relay.here('orders'));

    expect(wide.stdout).toMatch(/^OCO \d+ +stop loss .* entry-of-the-pair$/m);
    expect(wide.stdout).toMatch(/^OCO \d+ +take profit .* entry-of-the-pair$/m);
    expect(document).toMatchObject({ signals: { [String(legs[0])]: 'entry-of-the-pair' } });
    const lines = narrow.stdout.split('\n');
    expect(lines[3]).toMatch(/^stop loss +BTC_USDT +sell +0 +0\.01 +≤ 49000 +48510$/);
    expect(lines[4]).toMatch(new RegExp(`^ {4}${legs[0]} +OCO \\d+ +entry-of-the-pair +open `));
    expect(lines[7]).toBe('');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  } finally {
    await relay.world.close();
  }
});
