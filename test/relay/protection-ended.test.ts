import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** What protected a position that is gone is not looked at again when a later one is reduced or closed. */
const order = { orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const buy = { ...order, action: 'buy' };
const close = { action: 'close', maxSlippage: '0.5%' };
const half = { ...order, action: 'sell', quantity: '0.05', reduceOnly: true };

let relay: KeptRelay;
beforeEach(async () => {
  known = new Set();
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

/** The signals of the relay itself since the last call: `s1:stop placed`. */
let known = new Set<string>();
async function asked(): Promise<readonly string[]> {
  const { entries } = await relay.services.ledger.list({ account: 'main', limit: 200 });
  const fresh = entries.filter(
    ({ signal, signalId }) => signal?.action === 'protect' && !known.has(signalId),
  );
  known = new Set([...known, ...fresh.map(({ signalId }) => signalId)]);
  return fresh.map(({ signalId, status }) => `${signalId.replace(/-t\w+$/, '')} ${status}`).sort();
}

test('What an alert asked for a position that is closed is asked for at no later close', async () => {
  await relay.say(buy);
  await relay.goOn(30);
  await relay.say({ action: 'protect', stopLoss: '48500', takeProfits: [{ price: '53000', share: '50%' }] });
  expect(await asked()).toEqual(['s2:stop placed', 's2:target1 placed']);
  await relay.goOn(12);
  await relay.say(half);
  expect(await asked()).toEqual(['s2:stop placed', 's2:target1 placed']);
  await relay.goOn(12);
  await relay.say(close);
  expect([await relay.open(), await asked()]).toEqual([[], []]);
  for (let times = 0; times < 2; times += 1) {
    await relay.goOn(30);
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say(half);
    await relay.goOn(12);
    await relay.say(close);
  }

  expect([await relay.held(), await asked(), relay.alarmNames()]).toEqual(['flat', [], []]);
});

test.each([['never'], ['end']] as const)(
  'Entries whose position is gone are not asked for by a reduction of a later one (exits made: %s)',
  async (madeAt) => {
    relay.paper.control.setExits({ madeAt });
    await relay.say({ ...buy, stopLoss: '49000', takeProfit: '52000' });
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(30);
    expect(await relay.open()).toEqual([]);
    await relay.say({ ...buy, stopLoss: '48000' });
    await relay.goOn(30);
    await asked();

    await relay.say(half);

    expect(await asked()).toEqual(['s2:stop placed']);
    expect(await relay.open()).toEqual(['sell 0.05 stop 48000, reduces']);
  },
);

test('The exits of a young entry, which no list has shown yet, are looked at after its reduction', async () => {
  await relay.say({ ...buy, stopLoss: '49000' });
  await relay.say(half);

  expect(await asked()).toHaveLength(1);
});
