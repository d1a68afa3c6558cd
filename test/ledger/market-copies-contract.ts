import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { MarketCopies, MarketsCopy } from '../../lib/ledger/market-copies.ts';
import type { Market } from '../../lib/model/market.ts';

export interface MarketCopiesFixture {
  /** Opens the store as another process does, for the exchange at the given address. */
  open(exchange: string): MarketCopies;
  /** Writes a text in place of the copy, as another release may have left it. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

const noonMs = Date.UTC(2026, 10, 22, 12);
const exchange = 'https://exchange.example';

export const market: Market = {
  name: 'BTC_USDT',
  base: 'BTC',
  quote: 'USDT',
  amountStep: parseDecimal('0.000001'),
  priceStep: parseDecimal('1e-40'),
  minAmount: parseDecimal('123456789012345678901234567890.000000001'),
  minTotal: parseDecimal('5.05'),
  maxTotal: null,
  makerFeeRate: parseDecimal('-0.0001'),
  takerFeeRate: parseDecimal('0.001'),
  tradesEnabled: true,
  isCollateral: false,
  isFutures: false,
};
const bounded: Market = { ...market, name: 'ETH_USDT', maxTotal: parseDecimal('1e40'), isCollateral: true };

/** The contract of every store of the market list. */
export function describeMarketCopies(name: string, openFixture: () => Promise<MarketCopiesFixture>): void {
  describe(name, () => {
    let fixture: MarketCopiesFixture;
    beforeEach(async () => {
      fixture = await openFixture();
    });
    afterEach(() => fixture.close());

    test('is empty before the first save', async () => {
      expect(await fixture.open(exchange).load()).toBeNull();
    });

    test('returns exactly what another process saved', async () => {
      const copy = { readAtMs: noonMs, markets: [market, bounded] };

      await fixture.open(exchange).save(copy);

      expect(await fixture.open(exchange).load()).toEqual(copy);
    });

    test('keeps only the copy saved last', async () => {
      const copies = fixture.open(exchange);
      await copies.save({ readAtMs: noonMs, markets: [market] });
      const last = { readAtMs: noonMs - 1, markets: [bounded] };

      await copies.save(last);

      expect(await copies.load()).toEqual(last);
    });

    test('reads what an older release stored, under its names', async () => {
      const { base: stock, quote: money, isFutures, ...rest } = market;
      const older = { ...rest, stock, money };
      await fixture.write(
        JSON.stringify({ exchange, readAtMs: noonMs, markets: [older, { ...older, name: 'BTC_PERP' }] }),
      );

      expect(await fixture.open(exchange).load()).toEqual({
        readAtMs: noonMs,
        markets: [market, { ...market, name: 'BTC_PERP', isFutures: true }],
      });
    });

    test('returns no copy of another exchange', async () => {
      await fixture.open('http://127.0.0.1:8090').save({ readAtMs: noonMs, markets: [market] });

      expect(await fixture.open(exchange).load()).toBeNull();
    });

    test('keeps every decimal to its last digit', async () => {
      const decimal = fc
        .record({
          units: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
          exponent: fc.integer({ min: -18, max: 18 }),
        })
        .map(({ units, exponent }) => parseDecimal(`${units}e${exponent}`));
      await fc.assert(
        fc.asyncProperty(decimal, decimal, async (amountStep, minTotal) => {
          const copies = fixture.open(exchange);
          await copies.save({ readAtMs: noonMs, markets: [{ ...market, amountStep, minTotal }] });

          const [kept] = (await copies.load())?.markets ?? [];

          expect(kept?.amountStep.eq(amountStep)).toBe(true);
          expect(kept?.minTotal.eq(minTotal)).toBe(true);
        }),
        { seed: 20_261_122, numRuns: 50 },
      );
    });

    test('leaves out the markets that do not fit, and keeps the rest', async () => {
      const vast = { ...market, name: 'VAST_USDT', base: 'ß'.repeat(200_000) };
      const many = Array.from({ length: 5_000 }, (_, i) => ({ ...market, name: `N${i}_USDT` }));
      const copies = fixture.open(exchange);

      await copies.save({ readAtMs: noonMs, markets: [vast, ...many] });

      const { markets } = (await copies.load()) as MarketsCopy;
      expect(markets.length).toBeGreaterThan(500);
      expect(markets).toEqual(many.slice(0, markets.length));
    });

    test.each([
      ['no JSON', '{"exchange":'],
      ['empty', ''],
      ['of another form', '{"readAtMs":1,"list":{}}'],
      ['dated with a word', `{"exchange":"${exchange}","readAtMs":"noon","markets":[]}`],
      [
        'made of markets in another format',
        `{"exchange":"${exchange}","readAtMs":1,"markets":[{"name":"BTC_USDT","step":"1"}]}`,
      ],
      [
        'made of numbers instead of decimals',
        `{"exchange":"${exchange}","readAtMs":1,"markets":[{"name":"BTC_USDT","amountStep":1}]}`,
      ],
    ])('returns null for a copy that is %s', async (_, text) => {
      await fixture.write(text);

      expect(await fixture.open(exchange).load()).toBeNull();
    });

    test('returns only the readable markets of a copy', async () => {
      const markets = [{ name: 'ODD_ONE' }, { ...market, added: 'by a newer release' }];
      await fixture.write(JSON.stringify({ exchange, readAtMs: noonMs, markets }));

      expect(await fixture.open(exchange).load()).toEqual({ readAtMs: noonMs, markets: [market] });
    });
  });
}
