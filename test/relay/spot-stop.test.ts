import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import { spotStopMarket } from '../../lib/exchange/endpoints/spot-stop-market.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { tellChange } from '../../lib/notices/tell-change.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { isBalanceTrusted } from '../../lib/relay/protect/trust-balance.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';
import { testConfig } from '../support/world.ts';

/** On spot the exchange makes no stop-loss of an order: the relay places it for what a buy has bought, and keeps it. */
function settingsWith(account: object): Settings {
  const main = {
    mode: 'live',
    maxSlippage: '0.5%',
    allowUnguardedMarket: true,
    markets: { BTC_USDT: { tradesOn: 'spot' } },
    ...account,
  };
  return parseConfig({ ...testConfig, accounts: { main } }).settings;
}

let relay: Aftermath;
let count = 0;
/** Called before each request, whose path {@link Aftermath.asked} has by then. */
let kill: () => void = () => undefined;
async function open(account: object = {}): Promise<void> {
  count = 0;
  relay = await openAftermath('live', () => kill(), undefined, settingsWith(account));
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
}
beforeEach(() => open());
afterEach(() => relay.close());

const runLine = () => relay.runLine();
const goOn = (seconds: number) => relay.goOn(seconds);

/** Sends an alert and carries out what the relay asks for itself after it. */
async function send(members: object, afterMs = 1000): Promise<Entry> {
  count += 1;
  relay.clock.advance(afterMs);
  const signalId = `s${count}`;
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: signalId, ...members }));
  await executeSignal(relay.services, { account: 'main', signalId, market: 'BTC_USDT' });
  await runLine();
  return await relay.entry(signalId);
}

/** The clock of this machine, as far as the relay reads it. */
function setClockAhead(aheadMs: number): void {
  const { clock } = relay.services;
  Object.assign(relay.services, { clock: override(clock, { nowMs: () => clock.nowMs() + aheadMs }) });
}

async function client() {
  return await relay.services.exchangeFor('main');
}

async function sellByHand(amount: string): Promise<void> {
  const order = {
    market: 'BTC_USDT',
    side: 'sell' as const,
    amount: parseDecimal(amount),
    clientOrderId: '',
  };
  await (await client()).call(spotStockMarket, order);
}

async function listOpen() {
  return (await listOpenOrders(await client(), 'BTC_USDT', {})).orders;
}

/** The open orders of the market: `sell 0.1 stop 48000`. */
async function standing(): Promise<readonly string[]> {
  const orders = await listOpen();
  return orders
    .map(({ side, remaining, price, activationPrice }) =>
      activationPrice === undefined
        ? `${side} ${formatDecimal(remaining)} at ${formatDecimal(price)}`
        : `${side} ${formatDecimal(remaining)} stop ${formatDecimal(activationPrice)}`,
    )
    .sort();
}

async function held(): Promise<string> {
  const { BTC } = await (await client()).call(tradeBalance, {});
  return formatDecimal(BTC?.available.plus(BTC.freeze) ?? parseDecimal('0'));
}

async function cancelByHand(): Promise<void> {
  for (const { orderId } of await listOpen())
    await (await client()).call(cancelOrder, { market: 'BTC_USDT', orderId });
}

const alarmNames = () => relay.alarms.map(({ name }) => name);

const buy = { action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' };
const sell = { action: 'sell', orderType: 'market', quantity: '0.1' };
const whole = ['sell 0.0999 stop 48000'];

test('A share of the balance counts nothing twice when the balance is listed as it was before a stop-loss held a part', async () => {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.4'));
  relay.clock.advance(10_000);
  await send(buy);
  relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'trade-balance', delayMs: 5_000, count: 1 });

  const { status, steps } = await send({ action: 'sell', orderType: 'market', quantity: '25%' });

  expect([status, steps.find((step) => step.status === 'sending')?.facts?.amount]).toEqual(['placed', '0.1']);
});

test.each([
  ['at once where the response names its currency', '"USDT"', 0],
  ['once its fills are known where the response names no currency', 'null', 30],
])(
  'A spot buy whose fee is taken in another currency has a stop-loss for all of it, %s',
  async (_, asset, s) => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
    const { send: sendOn } = relay.transport;
    relay.transport.send = async (...asked) => {
      const outcome = await sendOn.apply(relay.transport, asked);
      if (outcome.kind !== 'answered') return outcome;
      const inQuote = (fee: string, name: string) => (text: string) =>
        text
          .replace(/"(dealFee|fee)":"0.0001"/, `"$1":"${fee}"`)
          .replace('"feeAsset":"BTC"', `"feeAsset":${name}`);
      const body = outcome.body
        .replaceAll(/[{][^{}]*"dealFee":"0.0001"[^{}]*[}]/g, inQuote('5', asset))
        .replaceAll(/[{][^{}]*"fee":"0.0001"[^{}]*[}]/g, inQuote('5', '"USDT"'));
      return Object.assign(outcome, { body });
    };
    await send(buy);
    await goOn(s);

    expect(await standing()).toEqual(['sell 0.1 stop 48000']);
    expect(alarmNames()).toEqual([]);
  },
);

