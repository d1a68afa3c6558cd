import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** Where the account only raises alarms, exits that are more than what is left of their position stay, and are told. */
const order = { orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const buy = { ...order, action: 'buy', stopLoss: '49000', takeProfit: '52000' };
const exits = ['sell 0.1 at 52000', 'sell 0.1 stop 49000'];

let relay: KeptRelay;
async function open(market?: 'BTC_PERP', changes: object = {}): Promise<void> {
  const settings = settingsWith({ protection: 'alarm', ...changes });
  relay = await openKeptRelay({ settings, ...(market === undefined ? {} : { market }) });
}
afterEach(() => relay.close());

/** With a reading every ten minutes. */
async function goOnForHours(hours: number): Promise<void> {
  for (let times = 0; times < 6 * hours; times += 1) {
    relay.clock.advance(597_000);
    await relay.goOn(3);
  }
}

const told = () => relay.alarms.filter(({ name }) => name === 'protection_failed');

describe('Of a position that the owner closes by hand', () => {
  test('the exits that stay are told once, with the commands that cancel them, and again after hours', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(54);
    expect(relay.alarmNames()).toEqual([]);

    await relay.goOn(30);
    expect(relay.alarmNames()).toEqual(['protection_failed']);
    const { execution } = await relay.entry('s1');
    const [, stop, target] = execution?.orders ?? [];
    expect(told()[0]).toMatchObject({
      account: 'main',
      market: 'BTC_USDT',
      signalId: 's1',
      held: '0',
      orderIds: [stop?.orderId, target?.orderId],
      whatToDo: [stop, target]
        .map((exit) => `npx relay cancel BTC_USDT --order-id ${exit?.orderId} --account main`)
        .join('; '),
    });

    await goOnForHours(5);
    expect(relay.alarmNames()).toEqual(['protection_failed']);
    await goOnForHours(2);
    expect(relay.alarmNames()).toEqual(['protection_failed', 'protection_failed']);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', exits]);
  });

  test('what one of them opens later is told, too', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(90);
    relay.setPrice('48900');
    for (let minute = 0; minute < 3; minute += 1) {
      await relay.goOn(60);
      await reconcileSignals(relay.services);
    }

    expect([await relay.held(), relay.alarmNames()]).toEqual([
      '-0.1',
      ['protection_failed', 'position_turned'],
    ]);
  });

  test('nothing more is told once they are cancelled', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(90);
    await relay.cancelByHand('sell 0.1 stop 49000');
    await goOnForHours(8);

    expect([await relay.open(), relay.alarmNames()]).toEqual([[], ['protection_failed']]);
  });

  test('they are not told twice by a process that begins anew', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(90);
    const follower = createFollower(relay.services);
    for (let times = 0; times < 40; times += 1) {
      relay.clock.advance(3000);
      await follower.run(Number.POSITIVE_INFINITY);
    }

    expect(relay.alarmNames()).toEqual(['protection_failed']);
  });

  test('those of a later entry fit, and only the old ones are told', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(15);
    await relay.say(buy);
    await relay.goOn(120);

    expect(told().map(({ signalId, held }) => [signalId, held])).toEqual([['s1', '0.1']]);
  });
});

describe('Of a position that the owner reduces by hand', () => {
  test('the exits that are too large are told, and told anew once it is gone', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.06');
    await relay.goOn(90);
    expect(told().map(({ held }) => held)).toEqual(['0.04']);

    await relay.byHand('sell', '0.04');
    await relay.goOn(90);
    expect(told().map(({ held }) => held)).toEqual(['0.04', '0']);
    expect(relay.alarmNames()).toHaveLength(2);
  });

  test('they are told anew when the owner opens another one, which they would enlarge', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(90);
    await relay.byHand('sell', '0.05');
    await relay.goOn(90);

    expect(told().map(({ held }) => held)).toEqual(['0', '-0.05']);
    await relay.byHand('buy', '0.05');
    await relay.goOn(90);
    await relay.byHand('sell', '0.06');
    await relay.goOn(45);
    expect(told().map(({ held }) => held)).toEqual(['0', '-0.05']);
    await relay.goOn(45);
    expect(told().map(({ held }) => held)).toEqual(['0', '-0.05', '-0.06']);
  });

  test('nothing is told when it is bought again within a minute', async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.06');
    await relay.goOn(45);
    await relay.byHand('buy', '0.06');
    await relay.goOn(180);

    expect(relay.alarmNames()).toEqual([]);
  });

  test('the older of two entries loses its part, and its exits are told', async () => {
    await open();
    await relay.say(buy);
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(90);

    expect(told().map(({ signalId, held }) => [signalId, held])).toEqual([['s1', '0.1']]);
  });
});

test('A close of what the owner has turned by hand cancels the exits of the entry before', async () => {
  await open();
  await relay.say(buy);
  await relay.goOn(30);
  await relay.byHand('sell', '0.15');
  await relay.goOn(15);
  expect([await relay.held(), await relay.open()]).toEqual(['-0.05', exits]);

  const close = await relay.say({ action: 'close', maxSlippage: '0.5%' });

  expect([close.status, await relay.held(), await relay.open()]).toEqual(['placed', 'flat', []]);
  relay.setPrice('48900');
  await relay.goOn(120);
  expect([await relay.held(), relay.alarmNames()]).toEqual(['flat', []]);
});

