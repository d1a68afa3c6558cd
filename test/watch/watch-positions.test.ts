import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Alarm } from '../../lib/base/alarms.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { WireOutcome } from '../../lib/base/wire.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';
import { testConfig } from '../support/world.ts';

const positionsPath = '/api/v4/collateral-account/positions/open';
const dealsPath = '/api/v4/trade-account/executed-history';
const marketsPath = '/api/v4/public/markets';

let relay: Aftermath;
/** What the exchange reports instead, by path. */
let rewrites: Record<string, (body: Record<string, unknown>[]) => unknown>;

/** Reports of the exchange that the paper exchange cannot make: it liquidates nobody. */
beforeEach(async () => {
  rewrites = {};
  relay = await openAftermath();
  const client = createExchangeClient({
    address: relay.paper.url,
    dialect: 'live',
    credentials: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
    clock: relay.clock,
    random: () => 0,
    transport: override(relay.transport, {
      async send(request): Promise<WireOutcome> {
        const outcome = await relay.transport.send(request);
        const rewrite = rewrites[request.path];
        if (rewrite === undefined || outcome.kind !== 'answered') return outcome;
        return { ...outcome, body: JSON.stringify(rewrite(JSON.parse(outcome.body))) };
      },
    }),
  });
  relay.services.exchangeFor = async () => client;
});
afterEach(() => relay.close());

const run = (services = relay.services) => reconcileSignals(services);
const runFor = async (minutes: number, services = relay.services) => {
  for (let minute = 0; minute < minutes; minute += 1) {
    relay.clock.advance(minuteMs);
    await run(services);
  }
};
const alert = {
  id: 'buy-1',
  ticker: 'BTCUSDT',
  action: 'buy',
  orderType: 'market',
  maxSlippage: '1%',
  quantity: '0.02',
};
const open = () => relay.send(JSON.stringify(alert));
const askedFor = (path: string) => relay.asked.filter((asked) => asked === path).length;
const stored = () => relay.services.facts.read('main', 'positions');

/** A market order of the account that the relay knows nothing of. */
async function sellByHand(amount: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  await prepareOrder(client, {
    type: 'market',
    market: 'BTC_USDT',
    side: 'sell',
    amount: parseDecimal(amount),
    clientOrderId: 'by-hand',
  }).send();
}

