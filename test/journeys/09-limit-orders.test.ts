import { afterEach, describe, expect, test } from '@jest/globals';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
afterEach(() => world.close());

async function open(dialect: 'live' | 'documented'): Promise<void> {
  world = await openWorld({ dialect });
  world.setPrice('BTC_USDT', '50000');
}

const limitAlert = (fields: object) =>
  buyAlert({ orderType: 'limit', stopPrice: undefined, limitPrice: '49900', ...fields });
const orders = () => world.paper.control.state().orders;

describe('a limit order', () => {
  test('below the price stays open at the exchange until it is cancelled', async () => {
    await open('live');

    await world.post(limitAlert({ stopLoss: '49000', takeProfit: '52000' }));
    const placed = await world.settled('buy-1');
    await world.post(JSON.stringify({ id: 'stop', ticker: 'BTCUSDT', action: 'cancel', signalId: 'buy-1' }));
    await world.settled('stop');

    expect(placed).toMatchObject({ status: 'placed', orderOpen: true });
    expect(placed.steps.at(-1)?.note).toBe(
      'buy 0.01 BTC_USDT at limit 49900, held by the exchange as order 10000000001',
    );
    expect(orders()).toMatchObject([{ type: 'limit', price: '49900', status: 'cancelled' }]);
  });

  test('that crosses the price fills at once, which the ledger records', async () => {
    await open('live');

    await world.post(limitAlert({ limitPrice: '50100', stopLoss: '49000', takeProfit: '52000' }));
    const placed = await world.settled('buy-1');

    expect(placed).toMatchObject({ status: 'placed', orderOpen: false });
    expect(placed.steps.at(-1)?.note).toBe(
      'buy 0.01 BTC_USDT at limit 50100, filled at once by the exchange as order 10000000001',
    );
    expect(orders().map(({ type, status }) => `${type} ${status}`)).toEqual([
      'limit filled',
      'stop_limit open',
      'limit open',
    ]);
  });

  test('of another kind, but sized as a share in the documented dialect, is denied before anything is asked', async () => {
    await open('documented');

    await world.post(buyAlert({ quantity: '5%' }));
    const { status, steps } = await world.settled('buy-1');

    expect(status).toBe('denied');
    expect(steps.at(-1)?.evidence).toMatchObject({ rule: 'size_not_in_dialect', actual: 'a per cent' });
    expect(orders()).toEqual([]);
  });

  test('in the documented dialect is denied with its kind named, and nothing is sent', async () => {
    await open('documented');

    await world.post(limitAlert({}));
    const { status, steps } = await world.settled('buy-1');

    expect(status).toBe('denied');
    expect(steps.at(-1)).toMatchObject({
      note: expect.stringMatching(
        /^the dialect "documented" has stop_limit on margin and futures, and no limit order; /,
      ),
      evidence: { rule: 'order_type_not_in_dialect', limit: 'stop_limit', actual: 'limit' },
    });
    expect(orders()).toEqual([]);
  });
});
