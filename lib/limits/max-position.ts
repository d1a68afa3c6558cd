import { formatDecimal, zero } from '../base/decimal.ts';
import { currenciesInName } from '../model/market.ts';
import { sides } from '../model/order.ts';
import { limitsOf } from './check-order.ts';
import { type Exposure, isFilledNow, positionAfter, type SidedOrder } from './counted-holdings.ts';
import { type RiskLimit, unused, usageOf } from './risk-limit.ts';

/** The largest position of a market, in base units; one of exactly that size is allowed. */
export const maxPosition: RiskLimit = {
  name: 'maxPosition',
  again: null,
  needs({ markets }, market) {
    const limits = Object.entries(markets).filter(([name]) => market === null || name === market);
    const isLimited = limits.some(([, { maxPosition: most = null }]) => most !== null);
    return isLimited ? { holdings: true, allMarkets: false, deals: false } : null;
  },
  check({ sized: { order, baseAmount: amount }, isSpot }, { exposure }, account) {
    const most = limitsOf(account, order.market)?.maxPosition ?? null;
    if (most === null || exposure === null || isSpot) return null;
    const after = positionAfter(order, { amount, fillsNow: isFilledNow(order) }, exposure);
    if (after.lte(most)) return null;
    const limit = formatDecimal(most);
    const actual = formatDecimal(after);
    return {
      rule: 'max_position',
      limit,
      actual,
      message: `with the open position and the open entry orders, this ${order.side} could lead to a position of ${actual} in ${order.market}, and ${limit} is allowed; lower the size, cancel open orders, or raise maxPosition in relay.config.ts`,
    };
  },
  use({ exposure }, { markets }) {
    if (exposure === null) return [];
    return Object.entries(markets).flatMap(([market, { maxPosition: most = null }]) =>
      most === null
        ? []
        : openingSides(market, exposure).map(({ side, positionSide }) => {
            const order = { market, side, positionSide };
            const used = positionAfter(order, { amount: zero, fillsNow: false }, exposure);
            const denies = `a ${side} would enlarge the position beyond the limit`;
            return {
              ...unused('maxPosition'),
              of: positionSide === 'BOTH' ? `${market} ${side}` : `${market} ${side} ${positionSide}`,
              ...usageOf(most, used, (left) => (left.lte(zero) ? denies : null)),
              unit: currenciesInName(market).base,
            };
          }),
    );
  },
};

type OpeningSide = Required<Pick<SidedOrder, 'side' | 'positionSide'>>;

const oneWay: readonly OpeningSide[] = sides.map((side) => ({ side, positionSide: 'BOTH' }));
const hedged: readonly OpeningSide[] = [
  { side: 'buy', positionSide: 'LONG' },
  { side: 'sell', positionSide: 'SHORT' },
];

/** The ways to enlarge a position of the market. In hedge mode its positions and orders name their side. */
function openingSides(market: string, { positions, orders }: Exposure): readonly OpeningSide[] {
  const isHedged = [...positions, ...orders].some(
    ({ market: of, positionSide = 'BOTH' }) => of === market && positionSide !== 'BOTH',
  );
  return isHedged ? hedged : oneWay;
}
