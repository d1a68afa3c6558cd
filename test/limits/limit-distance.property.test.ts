import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decimal, parseDecimal } from '../../lib/base/decimal.ts';
import { checkOrder } from '../../lib/limits/check-order.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Market } from '../../lib/model/market.ts';
import type { OrderRequest } from '../../lib/model/order.ts';
import type { StopLimitSignal } from '../../lib/model/signal.ts';
import { sizeOrder } from '../../lib/signals/sizing.ts';
import { runs } from '../support/runs.ts';

const seed = 20_261_122;

/** Whole numbers of 10^-8, and rates in whole numbers of 10^-4, so that the bound is known in whole numbers alone. */
const units = fc.bigInt({ min: 1n, max: 10n ** 15n });
const rateUnits = fc.bigInt({ min: 0n, max: 9_999n });
const side = fc.constantFrom('buy' as const, 'sell' as const);

function decimalOf(value: bigint, places: number): Decimal {
  const text = value.toString().padStart(places + 1, '0');
  return parseDecimal(`${text.slice(0, -places)}.${text.slice(-places)}`);
}

function accountWith(rates: Pick<Account, 'limitOffsetRate' | 'maxLimitDistanceRate'>): Account {
  return {
    name: 'main',
    mode: 'live',
    region: null,
    ...rates,
    markets: { M_M: { tradesOn: 'margin', sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } },
    maxSlippageRate: null,
    allowUnguardedMarket: false,
    maxOrdersPerMinute: null,
    maxSignalsPerMinute: null,
    defaultOrderType: 'market',
    requirePosition: false,
    onMismatch: 'deny',
    oneStrategyPerMarket: null,
  };
}

test('an order is allowed exactly when its limit price is at the bound or nearer, to the last digit', () => {
  const nudge = fc.bigInt({ min: -3n, max: 3n });
  const verdicts = { passed: 0, denied: 0 };
  fc.assert(
    fc.property(side, units, rateUnits, nudge, (which, stop, rate, beside) => {
      // In units of 10^-12: the stop price times one and the rate.
      const bound = stop * (10_000n + (which === 'buy' ? rate : -rate));
      const limit = bound + beside;
      fc.pre(limit > 0n);
      const order: OrderRequest = {
        type: 'stop_limit',
        market: 'M_M',
        side: which,
        amount: parseDecimal('1'),
        price: decimalOf(limit, 12),
        activationPrice: decimalOf(stop, 8),
        clientOrderId: 'tr-1',
      };
      const account = accountWith({ limitOffsetRate: null, maxLimitDistanceRate: decimalOf(rate, 4) });
      const isWithin = which === 'buy' ? limit <= bound : limit >= bound;

      const denial = checkOrder({ order, baseAmount: order.amount, notional: order.amount }, account);

      verdicts[isWithin ? 'passed' : 'denied'] += 1;
      expect(denial?.rule ?? null).toBe(isWithin ? null : 'max_limit_distance');
      if (denial !== null) expect(denial.limit).toBe(decimalOf(bound, 12).toFixed());
    }),
    { seed, numRuns: runs(2_000) },
  );
  expect(Math.min(verdicts.passed, verdicts.denied)).toBeGreaterThan(runs(500));
});

test('an offset that is no larger than the distance is never denied, however prices are rounded', () => {
  const step = fc.constantFrom('0.00000001', '0.01', '0.5', '1', '25');
  let sized = 0;
  fc.assert(
    fc.property(side, units, step, rateUnits, (which, stop, priceStep, rate) => {
      const offset = decimalOf(rate, 4);
      const account = accountWith({ limitOffsetRate: offset, maxLimitDistanceRate: offset });
      const result = sizeOrder(signalOf(which, stop), {
        market: marketWith(priceStep),
        account,
        tradesOn: 'margin',
        readings: { oppositePrice: null, holding: null },
        clientOrderId: 'tr-1',
      });
      if (!result.ok) return;
      sized += 1;

      expect(checkOrder(result, account)).toBeNull();
    }),
    { seed, numRuns: runs(2_000) },
  );
  expect(sized).toBeGreaterThan(runs(1_000));
});

function signalOf(which: 'buy' | 'sell', stop: bigint): StopLimitSignal {
  return {
    ticker: 'M',
    market: 'M_M',
    timeMs: null,
    maxLagMs: null,
    action: 'order',
    orderType: 'stop_limit',
    side: which,
    size: { unit: 'base', quantity: '1' },
    stopPrice: decimalOf(stop, 8).toFixed(),
    limitPrice: null,
  };
}

function marketWith(priceStep: string): Market {
  return {
    name: 'M_M',
    base: 'M',
    quote: 'M',
    amountStep: parseDecimal('1'),
    priceStep: parseDecimal(priceStep),
    minAmount: parseDecimal('0'),
    minTotal: parseDecimal('0'),
    maxTotal: null,
    makerFeeRate: parseDecimal('0'),
    takerFeeRate: parseDecimal('0'),
    tradesEnabled: true,
    isCollateral: true,
    isFutures: false,
  };
}
