import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { MarketLimits } from '../../lib/model/account.ts';
import { staleAlarm } from '../../lib/relay/settle/settle-entry.ts';
import { checkStaleness } from '../../lib/signals/staleness.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';
import { spotSettings } from '../support/spot-settings.ts';
import { testConfig } from '../support/world.ts';

/** On spot every sale reduces what is held: one that ends without an order leaves coins that a strategy wanted to be rid of. */
let relay: Aftermath;
beforeEach(() => open());
afterEach(() => relay.close());

async function open(market: Partial<Record<keyof MarketLimits, unknown>> = {}): Promise<void> {
  await relay?.close();
  const main = {
    mode: 'live',
    maxSlippage: '0.5%',
    allowUnguardedMarket: true,
    markets: { BTC_USDT: { tradesOn: 'spot', ...market } },
  };
  const { settings } = parseConfig({ ...testConfig, accounts: { main } });
  relay = await openAftermath('live', undefined, undefined, settings);
  hold('0.1');
}

function hold(btc: string): void {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(btc));
}

async function held(): Promise<string> {
  const { BTC } = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  return formatDecimal(BTC?.available.plus(BTC.freeze) ?? parseDecimal('0'));
}

const sell = { action: 'sell', orderType: 'market', quantity: '0.1' };
const buy = { ...sell, action: 'buy' };
const sellAll = { action: 'sell', orderType: 'market', quantityPercent: '100%' };
const limitSale = { ...sell, orderType: 'limit', limitPrice: '60000' };

let count = 0;
async function send(members: object, waitMs = 0): Promise<Entry> {
  count += 1;
  const signalId = `s${count}`;
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: signalId, ...members }));
  relay.clock.advance(waitMs);
  await relay.runLine();
  return await relay.entry(signalId);
}

const untold = () => relay.alarms.filter(({ name }) => name === 'signal_not_executed');

describe('Coins that were to be sold, and stand, are an alarm', () => {
  const sales: readonly (readonly [string, object])[] = [
    ['at market', sell],
    ['of all', sellAll],
    ['marked as one that only reduces', { ...sell, reduceOnly: true }],
    ['at a limit', limitSale],
    ['at a stop', { ...sell, orderType: 'stop_market', stopPrice: '45000' }],
    ['as an exit', { ...sell, action: 'exit_long' }],
  ];

  test.each(sales)('when a sale %s came too late', async (_, sale) => {
    const sold = await send(sale, 2 * minuteMs);

    expect([sold.status, await held()]).toEqual(['denied', '0.1']);
    expect(untold()).toEqual([
      { name: 'signal_not_executed', account: 'main', market: 'BTC_USDT', signalId: sold.signalId },
    ]);
  });

  test('when nobody came to execute it', async () => {
    await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: 'forgotten', ...sell }));
    relay.clock.advance(60 * minuteMs);
    await relay.reconcile();

    expect([(await relay.entry('forgotten')).status, untold().length]).toEqual(['denied', 1]);
  });

  test('when the exchange refuses its order', async () => {
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-limit', count: 1 });

    expect((await send(sell)).status).toBe('rejected');
    expect([await held(), untold().length]).toEqual(['0.1', 1]);
  });

  test('when less is held than it asks for', async () => {
    hold('0.05');

    expect((await send(sell)).status).toBe('rejected');
    expect([await held(), untold().length]).toEqual(['0.05', 1]);
  });

  test('when a resting sale holds them', async () => {
    await send({ ...limitSale, limitPrice: '70000' });

    expect([(await send(sell)).status, untold().length]).toEqual(['rejected', 1]);
    expect([(await send(sellAll)).status, untold().length]).toEqual(['denied', 2]);
  });

  test('when nothing of it could be sent', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'order-book', probability: 1 });

    expect((await send(sell)).status).toBe('not_sent');
    expect([await held(), untold().length]).toEqual(['0.1', 1]);
  });

  test('when its order never arrived', async () => {
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'spot-limit', count: 1 });
    const { signalId, status } = await send(sell);
    expect(status).toBe('unknown');
    for (let minute = 0; minute < 30 && (await relay.entry(signalId)).status === 'unknown'; minute += 1) {
      relay.clock.advance(minuteMs);
      await relay.reconcile();
    }

    expect((await relay.entry(signalId)).status).toBe('not_placed');
    expect([await held(), untold().length]).toEqual(['0.1', 1]);
  });

  test('when the account is paused, as on margin', async () => {
    const pause = { sinceMs: relay.clock.nowMs(), reason: 'a drill', kind: 'everything' } as const;
    await relay.services.ledger.writePause('main', pause);

    expect([(await send(sell)).status, untold().length]).toEqual(['denied', 1]);
  });

  test('when it is larger than the largest order of the account', async () => {
    await open({ maxAmount: '0.05' });

    expect([(await send(sell)).status, untold().length]).toEqual(['denied', 1]);
  });

  test('when the balance need not show yet what was bought', async () => {
    hold('0');
    relay.clock.advance(minuteMs);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'trade-balance',
      delayMs: 8000,
      probability: 1,
    });
    expect((await send(buy)).status).toBe('placed');

    expect([(await send(sellAll, 2000)).status, untold().length]).toEqual(['denied', 1]);
  });

  test('before the outcome is stored', async () => {
    let alarmsBefore = 0;
    const ledger = override(relay.services.ledger, {
      move: async (...args) => {
        alarmsBefore = untold().length;
        return await relay.services.ledger.move(...args);
      },
    });
    await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: 'late', ...sell }));
    relay.clock.advance(2 * minuteMs);
    await relay.executeWith({ ...relay.services, ledger }, 'late');

    expect([(await relay.entry('late')).status, alarmsBefore]).toEqual(['denied', 1]);
  });

  test('in words of spot, which say nothing of its age: a later try tells the same', () => {
    const signal = {
      action: 'order',
      side: 'sell',
      orderType: 'market',
      size: { unit: 'base', quantity: '0.1' },
      ticker: 'BTCUSDT',
      market: 'BTC_USDT',
      timeMs: null,
      maxLagMs: 5000,
    } as const;
    const entry = { account: 'main', signalId: 'exit', signal };
    const denial = checkStaleness(signal, { receivedAtMs: noonMs, defaultMaxLagMs: 60_000 }, noonMs + 9_065);

    expect(denial && staleAlarm({ settings: spotSettings }, entry, denial).alarm?.message).toBe(
      'signal "exit" was to sell coins on spot in BTC_USDT, and was not carried out: the alert is too old: at most 5 s is allowed; raise maxLag if that delay is acceptable; it has sold nothing, and how much of them is held is not known here: look at the balance, and send the sale again, or sell by hand, if they are still to go',
    );
  });
});

