import { afterEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { clearEntries } from '../../lib/relay/position/clear-entries.ts';
import { ClearedEntries } from '../../lib/relay/position/cleared-entries.ts';
import { type PositionEntry, planPosition } from '../../lib/relay/position/plan-position.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

let relay: KeptRelay;
afterEach(() => relay.close());

test('A close that has long waited for the position cancels the entry that rests all the same', async () => {
  relay = await openKeptRelay();
  await relay.say({ action: 'buy', orderType: 'limit', price: '49900', quantity: '0.1' });
  const { services, clock } = relay;
  await acceptOne(services.ledger, orderEntry('close'));
  const closing = {
    account: 'main',
    market: 'BTC_USDT',
    signalId: 'close',
    position: { amount: parseDecimal('0.04'), side: null },
  };
  const startedAtMs = clock.nowMs();
  clock.advance(9_000);
  const cleared = new ClearedEntries(startedAtMs);

  expect(await clearEntries(services, await services.exchangeFor('main'), closing, cleared)).toBe(true);
  expect([await relay.open(), cleared.alarm, relay.alarmNames()]).toEqual([[], null, []]);
});

test('A close that no store has cancels nothing', async () => {
  relay = await openKeptRelay();
  await relay.say({ action: 'buy', orderType: 'limit', price: '49900', quantity: '0.1' });
  const { services, clock } = relay;
  const position = { amount: parseDecimal('0.04'), side: null };
  const closing = { account: 'main', market: 'BTC_USDT', signalId: 'lost', position };
  const cleared = new ClearedEntries(clock.nowMs());

  expect(await clearEntries(services, await services.exchangeFor('main'), closing, cleared)).toBe(false);
  expect(await relay.open()).toHaveLength(1);
});

test('A close that another worker has carried out meanwhile cancels nothing that was sent after it', async () => {
  relay = await openKeptRelay();
  const closed = await relay.say({ action: 'close', maxSlippage: '1%' });
  await relay.say({ action: 'buy', orderType: 'limit', price: '49900', quantity: '0.1' });
  const { services, clock } = relay;
  const closing = {
    account: 'main',
    market: 'BTC_USDT',
    signalId: closed.signalId,
    position: { amount: parseDecimal('0'), side: null },
  };

  const cleared = new ClearedEntries(clock.nowMs());

  expect(await clearEntries(services, await services.exchangeFor('main'), closing, cleared)).toBe(false);
  expect(await relay.open()).toHaveLength(1);
});

test('nor does it end what protects an entry that was sent after it', async () => {
  relay = await openKeptRelay();
  await relay.say({ action: 'close', maxSlippage: '1%' });
  await relay.say({ action: 'buy', quantity: '0.1', maxSlippage: '1%', stopLoss: '2%', takeProfit: '4%' });
  const { services, clock } = relay;
  // A list that lacks the position is doubted for so long.
  clock.advance(3 * longestPositionLagMs + 1);
  const entry = await services.ledger.read({ account: 'main', signalId: 's1' });
  const account = services.settings.accounts['main'];
  if (entry === null || account === undefined) throw new Error('the close is in the ledger');
  const stale = {
    ...services,
    exchangeFor: async (name: string) => flatten(await services.exchangeFor(name)),
  };

  const plan = await planPosition(stale, account, entry as PositionEntry, new ClearedEntries(clock.nowMs()));

  expect(plan).toMatchObject({ verdict: 'ended', outcome: { status: 'satisfied' } });
  expect(await relay.open()).toHaveLength(2);
});

/** Its list of positions is the one that the close had read. */
function flatten(client: ExchangeClient): ExchangeClient {
  const call: ExchangeClient['call'] = async (endpoint, params, options) => {
    const result = await client.call(endpoint, params, options);
    return endpoint.name === 'open-positions'
      ? ({ ...(result as object), records: [] } as typeof result)
      : result;
  };
  return { ...client, prepare: client.prepare, call };
}
