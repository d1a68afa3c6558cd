import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Market } from '../../lib/model/market.ts';
import type { OrderRequest } from '../../lib/model/order.ts';
import type { StopLimitSignal } from '../../lib/model/signal.ts';
import { sizeOrder } from '../../lib/signals/sizing.ts';
import { runs } from '../support/runs.ts';
import { account as plainAccount } from './reading.ts';

const seed = 20_261_103;

/** A count of 10^-places, so that a decimal is checked with whole numbers alone. */
interface Scaled {
  readonly units: bigint;
  readonly places: number;
}

const places = 40;

/** The decimal as a whole number of 1e-40; exact for everything below. */
function scale(value: Decimal | string): bigint {
  const text = typeof value === 'string' ? value : value.toFixed(places);
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

function textOf({ units, places: digits }: Scaled): string {
  const text = units.toString().padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const number = fc
  .record({ units: fc.bigInt({ min: 1n, max: 10n ** 12n }), places: fc.integer({ min: 0, max: 10 }) })
  .map(textOf);
/** Powers of ten, as most markets have, and others, as some do. */
const step = fc
  .record({ units: fc.constantFrom(1n, 1n, 5n, 25n, 3n, 7n), places: fc.integer({ min: 0, max: 8 }) })
  .map(textOf);

/** Above half of the entry price, below which an exit is denied. An account's limit offset at most doubles the entry. */
function raiseExit(
  exit: string,
  { stopPrice, limitPrice }: Pick<StopLimitSignal, 'stopPrice' | 'limitPrice'>,
): string {
  const least = limitPrice === null ? parseDecimal(stopPrice) : parseDecimal(limitPrice).times('0.5');
  return parseDecimal(exit).plus(least).toFixed();
}

const signal: fc.Arbitrary<StopLimitSignal> = fc
  .record(
    {
      side: fc.constantFrom('buy' as const, 'sell' as const),
      size: fc.oneof(
        number.map((quantity) => ({ unit: 'base' as const, quantity })),
        number.map((quoteQuantity) => ({ unit: 'quote' as const, quoteQuantity })),
      ),
      stopPrice: number,
      limitPrice: fc.option(number),
      stopLoss: number,
      takeProfit: number,
      positionSide: fc.constantFrom('LONG' as const, 'SHORT' as const, 'BOTH' as const),
    },
    { requiredKeys: ['side', 'size', 'stopPrice', 'limitPrice'] },
  )
  .map(({ stopLoss, takeProfit, ...own }) => ({
    ...own,
    ...(stopLoss === undefined ? {} : { stopLoss: raiseExit(stopLoss, own) }),
    ...(takeProfit === undefined ? {} : { takeProfit: raiseExit(takeProfit, own) }),
    ticker: 'T',
    market: 'M',
    timeMs: null,
    maxLagMs: null,
    action: 'order' as const,
    orderType: 'stop_limit' as const,
  }));

const market: fc.Arbitrary<Market> = fc.record({ amountStep: step, priceStep: step }).map((steps) => ({
  name: 'M',
  base: 'S',
  quote: 'C',
  amountStep: parseDecimal(steps.amountStep),
  priceStep: parseDecimal(steps.priceStep),
  minAmount: parseDecimal('0'),
  minTotal: parseDecimal('0'),
  maxTotal: null,
  makerFeeRate: parseDecimal('0'),
  takerFeeRate: parseDecimal('0'),
  tradesEnabled: true,
  isCollateral: true,
  isFutures: false,
}));

const account: fc.Arbitrary<Account> = fc
  .constantFrom('0', '0.001', '0.05', '0.9999')
  .map((rate) => ({ ...plainAccount, limitOffsetRate: parseDecimal(rate) }));

/** A stop-limit order has both prices. */
type StopLimitRequest = OrderRequest & { readonly price: Decimal; readonly activationPrice: Decimal };

function isStopLimit(order: OrderRequest): order is StopLimitRequest {
  return order.price !== undefined && order.activationPrice !== undefined;
}

/** Runs the check on every order that comes out, and makes sure that most do. */
function forEveryOrder(
  check: (asked: StopLimitSignal, order: StopLimitRequest, rules: Market) => void,
): void {
  let sized = 0;
  fc.assert(
    fc.property(signal, market, account, (asked, rules, owner) => {
      const result = sizeOrder(asked, {
        market: rules,
        account: owner,
        tradesOn: 'margin',
        readings: { oppositePrice: null, holding: null },
        clientOrderId: 'tr-1',
      });
      if (!result.ok || !isStopLimit(result.order)) return;
      sized += 1;
      check(asked, result.order, rules);
    }),
    { seed, numRuns: runs(2_000) },
  );
  expect(sized).toBeGreaterThan(runs(1_000));
}

describe('whatever is asked of whatever market, sizeOrder', () => {
  test('never makes an order larger than asked, nor smaller by a step', () => {
    forEveryOrder(({ size }, { amount, price }, { amountStep }) => {
      if (size.unit === 'percent') throw new Error('no share of a holding is asked');
      const isBase = size.unit === 'base';
      const asked = scale(isBase ? size.quantity : size.quoteQuantity);
      // Both sides in units of 1e-40, and of 1e-80 for a quote amount.
      const unit = isBase ? 1n : scale(price);
      const limit = isBase ? asked : asked * 10n ** BigInt(places);

      expect(scale(amount) * unit <= limit).toBe(true);
      expect((scale(amount) + scale(amountStep)) * unit > limit).toBe(true);
    });
  });

  test('puts the amount and every price on its step, above zero', () => {
    forEveryOrder(
      (_, { amount, price, activationPrice, stopLoss, takeProfit }, { amountStep, priceStep }) => {
        expect(scale(amount) % scale(amountStep)).toBe(0n);
        expect(scale(amount) > 0n).toBe(true);
        for (const rounded of [price, activationPrice, stopLoss, takeProfit]) {
          if (rounded === undefined) continue;
          expect(scale(rounded) % scale(priceStep)).toBe(0n);
          expect(scale(rounded) > 0n).toBe(true);
        }
      },
    );
  });

  test('rounds prices so that a buy pays no more and a sell takes no less than asked', () => {
    forEveryOrder(({ side, stopPrice, limitPrice }, { price, activationPrice }, { priceStep }) => {
      for (const [asked, rounded] of [
        [stopPrice, activationPrice],
        [limitPrice, price],
      ] as const) {
        if (asked === null) continue;
        const worse = side === 'buy' ? scale(asked) - scale(rounded) : scale(rounded) - scale(asked);
        expect(worse >= 0n && worse < scale(priceStep)).toBe(true);
      }
    });
  });

  test('never rounds stop price and limit price past each other', () => {
    forEveryOrder(({ side, stopPrice, limitPrice }, { price, activationPrice }) => {
      const stop = scale(stopPrice);
      const isAbove = limitPrice === null ? side === 'buy' : scale(limitPrice) >= stop;
      const isBelow = limitPrice === null ? side === 'sell' : scale(limitPrice) <= stop;

      if (isAbove) expect(price.gte(activationPrice)).toBe(true);
      if (isBelow) expect(price.lte(activationPrice)).toBe(true);
    });
  });

  test('rounds stop-loss and take-profit so that they execute sooner, by less than a step', () => {
    forEveryOrder((asked, order, { priceStep }) => {
      const isLong =
        asked.positionSide === 'LONG' || (asked.positionSide !== 'SHORT' && asked.side === 'buy');
      for (const [from, to, isUp] of [
        [asked.stopLoss, order.stopLoss, isLong],
        [asked.takeProfit, order.takeProfit, !isLong],
      ] as const) {
        expect(from === undefined).toBe(to === undefined);
        if (from === undefined || to === undefined) continue;
        const moved = isUp ? scale(to) - scale(from) : scale(from) - scale(to);
        expect(moved >= 0n && moved < scale(priceStep)).toBe(true);
      }
    });
  });
});
