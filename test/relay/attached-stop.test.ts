import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { rehearsedFactOf } from '../../lib/account/rehearsed.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** What only the list of positions shows, attached to its position, protects it. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
  relay.paper.control.setExits({ showsAttached: true, listsExits: false });
});
afterEach(() => relay.close());

const entry = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const protect = { action: 'protect', stopLoss: '48500' };

/** What the exchange has open, whether a list shows it or not. */
function standing(): readonly string[] {
  const { orders } = relay.paper.control.state();
  return orders.filter(({ status }) => status === 'open').map(({ side, amount }) => `${side} ${amount}`);
}

async function buyByHand(amount: string, stopLoss: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const order = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal(amount), clientOrderId: '' } as const;
  await client.call(marketEndpoint, { ...order, stopLoss: parseDecimal(stopLoss) });
}

test('A stop-loss that nothing shows may stand after the relay has sold its entry at market: that is told', async () => {
  await relay.close();
  relay = await openKeptRelay({ settings: settingsWith({ maxSlippage: '1%' }) });
  relay.paper.control.setExits({ showsAttached: false, listsExits: false });
  await relay.say({ ...entry, stopLoss: '2%', trailing: '2%' });
  relay.setPrice('53000');
  await relay.goOn(6);
  relay.setPrice('51000');
  await relay.goOn(900);

  expect([await relay.held(), standing()]).toEqual(['flat', ['sell 0.1']]);
  expect(relay.alarmNames()).toEqual(['orders_left_open']);
});

describe('A position by hand with an attached stop-loss', () => {
  test('gets none beside it', async () => {
    await buyByHand('0.1', '49000');
    relay.clock.advance(30_000);

    await relay.say(protect);
    await relay.goOn(120);

    expect(await relay.open()).toEqual([]);
    expect(relay.alarmNames()).toEqual([]);
  });
});

test('An entry beside it gets its stop-loss as soon as it is gone, and that is told', async () => {
  await buyByHand('0.1', '49000');
  relay.paper.control.setExits({ madeAt: 'never' });
  await relay.say({ ...entry, stopLoss: '48000' });
  await relay.goOn(120);
  const before = await relay.open();

  relay.paper.control.setExits({ showsAttached: false });
  await relay.goOn(30);

  expect(before).toEqual([]);
  expect(await relay.open()).toEqual(['sell 0.1 stop 48000, reduces']);
  expect(relay.alarmNames()).toEqual(['position_unprotected']);
});

