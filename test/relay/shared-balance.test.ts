import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { listRecords } from '../../lib/ledger/order-record.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { createUncoveredSpot } from '../../lib/relay/follow/uncovered-spot.ts';
import { heldIn, spotPosition } from '../../lib/relay/protect/read-ground.ts';
import { isBalanceTrusted } from '../../lib/relay/protect/trust-balance.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { testConfig } from '../support/world.ts';

/**
 * Two markets with one base currency. The paper exchange has no such pair: what the relay bought in one market is shown as
 * bought in another one, too.
 */
const settings = parseConfig({
  ...testConfig,
  accounts: { main: { mode: 'live', maxSlippage: '0.5%', markets: { BTC_USDT: { tradesOn: 'spot' } } } },
}).settings;

let relay: Aftermath;
/** Oldest first: a buy of 0.1 with its stop-loss in BTC_USDT, and the same in BTC_EUR. */
let entries: readonly Entry[];
beforeEach(async () => {
  relay = await openAftermath('live', undefined, undefined, settings);
  const buy = { ticker: 'BTCUSDT', action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' };
  await relay.send(JSON.stringify({ ...buy, id: 'dollars' }));
  const [stop] = await relay.services.ledger.waiting('main', 'BTC_USDT', 1);
  await executeSignal(relay.services, {
    account: 'main',
    signalId: stop?.signalId ?? '',
    market: 'BTC_USDT',
  });
  const bought = await relay.services.executions.followed('main', 10);
  entries = [...bought, ...bought.map(inEuro)];
});
afterEach(() => relay.close());

const inEuro = (entry: Entry): Entry => {
  const { signal } = entry;
  if (signal === null) throw new Error('it has no signal');
  const of = signal.action === 'protect' ? { of: 'euros' } : {};
  const signalId = entry.signalId.replace('dollars', 'euros');
  return { ...entry, signalId, signal: { ...signal, ...of, market: 'BTC_EUR' } as typeof signal };
};
const buysOf = (all: readonly Entry[]) => all.filter(({ signal }) => signal?.action === 'order');
const protectable = (of: readonly Entry[], free: string, held: Readonly<Record<string, string>> = {}) =>
  ['BTC_USDT', 'BTC_EUR'].map((market) => {
    const stops = new Map(Object.entries(held).map(([name, amount]) => [name, parseDecimal(amount)]));
    const balance = { available: parseDecimal(free), freeze: zero };
    return formatDecimal(spotPosition(market, balance, stops, listRecords(of)).amount);
  });

describe('What can be protected of a balance that two markets share', () => {
  test('is all of both where the balance has both', () => {
    const [dollars = '', euros = ''] = protectable(buysOf(entries), '0.1998');

    expect([dollars, euros]).toEqual(['0.0999', '0.0999']);
  });

  test('is together no more than the balance: the newest buy comes first', () => {
    expect(protectable(buysOf(entries), '0.0999')).toEqual(['0', '0.0999']);
    expect(protectable(buysOf(entries), '0.15')).toEqual(['0.0501', '0.0999']);
    expect(protectable(buysOf(entries).toReversed(), '0.0999')).toEqual(['0.0999', '0']);
  });

  test('is what the stop-loss of the one holds, and only the rest for the other', () => {
    expect(protectable(entries, '0.04', { BTC_USDT: '0.0999' })).toEqual(['0.0999', '0.04']);
    expect(protectable(entries, '0', { BTC_USDT: '0.0999', BTC_EUR: '0.0999' })).toEqual([
      '0.0999',
      '0.0999',
    ]);
  });
});

test('What is held for a market is the balance without what belongs to the other one', () => {
  const balance = { available: parseDecimal('0.14'), freeze: parseDecimal('1.0999') };
  const held = new Map([['BTC_USDT', parseDecimal('0.0999')]]);
  const wholeIn = (market: string) => {
    const whole = spotPosition(market, balance, held, listRecords(entries)).balance;
    return whole === undefined ? null : formatDecimal(whole);
  };

  expect([wholeIn('BTC_USDT'), wholeIn('BTC_EUR')]).toEqual(['1.14', '1.14']);
});

test('What a stop-loss holds is counted in its own market', async () => {
  const { orders: open } = await listOpenOrders(await relay.services.exchangeFor('main'), null, {});
  const view = { entries, open, taken: new Set<number>() };

  expect(formatDecimal(heldIn('BTC_USDT', view))).toBe('0.0999');
});

test('A balance that may not show a buy of the other market yet decides nothing', () => {
  relay.clock.advance(20_000);
  const dollars = entries.filter(({ signal }) => signal?.market === 'BTC_USDT');
  const euros = entries
    .filter(({ signal }) => signal?.market === 'BTC_EUR')
    .map((entry) => ({
      ...entry,
      steps: entry.steps.map((step) => ({ ...step, atMs: relay.clock.nowMs() })),
    }));
  const trusts = (of: readonly Entry[]) =>
    isBalanceTrusted(parseDecimal('0.05'), of, 'BTC_USDT', relay.clock.nowMs() + 1000);

  expect([trusts(dollars), trusts([...dollars, ...euros])]).toEqual([true, false]);
});

test('Nothing counts as unprotected in one market that the stop-loss of the other holds', async () => {
  const { orders: open } = await listOpenOrders(await relay.services.exchangeFor('main'), null, {});
  const lone = [
    ...entries.filter(({ signal }) => signal?.market === 'BTC_USDT'),
    ...buysOf(entries).slice(1),
  ];
  const balances = { BTC: { available: parseDecimal('0'), freeze: parseDecimal('0.0999') } };
  const uncovered = createUncoveredSpot(balances, open, lone);
  const of = (signalId: string, market: string) => {
    const entry = lone.find((one) => one.signalId === signalId);
    const one = { market, entry } as Parameters<typeof uncovered.take>[0];
    return formatDecimal(uncovered.take(one, false)?.uncovered ?? parseDecimal('-1'));
  };

  expect([of('dollars', 'BTC_USDT'), of('euros', 'BTC_EUR')]).toEqual(['0', '0']);
});

test('What a triggered stop-loss has sold counts as soon as a list shows it: the rest alone has none', async () => {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1.0999'));
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.04'));
  const { orders: open } = await listOpenOrders(await relay.services.exchangeFor('main'), null, {});
  const own = entries.filter(({ signal }) => signal?.market === 'BTC_USDT');
  const balances = { BTC: { available: parseDecimal('1'), freeze: parseDecimal('0.0599') } };
  const entry = own.find(({ signalId }) => signalId === 'dollars');
  const one = { market: 'BTC_USDT', entry } as Parameters<ReturnType<typeof createUncoveredSpot>['take']>[0];
  const naked = createUncoveredSpot(balances, open, own).take(one, false);

  expect(open.map(({ remaining }) => formatDecimal(remaining))).toEqual(['0.0599']);
  expect([naked?.position, naked?.uncovered].map((amount) => amount && formatDecimal(amount))).toEqual([
    '0.0599',
    '0.0599',
  ]);
});