test('A stop-loss that the owner has cancelled is told once, as missing', async () => {
  await open();
  await relay.say({ ...buy, takeProfit: undefined });
  await relay.goOn(30);
  await relay.cancelByHand('sell 0.1 stop 49000');
  await relay.goOn(180);

  expect(relay.alarmNames()).toEqual(['position_unprotected']);
});

test.each([
  ['stop-loss', '48900'],
  ['take-profit', '52100'],
])('A %s that closes its position leaves nothing to tell', async (_, price) => {
  await open();
  await relay.say(buy);
  await relay.goOn(30);
  relay.setPrice(price);
  await relay.goOn(180);

  expect([await relay.held(), relay.alarmNames()]).toEqual(['flat', []]);
});

describe('In hedge mode, where an exit only reduces its side', () => {
  const sale = { ...order, action: 'sell', positionSide: 'LONG' };
  beforeEach(async () => {
    await open('BTC_PERP');
    relay.paper.control.setHedgeMode('main', true);
    await relay.say({ ...buy, positionSide: 'LONG' });
    await relay.goOn(30);
  });

  test('those that outlive their position are told: they would close the next one', async () => {
    await relay.say(sale);
    await relay.goOn(90);

    expect(told().map(({ signalId, held }) => [signalId, held])).toEqual([['s1', 'LONG 0']]);
  });

  test('those of a position that is reduced are not: they close what is left of it', async () => {
    await relay.say({ ...sale, quantity: '0.05' });
    await relay.goOn(180);

    expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['LONG 0.05', exits, []]);
  });
});

describe('What the relay has placed itself, before the account had only alarms,', () => {
  const onlyReduces = ['sell 0.04 stop 49000, reduces'];

  /** With what the owner has left of an entry, and the stop-loss of that. */
  async function openAfterKeeping(): Promise<void> {
    relay = await openKeptRelay({ settings: settingsWith({ protection: 'keep' }) });
    await relay.say({ ...buy, takeProfit: undefined });
    await relay.goOn(30);
    await relay.byHand('sell', '0.06');
    await relay.goOn(60);
    expect(await relay.open()).toEqual(onlyReduces);
    Object.assign(relay.services, { settings: settingsWith({ protection: 'alarm' }) });
  }

  test('is told once the position is that of another entry alone, which it would close', async () => {
    await openAfterKeeping();
    await relay.say({ ...buy, takeProfit: undefined });
    await relay.goOn(30);
    await relay.byHand('sell', '0.04');
    await relay.goOn(54);
    expect(relay.alarmNames()).toEqual([]);
    await relay.goOn(60);

    expect(told().map(({ signalId, held }) => [signalId, held])).toEqual([['s1', '0.1']]);
    expect(told()[0]?.['whatToDo']).toMatch(/^npx relay cancel BTC_USDT --order-id \d+ --account main$/);
    expect(relay.alarmNames()).toEqual(['protection_failed']);
    expect(await relay.open()).toEqual([...onlyReduces, 'sell 0.1 stop 49000']);
    await relay.cancelByHand(onlyReduces[0] ?? '');
    await goOnForHours(8);
    expect(relay.alarmNames()).toEqual(['protection_failed']);
  });

  test('is told while a part of it fits beside another entry', async () => {
    await openAfterKeeping();
    await relay.say({ ...buy, takeProfit: undefined });
    await relay.goOn(30);
    await relay.byHand('sell', '0.01');
    await relay.goOn(120);

    expect(told().map(({ signalId, held }) => [signalId, held])).toEqual([['s1', '0.13']]);
  });

  test('is not told where it alone protects what is left: it takes no more than there is', async () => {
    await openAfterKeeping();
    await relay.byHand('sell', '0.01');
    await relay.goOn(120);

    expect(await relay.held()).toBe('0.03');
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is not told while it fits', async () => {
    await openAfterKeeping();
    await goOnForHours(2);

    expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['0.04', onlyReduces, []]);
  });

  test('is not told while it protects the position, as an alert has asked', async () => {
    relay = await openKeptRelay({ settings: settingsWith({ protection: 'keep' }) });
    await relay.say(buy);
    await relay.goOn(30);
    const takeProfits = ['51000', '53000'].map((price) => ({ price, share: '50%' }));
    await relay.say({ action: 'protect', stopLoss: '48500', takeProfits });
    await relay.goOn(60);
    const placed = await relay.open();
    expect(placed).toHaveLength(3);
    Object.assign(relay.services, { settings: settingsWith({ protection: 'alarm' }) });
    await goOnForHours(2);
    expect([await relay.open(), relay.alarmNames()]).toEqual([placed, []]);
    await relay.say({ ...buy, quantity: '0.05', takeProfit: undefined });
    await relay.byHand('sell', '0.1');
    await relay.goOn(120);

    expect(told().map(({ signalId, held }) => [signalId, held])).toContainEqual(['s2', '0.05']);
  });
});

test('An account that only rehearses its orders is told nothing, and no position is read for it', async () => {
  await open(undefined, { mode: 'dry-run' });
  await relay.say(buy);
  await relay.goOn(120);

  expect(relay.asked.filter((path) => path.endsWith('/positions/open'))).toEqual([]);
  expect(relay.alarmNames()).toEqual([]);
});

test('With protection that is kept, the exits are fitted, and nothing is told', async () => {
  relay = await openKeptRelay({ settings: settingsWith({ protection: 'keep' }) });
  await relay.say(buy);
  await relay.goOn(30);
  await relay.byHand('sell', '0.1');
  await relay.goOn(180);

  expect([await relay.open(), relay.alarmNames()]).toEqual([[], []]);
});