describe('After a spot buy of 0.1 with a stop-loss', () => {
  beforeEach(async () => {
    const bought = await send(buy);
    expect(bought).toMatchObject({ status: 'placed' });
    expect(bought.steps.find(({ status }) => status === 'sending')?.note).toContain(
      'the relay places its stop-loss at 48000 for what it has bought, once it has filled',
    );
  });

  test('a stop-loss of what it bought without the fee stands at once, with a limit price beyond it', async () => {
    expect(await standing()).toEqual(whole);
    expect(await listOpen()).toMatchObject([{ type: 'stop_limit', price: parseDecimal('47520') }]);
    expect(alarmNames()).toEqual([]);
  });

  test('it stays as it is while the order is followed', async () => {
    const [before] = await listOpen();
    await goOn(180);

    expect(await standing()).toEqual(whole);
    expect((await listOpen())[0]?.orderId).toBe(before?.orderId);
    expect(alarmNames()).toEqual([]);
  });

  test('it sells what was bought, and nothing is left to follow', async () => {
    relay.setPrice('47900');
    await goOn(30);

    expect(await held()).toBe('0');
    expect(await standing()).toEqual([]);
    expect(alarmNames()).toEqual([]);
    await goOn(660);
    expect(await relay.services.executions.followed('main', 10)).toEqual([]);
  });

  test.each([
    ['at market', { orderType: 'market' }],
    ['at market in per cent of what is held', { quantity: undefined, quantityPercent: '100%' }],
  ])('a sale of all of it %s cancels the stop-loss first', async (_, size) => {
    const sold = await send({ ...sell, ...size });

    expect(sold.status).toBe('placed');
    expect(sold.steps.find(({ status }) => status === 'sending')?.note).toContain('which is cancelled first');
    expect(await held()).toBe('0');
    await goOn(60);
    expect(await standing()).toEqual([]);
    expect(alarmNames()).toEqual([]);
  });

  test('a sale of a part of it leaves a stop-loss for the rest', async () => {
    const sold = await send({ ...sell, quantity: '0.04' });

    expect(sold.status).toBe('placed');
    expect(await standing()).toEqual(['sell 0.0599 stop 48000']);
    await goOn(180);
    expect(await standing()).toEqual(['sell 0.0599 stop 48000']);
    expect(alarmNames()).toEqual([]);
  });

  test('two sales in one second leave a stop-loss for the rest at once', async () => {
    await send({ ...sell, quantity: '0.04' });
    await send({ ...sell, quantity: '0.02' }, 0);

    expect(await standing()).toEqual(['sell 0.0399 stop 48000']);
    await send({ ...sell, quantity: '0.01' }, 0);
    expect(await standing()).toEqual(['sell 0.0299 stop 48000']);
  });

  test('a sale that the exchange refuses leaves the stop-loss for all of it', async () => {
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-limit' });
    const sold = await send({ ...sell, quantity: '0.04' });

    expect(sold.status).toBe('rejected');
    expect(await standing()).toEqual(whole);
    await goOn(180);
    expect(await standing()).toEqual(whole);
    expect(alarmNames()).toEqual(['signal_not_executed']);
  });

  test('a sale that is refused while nothing can be placed has its stop-loss placed later', async () => {
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-limit' });
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-stop-limit' });
    await send({ ...sell, quantity: '0.04' });
    expect(await standing()).toEqual([]);
    expect(alarmNames()).toEqual(['signal_not_executed', 'protection_failed']);
    await goOn(60);

    expect(await standing()).toEqual(whole);
  });

  test('a sale of more than there is leaves the stop-loss, and is refused', async () => {
    const sold = await send({ ...sell, quantity: '0.2' });

    expect(sold.status).toBe('rejected');
    expect(await standing()).toEqual(whole);
  });

  test('a sale by hand of what the owner held besides changes nothing', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1.0999'));
    await sellByHand('0.5');
    await goOn(60);

    expect(await standing()).toEqual(whole);
  });

  test('a sale by an alert of all of it beside what the owner holds ends its stop-loss', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1.0999'));
    await send(sell);
    await goOn(60);

    expect(await standing()).toEqual([]);
    expect(await held()).toBe('0.9999');
    expect(alarmNames()).toEqual([]);
  });

  test('a stop-loss that the owner cancels is not placed again, and told', async () => {
    await goOn(30);
    await cancelByHand();
    await goOn(180);

    expect(await standing()).toEqual([]);
    expect(alarmNames()).toContain('position_unprotected');
  });

  test('a stop-loss that the owner cancels and a sale by hand of one half leave nothing to do', async () => {
    await goOn(30);
    await cancelByHand();
    await sellByHand('0.0999');
    await goOn(180);

    expect(await standing()).toEqual([]);
    expect(alarmNames()).toEqual([]);
  });

  test('a stop by hand beside it is never touched', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.1999'));
    const byHand = {
      market: 'BTC_USDT',
      side: 'sell' as const,
      amount: parseDecimal('0.05'),
      activationPrice: parseDecimal('49000'),
      clientOrderId: 'mine',
    };
    await (await client()).call(spotStopMarket, byHand);
    await send({ ...sell, quantity: '0.02' });
    await goOn(60);

    // It holds what the owner has besides.
    expect(await standing()).toEqual(['sell 0.05 stop 49000', 'sell 0.0799 stop 48000']);
  });

  test('a second buy has a stop-loss of its own, and a sale reduces the older one', async () => {
    await send({ ...buy, quantity: '0.05', stopLoss: '47000' });
    expect(await standing()).toEqual(['sell 0.04995 stop 47000', ...whole]);
    await send({ ...sell, quantity: '0.09' });
    await goOn(60);

    expect(await standing()).toEqual(['sell 0.0099 stop 48000', 'sell 0.04995 stop 47000']);
    expect(alarmNames()).toEqual([]);
  });

  test('a limit sale that rests takes its place, and the owner is told that nothing stops it out', async () => {
    await send({ ...sell, orderType: 'limit', limitPrice: '55000' });
    await goOn(90);

    expect(await standing()).toEqual(['sell 0.0999 at 55000']);
    expect(alarmNames()).toContain('position_unprotected');
    await cancelByHand();
    await goOn(60);
    expect(await standing()).toEqual(whole);
  });

  test.each([
    ['all', '0.0999', '0'],
    ['a part', '0.04', '0.0599'],
  ])("protection: 'alarm', which was set since, holds back no sale of %s", async (_, quantity, left) => {
    await goOn(30);
    Object.assign(relay.services, { settings: settingsWith({ protection: 'alarm' }) });

    expect(await send({ ...sell, quantity })).toMatchObject({ status: 'placed' });
    await goOn(90);
    expect(await standing()).toEqual([]);
    expect(await held()).toBe(left);
    expect(alarmNames()).toEqual(left === '0' ? [] : ['position_unprotected']);
  });

  test('a gap that the limit price of the stop-loss does not survive is sold at market', async () => {
    await goOn(30);
    relay.setPrice('46000');
    await goOn(60);

    expect(await held()).toBe('0');
    expect(await standing()).toEqual([]);
  });

  test('what its limit price still sells before that is cancelled is not sold again at market', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('10'));
    await goOn(30);
    kill = () => {
      if (relay.asked.at(-1) !== '/api/v4/order/cancel') return;
      kill = () => undefined;
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('47520'), parseDecimal('0.04'));
      relay.setPrice('47000');
    };
    relay.setPrice('46000');
    await goOn(60);

    expect([await held(), await standing()]).toEqual(['9.9001', []]);
  });

  test.each([
    [undefined, 4_000],
    [undefined, 8_000],
    ['executed-history', 8_000],
    ['order-deals', 8_000],
    ['open-order', 4_000],
    ['ended-order', 8_000],
    ['trade-balance', 4_000],
  ])(
    'what it has sold a part of is not sold again while lists lag (%s, %i ms)',
    async (endpoint, delayMs) => {
      relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1.0999'));
      await goOn(30);
      relay.paper.control.addFault({
        fault: 'read_lag',
        ...(endpoint === undefined ? {} : { endpoint }),
        delayMs,
        probability: 1,
      });
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.03'));
      await goOn(15);
      relay.paper.control.clearFaults();
      await goOn(30);

      expect([await held(), await standing()]).toEqual(['1', []]);
    },
  );

  test('what its limit price still sells before that is cancelled is not sold again while no list tells it', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1.0999'));
    await goOn(30);
    for (const endpoint of ['ended-order', 'executed-history', 'order-deals'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 20_000, probability: 1 });
    kill = () => {
      if (relay.asked.at(-1) !== '/api/v4/order/cancel') return;
      kill = () => undefined;
      relay.setPrice('47900');
    };
    relay.setPrice('46000');
    await goOn(60);

    expect([await held(), await standing()]).toEqual(['1', []]);
  });

  test('a balance that cannot be read raises no alarm while its stop-loss stands', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'trade-balance', probability: 1 });
    await goOn(300);

    expect(await standing()).toEqual(whole);
    expect(alarmNames()).toEqual([]);
    await cancelByHand();
    await goOn(180);
    expect(alarmNames()).toContain('position_unprotected');
  });

  test('a relay that is killed between the cancellation and the sale places the stop-loss again', async () => {
    kill = () => {
      if (relay.asked.at(-1) === '/api/v4/order/new') throw new Error('killed');
    };
    await expect(send({ ...sell, quantity: '0.04' })).rejects.toThrow('killed');
    kill = () => undefined;
    expect(await standing()).toEqual([]);
    await executeSignal(relay.services, { account: 'main', signalId: 's2', market: 'BTC_USDT' });
    for (let minute = 0; minute < 60; minute += 1) {
      await relay.reconcile();
      await goOn(60);
    }

    expect(await relay.entry('s2')).toMatchObject({ status: 'not_placed' });
    expect(await standing()).toEqual(whole);
    expect(alarmNames()).toContain('position_unprotected');
  });

  describe.each(['drop_after', 'error_after', 'garbage', 'contradict'] as const)(
    'a sale whose stop-loss is cancelled by a request with the fault %s',
    (fault) => {
      const lag = (delayMs: number) => {
        for (const endpoint of ['ended-order', 'executed-history'])
          relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs, probability: 1 });
      };
      beforeEach(() => {
        relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1.0999'));
        relay.paper.control.addFault({ fault, endpoint: 'cancel-order' });
      });

      test.each([0, 2000])(
        'sells what is left once a list tells that it has ended (after %i ms)',
        async (delayMs) => {
          if (delayMs > 0) lag(delayMs);
          relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.03'));
          const sold = await send({ ...sell, quantity: '0.0999' });
          await goOn(30);

          expect([sold.status, await held(), await standing()]).toEqual(['placed', '1', []]);
          expect(alarmNames()).toEqual(fault === 'contradict' ? ['order_contradicted'] : []);
        },
      );

      test('sells nothing, and says so, while none tells it', async () => {
        lag(60_000);
        const sold = await send({ ...sell, quantity: '0.04' });
        expect(sold.status).toBe('not_sent');
        expect(sold.steps.at(-1)?.note).toContain('may still be open');
        const alarm = fault === 'contradict' ? 'order_contradicted' : 'orders_left_open';
        expect(alarmNames()).toEqual([alarm]);
        await goOn(90);

        expect([await held(), await standing()]).toEqual(['1.0999', whole]);
      });
    },
  );

  test('one whose cancellation failed for a sale is cancelled for the next sale', async () => {
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', probability: 1 });
    const first = await send({ ...sell, quantity: '0.04' });
    relay.paper.control.clearFaults();
    expect(await standing()).toEqual(whole);

    const second = await send({ ...sell, quantity: '0.03' });

    expect(first.status).not.toBe('placed');
    expect(second.status).toBe('placed');
    await goOn(30);
    expect(await standing()).toEqual(['sell 0.0699 stop 48000']);
  });
});

