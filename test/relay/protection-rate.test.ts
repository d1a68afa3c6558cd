import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** A position that changes all the time may not become a stream of orders. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const buy = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.1',
  maxSlippage: '0.5%',
  stopLoss: '48000',
  takeProfits: ['51000', '51500', '52000', '52500', '53000'].map((price) => ({ price, share: '20%' })),
};

const orders = () => relay.paper.control.state().orders.filter(({ reduceOnly }) => reduceOnly);

test('Thirty orders a minute protect the positions of a market; what waits is told once, and later all fits again', async () => {
  await relay.say(buy);
  await relay.goOn(60);
  const before = orders().length;
  for (let step = 0; step < 8; step += 1) {
    await relay.byHand(step % 2 === 0 ? 'sell' : 'buy', '0.02');
    await relay.goOn(6);
  }

  expect(orders().length - before).toBe(30);
  expect(relay.alarmNames()).toEqual(['protection_failed']);

  await relay.goOn(180);
  expect([await relay.held(), await relay.open()]).toEqual([
    '0.1',
    [
      'sell 0.02 at 51000, reduces',
      'sell 0.02 at 51500, reduces',
      'sell 0.02 at 52000, reduces',
      'sell 0.02 at 52500, reduces',
      'sell 0.02 at 53000, reduces',
      'sell 0.1 stop 48000, reduces',
    ],
  ]);
  expect(relay.alarmNames()).toEqual(['protection_failed']);
});