describe('A sale that ends without an order is no alarm', () => {
  test.each([
    ['of all of an empty balance', sellAll, '0', 'denied'],
    ['of all of less than the market takes', sellAll, '0.00000999', 'denied'],
    ['of an amount, with an empty balance', sell, '0', 'rejected'],
  ])('%s', async (_, sale, btc, status) => {
    hold(btc);
    relay.clock.advance(longestPositionLagMs);

    expect((await send(sale)).status).toBe(status);
    expect(relay.alarms).toEqual([]);
  });

  test.each([
    ['all', sellAll, 'denied'],
    ['as much', sell, 'satisfied'],
  ])('of %s, when a stop-loss has sold it', async (_, sale, status) => {
    hold('0');
    await send({ ...buy, stopLoss: '48000' });
    await relay.goOn(12);
    relay.setPrice('47900');
    await relay.goOn(30);
    expect(await held()).toBe('0');

    expect((await send(sale)).status).toBe(status);
    expect(untold()).toEqual([]);
  });

  test('of a strategy that has bought nothing, beside what another one holds', async () => {
    hold('0');
    await send({ ...buy, strategy: 'a', stopLoss: '48000' });
    await relay.goOn(30);

    expect((await send({ ...sell, strategy: 'b' })).status).toBe('denied');
    expect(untold()).toEqual([]);
  });

  test('where the account may sell nothing', async () => {
    await open({ sides: ['buy'] });

    expect((await send(sell)).status).toBe('denied');
    // Nor one that came too late.
    expect((await send(sell, 2 * minuteMs)).status).toBe('denied');
    expect(untold()).toEqual([]);
  });

  test('where a sale of two seconds ago has sold it', async () => {
    expect((await send(sell)).status).toBe('placed');
    expect((await send(sell, 2000)).status).toBe('rejected');
    expect(untold()).toEqual([]);
  });
});

test('A buy on spot that ends without an order is no alarm', async () => {
  expect((await send(buy, 2 * minuteMs)).status).toBe('denied');
  expect(relay.alarms).toEqual([]);
});