describe('A spot buy with a stop-loss', () => {
  test('as a distance has it below the price at which it fills', async () => {
    await send({ ...buy, stopLoss: '4%' });
    const [stop] = await listOpen();

    expect(stop?.activationPrice?.toFixed(0)).toBe('48000');
  });

  test('in the quote currency has it once its fill is listed', async () => {
    await relay.close();
    await open({ maxSlippage: null });
    const { quantity: _, ...rest } = buy;
    const entry = await send({ ...rest, quoteQuantity: '5000' });
    const step = entry.steps.at(-1);
    if (step === undefined) throw new Error('the entry has no step');
    const told = tellChange({ kind: 'outcome', id: '1', account: 'main', atMs: step.atMs, entry, step });
    await goOn(15);
    const [stop] = await listOpen();

    expect(told.map(({ headline }) => headline)).toEqual([
      'buy BTC_USDT for 5000 USDT: accepted by the exchange',
    ]);
    expect(stop?.amount.toFixed(4)).toBe('0.0999');
    expect(alarmNames()).toEqual([]);
  });

  test('that rests has it for what has filled', async () => {
    await send({ ...buy, orderType: 'limit', limitPrice: '49500' });
    await goOn(30);
    expect(await standing()).toEqual(['buy 0.1 at 49500']);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.04'));
    await goOn(30);
    expect(await standing()).toEqual(['buy 0.06 at 49500', 'sell 0.03996 stop 48000']);
    relay.setPrice('49500');
    await goOn(30);

    expect(await standing()).toEqual(whole);
    expect(alarmNames()).toEqual([]);
  });

  test.each([
    ['as much as', '0.04', 'long before', 'sell 0.05994 stop 48000'],
    ['as much as', '0.04', 'just before', 'sell 0.05994 stop 48000'],
    ['less than', '0.03', 'just before', 'sell 0.0699 stop 48000'],
    ['more than', '0.05', 'just before', 'sell 0.05994 stop 48000'],
  ])(
    'that rests has it for what a sale of %s it had bought (%s) %s the rest leaves',
    async (_, quantity, when, stop) => {
      relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('10'));
      await send({ ...buy, orderType: 'limit', limitPrice: '49500' });
      await goOn(12);
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.04'));
      await goOn(12);
      relay.setPrice('50000');
      await send({ ...sell, quantity });
      const stops = (await standing()).filter((order) => order.startsWith('sell'));
      expect(stops).toEqual(quantity === '0.03' ? ['sell 0.00996 stop 48000'] : []);
      if (when === 'long before') await goOn(30);
      relay.clock.advance(1000);
      relay.setPrice('49400');
      await goOn(30);

      expect(await standing()).toEqual([stop]);
      expect(alarmNames()).toEqual([]);
    },
  );

  test.each(['0', '10'])(
    'that fills on in the fall that fires its stop-loss is sold once, with %s held besides',
    async (besides) => {
      relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(besides));
      await send({ ...buy, orderType: 'limit', limitPrice: '49500' });
      await goOn(12);
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.04'));
      await goOn(12);
      expect(await standing()).toEqual(['buy 0.06 at 49500', 'sell 0.03996 stop 48000']);
      relay.setPrice('47900');
      await goOn(60);

      expect([await held(), await standing()]).toEqual([besides, []]);
    },
  );

  test('that rests has it for all of it after a sale before its first fill', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('10'));
    await send({ ...buy, stopLoss: '45000' });
    await send({ ...buy, orderType: 'limit', limitPrice: '49500' });
    await goOn(12);
    await send({ ...sell, quantity: '0.2' });
    relay.clock.advance(1000);
    relay.setPrice('49400');
    await goOn(30);

    expect(await standing()).toEqual(whole);
  });

  test('is a stop-market order where the account says so', async () => {
    await relay.close();
    await open({ stopKind: 'market' });
    await send(buy);

    expect(await listOpen()).toMatchObject([{ type: 'stop_market', amount: parseDecimal('0.0999') }]);
  });

  test('is not judged by a balance that may not show it yet', async () => {
    await send(buy);
    const trusts = async (amount: string) => {
      const followed = await relay.services.executions.followed('main', 10);
      return isBalanceTrusted(parseDecimal(amount), followed, 'BTC_USDT', relay.clock.nowMs());
    };

    expect([await trusts('0.0999'), await trusts('0.0998')]).toEqual([true, false]);
    await goOn(12);
    expect(await trusts('0.0998')).toBe(true);
  });
});

