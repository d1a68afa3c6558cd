import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
  await relay.say({
    action: 'buy',
    orderType: 'market',
    quantity: '0.1',
    maxSlippage: '0.5%',
    stopLoss: '49000',
    takeProfit: '52000',
  });
  await relay.goOn(30);
});
afterEach(() => relay.close());

const turned = () => relay.alarms.filter(({ name }) => name === 'position_turned');

async function goOnForMinutes(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await relay.goOn(60);
    await reconcileSignals(relay.services);
  }
}

describe('A stop-loss that fires before it could be fitted to what is left', () => {
  test.each([
    ['the owner closed', async () => relay.byHand('sell', '0.1'), '-0.1', '0.1'],
    ['the owner reduced', async () => relay.byHand('sell', '0.04'), '-0.04', '0.04'],
  ])(
    'after %s its position raises an alarm once, with the command that closes it',
    async (_, reduce, held, opened) => {
      await reduce();
      relay.setPrice('48900');
      expect(await relay.held()).toBe(held);

      await goOnForMinutes(3);

      expect(turned()).toMatchObject([
        {
          account: 'main',
          market: 'BTC_USDT',
          signalId: 's1',
          opened,
          amount: held,
          whatToDo: 'npx relay close BTC_USDT --account main',
        },
      ]);
    },
  );

  test('raises none when it closes what was held, and the owner opens the opposite position later', async () => {
    relay.setPrice('48900');
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');

    await goOnForMinutes(3);

    expect(await relay.held()).toBe('-0.1');
    expect(turned()).toEqual([]);
  });
});
