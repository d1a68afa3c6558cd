import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** A stop-loss that only a `protect` asked for, and that another than the relay ends. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const buy = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const protect = (members: object) => relay.say({ action: 'protect', ...members });
const stop = 'sell 0.1 stop 49000, reduces';
const told = {
  name: 'position_unprotected',
  market: 'BTC_USDT',
  position: 'long',
  amount: '0.1',
  stopPrice: '49000',
  whatToDo: 'npx relay protect BTC_USDT --stop-loss 49000 --account main',
};

describe('Of a position that was bought by hand', () => {
  beforeEach(async () => {
    await relay.byHand('buy', '0.1');
    await protect({ stopLoss: '49000' });
    await relay.goOn(30);
    expect(await relay.open()).toEqual([stop]);
  });

  test.each([
    ['that lists cancelled orders', true],
    ['that lists none', false],
  ])('it is told once when it is cancelled, at an exchange %s', async (_, isListed) => {
    relay.paper.control.listCancelled('main', isListed);
    await relay.cancelByHand(stop);
    await relay.goOn(900);

    expect(await relay.open()).toEqual([]);
    expect(relay.alarms).toMatchObject([told]);
  });

  test('it is told when a cancel_all of the market has ended it', async () => {
    await relay.say({ action: 'cancel_all', scope: 'market' });
    await relay.goOn(120);

    expect([await relay.open(), relay.alarms]).toMatchObject([[], [told]]);
  });

  test('one that is asked for again stands, and is told again when it is cancelled, too', async () => {
    await relay.cancelByHand(stop);
    await relay.goOn(120);
    await protect({ stopLoss: '49000' });
    await relay.goOn(30);
    await relay.cancelByHand(stop);
    await relay.goOn(120);

    expect(relay.alarms).toMatchObject([told, told]);
  });

  test('nothing is told where a stop by hand takes its place, or the position goes with it', async () => {
    await relay.cancelByHand(stop);
    await relay.stopByHand('48500', '0.1');
    await relay.goOn(120);
    expect(relay.alarmNames()).toEqual([]);

    await relay.cancelByHand('sell 0.1 stop 48500, reduces');
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(120);
    expect(relay.alarmNames()).toEqual([]);
  });
});

test('Of an entry without a stop-loss it is told where it has followed the price to', async () => {
  await relay.say(buy);
  await relay.goOn(30);
  await protect({ trailing: '2%' });
  await relay.goOn(6);
  relay.setPrice('51000');
  await relay.goOn(6);
  await relay.cancelByHand('sell 0.1 stop 49980, reduces');
  await relay.goOn(120);

  expect(relay.alarms).toMatchObject([
    {
      ...told,
      stopPrice: '49980',
      whatToDo: 'npx relay protect BTC_USDT --stop-loss 49980 --trailing 2% --account main',
    },
  ]);
});

test('Beside an entry with a stop-loss of its own, each part is told once', async () => {
  await relay.say({ ...buy, stopLoss: '48000' });
  await relay.byHand('buy', '0.2');
  await relay.goOn(30);
  await protect({ stopLoss: '49000' });
  await relay.goOn(30);
  await relay.cancelByHand('sell 0.3 stop 49000, reduces');
  await relay.goOn(300);

  expect(relay.alarms).toMatchObject([
    { ...told, whatToDo: expect.stringContaining('"stopPrice":"49000"') },
    { ...told, amount: '0.2' },
  ]);
});