describe('A spot order is denied', () => {
  const denial = async (members: object) => {
    const { status, steps } = await send(members);
    const { note = '', evidence } = steps.at(-1) ?? {};
    return [status, { note, rule: (evidence as { readonly rule?: string } | undefined)?.rule }] as const;
  };

  test.each([
    [
      'with a take-profit',
      { ...buy, takeProfit: '60000' },
      'not_on_spot',
      'one order alone can hold what was bought',
    ],
    [
      'that sells with a stop-loss',
      { ...buy, action: 'sell', stopLoss: '52000' },
      'not_on_spot',
      'a sale opens nothing',
    ],
    [
      'whose stop-loss would sell at once',
      { ...buy, stopLoss: '51000' },
      'stop_loss_side',
      'is not below the price',
    ],
    [
      'that is too small for a stop-loss',
      { ...buy, quantity: '0.000102' },
      'stop_loss_too_small',
      'raise the size',
    ],
  ])('%s', async (_, members, rule, text) => {
    const [status, told] = await denial(members);

    expect(status).toBe('denied');
    expect(told).toMatchObject({ rule, note: expect.stringContaining(text) });
    expect(await standing()).toEqual([]);
  });

  test("with a stop-loss in an account with protection: 'alarm'", async () => {
    await relay.close();
    await open({ protection: 'alarm' });
    const [status, told] = await denial(buy);

    expect(status).toBe('denied');
    expect(told).toMatchObject({ rule: 'not_on_spot', note: expect.stringContaining("protection: 'keep'") });
  });

  test('with a stop-loss in a region without stop-limit orders, unless the stop-loss is a stop-market order', async () => {
    await relay.close();
    const region = { region: 'eu', maxSlippage: null };
    await open(region);
    const [status, told] = await denial(buy);
    expect(status).toBe('denied');
    expect(told).toMatchObject({ rule: 'not_on_spot', note: expect.stringContaining("stopKind: 'market'") });
    await relay.close();
    await open({ ...region, stopKind: 'market' });
    await send(buy);

    expect(await standing()).toEqual(whole);
  });
});

