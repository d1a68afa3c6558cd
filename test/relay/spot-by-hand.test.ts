import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readLimitUse } from '../../lib/account/limit-use.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { spotLimit } from '../../lib/exchange/endpoints/spot-limit.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import { minuteMs } from '../support/aftermath.ts';
import { type LimitedRelay, openLimitedRelay, settingsWith } from '../support/limited-relay.ts';

/** What the owner trades and has open on spot, in a market that the relay trades on margin, and the limits of risk there. */
let relay: LimitedRelay;
const limited = settingsWith({ maxDailyLoss: '40' });
const placed = { status: 'placed' };
beforeEach(async () => {
  relay = await openLimitedRelay();
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
});
afterEach(() => relay.close());

const exchange = () => relay.services.exchangeFor('main');
const market = 'BTC_USDT';

async function goOn(ms: number): Promise<void> {
  relay.clock.advance(ms);
  await relay.reconcile();
  await relay.follow();
}

/** The deals that the ledger has: `other sell 0.1 spot`. */
async function stored(): Promise<readonly string[]> {
  const query = { account: 'main', fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: 100 };
  const { fills } = await relay.services.executions.listFills(query);
  return fills.map(
    ({ side, amount, onSpot, role }) => `${role} ${side} ${amount}${onSpot === true ? ' spot' : ''}`,
  );
}

async function usedOfLoss(): Promise<number> {
  const account = limited.accounts['main'];
  if (account === undefined) throw new Error('there is no account');
  const { limits } = await readLimitUse(relay.services, account, await exchange(), { timeoutMs: 2000 });
  return Number(limits.find(({ name }) => name === 'maxDailyLoss')?.used);
}

async function restOnSpot(side: 'buy' | 'sell', price: string): Promise<void> {
  const order = { market, side, amount: parseDecimal('0.02'), price: parseDecimal(price), clientOrderId: '' };
  await (await exchange()).call(spotLimit, order);
}

test('a sale on spot is no short, also when the history of orders cannot be read for a while: later losses count', async () => {
  await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' });
  await goOn(20_000);
  const sale = { market, side: 'sell', amount: parseDecimal('0.1'), clientOrderId: '' } as const;
  await (await exchange()).call(spotStockMarket, sale);
  relay.clock.advance(70_000);
  relay.paper.control.addFault({ fault: 'error_before', endpoint: 'ended-order', probability: 1 });
  await relay.reconcile();
  await relay.follow();
  relay.paper.control.clearFaults();
  await goOn(2 * minuteMs);
  expect(await stored()).toEqual(['order buy 0.001', 'other sell 0.1 spot']);

  await relay.sendUnder(limited, { action: 'buy', quantity: '0.02', stopLoss: '45000' });
  await goOn(20_000);
  relay.setPrice('47500');
  const close = { market, side: 'sell', amount: parseDecimal('0.02'), clientOrderId: '' } as const;
  await (await exchange()).call(limitEndpoint, { ...close, price: parseDecimal('40000') });
  await goOn(minuteMs);

  expect(await usedOfLoss()).toBeGreaterThan(50);
});

test('a sale of the owner that rests on spot denies no order that only closes a position', async () => {
  await relay.sendUnder(limited, { action: 'buy', quantity: '0.02' });
  await goOn(20_000);
  relay.setPrice('47900');
  await restOnSpot('sell', '60000');
  await goOn(minuteMs);
  await relay.services.ledger.writePause('main', null);

  const closing = { action: 'sell', orderType: 'limit', limitPrice: '48000', quantity: '0.02' };
  expect(await relay.sendUnder(limited, { ...closing, maxSlippage: undefined })).toEqual(placed);
});

test('a buy of the owner that rests on spot counts for no maxPosition', async () => {
  await restOnSpot('buy', '40000');

  const settings = settingsWith({}, { maxPosition: '0.03' });
  expect(await relay.sendUnder(settings, { action: 'buy', quantity: '0.02' })).toEqual(placed);
});
