import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { limit } from '../../lib/exchange/endpoints/limit.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
let onBook: () => void;
beforeEach(async () => {
  onBook = () => undefined;
  relay = await openAftermath('live', () => {
    if (relay?.asked.at(-1)?.includes('/orderbook/') === true) onBook();
  });
});
afterEach(() => relay.close());

const alert = (fields: object) =>
  JSON.stringify({ id: 'buy-1', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', ...fields });
const orders = () => relay.paper.control.state().orders;

/** The relay's services on an exchange whose results of one endpoint are changed. */
async function answering(name: string, change: (result: never) => void) {
  const client = await relay.services.exchangeFor('main');
  const call: ExchangeClient['call'] = async (endpoint, params, options) => {
    const result = await client.call(endpoint, params, options);
    if (endpoint.name === name) change(result as never);
    return result;
  };
  return { ...relay.services, exchangeFor: async () => override(client, { call }) };
}

describe('a listed order with the client order id of the signal', () => {
  test.each([
    ['another side', { side: 'sell' }, 'order 10000000001 is a sell of 0.01'],
    ['a larger amount', { amount: parseDecimal('7') }, 'order 10000000001 is a buy of 7'],
  ])('but %s does not settle it', async (_, changes, found) => {
    const limit = { orderType: 'limit', limitPrice: '49000' };
    await relay.send(alert(limit), { fault: 'drop_after', endpoint: 'limit' });
    const services = await answering('open-order', ({ records }: ListPage<object>) => {
      for (const order of records) Object.assign(order, changes);
    });

    relay.clock.advance(minuteMs);
    await reconcileSignals(services);

    const { status, lookup } = await relay.entry('buy-1');
    expect(status).toBe('unknown');
    expect(lookup?.finding).toContain(found);
  });

  test('but another side is not cancelled, although an order of the signal must not rest', async () => {
    relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', probability: 1 });
    const market = { orderType: 'market', maxSlippage: '0.05%', quantity: '2' };
    await relay.send(alert(market), { fault: 'drop_after', endpoint: 'limit' });
    const services = await answering('open-order', ({ records }: ListPage<{ side: string }>) => {
      for (const order of records) order.side = 'sell';
    });

    relay.clock.advance(minuteMs);
    await reconcileSignals(services);

    expect(orders()).toMatchObject([{ status: 'partially_filled' }]);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'unknown' });
  });
});

test('fills without a client order id never cancel an order that the relay did not place', async () => {
  const client = await relay.services.exchangeFor('main');
  // It takes what the book offers up to its price, and the rest of it stays.
  await client.call(limit, {
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('2'),
    price: parseDecimal('50025'),
    clientOrderId: 'by-hand',
  });
  const market = { orderType: 'market', maxSlippage: '0.05%' };
  await relay.send(alert(market), { fault: 'drop_before', endpoint: 'limit' });
  const call: ExchangeClient['call'] = async (endpoint, params, options) => {
    if (endpoint.name !== 'executed-history') return await client.call(endpoint, params, options);
    const others = { ...(params as object), clientOrderId: 'by-hand' } as typeof params;
    const page = (await client.call(endpoint, others, options)) as ListPage<object>;
    const records = page.records.map((fill) => ({ ...fill, clientOrderId: undefined }));
    return { ...page, records } as never;
  };

  relay.clock.advance(minuteMs);
  await reconcileSignals({ ...relay.services, exchangeFor: async () => override(client, { call }) });

  expect(orders()).toMatchObject([{ clientOrderId: 'by-hand', status: 'partially_filled' }]);
});

test('a last price of zero is no price: what the alert expects of its trigger cannot be checked', async () => {
  const services = await answering('ticker', (prices: Record<string, unknown>) => {
    prices['BTC_USDT'] = parseDecimal('0');
  });
  await relay.receive(alert({ stopPrice: '49000', limitPrice: '49050', expectTrigger: 'above' }));

  await relay.executeWith(services, 'buy-1');

  expect(orders()).toEqual([]);
  const { status, steps } = await relay.entry('buy-1');
  expect(status).toBe('denied');
  expect(steps.at(-1)?.evidence).toMatchObject({ rule: 'expect_trigger', actual: 'not known' });
});

test('an order book whose age is not known, because the clock was set back meanwhile, is read anew', async () => {
  let setBackMs = 20_000;
  onBook = () => {
    relay.clock.advance(-setBackMs);
    setBackMs = 0;
  };

  const entry = await relay.send(alert({ orderType: 'market', maxSlippage: '0.1%' }));

  expect(entry).toMatchObject({ status: 'placed' });
  const { evidence } = entry.steps.find(({ status }) => status === 'sending') ?? {};
  expect(evidence).toMatchObject({ sizedOn: { ageMs: 0 } });
});

describe('a lost cancel_all of a market, where the clock of the exchange is 4 seconds ahead', () => {
  test('has not cancelled an order that was placed just before', async () => {
    await relay.send(alert({ orderType: 'limit', limitPrice: '49000' }));
    await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });
    relay.clock.advance(-4000);
    const all = JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' });
    await relay.send(all, { fault: 'error_before', endpoint: 'cancel-order', probability: 1 });
    relay.paper.control.clearFaults();

    relay.clock.advance(minuteMs);
    await relay.reconcile();

    expect(await relay.entry('all')).toMatchObject({ status: 'unknown' });
  });
});