test('A cancel_all whose answer was lost is settled while a stop-loss stands, which it leaves', async () => {
  await send(buy);
  await send({ ...buy, orderType: 'limit', limitPrice: '45000', stopLoss: '40000' });
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'cancel-order' });
  const cancelled = await send({ action: 'cancel_all' });
  await relay.reconcileFor(3);

  expect([cancelled.status, (await relay.entry('s3')).status]).toEqual(['unknown', 'cancelled']);
  expect(await standing()).toEqual(whole);
});

describe('A sale right after a buy whose stop-loss has an unknown outcome', () => {
  beforeEach(async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-stop-limit' });
    await send(buy);
    expect(await standing()).toEqual(whole);
  });

  test.each([
    ['of an amount', { quantity: '0.0999' }, '1'],
    ['of a share', { quantity: undefined, quantityPercent: '100%' }, '0'],
  ])('%s looks it up, and sells what it holds', async (_, size, left) => {
    const sale = await send({ ...sell, ...size });
    await goOn(9);

    expect([sale.status, await held(), await standing()]).toEqual(['placed', left, []]);
  });

  test('waits while no list shows it, ten seconds at most', async () => {
    for (const endpoint of ['open-order', 'conditional-orders'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 60_000, probability: 1 });
    const sale = { account: 'main', signalId: 'sale', market: 'BTC_USDT' };
    await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: 'sale', ...sell, quantity: '0.0999' }));
    await expect(executeSignal(relay.services, sale)).rejects.toThrow(/"s1:stop-\w+" is not known yet/);
    relay.clock.advance(10_000);
    await executeSignal(relay.services, sale);

    expect((await relay.entry('sale')).status).toBe('placed');
  });
});

test('A stop-loss whose response was lost, and that sells before it is looked up, raises no other alarm', async () => {
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-stop-limit' });
  await send(buy);
  relay.setPrice('47900');
  await relay.reconcileFor(3);

  expect([await held(), alarmNames()]).toEqual(['0', ['outcome_unknown']]);
});

describe('While the outcome of a spot sale is not known', () => {
  beforeEach(async () => {
    await send(buy);
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-limit' });
    expect(await send({ ...sell, quantity: '0.04' })).toMatchObject({ status: 'unknown' });
  });

  test('a buy whose stop-loss would have to wait for it is denied, and one without a stop-loss is not', async () => {
    const { status, steps } = await send({ ...buy, quantity: '0.05' });
    const { note = '', evidence } = steps.at(-1) ?? {};

    expect([status, evidence]).toEqual(['denied', expect.objectContaining({ rule: 'stop_loss_waits' })]);
    expect(note).toContain('the outcome of signal "s2" is not known yet');
    expect(await send({ ...buy, stopLoss: undefined })).toMatchObject({ status: 'placed' });
  });

  test('a buy once it was looked up is placed, and has its stop-loss at once', async () => {
    await relay.reconcile();
    expect(await send({ ...buy, quantity: '0.05', stopLoss: '47000' })).toMatchObject({ status: 'placed' });

    expect(await standing()).toEqual(['sell 0.04995 stop 47000']);
    await goOn(15);
    expect(await standing()).toEqual(['sell 0.04995 stop 47000', 'sell 0.0599 stop 48000']);
  });
});

test('a sale that ends while the outcome of the buy is not known is followed on, until that buy is sold', async () => {
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-limit' });
  expect(await send(buy)).toMatchObject({ status: 'unknown' });
  await send({ ...sell, quantity: '0.04' });
  await goOn(30);
  await relay.reconcile();
  await goOn(30);

  expect(await standing()).toEqual(['sell 0.0599 stop 48000']);
  expect((await relay.entry('s2')).execution?.isFollowed).toBe(true);
  await send({ ...sell, quantity: '0.06' });
  await goOn(1800);
  expect((await relay.entry('s2')).execution?.isFollowed).toBe(false);
});

test('so is a sale that ends while the outcome of the buy becomes known', async () => {
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'spot-limit' });
  expect(await send(buy)).toMatchObject({ status: 'unknown' });
  await send({ ...sell, quantity: '0.04' });
  relay.clock.advance(30_000);
  const { executions } = relay.services;
  let turns = 0;
  async function followed(account: string, limit: number) {
    const before = await executions.followed(account, limit);
    turns += 1;
    if (turns === 1) await relay.reconcile();
    return before;
  }
  await createFollower({ ...relay.services, executions: override(executions, { followed }) }).run(
    Number.POSITIVE_INFINITY,
  );
  await goOn(30);

  expect((await relay.entry('s1')).status).toBe('placed');
  expect(await standing()).toEqual(['sell 0.0599 stop 48000']);
  expect((await relay.entry('s2')).execution?.isFollowed).toBe(true);
});

