import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** The list of positions lags, and a resting order of the relay has filled since the relay read it last. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
  await relay.say({
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49900',
    quantity: '0.05',
    stopLoss: '48000',
  });
  await relay.goOn(30);
});
afterEach(() => relay.close());

const bound = { maxSlippage: '0.5%' };
const isWish = (members: object) => 'stopLoss' in members;

function lag(): void {
  const fault = { fault: 'read_lag', endpoint: 'open-positions', delayMs: 5_000, probability: 1 } as const;
  relay.paper.control.addFault(fault);
}

/** An alert while the list of positions does not show the fill yet. Once it must, the alert is carried out. */
async function sayAfterFill(members: object, isOfTwoLegs: boolean): Promise<string> {
  lag();
  relay.fill('49900', '0.05');
  relay.clock.advance(200);
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: 'late', ...members }));
  const signals = isOfTwoLegs ? ['late:reduce', 'late'] : ['late'];
  await expect(relay.execute(signals[0] ?? '')).rejects.toMatchObject({ code: 'position_awaited' });
  for (const signalId of signals) {
    relay.clock.advance(longestPositionLagMs);
    await relay.execute(signalId);
  }
  await relay.goOn(15);
  return (await relay.entry('late')).status;
}

describe('Right after a resting entry has filled', () => {
  test.each([
    ['a close of a half', { action: 'close', quantity: '50%', ...bound }, false, '0.025'],
    ['a close that leaves entries', { action: 'close', keepEntries: true, ...bound }, false, 'flat'],
    ['a close', { action: 'close', ...bound }, false, 'flat'],
    ['a reverse', { action: 'reverse', quantity: '0.01', ...bound }, true, '-0.01'],
    ['a target of the other side', { target: '-0.01', ...bound }, true, '-0.01'],
    ['a target of the same side', { target: '0.07', ...bound }, true, '0.07'],
    [
      'an order that presumes it',
      { action: 'buy', orderType: 'market', quantity: '0.01', requirePosition: 'long', ...bound },
      false,
      '0.06',
    ],
    ['a new stop-loss', { action: 'protect', stopLoss: '49000' }, false, '0.05'],
  ])('%s waits until the position is shown', async (_, members, isOfTwoLegs, held) => {
    const status = await sayAfterFill(members, isOfTwoLegs);

    expect([status, await relay.held()]).toEqual([isWish(members) ? 'satisfied' : 'placed', held]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('a close is not held back where the deals cannot be read', async () => {
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'executed-history', probability: 1 });
    relay.fill('49900', '0.05');

    expect(await relay.say({ action: 'close', maxSlippage: '0.5%' })).toMatchObject({ status: 'placed' });
  });
});

test('What others trade beside the relay holds no alert back', async () => {
  await relay.byHand('buy', '0.02');
  lag();
  await relay.byHand('sell', '0.01');

  expect(await relay.say({ target: '0.03', maxSlippage: '0.5%' })).toMatchObject({ status: 'placed' });
});
