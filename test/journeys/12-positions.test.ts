import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { openAwsStage, openLocalStage, type Stage } from '../support/stages.ts';

describe.each([
  ['on one machine', openLocalStage],
  ['on AWS', openAwsStage],
] as const)('A strategy holds a position, %s:', (_, openStage) => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
    stage.paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  });
  afterEach(() => stage.close());

  const bound = { ticker: 'BTCUSDT', maxSlippage: '0.5%' };
  const statusOf = async (signalId: string) => (await stage.settled(signalId)).status;
  /** Side, amount and whether it only reduces, of every order of the relay in the order of their ids. */
  const sent = () =>
    stage.paper.control
      .state()
      .orders.filter(({ clientOrderId }) => clientOrderId !== '')
      .toSorted((one, other) => one.orderId - other.orderId)
      .map(({ side, filled, reduceOnly }) => `${side} ${filled}${reduceOnly ? ' reduce-only' : ''}`);
  const openOrders = () =>
    stage.paper.control.state().orders.filter(({ status }) => status === 'open').length;
  /** Every list has come through. */
  const settle = () => stage.advance(longestPositionLagMs + 1);

  /** Runs the reconciler minute by minute. */
  async function reconcileUntil(signalId: string, status: Status): Promise<void> {
    for (let minute = 0; minute < 8; minute += 1) {
      stage.advance(60_000);
      await stage.reconcile();
      if ((await stage.entry(signalId))?.status !== 'accepted' && (await statusOf(signalId)) === status)
        return;
    }
    throw new Error(`${signalId} is ${(await stage.entry(signalId))?.status}`);
  }

  async function enter(quantity: string, members: object = {}): Promise<void> {
    await stage.post({ ...bound, id: 'entry', action: 'buy', orderType: 'market', quantity, ...members });
    expect(await statusOf('entry')).toBe('placed');
    settle();
  }

  test('market entry, then half of it is closed, then flat, and no stop is left', async () => {
    await enter('0.4', { stopLoss: '2%', takeProfit: '4%' });
    expect(openOrders()).toBe(2);

    await stage.post({ ...bound, id: 'half', action: 'close', quantity: '50%' });
    expect(await statusOf('half')).toBe('placed');
    expect(openOrders()).toBe(2);
    await stage.post({ ...bound, id: 'flat', marketPosition: 'flat', marketPositionSize: '0' });

    expect(await statusOf('flat')).toBe('placed');
    expect(sent()).toEqual(['buy 0.4', 'sell 0.2 reduce-only', 'sell 0.2 reduce-only']);
    expect(openOrders()).toBe(0);
  });

  test('a reversal whose close has an unknown outcome opens once that is settled, after a new start', async () => {
    await enter('0.2');
    stage.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });
    await stage.post({ ...bound, id: 'turn', action: 'reverse', maxLag: 600, time: stage.nowMs() });
    expect(await statusOf('turn:reduce')).toBe('unknown');
    expect((await stage.entry('turn'))?.status).toBe('accepted');

    await stage.restart();
    await reconcileUntil('turn:reduce', 'placed');
    stage.advance(60_000);
    await stage.reconcile();

    expect(await statusOf('turn')).toBe('placed');
    expect(sent()).toEqual(['buy 0.2', 'sell 0.2 reduce-only', 'sell 0.2']);
  });

  test('a reversal whose close filled in part is denied with what is left', async () => {
    await enter('2');

    await stage.post({ ...bound, id: 'turn', action: 'reverse', maxSlippage: '0.05%' });

    expect(await statusOf('turn:reduce')).toBe('placed');
    const { status, steps } = await stage.settled('turn');
    expect([status, steps.at(-1)?.evidence]).toEqual([
      'denied',
      expect.objectContaining({ rule: 'position_not_closed', limit: 'flat', actual: 'long 1' }),
    ]);
    expect(sent()).toHaveLength(2);
  });

  test('ten of twenty alerts are lost, and the position is right after the next one', async () => {
    const wanted = (number: number) => ((number * 3) % 7) - 3;
    for (let number = 1; number <= 20; number += 1) {
      if (number % 2 === 0) continue;
      await stage.post({
        ...bound,
        id: `t${number}`,
        ...(wanted(number) === 0 ? { target: 'flat' } : { target: String(wanted(number) / 10) }),
      });
      await stage.settled(`t${number}`);
    }

    const held = sent().reduce((sum, text) => {
      const [side, amount = '0'] = text.split(' ');
      return sum.plus(parseDecimal(side === 'buy' ? amount : `-${amount}`));
    }, parseDecimal('0'));
    expect(held.toFixed()).toBe(String(wanted(19) / 10));
    expect(wanted(19)).not.toBe(0);
  });
});
