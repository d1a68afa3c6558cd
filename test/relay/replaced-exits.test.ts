import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** An order whose place another one takes is cancelled, whatever the lists show of it, and whenever the relay is killed. */
let relay: KeptRelay;
/** Called before each request, with its path. */
let before: (path: string) => void;
beforeEach(async () => {
  before = () => undefined;
  relay = await openKeptRelay({ onRequest: (path) => before(path) });
});
afterEach(() => relay.close());

/** Once the new order stands, the lists show what was so before the old one was made. */
function lagAfterPlacing(): void {
  before = (path) => {
    if (!path.endsWith('/conditional-orders')) return;
    before = () => undefined;
    for (const endpoint of ['open-order', 'conditional-orders'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 30_000, probability: 1 });
  };
}

const entry = { action: 'buy', orderType: 'market', maxSlippage: '0.5%', quantity: '0.1', stopLoss: '48000' };
const withTwoTargets = {
  ...entry,
  takeProfits: [
    { price: '52000', share: '50%' },
    { price: '53000', share: '50%' },
  ],
};
const reduction = {
  action: 'sell',
  orderType: 'market',
  maxSlippage: '0.5%',
  quantity: '0.03',
  reduceOnly: true,
};

describe('The stop-loss that the exchange made of an entry, when the position is reduced,', () => {
  beforeEach(async () => {
    await relay.say(entry);
    await relay.goOn(21);
    expect(await relay.open()).toEqual(['sell 0.1 stop 48000']);
  });

  test('is cancelled by its id where no list shows it', async () => {
    lagAfterPlacing();
    await relay.say(reduction);
    relay.paper.control.clearFaults();

    expect(await relay.open()).toEqual(['sell 0.07 stop 48000, reduces']);
  });

  test('is cancelled later by a relay that was killed before it could cancel it', async () => {
    before = (path) => {
      if (path.endsWith('/conditional-orders')) throw new Error('killed');
    };
    await expect(relay.say(reduction)).rejects.toThrow('killed');
    before = () => undefined;
    expect(await relay.open()).toEqual(['sell 0.07 stop 48000, reduces', 'sell 0.1 stop 48000']);
    await relay.reconcileFor(5);
    await relay.goOn(120);

    expect(await relay.open()).toEqual(['sell 0.07 stop 48000, reduces']);
  });
});

test('A take-profit is placed again by a relay that was killed after it had cancelled the one before', async () => {
  await relay.say(withTwoTargets);
  await relay.goOn(30);
  let hasCancelled = false;
  before = (path) => {
    hasCancelled ||= path.endsWith('/order/cancel');
    if (hasCancelled && path.endsWith('/collateral/limit')) throw new Error('killed');
  };
  await expect(relay.say({ ...reduction, quantity: '0.02' })).rejects.toThrow('killed');
  before = () => undefined;
  expect((await relay.open()).filter((text) => text.includes(' at '))).toHaveLength(1);
  // Until it is proven that its successor does not exist, and following asks again.
  for (let minute = 0; minute < 20; minute += 1) {
    await relay.reconcile();
    relay.clock.advance(57_000);
    await relay.goOn(3);
  }

  expect(await relay.open()).toEqual([
    'sell 0.04 at 52000, reduces',
    'sell 0.04 at 53000, reduces',
    'sell 0.08 stop 48000, reduces',
  ]);
});

test('A take-profit that fills while it is to be replaced has sold its share, and is not placed again', async () => {
  await relay.say(withTwoTargets);
  await relay.goOn(30);
  // The stop-loss is replaced first. The take-profit fills after it was planned to replace it, and before the lists are read to
  // cancel it: none of them shows it.
  const steps = ['/order/cancel', '/positions/open', '/conditional-orders'];
  before = (path) => {
    if (steps[0] !== undefined && path.endsWith(steps[0])) steps.shift();
    if (steps.length > 0) return;
    before = () => undefined;
    relay.fill('52000', '0.05');
  };
  await relay.say({ ...reduction, quantity: '0.02' });
  // Before following has seen the fill.
  await relay.say({ ...reduction, quantity: '0.01' });
  const atOnce = await relay.open();
  await relay.goOn(120);

  expect(atOnce).toEqual(['sell 0.02 at 53000, reduces', 'sell 0.02 stop 48000, reduces']);
  expect(await relay.held()).toBe('0.02');
  expect(await relay.open()).toEqual(['sell 0.02 at 53000, reduces', 'sell 0.02 stop 48000, reduces']);
});
