import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { buyAlert } from '../support/alerts.ts';
import {
  type FollowedWorld,
  forms,
  openFollowedWorld,
  followedStartMs as startMs,
} from '../support/followed-world.ts';

const minuteMs = 60_000;

describe.each(forms)('an order is followed to its end by a relay in the form "%s"', (form) => {
  let world: FollowedWorld;
  beforeEach(async () => {
    world = await openFollowedWorld(form);
  });
  afterEach(() => world.close());

  /** As a person does on the exchange's website. */
  async function cancelByHand(orderId: number): Promise<void> {
    const client = createExchangeClient({
      address: world.paper.url,
      dialect: 'live',
      credentials: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
      clock: world.clock,
    });
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId });
    client.close();
  }

  const setPrice = (price: string, volume?: string) =>
    world.paper.control.setPrice(
      'BTC_USDT',
      parseDecimal(price),
      volume === undefined ? undefined : parseDecimal(volume),
    );

  test('words and records that the relay does not know are told once, and hide no end', async () => {
    const { orderId } = await world.send(buyAlert());
    setPrice('50150');
    world.paper.control.addFault({ fault: 'unknown_word', endpoint: 'ended-order', probability: 1 });
    world.paper.control.addFault({ fault: 'unreadable_record', endpoint: 'open-order', probability: 1 });

    for (let minute = 0; minute < 3; minute += 1) await world.followAfter(minuteMs);

    expect(await world.entry('buy-1')).toMatchObject({
      orderOpen: false,
      execution: {
        isFollowed: true,
        orders: [
          { orderId, status: 'filled', endReason: 'UNDOCUMENTED', filled: '0.01' },
          { role: 'stop_loss', status: 'open' },
        ],
      },
    });
    expect([...world.alarmNames()].sort()).toEqual(['record_unreadable', 'unknown_word']);
  });

  test('an entry fills, its stop-loss is hit, and the ledger has both with price and fee', async () => {
    const { orderId } = await world.send(buyAlert());
    await world.followAfter(minuteMs);
    expect(await world.entry('buy-1')).toMatchObject({
      orderOpen: true,
      execution: { orders: [{ orderId, status: 'open', filled: '0' }] },
    });

    setPrice('50150');
    await world.followAfter(minuteMs);
    expect(await world.entry('buy-1')).toMatchObject({
      orderOpen: false,
      execution: {
        isFollowed: true,
        orders: [
          {
            role: 'order',
            status: 'filled',
            filled: '0.01',
            filledNotional: '501.5',
            fees: { USDT: '0.5015' },
          },
          { role: 'stop_loss', status: 'open', price: '49000' },
          { role: 'take_profit', status: 'open', price: '52000' },
        ],
      },
    });

    setPrice('48990');
    await world.followAfter(minuteMs);
    const { execution } = await world.entry('buy-1');
    expect(execution).toMatchObject({
      isFollowed: false,
      orders: [
        { role: 'order', status: 'filled', endedAtMs: startMs + minuteMs },
        {
          role: 'stop_loss',
          status: 'filled',
          filled: '0.01',
          filledNotional: '489.9',
          fees: { USDT: '0.4899' },
          endedAtMs: startMs + 2 * minuteMs,
        },
        { role: 'take_profit', status: 'cancelled', filled: '0' },
      ],
    });
    expect((await world.fills()).map(({ role, side, amount, price }) => [role, side, amount, price])).toEqual(
      [
        ['order', 'buy', '0.01', '50150'],
        ['stop_loss', 'sell', '0.01', '48990'],
      ],
    );
    expect(world.unprotected()).toEqual([]);
  });

  test('an order that filled in part and was cancelled by hand shows both', async () => {
    const limit = { orderType: 'limit', stopPrice: undefined, limitPrice: '49500' };
    const { orderId } = await world.send(buyAlert({ ...limit, stopLoss: undefined, takeProfit: undefined }));
    setPrice('49500', '0.004');
    await world.followAfter(minuteMs);
    expect(await world.entry('buy-1')).toMatchObject({
      orderOpen: true,
      execution: { orders: [{ status: 'partially_filled', filled: '0.004' }] },
    });

    await cancelByHand(orderId ?? 0);
    await world.followAfter(minuteMs);

    expect(await world.entry('buy-1')).toMatchObject({
      status: 'placed',
      orderOpen: false,
      execution: {
        isFollowed: false,
        orders: [{ status: 'cancelled', filled: '0.004', filledNotional: '198', fees: { USDT: '0.198' } }],
      },
    });
    expect(await world.fills()).toHaveLength(1);
  });

  test('a stop-loss that vanished raises an alarm, whose command places it again', async () => {
    await world.send(buyAlert());
    setPrice('50150');
    await world.followAfter(minuteMs);
    const [, stop] = (await world.entry('buy-1')).execution?.orders ?? [];
    await cancelByHand(stop?.orderId ?? 0);
    await world.followAfter(1_000);

    await world.followAfter(minuteMs);

    const [alarm, ...others] = world.unprotected();
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({
      account: 'main',
      signalId: 'buy-1',
      position: 'long',
      amount: '0.01',
      stopPrice: '49000',
    });
    const command = String(alarm?.['whatToDo']);
    const [, alert = '', options] =
      /^echo '(.*)' \| npx relay send - --account main(.*)$/.exec(command) ?? [];
    expect(options).toBe(form === 'local' ? '' : ' --stack relay-test --region eu-central-1');

    const { orderId, status } = await world.send(alert);

    expect(status).toBe('placed');
    expect(world.paper.control.state().orders.find((order) => order.orderId === orderId)).toMatchObject({
      side: 'sell',
      amount: '0.01',
      activationPrice: '49000',
      reduceOnly: true,
      status: 'open',
    });
    await world.followAfter(60 * minuteMs);
    expect(world.unprotected()).toHaveLength(1);
  });
});
