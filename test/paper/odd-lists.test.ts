import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { market as marketOrder } from '../../lib/exchange/endpoints/market.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderDeals } from '../../lib/exchange/endpoints/order-deals.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';

const market = 'BTC_USDT';
let paper: PaperExchange;
let client: ReturnType<typeof createExchangeClient>;
let orderId: number;

/** A position with a stop-loss and a take-profit, which are a pair of open orders. */
beforeEach(async () => {
  const clock = createManualClock(1_790_000_000_000);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  paper.control.setPrice(market, parseDecimal('50000'));
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  client = createExchangeClient({ address: paper.url, dialect: 'live', credentials, clock });
  const placed = await client.call(marketOrder, {
    market,
    side: 'buy',
    amount: parseDecimal('0.01'),
    stopLoss: parseDecimal('45000'),
    takeProfit: parseDecimal('60000'),
    clientOrderId: 'entry-1',
  });
  orderId = placed.orderId;
});
afterEach(async () => {
  client.close();
  await paper.close();
});

type Call = (using: ExchangeClient) => Promise<{ readonly oddities: readonly unknown[] }>;

const lists: Readonly<Record<string, Call>> = {
  'open-order': (using) => using.call(openOrder, { market }),
  'ended-order': (using) => using.call(endedOrder, { market }),
  'conditional-orders': (using) => using.call(conditionalOrders, { market }),
  'executed-history': (using) => using.call(executedHistory, {}),
  'order-deals': (using) => using.call(orderDeals, { orderId }),
  'open-positions': (using) => using.call(openPositions, {}),
};

async function readWith(fault: FaultRequest['fault'], endpoint: string) {
  paper.control.addFault({ fault, endpoint });
  const spoilt = await lists[endpoint]?.(client);
  const sound = await lists[endpoint]?.(client);
  expect(sound?.oddities).toEqual([]);
  return spoilt;
}

test.each(Object.keys(lists))('a word that nobody knows stands once in the list %s', async (endpoint) => {
  expect((await readWith('unknown_word', endpoint))?.oddities).toContainEqual(
    expect.objectContaining({ kind: 'word', word: expect.stringMatching(/^(UNDOCUMENTED|9)$/) }),
  );
});

test.each(Object.keys(lists))('a record of the list %s has no id, once', async (endpoint) => {
  expect(await readWith('unreadable_record', endpoint)).toMatchObject({
    oddities: [{ kind: 'record', issues: expect.stringMatching(/id/i) }],
  });
});

test('a conditional order of an unknown kind stands beside the others', async () => {
  expect(await readWith('odd_group', 'conditional-orders')).toMatchObject({
    total: 2,
    count: 2,
    records: [{ kind: 'oco' }],
    oddities: [{ kind: 'record', market: null }],
  });
});

test.each(['executed-history', 'order-deals'])(
  'each fill of the list %s stands in it again, under another id',
  async (endpoint) => {
    const { records } = await client.call(orderDeals, { orderId });
    const dealId = records[0]?.id ?? 0;

    expect(await readWith('doubled_deals', endpoint)).toMatchObject({
      records: [{ id: dealId }, { id: dealId + 1_000_000_000_000 }],
    });
  },
);

test('the list of positions shows the ids of the attached exits, or none', async () => {
  paper.control.addFault({ fault: 'show_tpsl' });
  const shown = await client.call(openPositions, {});
  const hidden = await client.call(openPositions, {});

  const open = paper.control.state().orders.filter(({ status }) => status === 'open');
  const [stopLossId, takeProfitId] = open.map((order) => order.orderId);
  expect(shown.records).toMatchObject([
    {
      tpsl: {
        stopLossId,
        stopLoss: parseDecimal('45000'),
        takeProfitId,
        takeProfit: parseDecimal('60000'),
      },
    },
  ]);
  expect(hidden.records).toMatchObject([{ tpsl: null }]);
});

test('a refusal stays as it is', async () => {
  paper.control.addFault({ fault: 'unknown_word', endpoint: 'ended-order' });

  await expect(client.call(endedOrder, { market: 'NO_SUCH' }, { timeoutMs: 1_000 })).rejects.toMatchObject({
    failure: { kind: 'rejected' },
  });
});