describe('The watch', () => {
  test('looks at every account when more orders were sent of late than it reads', async () => {
    await open();
    const ledger = override(relay.services.ledger, {
      list: async (query) =>
        query.oldestFirst === true && query.status === 'placed'
          ? { entries: [], next: 'more', cursors: [] }
          : await relay.services.ledger.list(query),
    });
    await relay.follow();

    await run({ ...relay.services, ledger });

    expect(await stored()).toMatchObject({ positions: [{ market: 'BTC_USDT', amount: '0.02' }] });
  });

  test('asks for nothing while nothing is open', async () => {
    await runFor(90);

    expect(relay.asked.filter((path) => [positionsPath, dealsPath, marketsPath].includes(path))).toEqual([
      // By the test itself.
      marketsPath,
    ]);
  });

  test('reads the positions once an order was placed, each minute while one is open, and once more', async () => {
    await open();
    relay.asked.length = 0;
    await run();

    expect(await stored()).toMatchObject({
      readAtMs: noonMs,
      positions: [{ market: 'BTC_USDT', amount: '0.02', basePrice: '50000', liquidationState: null }],
    });
    await runFor(3);
    expect(askedFor(positionsPath)).toBe(4);
    expect(relay.alarms).toEqual([]);
  });

  test.each(['margin_call', 'liquidation', 'another word'])(
    'raises an alarm of the state %s at an interval, until it is over',
    async (state) => {
      await open();
      rewrites[positionsPath] = (positions) =>
        positions.map((position) => ({ ...position, liquidationState: state, liquidationPrice: '49000.5' }));

      await run();
      expect(relay.alarms).toMatchObject([
        {
          name: 'position_in_danger',
          account: 'main',
          market: 'BTC_USDT',
          liquidationState: state,
          liquidationPrice: '49000.5',
        },
      ]);
      await runFor(14);
      expect(relay.alarms).toHaveLength(1);
      await runFor(1);
      expect(relay.alarms).toHaveLength(2);
      const { [positionsPath]: endangered = (body: unknown) => body } = rewrites;
      delete rewrites[positionsPath];
      await runFor(1);
      rewrites[positionsPath] = endangered;
      await runFor(1);
      expect(relay.alarms).toHaveLength(3);
    },
  );

  test('does not take a position for closed while a record of it cannot be read', async () => {
    await open();
    await run();
    rewrites[positionsPath] = (positions) => positions.map((position) => ({ ...position, positionId: null }));

    await runFor(5);
    await sellByHand('0.01');
    await runFor(5);
    expect(relay.alarms).toEqual([]);
    expect(await stored()).toMatchObject({
      positions: [{ market: 'BTC_USDT', amount: '0.02' }],
      hidden: ['BTC_USDT'],
      wholeAtMs: noonMs,
    });

    delete rewrites[positionsPath];
    await runFor(5);
    expect(await stored()).toMatchObject({ positions: [{ amount: '0.01' }] });
    expect(relay.alarms).toEqual([]);
  });

  test('takes a position for closed although one in another market cannot be read', async () => {
    await open();
    await run();
    await sellByHand('0.02');
    rewrites[positionsPath] = () => [{ market: 'ETH_USDT', amount: 'much' }];
    rewrites[dealsPath] = () => [];

    await runFor(5);

    expect(relay.alarms).toMatchObject([{ name: 'position_reduced', cause: 'unexplained', to: '0' }]);
  });

  test('says that nobody knows why a position is smaller when a fill cannot be read', async () => {
    await open();
    await run();
    await sellByHand('0.01');
    rewrites[dealsPath] = (deals) => deals.map((deal) => ({ ...deal, amount: null }));

    await runFor(5);

    expect(relay.alarms).toMatchObject([{ name: 'position_reduced', cause: 'unread', to: '0.01' }]);
  });

  test('keeps the ids of the attached exits', async () => {
    await open();
    const tpsl = { takeProfitId: null, takeProfit: '', stopLossId: 12, stopLoss: '49000' };
    rewrites[positionsPath] = (positions) => positions.map((position) => ({ ...position, tpsl }));

    await run();

    expect(await stored()).toMatchObject({
      positions: [{ tpsl: { takeProfitId: null, takeProfit: null, stopLossId: 12, stopLoss: '49000' } }],
    });
  });

  test('raises the alarm again when the relay died before it noted the first', async () => {
    await open();
    rewrites[positionsPath] = (positions) =>
      positions.map((position) => ({ ...position, liquidationState: 'margin_call' }));
    const facts = override(relay.services.facts, {
      write: async () => {
        throw new Error('the relay died');
      },
    });
    await expect(run({ ...relay.services, facts })).rejects.toThrow('the relay died');

    await run();

    expect(relay.alarms.map(({ name }) => name)).toEqual(['position_in_danger', 'position_in_danger']);
  });

  test.each([
    ['adl_17_!', 'auto_deleveraging'],
    ['liquidation_17_!', 'liquidation'],
    ['delisting-17', 'delisting'],
  ])(
    'tells from the client order id %s that the exchange reduced the position',
    async (clientOrderId, cause) => {
      await open();
      await run();
      await sellByHand('0.01');
      rewrites[dealsPath] = (deals) =>
        deals.map((deal) => (deal['clientOrderId'] === 'by-hand' ? { ...deal, clientOrderId } : deal));

      await runFor(5);

      expect(relay.alarms).toMatchObject([{ name: 'position_reduced', cause, from: '0.02', to: '0.01' }]);
    },
  );

  test('says nothing of a position that an order of the account reduced, whoever placed it', async () => {
    await open();
    await run();
    await sellByHand('0.02');

    await runFor(5);

    expect(relay.alarms).toEqual([]);
    expect(await stored()).toMatchObject({ positions: [], unexplained: [] });
  });

  test.each([
    ['0.01', 'a position became smaller, and no fill'],
    ['0.05', 'a position was closed and the opposite one opened, and no fill'],
  ])('says what became of a position when nothing explains the sale of %s', async (sold, text) => {
    await open();
    await run();
    await sellByHand(sold);
    rewrites[dealsPath] = (deals) => deals.filter(({ side }) => side === 'buy');
    const messages: string[] = [];
    const alarms = { raise: ({ message }: Alarm) => void messages.push(message) };

    await runFor(5, { ...relay.services, alarms });

    expect(messages).toEqual([expect.stringContaining(text)]);
  });

  test('raises an alarm of a reduction that no fill explains within three minutes', async () => {
    await open();
    await run();
    await sellByHand('0.02');
    rewrites[dealsPath] = (deals) => deals.filter(({ side }) => side === 'buy');

    await runFor(3);
    expect(relay.alarms).toEqual([]);
    await runFor(2);

    expect(relay.alarms).toMatchObject([{ name: 'position_reduced', cause: 'unexplained', to: '0' }]);
  });

  test('raises an alarm when open positions cannot be read for long', async () => {
    await open();
    await run();
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-positions', probability: 1 });

    await runFor(14);
    expect(relay.alarms).toEqual([]);
    await runFor(16);

    expect(relay.alarms.map(({ name }) => name)).toEqual(['positions_unread', 'positions_unread']);
  });

  test('raises an alarm of a market that will be delisted, once a day and hourly at the end', async () => {
    await open();
    const delistedAt = (noonMs + 3 * 24 * 60 * minuteMs) / 1000;
    rewrites[marketsPath] = (markets) =>
      markets.map((market) => (market['name'] === 'BTC_USDT' ? { ...market, delistedAt } : market));

    await runFor(47 * 60);
    expect(relay.alarms.map(({ name }) => name)).toEqual(['market_delisted', 'market_delisted']);
    await runFor(4 * 60);

    expect(relay.alarms).toHaveLength(5);
    expect(relay.alarms.at(-1)).toMatchObject({ market: 'BTC_USDT', delistedAt: '2026-09-24T14:13:20.000Z' });
  });

  test('pauses an account whose positions lost as much as a day may lose, though no order comes', async () => {
    await open();
    const accounts = { main: { ...testConfig.accounts.main, maxDailyLoss: '100' } };
    const services = { ...relay.services, settings: parseConfig({ ...testConfig, accounts }).settings };
    await run(services);
    // The fee of the entry was 1.
    relay.setPrice('45050.01');
    await runFor(1, services);
    expect(await relay.services.ledger.readPause('main')).toBeNull();
    relay.setPrice('45050');

    await runFor(2, services);

    expect(await relay.services.ledger.readPause('main')).toMatchObject({
      reason: expect.stringContaining('lost 100 USDT'),
    });
    expect(relay.alarms).toMatchObject([
      { name: 'daily_loss', account: 'main', limit: '100', actual: '100' },
    ]);
  });
});

