import { formatDecimal, zero } from '../base/decimal.ts';
import { openNotionalOf } from './counted-holdings.ts';
import { type RiskLimit, unused, usageOf } from './risk-limit.ts';

/** What positions and open orders of the account may be worth together, in USDT; exactly that much is allowed. */
export const maxOpenNotional: RiskLimit = {
  name: 'maxOpenNotional',
  again: 'others',
  needs: ({ limits }) =>
    (limits?.maxOpenNotional ?? null) === null ? null : { holdings: true, allMarkets: true, deals: false },
  check({ notional }, { exposure }, { limits }) {
    const most = limits?.maxOpenNotional ?? null;
    if (most === null || exposure === null) return null;
    const after = openNotionalOf(exposure).plus(notional);
    if (after.lte(most)) return null;
    const limit = formatDecimal(most);
    const actual = formatDecimal(after.round(2, 3));
    return {
      rule: 'max_open_notional',
      limit,
      actual,
      message: `with this order, positions and open orders of the account would be worth ${actual} USDT, and ${limit} is allowed; lower the size, close positions or cancel orders, or raise maxOpenNotional in relay.config.ts`,
    };
  },
  use({ exposure }, { limits }) {
    const most = limits?.maxOpenNotional ?? null;
    if (most === null || exposure === null) return [];
    const deny = 'any order would exceed it';
    const use = usageOf(most, openNotionalOf(exposure), (left) => (left.lte(zero) ? deny : null));
    return [{ ...unused('maxOpenNotional'), ...use, unit: 'USDT' }];
  },
};