describe('After a sale that sold all of one buy and a part of the next', () => {
  test('the stop-loss of what is left stands when the first buy is not followed any more', async () => {
    await send(buy);
    await send(buy);
    await send({ ...sell, quantity: '0.15' });
    const left = ['sell 0.0498 stop 48000'];
    expect(await standing()).toEqual(left);

    await goOn(1800);

    expect((await relay.entry('s1')).execution?.isFollowed).toBe(false);
    expect(await standing()).toEqual(left);
    expect(alarmNames()).toEqual([]);
  });
});

test.each([-3000, 0, 3000])(
  'With a clock that is %i ms ahead of the exchange, the exit of a buy right after a stop-loss sells it',
  async (aheadMs) => {
    setClockAhead(aheadMs);
    await send(buy);
    await goOn(12);
    relay.setPrice('47900');
    relay.clock.advance(500);
    await send({ ...buy, stopLoss: '45000' }, 0);
    await goOn(30);
    const exit = await send(sell);

    expect([exit.status, await held()]).toEqual(['placed', '0']);
  },
);

describe('While a limit sale rests beside a stop-loss, because the owner holds more', () => {
  const limitSale = { action: 'sell', orderType: 'limit', limitPrice: '62000', quantity: '0.1' };
  beforeEach(() => relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1')));

  test('it is cancelled once the stop-loss has sold what it was to sell, and the owner is told once', async () => {
    await send(buy);
    await send(limitSale);
    await goOn(12);
    expect(await standing()).toEqual([...whole, 'sell 0.1 at 62000']);
    relay.setPrice('47900');
    await goOn(9);

    expect(await standing()).toEqual([]);
    relay.setPrice('62100');
    await goOn(120);
    expect(await held()).toBe('1');
    expect(relay.alarms).toMatchObject([{ name: 'sale_cancelled', signalId: 's2' }]);
  });

  test('a sale after that sells nothing that the owner holds besides', async () => {
    await send(buy);
    await send(limitSale);
    await goOn(12);
    relay.setPrice('47900');
    await goOn(9);
    expect(await standing()).toEqual([]);
    const exit = await send(sell);

    expect([exit.status, await held()]).toEqual(['satisfied', '1']);
  });

  test.each([
    ['with an answer', undefined],
    ['and the answer is lost', { fault: 'drop_after', endpoint: 'cancel-order' }],
  ] as const)(
    'it counts as the sale of that once it is cancelled, %s, so that the next one sells the other buy',
    async (_, fault) => {
      await send(buy);
      await send({ ...buy, stopLoss: '45000' });
      await send(limitSale);
      await goOn(12);
      if (fault !== undefined) relay.paper.control.addFault(fault);
      relay.setPrice('47900');
      await goOn(9);
      if (fault !== undefined) await relay.reconcileFor(10);
      expect(await standing()).toEqual(['sell 0.0999 stop 45000']);
      const next = await send(sell);
      await goOn(9);

      expect([next.status, await held(), await standing()]).toEqual(['placed', '0.9999', []]);
    },
  );

  test('it stays where the stop-loss of another strategy has sold', async () => {
    await send({ ...buy, strategy: 'a' });
    await send({ ...buy, stopLoss: '45000', strategy: 'b' });
    await send({ ...limitSale, strategy: 'b' });
    await goOn(12);
    relay.setPrice('47900');
    await goOn(9);

    expect(await standing()).toEqual(['sell 0.0999 stop 45000', 'sell 0.1 at 62000']);
    expect(alarmNames()).toEqual([]);
  });

  describe('and an older buy without a stop-loss is held', () => {
    beforeEach(async () => {
      await send({ ...buy, stopLoss: undefined });
      await goOn(12);
      expect((await relay.entry('s1')).execution?.isFollowed).toBe(false);
    });

    test('it stays for that one once the stop-loss of the other has sold', async () => {
      await send(buy);
      await send(limitSale);
      await goOn(12);
      relay.setPrice('47900');
      await goOn(9);

      expect([await standing(), alarmNames()]).toEqual([['sell 0.1 at 62000'], []]);
      const next = await send(sell);
      expect(next.status).toBe('satisfied');
      relay.setPrice('62100');
      await goOn(9);
      expect([await held(), await standing()]).toEqual(['0.9999', []]);
    });

    test.each([
      ['that one is sold already', sell, {}],
      ['that one is of another strategy', null, { strategy: 'b' }],
    ])('it is cancelled where %s', async (_, sale, name) => {
      if (sale !== null) await send(sale);
      else {
        await send({ ...sell, quantity: '0.0999' });
        await send({ ...buy, stopLoss: undefined, strategy: 'a' });
      }
      await goOn(12);
      await send({ ...buy, ...name });
      await send({ ...limitSale, ...name });
      await goOn(12);
      relay.setPrice('47900');
      await goOn(9);

      expect([await standing(), alarmNames()]).toEqual([[], ['sale_cancelled']]);
    });
  });

  test('one that was sent after the stop-loss had sold stays', async () => {
    await send(buy);
    await goOn(12);
    relay.setPrice('47900');
    await goOn(6);
    await send({ ...limitSale, quantity: '0.5' });
    await goOn(30);

    expect(await standing()).toEqual(['sell 0.4001 at 62000']);
  });

  test.each([0, 1, 1000])(
    'it is cancelled where the stop-loss sells %i ms after it was sent',
    async (afterMs) => {
      await send(buy);
      await goOn(12);
      await send(limitSale);
      relay.clock.advance(afterMs);
      relay.setPrice('47900');
      await goOn(30);

      expect(await standing()).toEqual([]);
      expect(alarmNames()).toEqual(['sale_cancelled']);
    },
  );

  test.each([-3000, 3000])('the same with a clock that is %i ms ahead of the exchange', async (aheadMs) => {
    setClockAhead(aheadMs);
    await send(buy);
    await goOn(12);
    await send(limitSale);
    relay.clock.advance(500);
    relay.setPrice('47900');
    await goOn(30);

    expect(await standing()).toEqual([]);
    expect(alarmNames()).toEqual(['sale_cancelled']);
  });

  test('it stays where the stop-loss had sold a part before it was cancelled for that sale', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
    await send(buy);
    await goOn(12);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.04'));
    await send(limitSale);
    const rest = await standing();
    await goOn(30);

    expect(rest).toEqual(['sell 0.0599 at 62000']);
    expect(await standing()).toEqual(rest);
    expect(alarmNames()).not.toContain('sale_cancelled');
  });

  test('a share of what is held stays where the stop-loss had sold a part before', async () => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.01'));
    await send(buy);
    await goOn(12);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.04'));
    kill = () => {
      if (relay.asked.at(-1) === '/api/v4/order/cancel') relay.clock.advance(50);
    };
    await send({ ...limitSale, quantity: undefined, quantityPercent: '100%' });
    kill = () => undefined;
    const rest = await standing();
    await goOn(30);

    expect(rest).toEqual(['sell 0.0699 at 62000']);
    expect(await standing()).toEqual(rest);
    expect(alarmNames()).not.toContain('sale_cancelled');
  });

  test('a share of what is held is cancelled once the stop-loss has sold a part of that', async () => {
    await send(buy);
    await goOn(12);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), parseDecimal('0.04'));
    await send({ ...limitSale, quantity: undefined, quantityPercent: '50%' });
    expect(await standing()).toContain('sell 0.52995 at 62000');
    relay.clock.advance(1000);
    relay.setPrice('47900');
    await goOn(30);

    expect([await held(), await standing()]).toEqual(['1', []]);
    expect(relay.alarms).toMatchObject([{ name: 'sale_cancelled', signalId: 's2' }]);
  });

  describe('and of two buys only the first has a stop-loss', () => {
    beforeEach(async () => {
      relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
      await send(buy);
      await send({ ...buy, quantity: '0.05', stopLoss: undefined });
      await goOn(12);
    });

    test.each([
      ['all of it', undefined, '0.04995'],
      ['a part of it', '0.04', '0.10985'],
    ])('it stays where the stop-loss sold %s while that sale waited in line', async (_, sold, left) => {
      relay.clock.advance(1000);
      const sale = { ticker: 'BTCUSDT', id: 's3', ...limitSale, quantity: '0.15' };
      await relay.receiveAll(JSON.stringify(sale));
      relay.clock.advance(1000);
      const part = sold === undefined ? undefined : parseDecimal(sold);
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('47900'), part);
      await runLine();
      const rest = await standing();
      await goOn(30);

      expect(rest).toEqual([`sell ${left} at 62000`]);
      expect(await standing()).toEqual(rest);
      expect(alarmNames()).not.toContain('sale_cancelled');
    });
  });

  test('the owner is told of one that cannot be cancelled, with the command', async () => {
    await send(buy);
    await send(limitSale);
    await goOn(12);
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', probability: 1 });
    relay.setPrice('47900');
    await goOn(9);

    const told = relay.alarms.find(({ name }) => name === 'sale_cancelled');
    expect(told?.['whatToDo']).toMatch(/^npx relay cancel BTC_USDT --order-id \d+ --account main/);
    relay.paper.control.clearFaults();
    await goOn(60);
    expect(await standing()).toEqual([]);
    expect(alarmNames().filter((name) => name === 'sale_cancelled')).toHaveLength(1);
  });
});

