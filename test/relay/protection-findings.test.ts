import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** What simulations found about stop-losses and take-profits that are kept to their position. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const exits = { stopLoss: '48000', takeProfit: '52000' };
const market = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const buy = { ...market, ...exits };

test('the newest of two entries keeps its share although the older one is on a later page of the ledger', async () => {
  await relay.say(buy);
  await relay.goOn(30);
  for (let count = 0; count < 30; count += 1) await relay.say({ ...market, quantity: '1000' });
  await relay.say({ ...buy, stopLoss: '47000', takeProfit: '53000' });
  await relay.goOn(30);

  await relay.say({ action: 'target', target: '0.15', maxSlippage: '0.5%' });
  await relay.goOn(30);

  expect(await relay.open()).toEqual([
    'sell 0.05 at 52000, reduces',
    'sell 0.05 stop 48000, reduces',
    'sell 0.1 at 53000',
    'sell 0.1 stop 47000',
  ]);
});

test('a pause of entries leaves no stop-loss of a position that the owner has closed by hand', async () => {
  await relay.say(buy);
  await relay.goOn(30);
  const pause = { sinceMs: relay.clock.nowMs(), reason: 'a test', kind: 'entries' } as const;
  await relay.services.ledger.writePause('main', pause);

  await relay.byHand('sell', '0.1');
  await relay.goOn(30);

  expect(await relay.open()).toEqual([]);
});

test('a close that cancels a resting entry tells a response about another order', async () => {
  await relay.say({ ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined });
  await relay.say(buy);
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'contradict', endpoint: 'cancel-order', count: 1 });

  await relay.say({ action: 'close', maxSlippage: '0.5%' });

  expect(relay.alarmNames()).toContain('order_contradicted');
});

test('a stop-loss that the owner has cancelled is told although an older entry has none', async () => {
  await relay.say({ ...market, takeProfit: '52000' });
  await relay.goOn(30);
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  await relay.byHand('sell', '0.1');
  await relay.cancelByHand('sell 0.1 stop 48000');
  await relay.goOn(90);

  expect(await relay.held()).toBe('0.1');
  expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', signalId: 's2' }]);
});

test('a stop-loss that the relay has placed protects its entry: what others added is no alarm of it', async () => {
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  await relay.say({ action: 'close', quantityPercent: '50%', maxSlippage: '0.5%' });
  await relay.goOn(30);
  await relay.byHand('buy', '0.3');
  await relay.goOn(180);

  expect(await relay.open()).toEqual(['sell 0.1 stop 48000, reduces']);
  expect(relay.alarmNames()).toEqual([]);

  await relay.cancelByHand('sell 0.1 stop 48000, reduces');
  await relay.goOn(180);
  expect(relay.alarmNames()).toEqual(['position_unprotected']);
});

test('a position that loses one stop-loss after another is told each time', async () => {
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  await relay.cancelByHand('sell 0.1 stop 48000');
  await relay.goOn(90);
  expect(relay.alarmNames()).toEqual(['position_unprotected']);

  await relay.stopByHand('47000', '0.1');
  await relay.goOn(90);
  await relay.cancelByHand('sell 0.1 stop 47000, reduces');
  await relay.goOn(1500);

  expect(relay.alarmNames()).toEqual(['position_unprotected', 'position_unprotected']);
});

test('a stop-loss whose cancellation failed goes when another one has taken its place', async () => {
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', probability: 1 });
  await relay.say({
    action: 'sell',
    orderType: 'market',
    quantity: '0.04',
    reduceOnly: true,
    maxSlippage: '0.5%',
  });
  expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces', 'sell 0.1 stop 48000']);
  relay.paper.control.clearFaults();

  await relay.goOn(30);

  expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces']);
});

test('take-profits whose cancellation failed go although their entry is no longer followed', async () => {
  await relay.say({ ...market, stopLoss: '40000' });
  await relay.goOn(30);
  const takeProfits = [
    { price: '52000', share: '50%' },
    { price: '53000', share: '50%' },
  ];
  await relay.say({ ...market, stopLoss: '49000', takeProfits });
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', probability: 1 });
  relay.setPrice('48900');
  await relay.goOn(6);
  expect(await relay.held()).toBe('0.1');
  expect(await relay.open()).toEqual([
    'sell 0.05 at 52000, reduces',
    'sell 0.05 at 53000, reduces',
    'sell 0.1 stop 40000',
  ]);
  relay.paper.control.clearFaults();

  await relay.goOn(60);

  expect(await relay.open()).toEqual(['sell 0.1 stop 40000']);
});

test('a take-profit whose request was lost stops neither a close nor the stop-loss of what is left', async () => {
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit', count: 1 });
  await relay.say({ action: 'protect', takeProfit: '53000' });
  await relay.byHand('sell', '0.04');
  await relay.goOn(30);
  expect((await relay.services.ledger.list({ status: 'unknown', limit: 5 })).entries).toHaveLength(1);
  expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces']);

  const close = await relay.say({ action: 'close', maxSlippage: '0.5%' });

  expect(close.status).toBe('placed');
  expect(await relay.held()).toBe('flat');
});

test('a stop-loss is made to fit beside an order of unknown outcome: what only reduces waits for the list alone', async () => {
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit', count: 1 });
  const lost = await relay.say({ ...market, quantity: '0.05' });
  await relay.byHand('sell', '0.04');
  await relay.goOn(6);
  expect(await relay.open()).toEqual(['sell 0.1 stop 48000']);

  await relay.goOn(12);

  expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces']);
  expect((await relay.entry(lost.signalId)).status).toBe('unknown');
  expect(relay.alarmNames()).not.toContain('protection_failed');
});

test('what is left of a position that was closed beside an order of unknown outcome has no stop-loss any more', async () => {
  await relay.say({ ...market, stopLoss: '48000' });
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit', count: 1 });
  await relay.say({ ...market, action: 'sell', quantity: '0.05', reduceOnly: true });
  await relay.byHand('sell', '0.1');

  await relay.goOn(30);

  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
});

test('an entry that an exit has sold is not told as unprotected while the lists lag behind the stop of a newer one', async () => {
  relay.paper.control.addFault({ fault: 'read_lag', delayMs: 8000, count: 100_000 });
  await relay.say({ ...buy, quantity: '0.4' });
  await relay.goOn(3);
  await relay.say({ ...buy, quantity: '0.6', stopLoss: '48500' });
  await relay.goOn(3);
  await relay.say({ action: 'exit_long', quantity: '0.5', maxSlippage: '0.5%' });
  await relay.goOn(72);

  relay.setPrice('48400');
  await relay.goOn(90);

  expect(await relay.held()).toBe('flat');
  expect(relay.alarmNames()).toEqual([]);
});
