import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** A stop-loss that has triggered in a gap and rests is replaced at market, for what of its own entry is left. */
let relay: KeptRelay;
let beforeCancel: () => void;
beforeEach(async () => {
  beforeCancel = () => undefined;
  relay = await openKeptRelay({
    settings: settingsWith({ maxSlippage: '5%' }),
    onRequest(path) {
      if (path === '/api/v4/order/cancel' || path === '/api/v4/order/conditional-cancel') beforeCancel();
    },
  });
});
afterEach(() => relay.close());

test('One that fills in part before it is cancelled sells nothing of another entry', async () => {
  const buy = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
  await relay.say({ ...buy, stopLoss: '49000' });
  await relay.say({ ...buy, stopLoss: '46000' });
  await relay.goOn(30);
  beforeCancel = () => {
    beforeCancel = () => undefined;
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('48600'), parseDecimal('0.06'));
    relay.setPrice('47000');
  };

  relay.setPrice('47000');
  await relay.goOn(60);

  expect([await relay.held(), await relay.open()]).toEqual(['0.1', ['sell 0.1 stop 46000']]);
});
