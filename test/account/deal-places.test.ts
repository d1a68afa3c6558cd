import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { withPlaces } from '../../lib/account/deal-places.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { market as marginMarket } from '../../lib/exchange/endpoints/market.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { type LimitedRelay, openLimitedRelay } from '../support/limited-relay.ts';

let relay: LimitedRelay;
beforeEach(async () => {
  relay = await openLimitedRelay();
});
afterEach(() => relay.close());

const bought = { side: 'buy', amount: parseDecimal('0.1'), clientOrderId: '' } as const;

/** A deal as the list of deals shows it: it does not tell the account, nor the side of hedge mode. */
function dealOf({ market, orderId }: { readonly market: string; readonly orderId: number }): Fill {
  return {
    account: 'main',
    market,
    dealId: 1,
    atMs: relay.clock.nowMs(),
    signalId: '',
    orderId,
    role: 'other',
    side: 'buy',
    liquidity: 'taker',
    amount: '0.1',
    price: '50000',
    notional: '5000',
    fee: '0',
    feeAsset: 'USDT',
  };
}

/** Beside it, another order of that market is known to have changed the position of one-way mode. */
async function placeOf(fill: Fill): Promise<object | undefined> {
  const { market } = fill;
  const other = { market, orderId: fill.orderId + 1, filled: bought.amount, positionSide: 'BOTH' };
  const source = { client: await relay.services.exchangeFor('main'), options: {}, listed: [other] };
  relay.asked.length = 0;
  return (await withPlaces([fill], source, relay.clock.nowMs())).placed[0];
}

test('A deal on spot is asked for, also where another order of its market was on margin', async () => {
  const market = 'BTC_USDT';
  const client = await relay.services.exchangeFor('main');
  const order = await client.call(spotStockMarket, { ...bought, market });

  expect(await placeOf(dealOf(order))).toMatchObject({ fill: { onSpot: true }, mayBeTold: false });
});

test('A deal of a perpetual in one-way mode is not asked for: it can only be of its one position', async () => {
  const market = 'BTC_PERP';
  relay.paper.control.setPrice(market, parseDecimal('50000'));
  const client = await relay.services.exchangeFor('main');
  const order = await client.call(marginMarket, { ...bought, market });

  expect(await placeOf(dealOf(order))).toEqual({ fill: dealOf(order), mayBeTold: false });
  expect(relay.asked).toEqual([]);
});

test('A deal whose fee was paid in coins is a buy on spot, also where no list shows its order', async () => {
  const fill = { ...dealOf({ market: 'BTC_USDT', orderId: 7 }), fee: '0.0001', feeAsset: 'BTC' };

  expect(await placeOf(fill)).toEqual({ fill: { ...fill, onSpot: true }, mayBeTold: false });
  expect(relay.asked).toEqual([]);
});