describe('An entry whose stop-loss only the list of positions shows', () => {
  test('has it until the lists must have shown it; then one of the relay takes its place', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(6);
    expect(await relay.open()).toEqual([]);
    await relay.goOn(300);

    expect(await relay.open()).toEqual(['sell 0.1 stop 48000, reduces']);
    expect(standing()).toEqual(['sell 0.1']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test.each([10, 120])('leaves nothing behind when it is closed after %d seconds', async (seconds) => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(seconds);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect([await relay.held(), standing(), relay.alarmNames()]).toEqual(['flat', [], []]);
  });

  test('is cancelled once by a close that waits for the exits of a newer entry', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    relay.paper.control.setExits({ madeAt: 'never' });
    await relay.say({ ...entry, stopLoss: '47000' });
    relay.asked.length = 0;
    await relay.say({ action: 'close', maxSlippage: '0.5%' });

    expect(await relay.held()).toBe('flat');
    expect(relay.asked.filter((path) => path === '/api/v4/order/cancel')).toHaveLength(1);
  });

  test('is cancelled after the position is closed by hand before the relay has replaced it', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    await relay.goOn(30);

    expect([await relay.held(), standing(), relay.alarmNames()]).toEqual(['flat', [], []]);
  });

  test('is cancelled by a process that begins anew', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    const later = createFollower(relay.services);
    for (let turn = 0; turn < 5; turn += 1) {
      relay.clock.advance(3_000);
      await later.run(Number.POSITIVE_INFINITY);
      await relay.runLine('BTC_USDT');
    }

    expect([await relay.held(), standing(), relay.alarmNames()]).toEqual(['flat', [], []]);
  });

  test('is cancelled again and again until that is known', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'cancel-order', probability: 1 });
    await relay.goOn(60);
    expect(standing()).toEqual(['sell 0.1']);
    relay.paper.control.clearFaults();
    await relay.goOn(900);

    expect([await relay.held(), standing()]).toEqual(['flat', []]);
  });

  test('is cancelled beside a new position of the same direction', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    await relay.goOn(3);
    relay.paper.control.setExits({ madeAt: 'never' });
    await relay.say({ ...entry, stopLoss: '47000' });
    await relay.goOn(30);

    expect(standing()).toEqual(['sell 0.1']);
    expect(await relay.open()).toEqual(['sell 0.1 stop 47000, reduces']);
  });

  test('is told where the relay only raises alarms', async () => {
    await relay.close();
    relay = await openKeptRelay({ settings: settingsWith({ protection: 'alarm' }) });
    relay.paper.control.setExits({ showsAttached: true, listsExits: false });
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(90);
    await relay.byHand('sell', '0.1');
    await relay.goOn(900);

    expect(relay.alarms).toMatchObject([
      {
        name: 'orders_left_open',
        whatToDo: expect.stringMatching(/^npx relay cancel BTC_USDT --order-id \d+ --account main/),
      },
    ]);
  });

  test('is told as too large after a sale by hand, where the relay only raises alarms', async () => {
    await relay.close();
    relay = await openKeptRelay({ settings: settingsWith({ protection: 'alarm' }) });
    relay.paper.control.setExits({ showsAttached: true, listsExits: false });
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(90);
    await relay.byHand('sell', '0.04');
    await relay.goOn(240);

    expect(relay.alarms).toMatchObject([{ name: 'protection_failed', held: '0.06' }]);
  });

  test('is cancelled after a close, where an older entry had another one', async () => {
    await relay.say({ ...entry, stopLoss: '47000' });
    await relay.goOn(6);
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    expect([standing(), relay.alarmNames()]).toEqual([['sell 0.1'], ['orders_left_open']]);
    await relay.goOn(30);

    expect([await relay.held(), standing()]).toEqual(['flat', []]);
  });

  test('has one that fits after a sale by hand, and none after the next', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(120);
    await relay.byHand('sell', '0.04');
    await relay.goOn(30);
    expect(standing()).toEqual(['sell 0.06']);
    await relay.byHand('sell', '0.06');
    await relay.goOn(30);

    expect([await relay.held(), standing(), relay.alarmNames()]).toEqual(['flat', [], []]);
  });

  test('ends it later where its cancellation has failed', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(50);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'cancel-order', probability: 1 });
    await relay.goOn(60);
    expect(standing()).toEqual(['sell 0.1', 'sell 0.1']);
    relay.paper.control.clearFaults();
    await relay.goOn(300);

    expect(standing()).toEqual(['sell 0.1']);
    expect(relay.alarmNames()).toEqual(['orders_left_open']);
  });

  test.each([30, 59])('is not replaced while the list of open orders lags by %d s', async (seconds) => {
    relay.paper.control.setExits({ listsExits: true });
    const lag = { fault: 'read_lag', endpoint: 'open-order', probability: 1 } as const;
    relay.paper.control.addFault({ ...lag, delayMs: seconds * 1000 });
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(180);

    expect(standing()).toEqual(['sell 0.1']);
    expect(relay.asked).not.toContain('/api/v4/order/cancel');
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is known by its id when the position shows that of a newer entry', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(6);
    await relay.say({ ...entry, stopLoss: '49000' });
    await relay.goOn(40);
    expect([await relay.open(), standing()]).toEqual([[], ['sell 0.1', 'sell 0.1']]);
    await relay.goOn(300);

    expect(await relay.open()).toEqual(['sell 0.1 stop 48000, reduces', 'sell 0.1 stop 49000, reduces']);
    expect(standing()).toHaveLength(2);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('of a later position of the same entry stays', async () => {
    relay.paper.control.setExits({ madeAt: 'first_fill' });
    relay.setPrice('51000');
    await relay.say({
      action: 'buy',
      orderType: 'limit',
      limitPrice: '50000',
      quantity: '0.2',
      stopLoss: '48000',
    });
    relay.fill('50000', '0.1');
    await relay.goOn(6);
    await relay.byHand('sell', '0.1');
    await relay.goOn(40);
    expect([await relay.held(), standing()]).toEqual(['flat', []]);
    relay.fill('50000', '0.1');
    await relay.goOn(40);
    expect(standing()).toEqual(['sell 0.1']);
    await relay.goOn(120);

    expect([await relay.held(), await relay.open()]).toEqual(['0.1', ['sell 0.1 stop 48000, reduces']]);
  });

  test('of each fill is replaced as soon as the position shows it', async () => {
    relay.paper.control.setExits({ madeAt: 'first_fill' });
    relay.setPrice('51000');
    await relay.say({
      action: 'buy',
      orderType: 'limit',
      limitPrice: '50000',
      quantity: '0.3',
      stopLoss: '48000',
    });
    for (let fill = 0; fill < 3; fill += 1) relay.fill('50000', '0.1');
    expect(standing()).toEqual(['sell 0.1', 'sell 0.1', 'sell 0.1']);
    await relay.goOn(90);

    expect([await relay.open(), standing()]).toEqual([['sell 0.3 stop 48000, reduces'], ['sell 0.3']]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('of one fill is no proof that those of the other fills have ended with a close', async () => {
    relay.paper.control.setExits({ madeAt: 'first_fill' });
    relay.setPrice('51000');
    await relay.say({
      action: 'buy',
      orderType: 'limit',
      limitPrice: '50000',
      quantity: '0.3',
      stopLoss: '48000',
    });
    for (const amount of ['0.1', '0.15', '0.05']) relay.fill('50000', amount);
    await relay.say({ action: 'close', maxSlippage: '5%' });

    expect([await relay.held(), standing()]).toEqual(['flat', ['sell 0.1', 'sell 0.15']]);
    expect(relay.alarmNames()).toEqual(['orders_left_open']);
  });

  test('is cancelled again where the exchange has refused for another reason', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', count: 1 });
    await relay.goOn(120);

    expect([await relay.held(), standing()]).toEqual(['flat', []]);
  });

  test('is told where it cannot be cancelled for hours', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', probability: 1 });
    for (let hour = 0; hour < 3; hour += 1) await relay.goOn(3_600);

    expect(
      relay.alarms.filter(({ whatToDo }) => String(whatToDo).includes('relay cancel BTC_USDT')),
    ).toHaveLength(1);
    expect(standing()).toEqual(['sell 0.1']);
  });

  test('stays where one of the relay is refused, also when its take-profit is to be replaced', async () => {
    relay.paper.control.setExits({ showsAttached: true, listsExits: false, refusesReduceOnlyStops: true });
    await relay.say({ ...entry, stopLoss: '48000', takeProfit: '52000' });
    await relay.goOn(300);

    expect(standing()).toEqual(['sell 0.1', 'sell 0.1']);
  });

  test('leaves an older one without any its own', async () => {
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(6);
    await relay.say({ ...entry, stopLoss: '49000' });
    await relay.goOn(300);

    expect(await relay.open()).toContain('sell 0.1 stop 48000, reduces');
    expect(relay.alarmNames()).toEqual([]);
  });
});

describe('An entry whose take-profit only the list of positions shows', () => {
  test('has one of the relay when that was ended by hand, where no list tells its end', async () => {
    relay.paper.control.listCancelled('main', false);
    await relay.say({ ...entry, takeProfit: '52000' });
    await relay.goOn(10);
    const { orderId } = relay.paper.control.state().orders.find(({ status }) => status === 'open') ?? {};
    const client = await relay.services.exchangeFor('main');
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId: orderId ?? 0 });
    await relay.goOn(900);

    expect(await relay.open()).toEqual(['sell 0.1 at 52000, reduces']);
  });

  test('has it until the lists must have shown it; then one of the relay takes its place', async () => {
    await relay.say({ ...entry, takeProfit: '52000' });
    await relay.goOn(50);
    expect([await relay.open(), standing()]).toEqual([[], ['sell 0.1']]);
    await relay.goOn(300);

    expect(await relay.open()).toEqual(['sell 0.1 at 52000, reduces']);
    expect(standing()).toEqual(['sell 0.1']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is cancelled after the position is closed by hand before the relay has replaced it', async () => {
    await relay.say({ ...entry, takeProfit: '52000' });
    await relay.goOn(10);
    await relay.byHand('sell', '0.1');
    await relay.goOn(30);

    expect([await relay.held(), standing(), relay.alarmNames()]).toEqual(['flat', [], []]);
  });
});

