import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RehearsalStep, rehearsedFactOf, type TrialAnswers } from '../../lib/account/rehearsed.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

let relay: KeptRelay;

beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

/** What a rehearsal of the account on margin found out in one step. */
async function foundOut(step: RehearsalStep, found: TrialAnswers): Promise<void> {
  const steps = { [step]: { atMs: relay.clock.nowMs(), market: 'ETH_USDT', found } };
  await relay.services.facts.write('main', rehearsedFactOf('margin'), { steps });
}

const entry = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.01',
  stopLoss: '48000',
  maxSlippage: '0.5%',
};
/** After how many seconds the entry has the stop-loss that the relay places itself. */
async function secondsUntilStop(): Promise<number> {
  relay.paper.control.setExits({ madeAt: 'never' });
  await relay.say(entry);
  for (let passed = 3; passed <= 120; passed += 3) {
    await relay.goOn(3);
    if ((await relay.open()).length > 0) return passed;
  }
  return Number.POSITIVE_INFINITY;
}

describe('an entry of which the exchange makes no stop-loss has one of the relay', () => {
  test('twenty seconds after it was read when nothing was rehearsed', async () => {
    expect(await secondsUntilStop()).toBe(24);
    expect(await relay.open()).toEqual(['sell 0.01 stop 48000, reduces']);
  });

  test('as soon as the position is known when a rehearsal found that it makes none', async () => {
    await foundOut('6', { exits: 'none' });

    expect(await secondsUntilStop()).toBeLessThanOrEqual(12);
    expect(await relay.open()).toEqual(['sell 0.01 stop 48000, reduces']);
  });

  test('later when a rehearsal found that they come late, and never after the alarm of a missing one', async () => {
    await foundOut('6', { exits: 'made', exitsAfterMs: 15_000 });
    expect(await secondsUntilStop()).toBe(33);
  });

  test('within the minute of that alarm, however late they came', async () => {
    await foundOut('6', { exits: 'made', exitsAfterMs: 40_000 });
    expect(await secondsUntilStop()).toBe(54);
  });

  test('twenty seconds after it was read when the rehearsal saw only one of the two', async () => {
    await foundOut('6', { exits: 'incomplete' });
    expect(await secondsUntilStop()).toBe(24);
  });
});

describe('an alert that expects a buy stop to wait for a fall', () => {
  const dip = {
    action: 'buy',
    quantity: '0.01',
    stopPrice: '49000',
    limitPrice: '49100',
    orderType: 'stop_limit',
    expectTrigger: 'below',
  };

  test('is placed as long as nothing says otherwise, and where the last price decides', async () => {
    expect(await relay.say(dip)).toMatchObject({ status: 'placed' });
    await foundOut('4', { trigger: 'by_price' });
    expect(await relay.say(dip)).toMatchObject({ status: 'placed' });
  });

  test('is denied when a rehearsal found that a buy stop always waits for a rise', async () => {
    await foundOut('4', { trigger: 'by_side' });

    const denied = await relay.say(dip);
    const usual = await relay.say({
      ...dip,
      stopPrice: '51000',
      limitPrice: '51100',
      expectTrigger: 'above',
    });

    expect(denied.status).toBe('denied');
    expect(denied.steps.at(-1)?.note).toContain('a rehearsal of this account found');
    expect(usual.status).toBe('placed');
    expect(relay.paper.control.state().acceptedCreates).toBe(1);
  });
});
