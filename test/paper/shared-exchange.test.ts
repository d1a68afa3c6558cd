import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { DynamodbClient } from '../../lib/base/dynamodb.ts';
import { paperMarkets } from '../../lib/paper/engine/markets.ts';
import type { PaperKeys } from '../../lib/paper/requests/access.ts';
import { createDynamodbJournal } from '../../lib/paper/server/dynamodb-journal.ts';
import type { PaperRequest } from '../../lib/paper/server/exchange.ts';
import { openSharedExchange } from '../../lib/paper/server/shared-exchange.ts';
import { priceAt } from '../../lib/paper/server/wave-prices.ts';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { signBody } from './paper-client.ts';

const startMs = 1_790_000_000_000;
const key = { apiKey: 'paper-main', apiSecret: 'made-by-the-stack' };
const keys: PaperKeys = new Map([
  [key.apiKey, { apiSecret: key.apiSecret, account: 'main', enabled: true, mayTrade: true }],
]);
const createPath = '/api/v4/order/collateral/limit';
const resting = { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' };

let dynamodb: LocalDynamodb;
let nonce = 0;

beforeEach(async () => {
  dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'snapshots', 'paper');
});
afterEach(() => dynamodb.close());

/** One process of the exchange, as an environment of a Lambda function is. */
function open(client: DynamodbClient = dynamodb.relayClient) {
  const journal = createDynamodbJournal({ client, tableName: 'paper', nowMs: () => startMs });
  return openSharedExchange({ dialect: 'live', journal, keys, seed: 1 });
}

function signed(path: string, fields: object, signer = key): PaperRequest {
  nonce += 1;
  const text = JSON.stringify({ ...fields, request: path, nonce: String(nonce) });
  const body = Buffer.from(text);
  return { method: 'POST', target: path, headers: signBody(text, signer), body, atMs: startMs + nonce };
}

async function openOrders(handle: ReturnType<typeof open>): Promise<readonly string[]> {
  const { body } = await handle(signed('/api/v4/orders', { market: 'BTC_USDT' }));
  return (body as readonly { clientOrderId: string }[]).map(({ clientOrderId }) => clientOrderId).sort();
}

test('An order that one process took is open in the next one, which was started after it', async () => {
  const { httpStatus } = await open()(signed(createPath, { ...resting, clientOrderId: 'kept-1' }));

  expect(httpStatus).toBe(200);
  expect(await openOrders(open())).toEqual(['kept-1']);
});

test('Processes that work at the same time take every order once', async () => {
  const processes = [open(), open(), open()];
  const ids = Array.from({ length: 12 }, (_, index) => `order-${String(index).padStart(2, '0')}`);

  const responses = await Promise.all(
    ids.map((clientOrderId, index) =>
      processes[index % 3]?.(signed(createPath, { ...resting, clientOrderId })),
    ),
  );

  expect(responses.map((response) => response?.httpStatus)).toEqual(ids.map(() => 200));
  const orderIds = responses.map((response) => (response?.body as { orderId: number } | undefined)?.orderId);
  expect(new Set(orderIds).size).toBe(12);
  for (const handle of [...processes, open()]) expect(await openOrders(handle)).toEqual(ids);
});

test('A fill at one process is a position at the other, at the same price', async () => {
  const [one, other] = [open(), open()];
  await openOrders(other);
  await one(signed('/api/v4/order/collateral/market', { market: 'BTC_PERP', side: 'buy', amount: '0.01' }));

  const ask = () => signed('/api/v4/collateral-account/positions/open', {});
  const [here, there] = [await one(ask()), await other(ask())];
  const shown = ({ body }: { body: unknown }) =>
    (body as { amount: string; basePrice: string }[]).map(({ amount, basePrice }) => [amount, basePrice]);
  expect(shown(here)).toEqual([['0.01', expect.any(String)]]);
  expect(shown(there)).toEqual(shown(here));
});

test('A write whose response is lost is made once', async () => {
  let lost = 0;
  const losing: DynamodbClient = {
    async call(operation, input) {
      const first = await dynamodb.relayClient.call(operation, input);
      if (operation !== 'PutItem' || !JSON.stringify(input).includes('lost-1')) return first;
      lost += 1;
      // As the client of AWS does after a time-out.
      return await dynamodb.relayClient.call(operation, input);
    },
  };
  const handle = open(losing);

  const { httpStatus } = await handle(signed(createPath, { ...resting, clientOrderId: 'lost-1' }));

  expect([lost, httpStatus]).toEqual([1, 200]);
  expect(await openOrders(handle)).toEqual(['lost-1']);
  expect(await openOrders(open())).toEqual(['lost-1']);
});

test('What cannot be stored is not confirmed, and is not there afterwards', async () => {
  let fails = false;
  const handle = open({
    async call(operation, input) {
      if (fails && operation === 'PutItem') throw new Error('no table');
      return await dynamodb.relayClient.call(operation, input);
    },
  });
  await openOrders(handle);
  fails = true;
  await expect(handle(signed(createPath, { ...resting, clientOrderId: 'gone-1' }))).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  fails = false;

  expect(await openOrders(handle)).toEqual([]);
});

test('It takes no key but those it was given, and has no controls', async () => {
  const handle = open();
  const publicKey = { apiKey: 'paper-key', apiSecret: 'paper-secret' };

  const refused = await handle(signed(createPath, resting, publicKey));
  const control = await handle({
    method: 'GET',
    target: '/control/state',
    headers: {},
    body: Buffer.alloc(0),
    atMs: startMs,
  });

  expect(refused.httpStatus).toBe(401);
  expect(control.httpStatus).toBe(404);
});

test('Its prices follow from the time, move, and stay within 5.3 % of the start', () => {
  const market = paperMarkets.get('BTC_USDT');
  if (market === undefined) throw new Error('there is no such market');
  const prices = Array.from({ length: 2000 }, (_, index) => priceAt(market, startMs + index * 977_000, 1));

  expect(priceAt(market, startMs, 1)).toEqual(prices[0]);
  expect(new Set(prices.map((price) => price.toFixed())).size).toBeGreaterThan(1900);
  expect(prices.filter((price) => price.lt('56820') || price.gt('63180'))).toEqual([]);
  expect(prices.filter((price) => price.lt('59000') || price.gt('61000')).length).toBeGreaterThan(100);
});
