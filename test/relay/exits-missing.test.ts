import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { rehearsedFactOf } from '../../lib/account/rehearsed.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** A close beside entries of which the exchange has made no exits: for how long it waits for them, and what it tells. */
const buy = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.1',
  maxSlippage: '0.5%',
  stopLoss: '49000',
  takeProfit: '52000',
};

let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
  relay.paper.control.setExits({ madeAt: 'never' });
  // As on one machine, and on AWS.
  Object.assign(relay.services, { exchangeTimeoutMs: 10_000 });
});
afterEach(() => relay.close());

interface Closed {
  readonly status: Entry['status'];
  readonly waitedMs: number;
  readonly alarms: readonly string[];
}

async function close(): Promise<Closed> {
  const startMs = relay.clock.nowMs();
  const { status } = await relay.say({ action: 'close', maxSlippage: '0.5%' });
  return { status, waitedMs: relay.clock.nowMs() - startMs, alarms: relay.alarmNames() };
}

/** What step 6 of a rehearsal has found out. */
async function noteRehearsed(found: Record<string, string | number>): Promise<void> {
  await relay.services.facts.write('main', rehearsedFactOf('margin'), {
    steps: { '6': { atMs: 0, market: 'BTC_USDT', found } },
  });
}

describe('Nothing is waited for, and nothing is told', () => {
  test('where the relay has placed the exits itself, and the owner has closed the position', async () => {
    await relay.say(buy);
    await relay.goOn(27);
    expect(await relay.open()).toEqual(['sell 0.1 at 52000, reduces', 'sell 0.1 stop 49000, reduces']);
    await relay.byHand('sell', '0.1');
    await relay.goOn(3);

    expect(await close()).toEqual({ status: 'satisfied', waitedMs: 0, alarms: [] });
    expect(await relay.open()).toEqual([]);
  });

  test('where the relay has placed the exits itself, and the position stands', async () => {
    await relay.say(buy);
    await relay.goOn(27);

    expect(await close()).toEqual({ status: 'placed', waitedMs: 0, alarms: [] });
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  });

  test('where the stop-loss of the relay has closed the position', async () => {
    await relay.say(buy);
    await relay.goOn(27);
    relay.setPrice('48900');
    await relay.goOn(3);
    expect(await relay.held()).toBe('flat');
    relay.clock.advance(11_000);

    expect(await close()).toEqual({ status: 'satisfied', waitedMs: 0, alarms: [] });
  });

  test('where a rehearsal has found that the exchange makes none', async () => {
    await noteRehearsed({ exits: 'none' });
    await relay.say(buy);
    await relay.byHand('sell', '0.1');
    relay.clock.advance(11_000);

    expect(await close()).toEqual({ status: 'satisfied', waitedMs: 0, alarms: [] });
  });
});

describe('A close tells nothing of a young entry of which no list shows exits', () => {
  test.each([
    ['flat', 11_000, 'nothing', 0, 0],
    ['standing', 11_000, 'nothing', 0, 0],
    ['standing', 1_000, 'a few seconds', 2_000, 5_000],
  ])('whose position is %s, %i ms later, and waits for %s', async (position, laterMs, _, leastMs, mostMs) => {
    await relay.say(buy);
    if (position === 'flat') await relay.byHand('sell', '0.1');
    relay.clock.advance(laterMs);

    const closed = await close();

    expect(closed).toMatchObject({ status: position === 'flat' ? 'satisfied' : 'placed', alarms: [] });
    expect(closed.waitedMs).toBeGreaterThanOrEqual(leastMs);
    expect(closed.waitedMs).toBeLessThanOrEqual(mostMs);
    expect((await relay.entry('s2')).steps.at(-1)?.facts?.exitsEndedFor).toBeUndefined();
  });
});

describe('What a list shows of the entry after the close', () => {
  /** No list of open orders shows what is younger than 40 seconds. */
  async function openLagging(protection: 'keep' | 'alarm', seconds: number): Promise<void> {
    await relay.close();
    relay = await openKeptRelay({ settings: settingsWith({ protection }) });
    Object.assign(relay.services, { exchangeTimeoutMs: 10_000 });
    for (const endpoint of ['open-order', 'conditional-orders'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 40_000, probability: 1 });
    await relay.say(buy);
    await relay.goOn(seconds);
    expect(await close()).toMatchObject({ status: 'placed', alarms: [] });
    expect(relay.paper.control.state().orders.filter(({ status }) => !isOrderEnd(status))).toHaveLength(2);
  }

  test.each([
    ['before', 12],
    ['after', 30],
  ])('is cancelled, closed %s the relay had placed its own', async (_, seconds) => {
    await openLagging('keep', seconds);
    await relay.goOn(60);

    expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['flat', [], []]);
  });

  test('is told where the account only raises alarms', async () => {
    await openLagging('alarm', 12);
    await relay.goOn(180);

    expect(await relay.open()).toEqual(['sell 0.1 at 52000', 'sell 0.1 stop 49000']);
    expect(relay.alarmNames()).toEqual(['protection_failed']);
  });
});

test.each([
  ['alarm', ['orders_left_open']],
  ['keep', []],
] as const)(
  "A close that ends before the exchange must have made the exits of an entry tells it with protection: '%s'",
  async (protection, alarms) => {
    await relay.close();
    relay = await openKeptRelay({ settings: settingsWith({ protection }) });
    relay.paper.control.setExits({ madeAt: 'never' });
    await noteRehearsed({ exits: 'made', exitsAfterMs: 25_000 });
    await relay.say(buy);
    await relay.byHand('sell', '0.1');
    relay.clock.advance(11_000);

    expect(await close()).toMatchObject({ status: 'satisfied', alarms });
  },
);
