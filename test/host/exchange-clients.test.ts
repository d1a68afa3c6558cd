import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Credentials } from '../../lib/exchange/client.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { createExchangeClients } from '../../lib/host/exchange-clients.ts';
import type { SecretStore } from '../../lib/host/secrets.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';

test('a client is reused until its key is replaced', async () => {
  const paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  let keys: { apiKey: string; apiSecret: string } | null = { apiKey: 'paper-key', apiSecret: 'outdated' };
  const secrets = { webhookTokens: async () => [], exchangeKeys: async () => keys };
  const clients = createExchangeClients({ address: paper.url, dialect: 'live', secrets, clock: systemClock });

  const first = await clients.forAccount('main');
  expect(await clients.forAccount('main')).toBe(first);
  await expect(first.call(mainBalance, {})).rejects.toMatchObject({
    failure: { kind: 'rejected', httpStatus: 401 },
  });

  keys = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const second = await clients.forAccount('main');
  expect(Object.keys(await second.call(mainBalance, {}))).toContain('USDT');

  keys = null;
  await expect(clients.forAccount('main')).rejects.toMatchObject({
    code: 'secrets_missing',
    message: expect.stringContaining('`npx relay keys set main` stores it'),
  });
  clients.close();
  await paper.close();
});

test('the first key of an account is found at once, though its absence was cached', async () => {
  const keys = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const secrets: SecretStore = {
    webhookTokens: async () => [],
    exchangeKeys: async (_, age = 'remembered') => (age === 'newest' ? keys : null),
  };
  const paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  const clients = createExchangeClients({ address: paper.url, dialect: 'live', secrets, clock: systemClock });

  const client = await clients.forAccount('main');

  expect(Object.keys(await client.call(mainBalance, {}))).toContain('USDT');
  clients.close();
  await paper.close();
});

test('the name of a key does not reveal it, another key has another name, and without a key there is an error', async () => {
  let keys: Credentials | null = { apiKey: 'a-key-of-this-test', apiSecret: 'its-secret' };
  const secrets = { exchangeKeys: async () => keys };
  const address = 'http://127.0.0.1:1';
  const clients = createExchangeClients({ address, dialect: 'live', secrets, clock: systemClock });

  const name = await clients.keyNameOf('main');
  expect(name).toMatch(/^[\w-]{12}$/);
  expect(await clients.keyNameOf('main')).toBe(name);
  keys = { apiKey: 'another-key-of-this-test', apiSecret: 'its-secret' };
  expect(await clients.keyNameOf('main')).not.toBe(name);
  keys = null;
  await expect(clients.keyNameOf('main')).rejects.toMatchObject({ code: 'secrets_missing' });
  clients.close();
});

describe('a key that was replaced at the exchange', () => {
  const outdated = { apiKey: 'paper-key', apiSecret: 'outdated' };
  const current = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const order = {
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('0.01'),
    price: parseDecimal('51000'),
    activationPrice: parseDecimal('50500'),
    clientOrderId: 'tr-renewed',
    type: 'stop_limit',
  } as const;
  let paper: PaperExchange;

  beforeEach(async () => {
    paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
    paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  });
  afterEach(() => paper.close());

  /** The store returns the outdated key until it is asked for the newest. */
  function openClients(newest: () => Promise<Credentials | null>) {
    const asked: string[] = [];
    const secrets: SecretStore = {
      webhookTokens: async () => [],
      async exchangeKeys(_, age = 'remembered') {
        asked.push(age);
        return age === 'newest' ? await newest() : outdated;
      },
    };
    return {
      asked,
      clients: createExchangeClients({ address: paper.url, dialect: 'live', secrets, clock: systemClock }),
    };
  }

  test('does not cost an order: the order is sent once more, with the newest key', async () => {
    const { clients, asked } = openClients(async () => current);
    const request = prepareOrder(await clients.forAccount('main'), order);
    expect(await request.send()).toMatchObject({ clientOrderId: 'tr-renewed', status: 'open' });
    await expect(request.send()).rejects.toMatchObject({ code: 'exchange_request_invalid' });
    expect(asked).toEqual(['remembered', 'newest']);
    clients.close();
  });

  test('is refused once when there is no other key, and the order is not sent again', async () => {
    const { clients } = openClients(async () => outdated);
    const failure = await prepareOrder(await clients.forAccount('main'), order)
      .send()
      .catch((error) => error);
    expect(failure).toMatchObject({
      failure: { kind: 'rejected', httpStatus: 401 },
      attempts: { length: 1 },
    });
    clients.close();
  });

  test('ends the order when the newest key is refused too; the error has both attempts', async () => {
    const { clients } = openClients(async () => ({ apiKey: 'paper-key', apiSecret: 'wrong-again' }));
    const failure = await prepareOrder(await clients.forAccount('main'), order)
      .send()
      .catch((error) => error);
    expect(failure).toMatchObject({
      failure: { kind: 'rejected', httpStatus: 401 },
      attempts: { length: 2 },
    });
    clients.close();
  });

  test('gives the refusal as the error when the newest key cannot be read', async () => {
    const { clients } = openClients(async () => {
      throw new Error('nobody answers');
    });
    await expect(prepareOrder(await clients.forAccount('main'), order).send()).rejects.toMatchObject({
      failure: { kind: 'rejected', httpStatus: 401 },
    });
    clients.close();
  });

  test('shares its time with the second attempt, which does not start without time left', async () => {
    const clock = createManualClock(Date.now());
    const secrets: SecretStore = {
      webhookTokens: async () => [],
      async exchangeKeys(_, age) {
        if (age !== 'newest') return outdated;
        clock.advance(2_000);
        return current;
      },
    };
    const clients = createExchangeClients({ address: paper.url, dialect: 'live', secrets, clock });
    const request = prepareOrder(await clients.forAccount('main'), order);
    await expect(request.send({ timeoutMs: 2_000 })).rejects.toMatchObject({ failure: { kind: 'not_sent' } });
    clients.close();
  });
});
