import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Entry } from '../../lib/ledger/entry.ts';
import { tellChange } from '../../lib/notices/tell-change.ts';
import { askProtection } from '../../lib/relay/protect/ask-protection.ts';
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

/** The headlines of the notices about how a signal has ended. */
function toldOf(entry: Entry): readonly string[] {
  const { account, signalId: id } = entry;
  const news = entry.steps.flatMap((step) =>
    tellChange({ kind: 'outcome', id, account, atMs: step.atMs, entry, step }),
  );
  return news.map(({ headline }) => headline);
}

test('Protection that the relay looks at and that fits is no news; what it places is, and what became of a turned position', async () => {
  await relay.say({ ...buy, stopLoss: '49000' });
  await relay.goOn(30);
  await relay.say(half);
  const need = {
    of: 's1',
    role: 'stop_loss',
    account: 'main',
    market: 'BTC_USDT',
    ticker: 'BTC_USDT',
  } as const;
  relay.clock.advance(5000);
  await askProtection(relay.services, [{ ...need, strategy: undefined, positionSide: undefined }]);
  await relay.runLine();
  const { entries } = await relay.services.ledger.list({ account: 'main', limit: 200 });
  const [idle, placed] = ['satisfied', 'placed'].map((wanted) =>
    entries.find(({ signal, status }) => signal?.action === 'protect' && status === wanted),
  );
  if (idle?.signal?.action !== 'protect' || placed === undefined) throw new Error('one of them is missing');

  expect(toldOf(idle)).toEqual([]);
  expect(toldOf(placed)).toEqual(['stop-loss of BTC_USDT: accepted by the exchange']);
  expect(toldOf({ ...idle, signal: { ...idle.signal, turnedBy: 1 } })).toEqual([
    'what was turned by the stop-loss of BTC_USDT: nothing to do, no order was sent',
  ]);
});
