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
