import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/venue.ts';
import { createMarketCatalogue } from '../../lib/relay/market-catalogue.ts';
import { override } from '../support/override.ts';

describe('the market catalogue', () => {
  let paper: PaperExchange;
  let client: ExchangeClient & { close(): void };
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, sleep: async () => undefined };

  beforeEach(async () => {
    paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
    client = createExchangeClient({ address: paper.url, dialect: 'live', credentials: null });
  });
  afterEach(async () => {
    client.close();
    await paper.close();
  });

  /** The client, counting what is asked of it. */
  function countingClient(): { readonly client: ExchangeClient; readonly calls: () => number } {
    let calls = 0;
    return {
      calls: () => calls,
      client: override<ExchangeClient>(client, {
        call: (...args) => {
          calls += 1;
          return client.call(...args);
        },
      }),
    };
  }

  test("tells a market's steps and fees, and null for one that is not listed", async () => {
    const catalogue = createMarketCatalogue(client, clock, 500);

    const market = await catalogue.find('BTC_USDT');

    expect(market).toMatchObject({ stock: 'BTC', money: 'USDT', tradesEnabled: true, isCollateral: true });
    expect(market?.takerFeeRate.toFixed()).toBe('0.001');
    expect(await catalogue.find('NO_SUCH')).toBeNull();
  });

  test('reads the list once for many signals, and again after ten minutes', async () => {
    const { client: counting, calls } = countingClient();
    const catalogue = createMarketCatalogue(counting, clock, 500);

    await Promise.all(Array.from({ length: 5 }, () => catalogue.find('BTC_USDT')));
    await catalogue.find('ETH_USDT');
    expect(calls()).toBe(1);

    nowMs += 10 * 60_000 + 1;
    await catalogue.find('BTC_USDT');
    expect(calls()).toBe(2);
  });

  test('keeps the last copy while the exchange is silent', async () => {
    const catalogue = createMarketCatalogue(client, clock, 500);
    await catalogue.find('BTC_USDT');
    client.close();
    await paper.close();

    nowMs += 10 * 60_000 + 1;

    expect(await catalogue.find('BTC_USDT')).not.toBeNull();
  });

  test('leaves out a market whose record is odd, and keeps the others', async () => {
    const odd = override<ExchangeClient>(client, {
      call: async (endpoint, params) => {
        const listed = await client.call(endpoint, params);
        return endpoint.result.parse([{ name: 'ODD_ONE' }, wireMarket]) as typeof listed;
      },
    });
    const catalogue = createMarketCatalogue(odd, clock, 500);

    expect(await catalogue.find('AAA_USDT')).toMatchObject({ name: 'AAA_USDT', maxTotal: null });
    expect(await catalogue.find('ODD_ONE')).toBeNull();
  });
});

const wireMarket = {
  name: 'AAA_USDT',
  stock: 'AAA',
  money: 'USDT',
  stockPrec: '3',
  moneyPrec: '2',
  makerFee: '0.1',
  takerFee: '0.1',
  minAmount: '0.001',
  minTotal: '5',
  maxTotal: '0',
  tradesEnabled: true,
  isCollateral: true,
};
