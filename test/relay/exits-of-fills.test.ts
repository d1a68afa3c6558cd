import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** An exchange that makes a stop-loss and a take-profit with each fill of an entry: several pairs protect one order. */
let relay: KeptRelay;
let onRequest: (path: string) => void;
beforeEach(async () => {
  onRequest = () => undefined;
  relay = await openKeptRelay({ onRequest: (path) => onRequest(path) });
  relay.paper.control.setExits({ madeAt: 'first_fill' });
  await relay.say({
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49900',
    quantity: '0.1',
    stopLoss: '48000',
    takeProfit: '52000',
  });
});
afterEach(() => relay.close());

const pairs = (...amounts: readonly string[]) =>
  amounts.flatMap((amount) => [`sell ${amount} at 52000`, `sell ${amount} stop 48000`]).sort();

async function fillInParts(): Promise<void> {
  relay.fill('49900', '0.03');
  await relay.goOn(12);
  relay.fill('49900', '0.02');
  await relay.goOn(12);
  relay.fill('49900', '0.05');
  await relay.goOn(60);
}

const claimed = async () =>
  (await relay.entry('s1')).execution?.orders.map(({ role, status, amount }) =>
    [role, status, ...(amount === undefined ? [] : [amount])].join(' '),
  );

describe('An entry of 0.1 that fills in three parts', () => {
  test('keeps the pair of each part, and the relay knows all of them', async () => {
    await fillInParts();

    expect([await relay.held(), await relay.open()]).toEqual(['0.1', pairs('0.03', '0.02', '0.05')]);
    expect(await claimed()).toEqual([
      'order filled',
      'stop_loss open 0.03',
      'stop_loss open 0.02',
      'stop_loss open 0.05',
      'take_profit open 0.03',
      'take_profit open 0.02',
      'take_profit open 0.05',
    ]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is stopped out by all of them, and the ledger says so', async () => {
    await fillInParts();
    relay.setPrice('47900');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    const { execution } = await relay.entry('s1');
    expect(execution?.orders.filter(({ role }) => role === 'stop_loss').map(({ filled }) => filled)).toEqual([
      '0.03',
      '0.02',
      '0.05',
    ]);
    expect(execution?.isFollowed).toBe(false);
    expect(relay.alarmNames()).toEqual([]);
  });

  test.each([
    ['25%', '0.075', ['sell 0.075 at 52000, reduces', 'sell 0.075 stop 48000, reduces']],
    // One of the pairs is what is left.
    ['50%', '0.05', pairs('0.05')],
  ])('has one stop-loss and one take-profit of the rest when %s is closed', async (share, rest, orders) => {
    await fillInParts();
    await relay.say({ action: 'close', quantity: share, maxSlippage: '0.5%' });
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual([rest, orders]);
    expect(relay.alarmNames()).toEqual([]);
    expect((await relay.entry('s1')).execution?.unprotectedSinceMs).toBeUndefined();
  });

  test('leaves nothing open after a close', async () => {
    await fillInParts();
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('leaves nothing open after a close between two fills', async () => {
    relay.fill('49900', '0.03');
    relay.fill('49900', '0.02');
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('leaves nothing open after a close by hand', async () => {
    await fillInParts();
    await relay.byHand('sell', '0.1');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  });

  test.each([
    ['first', '0.03', ['0.02', '0.05']],
    ['last', '0.05', ['0.03', '0.02']],
  ])(
    'does not get back the %s pair when the owner has cancelled it, and that is told once',
    async (_, amount, left) => {
      await fillInParts();
      await relay.cancelByHand(`sell ${amount} stop 48000`);
      await relay.goOn(600);

      expect(await relay.open()).toEqual(pairs(...left));
      expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', amount }]);
    },
  );

  test('is closed at market only for what the owner has left to its stops, when the price jumps past them', async () => {
    await fillInParts();
    await relay.cancelByHand('sell 0.03 stop 48000');
    await relay.goOn(180);
    Object.assign(relay.services, { settings: settingsWith({ maxSlippage: '1%' }) });
    relay.setPrice('45000');
    await relay.goOn(180);

    expect([await relay.held(), await relay.open()]).toEqual(['0.03', []]);
    expect(relay.alarmNames()).toEqual(['position_unprotected']);
  });

  test('has one stop-loss for all of it when the exchange makes none of a part', async () => {
    relay.fill('49900', '0.03');
    await relay.goOn(12);
    relay.paper.control.setExits({ madeAt: 'never' });
    relay.fill('49900', '0.02');
    await relay.goOn(90);

    expect(await relay.held()).toBe('0.05');
    expect((await relay.open()).filter((text) => text.includes('stop'))).toEqual([
      'sell 0.05 stop 48000, reduces',
    ]);
  });

  test('is told to lack a stop-loss only for what nothing stops out', async () => {
    await fillInParts();
    await relay.cancelByHand('sell 0.03 stop 48000');
    await relay.byHand('sell', '0.03');
    await relay.goOn(600);

    expect([await relay.held(), await relay.open()]).toEqual(['0.07', pairs('0.02', '0.05')]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is not told to lack what the newest fill has not got yet, while it fills again and again', async () => {
    relay.fill('49900', '0.03');
    await relay.goOn(12);
    // The open orders are read before the deals.
    onRequest = (path) => {
      if (path.endsWith('/executed-history')) relay.fill('49900', '0.001');
    };
    await relay.goOn(180);

    expect(relay.alarmNames()).toEqual([]);
    expect((await relay.entry('s1')).execution?.orders.length).toBeGreaterThan(50);
  });

  test('does not get back a pair that the owner has cancelled when the others have sold', async () => {
    await fillInParts();
    await relay.cancelByHand('sell 0.03 stop 48000');
    await relay.goOn(120);
    relay.setPrice('47900');
    await relay.goOn(120);

    expect([await relay.held(), await relay.open()]).toEqual(['0.03', []]);
  });

  test('has no larger stop-loss than before when the owner has cancelled a pair, and the position shrinks', async () => {
    await fillInParts();
    await relay.cancelByHand('sell 0.03 stop 48000');
    await relay.goOn(120);
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
    await relay.goOn(120);

    expect([await relay.held(), await relay.open()]).toEqual(['0.05', pairs('0.05')]);
  });
});

test('What an entry fills long after a close has a stop-loss, although that close has cancelled the one before', async () => {
  relay.fill('49900', '0.05');
  await relay.goOn(60);
  await relay.say({ action: 'close', keepEntries: true, maxSlippage: '0.5%' });
  await relay.goOn(1200);
  expect([await relay.held(), await relay.open()]).toEqual(['flat', ['buy 0.05 at 49900']]);
  relay.paper.control.setExits({ madeAt: 'never' });
  relay.fill('49900', '0.03');
  await relay.goOn(90);

  expect(await relay.open()).toContain('sell 0.03 stop 48000, reduces');
  expect(relay.alarmNames()).toEqual([]);
});

test('A stop-loss that follows the price moves for what the owner has left to it', async () => {
  await relay.say({ action: 'cancel_all' });
  await relay.say({
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49900',
    quantity: '0.1',
    trailing: '4%',
  });
  await fillInParts();
  await relay.cancelByHand('sell 0.03 stop 47904');
  await relay.goOn(180);
  relay.setPrice('55000');
  await relay.goOn(60);

  expect([await relay.held(), await relay.open()]).toEqual(['0.1', ['sell 0.07 stop 52800, reduces']]);
});

test.each([
  ['an alert', () => relay.say({ action: 'cancel', signalId: 's1' })],
  ['hand', () => relay.cancelByHand('buy 0.07 at 49900')],
])(
  'An entry that filled in part has one pair of exits a few seconds after %s has cancelled it',
  async (_, cancel) => {
    relay.paper.control.setExits({ madeAt: 'end' });
    relay.fill('49900', '0.03');
    await relay.goOn(30);
    expect(await relay.open()).toContain('sell 0.03 stop 48000, reduces');
    await cancel();
    await relay.goOn(6);

    expect([await relay.held(), (await relay.open()).length]).toEqual(['0.03', 2]);
  },
);
