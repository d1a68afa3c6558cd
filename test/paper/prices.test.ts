import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { createRandom } from '../../lib/base/random.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { walkPrice } from '../../lib/paper/server/prices.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';

function walk(name: string, seed: number, steps: number): string[] {
  const market = marketNamed(name);
  const random = createRandom(seed);
  let price = market.startPrice;
  return Array.from({ length: steps }, () => {
    price = walkPrice(market, price, random).price;
    return formatDecimal(price);
  });
}

describe('the walk of a price', () => {
  test('is the same for the same seed, and differs for another', () => {
    expect(walk('BTC_USDT', 1, 50)).toEqual(walk('BTC_USDT', 1, 50));
    expect(walk('BTC_USDT', 1, 50)).not.toEqual(walk('BTC_USDT', 2, 50));
  });

  test.each(['BTC_USDT', 'ETH_USDT', 'SOL_USDT', 'BTC_PERP'])(
    'in %s goes a tenth of a per cent at most, on the grid of prices, and keeps its range',
    (name) => {
      const market = marketNamed(name);
      let last = market.startPrice;
      for (const text of walk(name, 7, 2_000)) {
        const price = parseDecimal(text);
        expect(
          price
            .minus(last)
            .abs()
            .lte(last.times(parseDecimal('0.001'))),
        ).toBe(true);
        expect(price.eq(last)).toBe(false);
        expect(price.mod(market.priceStep).eq(parseDecimal('0'))).toBe(true);
        last = price;
      }
    },
  );

  test.each([
    ['half', '30000', true],
    ['twice', '120000', false],
  ])('turns back at %s the start price', (_, from, goesUp) => {
    const market = marketNamed('BTC_USDT');
    const random = createRandom(3);
    for (let count = 0; count < 50; count += 1)
      expect(walkPrice(market, parseDecimal(from), random).price.gt(parseDecimal(from))).toBe(goesUp);
  });

  test('trades volumes that are multiples of the minimum amount', () => {
    const market = marketNamed('SOL_USDT');
    const random = createRandom(3);
    for (let count = 0; count < 200; count += 1) {
      const { volume } = walkPrice(market, market.startPrice, random);
      expect(volume.mod(market.minAmount).eq(parseDecimal('0'))).toBe(true);
      expect(volume.gte(market.minAmount) && volume.lte(parseDecimal('50'))).toBe(true);
    }
  });
});

describe('an exchange whose prices walk', () => {
  let paper: PaperExchange | undefined;

  afterEach(async () => {
    jest.useRealTimers();
    await paper?.close();
  });

  const prices = () => paper?.control.state().prices;

  test('makes a trade in every market each second, and stops when it closes', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    paper = await startPaperExchange({ port: 0, dialect: 'live', clock: createManualClock(1), seed: 4 });
    const start = prices();

    jest.advanceTimersByTime(1000);
    const first = prices();
    jest.advanceTimersByTime(1000);
    const second = prices();

    expect(start).toEqual({
      BTC_USDT: '60000',
      ETH_USDT: '3000',
      SOL_USDT: '150',
      BTC_PERP: '60000',
      DBTC_DUSDT: '60000',
    });
    for (const market of Object.keys(start ?? {})) {
      expect(first?.[market]).not.toBe(start?.[market]);
      expect(second?.[market]).not.toBe(first?.[market]);
    }
    await paper.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('refuses a port that is taken', async () => {
    paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });

    await expect(startPaperExchange({ port: paper.port, dialect: 'live' })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});