describe('A close that has found no position', () => {
  /** The lists of positions are so old that no close waits for them. */
  const lag = { fault: 'read_lag', endpoint: 'open-positions', delayMs: 40_000, probability: 1 } as const;
  const close = (id: string) =>
    relay.send(JSON.stringify({ id, ticker: 'BTCUSDT', action: 'close', maxSlippage: '1%' }));

  test('is told with the command once a list shows one that was there before', async () => {
    await open();
    relay.clock.advance(31_000);
    relay.paper.control.addFault(lag);
    expect(await close('close-1')).toMatchObject({ status: 'satisfied' });
    relay.paper.control.clearFaults();
    await runFor(3);

    expect(relay.alarms).toMatchObject([
      {
        name: 'close_incomplete',
        signalId: 'close-1',
        amount: '0.02',
        whatToDo: 'npx relay close BTC_USDT --account main',
      },
    ]);
  });

  test('is not told where a position was opened after it, or closed by the next one', async () => {
    await close('close-1');
    relay.clock.advance(60_000);
    await sellByHand('0.01');
    await runFor(2);
    await close('close-2');
    relay.clock.advance(20_000);
    await close('close-3');
    await runFor(2);

    expect(relay.alarms.map(({ name }) => name)).not.toContain('close_incomplete');
  });
});
