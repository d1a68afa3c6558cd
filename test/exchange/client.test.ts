import { afterEach, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createTransport } from '../../lib/base/transport.ts';
import { type Credentials, createExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { defineEndpoint } from '../../lib/exchange/endpoint.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { interestPayments } from '../../lib/exchange/endpoints/interest-payments.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';

const startMs = 1_594_297_865_000;
const key: Credentials = { apiKey: 'public-key-1', apiSecret: 'secret-1' };
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function connect(
  steps: readonly ScriptStep[],
  options: { dialect?: Dialect; credentials?: Credentials | null } = {},
): Promise<{ server: ScriptedServer; client: ReturnType<typeof createExchangeClient> }> {
  const server = await startScriptedServer(steps);
  const client = createExchangeClient({
    address: server.url,
    dialect: 'live',
    credentials: key,
    clock: createManualClock(startMs),
    ...options,
  });
  closers.push(
    () => client.close(),
    () => server.close(),
  );
  return { server, client };
}

const noBalance = { status: 200, body: '{}' };

describe('a private request', () => {
  // The signatures are those of test/vectors/signing-vectors.json.
  test.each([
    [
      'documented',
      '{"request":"/api/v4/main-account/balance","nonce":"1594297865000"}',
      'eyJyZXF1ZXN0IjoiL2FwaS92NC9tYWluLWFjY291bnQvYmFsYW5jZSIsIm5vbmNlIjoiMTU5NDI5Nzg2NTAwMCJ9',
      '6ae5b0c6d999c122ecffebb52a7e050d593ff6d482ef8ffd06fda0ea074507185765e87e2b854a6b9ade44610210c11542661f2d62bec737cabd01499948dd4d',
    ],
    [
      'live',
      '{"request":"/api/v4/main-account/balance","nonce":1594297865000,"nonceWindow":true}',
      'eyJyZXF1ZXN0IjoiL2FwaS92NC9tYWluLWFjY291bnQvYmFsYW5jZSIsIm5vbmNlIjoxNTk0Mjk3ODY1MDAwLCJub25jZVdpbmRvdyI6dHJ1ZX0=',
      '72ef00d731fd9db6da03860c1134ca4c099037d8be846ca29642eb3944c765b1d2ba3f16b6060758cdc91aeef688a4ca3878e275b064f4a1cb4e77479bf2c804',
    ],
  ] as const)('carries exactly the bytes that were signed, in the %s dialect', async (...expected) => {
    const [dialect, body, payload, signature] = expected;
    const { server, client } = await connect([noBalance], { dialect });

    await client.call(mainBalance, {});

    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: '/api/v4/main-account/balance',
        body,
        headers: {
          'content-type': 'application/json',
          'x-txc-apikey': 'public-key-1',
          'x-txc-payload': payload,
          'x-txc-signature': signature,
        },
      },
    ]);
  });

  test('without credentials is refused before anything is sent', async () => {
    const { server, client } = await connect([noBalance], { credentials: null });

    expect(() => client.prepare(mainBalance, {})).toThrow(
      expect.objectContaining({ code: 'secrets_missing' }),
    );
    await expect(client.call(mainBalance, {})).rejects.toMatchObject({ code: 'secrets_missing' });
    expect(server.seen).toEqual([]);
  });
});

describe('a public request', () => {
  test('carries neither body, key nor signature', async () => {
    const { server, client } = await connect([{ status: 200, body: '["pong"]' }]);

    await client.call(ping, {});

    const [request] = server.seen;
    expect(request).toMatchObject({ method: 'GET', path: '/api/v4/public/ping', body: '' });
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual(['connection', 'host', 'user-agent']);
  });

  test('works without credentials', async () => {
    const { client } = await connect([{ status: 200, body: '["pong"]' }], { credentials: null });

    expect(await client.call(ping, {})).toEqual(['pong']);
  });

  test('writes its parameters into the query', async () => {
    const search = defineEndpoint({
      ...ping,
      params: z.strictObject({ market: z.string(), limit: z.int(), after: z.string().optional() }),
    });
    const { server, client } = await connect([{ status: 200, body: '["pong"]' }]);

    await client.call(search, { market: 'A&B', limit: 5 });

    expect(server.seen).toMatchObject([{ path: '/api/v4/public/ping?market=A%26B&limit=5' }]);
  });
});

describe('parameters that do not fit', () => {
  const order = {
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('1'),
    price: parseDecimal('2'),
    activationPrice: parseDecimal('2'),
    clientOrderId: 'main-1',
  } as const;

  test.each<[string, (client: ReturnType<typeof createExchangeClient>) => unknown]>([
    ['limit', (client) => client.prepare(interestPayments, { limit: 101 })],
    ['offset', (client) => client.prepare(interestPayments, { offset: 10_001 })],
    ['orderId', (client) => client.prepare(cancelOrder, { market: 'BTC_USDT', orderId: 1.5 })],
    ['amount', (client) => client.prepare(stopLimit, JSON.parse(JSON.stringify(order)))],
    ['surprise', (client) => client.prepare(stopLimit, Object.assign({ surprise: 1 }, order))],
  ])('are named before anything is sent: %s', async (name, prepare) => {
    const { server, client } = await connect([]);

    expect(() => prepare(client)).toThrow(
      expect.objectContaining({
        code: 'exchange_request_invalid',
        message: expect.stringContaining(name),
      }),
    );
    expect(server.seen).toEqual([]);
  });
});

describe('a client', () => {
  test('refuses an address and a key that cannot work', () => {
    const options = { address: 'global', dialect: 'live', credentials: null } as const;

    expect(() => createExchangeClient({ ...options, address: 'http://exchange.test' })).toThrow(RangeError);
    expect(() => createExchangeClient({ ...options, credentials: { apiKey: 'k', apiSecret: '' } })).toThrow(
      expect.objectContaining({ code: 'secrets_missing' }),
    );
  });

  test.each([
    ['global', 'https://whitebit.com'],
    ['eu', 'https://whitebit.eu'],
  ])('calls the %s address', async (address, baseUrl) => {
    const transport = createScriptedTransport([{ kind: 'answered', status: 200, body: '["pong"]' }]);
    const client = createExchangeClient({ address, dialect: 'live', credentials: null, transport });

    await client.call(ping, {});

    expect(transport.sent).toMatchObject([{ baseUrl, path: '/api/v4/public/ping' }]);
  });

  test('sends no more once it is closed', async () => {
    const { server, client } = await connect([{ status: 200, body: '["pong"]' }]);
    client.close();

    await expect(client.call(ping, {}, { timeoutMs: 1 })).rejects.toMatchObject({
      code: 'exchange_not_sent',
    });
    expect(server.seen).toEqual([]);
  });

  test('leaves a transport open that others share', async () => {
    const server = await startScriptedServer([{ status: 200, body: '["pong"]' }]);
    const transport = createTransport();
    closers.push(
      () => transport.close(),
      () => server.close(),
    );
    const options = { address: server.url, dialect: 'live', credentials: null, transport } as const;
    createExchangeClient(options).close();

    expect(await createExchangeClient(options).call(ping, {})).toEqual(['pong']);
  });
});
