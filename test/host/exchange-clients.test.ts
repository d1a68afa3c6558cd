import { expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { createExchangeClients } from '../../lib/host/exchange-clients.ts';
import { startPaperExchange } from '../../lib/paper/venue.ts';

test('a client is kept for as long as its key is, and made anew when the key is replaced', async () => {
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
  await expect(clients.forAccount('main')).rejects.toMatchObject({ code: 'secrets_missing' });
  clients.close();
  await paper.close();
});
