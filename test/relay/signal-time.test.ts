import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { sendingTimeMs } from '../../lib/relay/execute/signal-time.ts';
import { type Aftermath, noonMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

/** As on AWS. */
const exchangeTimeoutMs = 10_000;
/** What the function has for one signal, if it is the last of a delivery: see the test of its time limit. */
const longestMs = 25_000;

let relay: Aftermath;
/** How long the exchange takes for each request, by its path. */
let delaysMs: Readonly<Record<string, number>>;

beforeEach(async () => {
  delaysMs = {};
  relay = await openAftermath('live', (clock) => clock.advance(delaysMs[relay?.asked.at(-1) ?? ''] ?? 0));
});
afterEach(() => relay.close());

const order = (fields: object) =>
  JSON.stringify({ id: 'buy-1', ticker: 'BTCUSDT', action: 'buy', ...fields });
const execute = (signalId: string) => relay.executeWith({ ...relay.services, exchangeTimeoutMs }, signalId);
const elapsedMs = () => relay.clock.nowMs() - noonMs;

test('an order is not planned anew when ten seconds have passed, so that it ends within its time', async () => {
  await relay.receive(
    order({ orderType: 'stop_limit', quantityPercent: 5, stopPrice: '50100', expectTrigger: 'above' }),
  );
  delaysMs = { '/api/v4/collateral-account/summary': 5000, '/api/v4/public/ticker': 5000 };

  await execute('buy-1');

  const { status, steps } = await relay.entry('buy-1');
  expect(status).toBe('not_sent');
  // The second plan was begun at ten seconds, the third would have been at twenty.
  expect(steps.at(-1)).toMatchObject({ evidence: { plans: 2 } });
  expect(elapsedMs()).toBe(20_000);
});

test('the creates of a guarded market order leave time to cancel what rests of it', async () => {
  relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', probability: 1 });
  // More than the book has within the bound.
  await relay.receive(order({ orderType: 'market', maxSlippage: '0.05%', quantity: '2' }));
  const bookDelaysMs = [5000, 5000, 4500];
  const timeoutsMs: number[] = [];
  const transport = override(relay.transport, {
    async send(request) {
      if (request.path.startsWith('/api/v4/public/orderbook')) relay.clock.advance(bookDelaysMs.shift() ?? 0);
      if (request.method === 'POST') timeoutsMs.push(request.timeoutMs);
      const outcome = await relay.transport.send(request);
      if (request.path === '/api/v4/order/collateral/limit') relay.clock.advance(400);
      return outcome;
    },
  });
  const client = createExchangeClient({
    address: relay.paper.url,
    dialect: 'live',
    credentials: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
    clock: relay.clock,
    transport,
  });

  await relay.executeWith({ ...relay.services, exchangeTimeoutMs, exchangeFor: async () => client }, 'buy-1');

  expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
  // Planning took 14.5 of 25 s. Both creates end 5 s before that, and the cancellation half of its time at most.
  expect(timeoutsMs).toEqual([5500, 5100, 4850]);
});

test('a clock that was set back while an order was planned does not prolong sending', () => {
  expect(sendingTimeMs(-3_600_000, exchangeTimeoutMs)).toBe(longestMs);
});

test('a cancel_all at a slow exchange ends within its time, reads back what is open, and says so', async () => {
  for (let number = 1; number <= 8; number += 1)
    await relay.send(order({ id: `buy-${number}`, orderType: 'limit', limitPrice: '100', quantity: '0.1' }));
  await relay.receive(JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' }));
  delaysMs = { '/api/v4/order/cancel': 4000, '/api/v4/orders': 2500 };

  await execute('all');

  // Of eight cancellations five were sent, at 2.5, 6.5, 10.5, 14.5 and 18.5 s.
  const open = relay.paper.control.state().orders.filter(({ status }) => status === 'open');
  expect(open).toHaveLength(3);
  const { status, steps } = await relay.entry('all');
  expect(status).toBe('not_sent');
  expect(steps.at(-1)?.evidence).toMatchObject({ left: open.map(({ orderId }) => orderId).reverse() });
  expect(relay.alarms.map(({ name }) => name)).toEqual(['orders_left_open']);
  expect(elapsedMs()).toBeLessThanOrEqual(longestMs);
});