describe('A stop-loss from the command of the alarm', () => {
  /** Sends what the alarm says, after the stop-loss was cancelled by hand. */
  async function paste(funds: string): Promise<void> {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(funds));
    await send(buy);
    await goOn(12);
    await cancelByHand();
    await goOn(90);
    const command = String(relay.alarms.at(-1)?.['whatToDo']);
    relay.clock.advance(1000);
    await relay.receiveAll(/echo '(.*)' \|/.exec(command)?.[1] ?? '');
    await runLine();
    await goOn(12);
    expect(await standing()).toEqual(whole);
  }

  test.each([['0'], ['1']])('is cancelled before a sale by an alert, with %s held besides', async (funds) => {
    await paste(funds);
    const sold = await send(sell);
    expect(sold.status).toBe('placed');
    expect(await standing()).toEqual([]);
    await goOn(12);

    const left = parseDecimal(funds)
      .plus('0.0999')
      .minus(funds === '0' ? '0.0999' : '0.1');
    expect([await held(), await standing()]).toEqual([formatDecimal(left), []]);
  });

  test.each([['0'], ['1']])(
    'is followed by one of the relay for what a partial sale leaves, with %s held besides',
    async (funds) => {
      await paste(funds);
      expect(await send({ ...sell, quantity: '0.04' })).toMatchObject({ status: 'placed' });
      await goOn(30);

      expect(await standing()).toEqual(['sell 0.0599 stop 48000']);
      expect(alarmNames()).toEqual(['position_unprotected']);
    },
  );

  test('is followed by one of the relay when the sale is refused', async () => {
    await paste('0');
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'spot-limit', count: 1 });
    expect(await send({ ...sell, quantity: '0.04' })).toMatchObject({ status: 'rejected' });
    await goOn(30);

    expect(await standing()).toEqual(whole);
    expect(alarmNames()).toEqual(['position_unprotected', 'signal_not_executed']);
  });

  test('is not followed by another one once the owner has cancelled it, too', async () => {
    await paste('1');
    await cancelByHand();
    await goOn(12);
    expect(await send({ ...sell, quantity: '0.04' })).toMatchObject({ status: 'placed' });
    await goOn(30);

    expect(await standing()).toEqual([]);
  });

  test('counts as sold by the next sale once it has sold', async () => {
    await paste('1');
    relay.setPrice('47900');
    await goOn(9);
    const sold = await send(sell);

    expect([sold.status, await held()]).toEqual(['satisfied', '1']);
  });

  test('counts as sold by the next sale before anybody has followed that it has sold', async () => {
    await paste('1');
    relay.setPrice('47900');
    const sold = await send(sell);

    expect([sold.status, await held()]).toEqual(['satisfied', '1']);
  });

  test('sells the buy that it is for, and not an older one', async () => {
    await send({ ...buy, stopLoss: '45000' });
    await goOn(12);
    const older = await listOpen();
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
    await send(buy);
    const [stop] = (await listOpen()).filter(({ orderId }) => older.every((one) => one.orderId !== orderId));
    await (await client()).call(cancelOrder, { market: 'BTC_USDT', orderId: stop?.orderId ?? 0 });
    await goOn(90);
    const command = String(relay.alarms.at(-1)?.['whatToDo']);
    relay.clock.advance(1000);
    await relay.receiveAll(/echo '(.*)' \|/.exec(command)?.[1] ?? '');
    await runLine();
    relay.setPrice('47900');
    await goOn(30);

    expect(await standing()).toEqual(['sell 0.0999 stop 45000']);
  });

  test('is cancelled after a limit sale has sold what it protects', async () => {
    await paste('1');
    await send({ ...sell, orderType: 'limit', limitPrice: '62000' });
    relay.setPrice('62100');
    await goOn(12);

    expect(await standing()).toEqual([]);
  });
});

