import { describe, expect, test } from '@jest/globals';
import { checkRegion } from '../../lib/limits/check-region.ts';
import { orderTypes } from '../../lib/model/order.ts';

const european = { name: 'main', region: 'eu' } as const;

describe('checkRegion', () => {
  test('allows an account in the EU the market and stop-market orders of spot, and denies every other type', () => {
    const allowed = orderTypes.filter((type) => checkRegion({ type }, european) === null);

    expect(allowed).toEqual(['spot_market', 'spot_stock_market', 'spot_stop_market']);
  });

  test('allows every type where no region restricts the account', () => {
    for (const type of orderTypes) expect(checkRegion({ type }, { name: 'main', region: null })).toBeNull();
  });

  test('says which orders are left, and what to write', () => {
    expect(checkRegion({ type: 'spot_limit' }, european)).toEqual({
      rule: 'eu_order_type',
      limit: 'market, stop_market',
      actual: 'spot_limit',
      message:
        'account main is in the region "eu", where the exchange takes only market and stop_market orders, on spot; this one is sent as a limit order (every market order with a maxSlippage is sent as a limit order); write "orderType": "market" without "maxSlippage", or "stop_market"',
    });
  });
});
