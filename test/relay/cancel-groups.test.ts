import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import type { Order } from '../../lib/model/order.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const all = JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' });
const entry = {
  id: 'buy-1',
  ticker: 'BTCUSDT',
  action: 'buy',
  orderType: 'market',
  maxSlippage: '0.1%',
  quantity: '0.01',
  stopLoss: '2%',
  takeProfit: '4%',
};
const statuses = () => relay.paper.control.state().orders.map(({ status }) => status);

/** An exchange whose list of open orders has no legs of pairs, and whose "cancel all" does not take them. */
async function executeWherePairsStandApart(signalId: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const isLeg = ({ clientOrderId }: Order) => clientOrderId === '';
  const call: typeof client.call = async (endpoint, params, options) => {
    if (endpoint.name === cancelAll.name) return [] as never;
    const result = await client.call(endpoint, params, options);
    if (endpoint.name !== openOrder.name) return result;
    const page = result as ListPage<Order>;
    return { ...page, records: page.records.filter((order) => !isLeg(order)) } as typeof result;
  };
  const services = { ...relay.services, exchangeFor: async () => override(client, { call }) };
  await relay.executeWith(services, signalId);
}

describe('a cancel_all of the whole market', () => {
  test('cancels a pair by its id, where no list of single orders has its legs', async () => {
    await relay.send(JSON.stringify(entry));
    await relay.receive(all);

    await executeWherePairsStandApart('all');

    expect(statuses()).toEqual(['filled', 'cancelled', 'cancelled']);
    const cancelled = await relay.entry('all');
    expect(cancelled.status).toBe('cancelled');
    expect(cancelled.steps.at(-1)).toMatchObject({
      note: 'OCO 10000000003 is cancelled: orders 10000000004 and 10000000005; none of them is open any more',
      evidence: { left: [] },
    });
  });

  test('reports a pair that the exchange does not cancel, with an alarm', async () => {
    await relay.send(JSON.stringify(entry));
    await relay.receive(all);
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-conditional', probability: 1 });

    await executeWherePairsStandApart('all');

    expect(statuses()).toEqual(['filled', 'open', 'open']);
    const { status, steps } = await relay.entry('all');
    expect(status).toBe('rejected');
    expect(steps.at(-1)?.note).toContain('still open: 10000000004, 10000000005');
    expect(relay.alarms.map(({ name }) => name)).toContain('orders_left_open');
  });

  test('is unknown while the pairs cannot be read, until a lookup has read them', async () => {
    await relay.send(JSON.stringify(entry));

    const sent = await relay.send(all, {
      fault: 'drop_before',
      endpoint: 'conditional-orders',
      probability: 1,
    });

    expect(sent.status).toBe('unknown');
    relay.paper.control.clearFaults();
    await relay.reconcileFor(7);
    expect((await relay.entry('all')).status).toBe('cancelled');
    expect(statuses()).toEqual(['filled', 'cancelled', 'cancelled']);
  });

  test('does without the list of pairs where the exchange refuses it: their legs are open orders, too', async () => {
    await relay.send(JSON.stringify(entry));

    const sent = await relay.send(all, { fault: 'refuse', endpoint: 'conditional-orders', probability: 1 });

    expect(sent.status).toBe('cancelled');
    expect(statuses()).toEqual(['filled', 'cancelled', 'cancelled']);
  });

  test('cancels the pair that a partly filled entry leaves behind when it is cancelled', async () => {
    const { maxSlippage: _, ...terms } = entry;
    await relay.send(JSON.stringify({ ...terms, orderType: 'limit', limitPrice: '49000' }));
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49000'), parseDecimal('0.004'));
    expect(statuses()).toEqual(['partially_filled']);

    const sent = await relay.send(all);

    expect(sent.status).toBe('cancelled');
    expect(statuses().filter((status) => status === 'open')).toEqual([]);
  });
});