test.each([
  ['that lists cancelled orders', true],
  ['that lists no cancelled orders', false],
])(
  'In a thin book at an exchange %s, what a stop-loss leaves is sold with the next orders',
  async (_, isListed) => {
    await relay.close();
    await open({ maxSlippage: '0.01%' });
    relay.paper.control.listCancelled('main', isListed);
    await send({ ...buy, orderType: 'limit', limitPrice: '50500', quantity: '3' });
    await goOn(30);
    expect(await standing()).toEqual(['sell 2.997 stop 48000']);
    relay.setPrice('46000');
    await goOn(3);
    expect([await held(), await standing()]).toEqual(['1.997', []]);
    expect(relay.alarms).toMatchObject([{ name: 'protection_failed', closed: '1', left: '1.997' }]);

    await goOn(180);

    expect([await held(), await standing()]).toEqual(['0', []]);
    expect(alarmNames()).toEqual(['protection_failed']);
  },
);

describe('Of two strategies that bought in one market, where the owner holds nothing besides', () => {
  const [ofA, ofB] = [{ strategy: 'a' }, { strategy: 'b', stopLoss: '47000' }];
  const limitSale = { action: 'sell', orderType: 'limit', limitPrice: '62000', quantity: '0.1' };

  test('a resting sale of the one holds its own share alone, so that the other can sell all of its', async () => {
    await send({ ...buy, ...ofA });
    await send({ ...buy, ...ofB });
    await goOn(12);
    const resting = await send({ ...limitSale, strategy: 'a' });

    expect(resting.steps.find(({ status }) => status === 'sending')?.note).toContain(
      'cut from 0.1 to 0.0999 BTC, which is all that is available',
    );
    expect(await standing()).toEqual(['sell 0.0999 at 62000', 'sell 0.0999 stop 47000']);
    await goOn(12);
    const exit = await send({ ...sell, strategy: 'b' });
    expect([exit.status, await standing()]).toEqual(['placed', ['sell 0.0999 at 62000']]);
    relay.setPrice('62100');
    await goOn(30);

    expect([await held(), await standing()]).toEqual(['0', []]);
  });

  test.each([
    ['that rests', limitSale, ['sell 0.0999 at 62000', 'sell 0.0999 stop 48000']],
    ['at market', sell, whole],
    ['at market of a part', { ...sell, quantity: '0.04' }, ['sell 0.0599 stop 47000', ...whole]],
  ])('a sale %s of the one that bought last leaves the stop-loss of the other', async (_, sale, left) => {
    await send({ ...buy, ...ofA });
    await send({ ...buy, ...ofB });
    await goOn(12);
    await send({ ...sale, strategy: 'b' });
    await goOn(30);

    expect(await standing()).toEqual(left);
  });

  test.each([
    ['with stop-losses and no names', {}, ''],
    ['without stop-losses', { stopLoss: undefined }, 'a'],
  ])('%s, the last sale lacks the fees of both while the first one rests', async (_, members, strategy) => {
    const named = strategy === '' ? [{}, {}] : [ofA, { strategy: 'b' }];
    for (const name of named) await send({ ...buy, ...name, ...members });
    await goOn(12);
    await send({ ...limitSale, ...(strategy === '' ? {} : { strategy: 'a' }) });
    await goOn(12);
    const exit = await send({ ...sell, ...(strategy === '' ? {} : { strategy: 'b' }) });

    expect([exit.status, await held(), await standing()]).toEqual(['placed', '0.1', ['sell 0.1 at 62000']]);
  });
});

test.each([
  ['before', ['sell 0.0999 stop 44000']],
  ['after', []],
] as const)('A sale %s the fill of a buy, in the same millisecond, leaves %j', async (order, left) => {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.0999'));
  await send({ action: 'buy', limitPrice: '49000', quantity: '0.1', stopLoss: '44000' });
  const fillBuy = () => {
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('48900'));
  };
  if (order === 'after') fillBuy();
  await send({ action: 'sell', orderType: 'market', quantity: '0.0999' }, order === 'after' ? 0 : 1000);
  if (order === 'before') fillBuy();
  await goOn(60);

  expect(await standing()).toEqual(left);
});
