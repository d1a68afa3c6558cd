import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DueKey, Ledger } from '../../lib/ledger/ledger.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import type { ExecuteServices } from '../../lib/relay/services.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { settingsWith } from '../support/limited-relay.ts';
import { override } from '../support/override.ts';

/** What an alert buys in each market, for about 600 USDT. */
const amounts = { BTC_USDT: '0.012', ETH_USDT: '0.2', SOL_USDT: '4', BTC_PERP: '0.01' };
type Market = keyof typeof amounts;
const markets = Object.keys(amounts) as readonly Market[];
const margin = { tradesOn: 'margin' } as const;
const limited = (maxOpenNotional: string) =>
  settingsWith({
    maxOpenNotional,
    markets: { BTC_USDT: margin, ETH_USDT: margin, SOL_USDT: margin, BTC_PERP: { tradesOn: 'futures' } },
  });

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath('live', undefined, undefined, limited('1000'));
});
afterEach(() => relay.close());

/** @param id absent: the market */
async function receive(market: Market, id: string = market): Promise<DueKey> {
  const ticker = market === 'BTC_PERP' ? 'BTCUSDT.P' : market.replace('_', '');
  const buy = { action: 'buy', orderType: 'market', maxSlippage: '1%', quantity: amounts[market] };
  await relay.receiveAll(JSON.stringify({ id, ticker, ...buy }));
  return { account: 'main', signalId: id, market };
}

/** The services of one process, whose ledger does these things otherwise. */
const withLedger = (change: Partial<Ledger>): ExecuteServices => ({
  ...relay.services,
  ledger: override(relay.services.ledger, change),
});

/** Services with which so many orders are begun before any of them looks at the others. */
function beginTogether(count: number): ExecuteServices {
  const all = Promise.withResolvers<void>();
  let left = count;
  return withLedger({
    async start(...args) {
      const started = await relay.services.ledger.start(...args);
      left -= 1;
      if (left === 0) all.resolve();
      await all.promise;
      return started;
    },
  });
}

async function outcomeOf(signalId: string): Promise<string> {
  const { status, steps } = await relay.entry(signalId);
  const { rule } = (steps.at(-1)?.evidence ?? {}) as { readonly rule?: string };
  return status === 'placed' ? status : `${status}: ${rule ?? ''}`;
}

const denied = 'denied: max_open_notional';
const created = () => relay.asked.filter((path) => path.includes('/order/collateral/'));

describe('Of orders of several markets that are begun at once', () => {
  test.each([
    ['in which they were stored', markets],
    ['of which the last one was stored first', markets.toReversed()],
  ])('the first one goes on, and the others are denied, in the order %s', async (_, stored) => {
    const keys: DueKey[] = [];
    for (const market of stored) {
      keys.push(await receive(market));
      relay.clock.advance(1);
    }
    const services = beginTogether(keys.length);

    await Promise.all(keys.map((key) => executeSignal(services, key)));

    expect(await Promise.all(stored.map(outcomeOf))).toEqual(['placed', denied, denied, denied]);
    expect(created()).toHaveLength(1);
  });

  test('the id decides where they were stored in the same millisecond', async () => {
    const keys = [await receive('BTC_USDT', 'b'), await receive('ETH_USDT', 'a')];
    const services = beginTogether(keys.length);

    await Promise.all(keys.map((key) => executeSignal(services, key)));

    expect([await outcomeOf('a'), await outcomeOf('b')]).toEqual(['placed', denied]);
  });

  test('as many go on as there is room for', async () => {
    Object.assign(relay.services, { settings: limited('1300') });
    const keys: DueKey[] = [];
    for (const market of markets) keys.push(await receive(market));
    const services = beginTogether(keys.length);

    await Promise.all(keys.map((key) => executeSignal(services, key)));

    const outcomes = await Promise.all(markets.map(outcomeOf));
    expect(outcomes.toSorted()).toEqual([denied, denied, 'placed', 'placed']);
    expect(created()).toHaveLength(2);
  });

  test('one goes on, too, when nothing holds them together', async () => {
    const keys = await Promise.all(markets.map((market) => receive(market)));

    await Promise.all(keys.map((key) => executeSignal(relay.services, key)));

    const outcomes = await Promise.all(markets.map(outcomeOf));
    expect(outcomes.toSorted()).toEqual([denied, denied, denied, 'placed']);
  });
});

describe('An order that was stored first is denied', () => {
  test('when a later one is sent before it is begun', async () => {
    const first = await receive('BTC_USDT');
    relay.clock.advance(1);
    const later = await receive('ETH_USDT');
    const services = withLedger({
      async start(...args) {
        await executeSignal(relay.services, later);
        return await relay.services.ledger.start(...args);
      },
    });

    await executeSignal(services, first);

    expect([await outcomeOf('BTC_USDT'), await outcomeOf('ETH_USDT')]).toEqual([denied, 'placed']);
  });

  test('when a later one has filled, and was followed to its end, before it is begun', async () => {
    const first = await receive('BTC_USDT');
    relay.clock.advance(1);
    const later = await receive('ETH_USDT');
    const services = withLedger({
      async start(...args) {
        await executeSignal(relay.services, later);
        relay.clock.advance(1_000);
        await relay.follow();
        expect((await relay.entry('ETH_USDT')).execution).toMatchObject({ isFollowed: false });
        return await relay.services.ledger.start(...args);
      },
    });

    await executeSignal(services, first);

    expect([await outcomeOf('BTC_USDT'), await outcomeOf('ETH_USDT')]).toEqual([denied, 'placed']);
  });

  test('when a later one has found room before it was begun, and is being sent', async () => {
    const first = await receive('BTC_USDT');
    relay.clock.advance(1);
    const later = await receive('ETH_USDT');
    const [isPlanned, hasLooked, isBegun] = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const ofFirst = withLedger({
      async start(...args) {
        isPlanned?.resolve();
        await hasLooked?.promise;
        const started = await relay.services.ledger.start(...args);
        isBegun?.resolve();
        return started;
      },
    });
    let looks = 0;
    const ofLater = withLedger({
      async openOrders(...args) {
        const open = await relay.services.ledger.openOrders(...args);
        looks += 1;
        // It lists each market for its plan, and once more after it is begun.
        if (looks > markets.length) {
          hasLooked?.resolve();
          await isBegun?.promise;
        }
        return open;
      },
    });

    const firstDone = executeSignal(ofFirst, first);
    await isPlanned?.promise;
    await Promise.all([firstDone, executeSignal(ofLater, later)]);

    expect([await outcomeOf('BTC_USDT'), await outcomeOf('ETH_USDT')]).toEqual([denied, 'placed']);
    expect(created()).toHaveLength(1);
  });

  test('while it is not known what became of a later one whose process died, within two seconds', async () => {
    const first = await receive('BTC_USDT');
    relay.clock.advance(1);
    const later = await receive('ETH_USDT');
    const dies = withLedger({
      async start(...args) {
        await relay.services.ledger.start(...args);
        throw new Error('the process died');
      },
    });
    const services = withLedger({
      async start(...args) {
        await executeSignal(dies, later).catch(() => undefined);
        return await relay.services.ledger.start(...args);
      },
    });
    const atMs = relay.clock.nowMs();

    await executeSignal(services, first);

    expect(await outcomeOf('BTC_USDT')).toBe(denied);
    expect((await relay.entry('ETH_USDT')).status).toBe('sending');
    expect(relay.clock.nowMs() - atMs).toBeLessThanOrEqual(2_000);
    expect(created()).toEqual([]);
  });
});
