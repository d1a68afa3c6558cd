import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { GuardedPosition } from '../support/guarded-position.ts';

/** What simulations found about stop-losses and take-profits that are kept to their position. */
let guarded: GuardedPosition;
beforeEach(async () => {
  guarded = await GuardedPosition.open();
});
afterEach(() => guarded.relay.close());

const exits = { stopLoss: '48000', takeProfit: '52000' };
const buy = { action: 'buy', orderType: 'market', quantity: '0.1', ...exits };

test('the newest of two entries keeps its share although the older one is on a later page of the ledger', async () => {
  await guarded.send(buy);
  await guarded.goOn(30);
  for (let count = 0; count < 30; count += 1) await guarded.send({ action: 'buy', quantity: '1000' });
  await guarded.send({ ...buy, stopLoss: '47000', takeProfit: '53000' });
  await guarded.goOn(30);

  await guarded.send({ action: 'target', target: '0.15' });
  await guarded.goOn(30);

  expect(await guarded.open()).toEqual([
    'sell 0.05 at 52000',
    'sell 0.05 stop 48000',
    'sell 0.1 at 53000',
    'sell 0.1 stop 47000',
  ]);
});

test('a pause of entries leaves no stop-loss of a position that the owner has closed by hand', async () => {
  await guarded.send(buy);
  await guarded.goOn(30);
  const pause = { sinceMs: guarded.relay.clock.nowMs(), reason: 'a test', kind: 'entries' } as const;
  await guarded.relay.services.ledger.writePause('main', pause);

  await guarded.byHand('sell', '0.1');
  await guarded.goOn(30);

  expect(await guarded.open()).toEqual([]);
});

test('a close that cancels a resting entry tells a response about another order', async () => {
  const resting = { ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined };
  await guarded.send(resting);
  await guarded.send(buy);
  await guarded.goOn(30);
  guarded.relay.paper.control.addFault({ fault: 'contradict', endpoint: 'cancel-order', count: 1 });

  await guarded.send({ action: 'close' });

  expect(guarded.alarmNames()).toContain('order_contradicted');
});