test.each([
  ['may stand, which is told, where nothing shows it', { showsAttached: false, listsExits: false }],
  ['is cancelled, and nothing is told, where a list shows it', { showsAttached: false, listsExits: true }],
  ['is not there, which is told, where the exchange has made none', { madeAt: 'never' }],
] as const)('The stop-loss of a position that is closed by hand at once %s', async (_, settings) => {
  const isListed = 'listsExits' in settings && settings.listsExits;
  relay.paper.control.setExits(settings);
  await relay.say({ ...entry, stopLoss: '48000' });
  await relay.byHand('sell', '0.1');
  await relay.goOn(50);
  expect(relay.alarmNames()).toEqual([]);
  await relay.goOn(900);

  expect(relay.alarmNames()).toEqual(isListed ? [] : ['orders_left_open']);
  expect(await relay.open()).toEqual([]);
});

test.each([
  ['none are made', { exits: 'none' }],
  [
    'the open orders show them',
    { exits: 'made', exitsAfterMs: 500, exitsListedIn: 'orders, conditional-orders' },
  ],
])(
  'Nothing is told of a position that is closed by hand at once where a rehearsal has found that %s',
  async (_, found) => {
    const passed = { atMs: 0, market: 'BTC_USDT', found };
    await relay.services.facts.write('main', rehearsedFactOf('margin'), { steps: { 6: passed } });
    relay.paper.control.setExits({ madeAt: 'never' });
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.byHand('sell', '0.1');
    await relay.goOn(900);

    expect(relay.alarmNames()).toEqual([]);
  },
);

test('A stop by hand counts once, not for each entry of the position', async () => {
  relay.paper.control.setExits({ madeAt: 'never', listsExits: true });
  await relay.say({ ...entry, stopLoss: '48000' });
  await relay.say({ ...entry, stopLoss: '49000' });
  await relay.stopByHand('49500', '0.1');
  await relay.goOn(120);

  expect(await relay.open()).toHaveLength(2);
});

test('Where the list of positions shows the exits of the newest of three entries alone, those of the oldest are told once their position is gone', async () => {
  await relay.say({ ...entry, stopLoss: '48000', takeProfit: '53000' });
  relay.clock.advance(14_000);
  await relay.say({ ...entry, quantity: '0.05', stopLoss: '47000', takeProfit: '54000' });
  await relay.goOn(35);
  await relay.say({ ...entry, quantity: '0.02', stopLoss: '46000', takeProfit: '55000' });
  await relay.goOn(40);
  await relay.byHand('sell', '0.17');
  await relay.goOn(900);

  expect(await relay.held()).toBe('flat');
  expect(standing()).toEqual(['sell 0.1', 'sell 0.1']);
  expect(relay.alarmNames()).toContain('orders_left_open');
});
