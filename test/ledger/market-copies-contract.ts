import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { MarketCopies, MarketsCopy } from '../../lib/ledger/market-copies.ts';
import type { Market } from '../../lib/model/market.ts';

export interface MarketCopiesFixture {
  /** Another process on the same store, for the exchange at that address. */
  open(exchange: string): MarketCopies;
  /** Puts a text where the copy is kept, as another release might have left it. */
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
};
const bounded: Market = { ...market, name: 'ETH_USDT', maxTotal: parseDecimal('1e40'), isCollateral: true };

/** What every store of the market list's copy does. */
export function describeMarketCopies(name: string, openFixture: () => Promise<MarketCopiesFixture>): void {
  describe(name, () => {
    let fixture: MarketCopiesFixture;
    beforeEach(async () => {
      fixture = await openFixture();
    });
    afterEach(() => fixture.close());

    test('has nothing before anything was saved', async () => {
      expect(await fixture.open(exchange).load()).toBeNull();
    });

    test('gives back what another process saved, exactly', async () => {
      const copy = { readAtMs: noonMs, markets: [market, bounded] };

      await fixture.open(exchange).save(copy);

      expect(await fixture.open(exchange).load()).toEqual(copy);
    });

    test('keeps the copy that was saved last', async () => {
      const copies = fixture.open(exchange);
      await copies.save({ readAtMs: noonMs, markets: [market] });
      const last = { readAtMs: noonMs - 1, markets: [bounded] };

      await copies.save(last);

      expect(await copies.load()).toEqual(last);
    });

    test('gives no copy of one exchange to a relay that trades on another', async () => {
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

    test('leaves out what no longer fits, and keeps the rest', async () => {
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
        'made of markets of another form',
        `{"exchange":"${exchange}","readAtMs":1,"markets":[{"name":"BTC_USDT","step":"1"}]}`,
      ],
      [
        'made of numbers instead of decimals',
        `{"exchange":"${exchange}","readAtMs":1,"markets":[{"name":"BTC_USDT","amountStep":1}]}`,
      ],
    ])('takes a copy that is %s for none', async (_, text) => {
      await fixture.write(text);

      expect(await fixture.open(exchange).load()).toBeNull();
    });

    test('reads the markets whose form it knows, of a copy that has others too', async () => {
      const markets = [{ name: 'ODD_ONE' }, { ...market, added: 'by a newer release' }];
      await fixture.write(JSON.stringify({ exchange, readAtMs: noonMs, markets }));

      expect(await fixture.open(exchange).load()).toEqual({ readAtMs: noonMs, markets: [market] });
    });
  });
}
