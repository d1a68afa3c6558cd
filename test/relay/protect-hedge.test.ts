import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { stopMarket } from '../../lib/exchange/endpoints/stop-market.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** In hedge mode each side of a market has its own position, and its own protection. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay({ market: 'BTC_PERP' });
  relay.paper.control.setHedgeMode('main', true);
});
afterEach(() => relay.close());

const order = { orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const long = { ...order, action: 'buy', positionSide: 'LONG', stopLoss: '48000', takeProfit: '52000' };
const short = { ...order, action: 'sell', positionSide: 'SHORT', stopLoss: '52000', takeProfit: '48000' };

describe('With a long and a short position', () => {
  beforeEach(async () => {
    await relay.say(long);
    await relay.say(short);
    await relay.goOn(30);
    expect(await relay.held()).toBe('LONG 0.1, SHORT -0.1');
    expect(await relay.open()).toEqual([
      'buy 0.1 at 48000',
      'buy 0.1 stop 52000',
      'sell 0.1 at 52000',
      'sell 0.1 stop 48000',
    ]);
  });

  test.each([
    ['close', { action: 'close', quantityPercent: '50%', maxSlippage: '0.5%' }],
    ['sell', { ...order, action: 'sell', quantity: '0.05' }],
  ])('what a protect placed fits at once what a %s leaves', async (_, reduction) => {
    const asked = { stopLoss: '49000', takeProfits: [{ price: '51000', share: '100%' }] };
    await relay.say({ action: 'protect', positionSide: 'LONG', ...asked });
    await relay.goOn(30);
    await relay.say({ ...reduction, positionSide: 'LONG' });

    expect(await relay.open()).toEqual([
      'buy 0.1 at 48000',
      'buy 0.1 stop 52000',
      'sell 0.05 at 51000, reduces',
      'sell 0.05 stop 49000, reduces',
    ]);
  });

  test('a protect changes the position that it names, and no other', async () => {
    expect(
      await relay.say({
        action: 'protect',
        positionSide: 'LONG',
        stopLoss: '49000',
        takeProfits: [{ price: '51000', share: '50%' }],
      }),
    ).toMatchObject({ status: 'satisfied' });
    await relay.goOn(30);

    const ofShort = ['buy 0.1 at 48000', 'buy 0.1 stop 52000'];
    expect(await relay.open()).toEqual([
      ...ofShort,
      'sell 0.05 at 51000, reduces',
      'sell 0.1 stop 49000, reduces',
    ]);
    relay.setPrice('51000');
    await relay.goOn(30);
    expect(await relay.held()).toBe('LONG 0.05, SHORT -0.1');
    expect(await relay.open()).toEqual([...ofShort, 'sell 0.05 stop 49000, reduces']);

    relay.setPrice('48900');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['SHORT -0.1', ofShort]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('a protect of each side stands beside that of the other one', async () => {
    const levels = (side: string, stopLoss: string, price: string) =>
      relay.say({ action: 'protect', positionSide: side, stopLoss, takeProfits: [{ price, share: '50%' }] });
    await levels('SHORT', '51500', '48500');
    await levels('LONG', '49000', '51000');
    await relay.goOn(30);

    const both = [
      'buy 0.05 at 48500, reduces',
      'buy 0.1 stop 51500, reduces',
      'sell 0.05 at 51000, reduces',
      'sell 0.1 stop 49000, reduces',
    ];
    expect(await relay.open()).toEqual(both);
    const placed = relay.paper.control.state().orders.length;
    await relay.goOn(300);
    expect(await relay.open()).toEqual(both);
    expect(relay.paper.control.state().orders).toHaveLength(placed);
  });

  test('an order of unknown outcome stops nothing on the other side, and what needs the size of its own', async () => {
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit', count: 1 });
    const half = { action: 'close', quantity: '50%', maxSlippage: '0.5%' };
    expect(await relay.say({ ...long, stopLoss: undefined, takeProfit: undefined })).toMatchObject({
      status: 'unknown',
    });

    expect(await relay.say({ ...half, positionSide: 'SHORT' })).toMatchObject({ status: 'placed' });
    await expect(relay.say({ ...half, positionSide: 'LONG' })).rejects.toMatchObject({
      code: 'position_awaited',
    });
  });

  describe('right after a fill of one side', () => {
    const half = { action: 'close', quantity: '50%', maxSlippage: '0.5%' };

    /** Carries an alert out at once, before anything that it asks for. */
    async function sendNow(id: string, members: object): Promise<string> {
      await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT.P', id, ...members }));
      await executeSignal(relay.services, { account: 'main', signalId: id, market: 'BTC_PERP' });
      return (await relay.entry(id)).status;
    }

    test('an order of the other side waits for nothing', async () => {
      const sale = { action: 'sell', orderType: 'market', quantity: '0.05', maxSlippage: '0.5%' };
      expect(await sendNow('sale', { ...sale, positionSide: 'LONG' })).toBe('placed');
      const soldAtMs = relay.clock.nowMs();
      // What the relay asks for itself after the sale comes first.
      expect(await relay.say({ ...half, positionSide: 'SHORT' })).toMatchObject({ status: 'placed' });
      expect(relay.clock.nowMs() - soldAtMs).toBeLessThan(1000);
      expect(await relay.held()).toBe('LONG 0.05, SHORT -0.05');
    });

    test('nor does it where the list of positions lags, and the fill is of an order that rested', async () => {
      const entry = { action: 'buy', positionSide: 'LONG', orderType: 'limit', limitPrice: '49900' };
      await relay.say({ ...entry, quantity: '0.1' });
      await relay.goOn(30);
      const fault = { fault: 'read_lag', endpoint: 'open-positions', delayMs: 5000, probability: 1 } as const;
      relay.paper.control.addFault(fault);
      relay.fill('49900', '0.05');
      relay.clock.advance(200);

      await expect(sendNow('long', { ...half, positionSide: 'LONG' })).rejects.toMatchObject({
        code: 'position_awaited',
      });
      expect(await sendNow('short', { ...half, positionSide: 'SHORT' })).toBe('placed');
    });
  });

  test('a trailing one follows the price on its side', async () => {
    await relay.say({ action: 'protect', positionSide: 'SHORT', trailing: '1%' });
    await relay.goOn(6);
    relay.setPrice('49000');
    await relay.goOn(6);

    expect(await relay.open()).toEqual([
      'buy 0.1 at 48000, reduces',
      'buy 0.1 stop 49490, reduces',
      'sell 0.1 at 52000',
      'sell 0.1 stop 48000',
    ]);
  });

  test('a protect without a side is denied', async () => {
    expect(await relay.say({ action: 'protect', stopLoss: '49000' })).toMatchObject({
      status: 'denied',
      steps: [{}, { evidence: { rule: 'hedge_mode' } }],
    });
  });
});

test('An entry of one side with several take-profits is sold by them', async () => {
  await relay.say(short);
  await relay.say({
    ...long,
    takeProfit: undefined,
    takeProfits: [
      { price: '51000', share: '50%' },
      { price: '51500', share: '50%' },
    ],
  });
  await relay.goOn(30);
  relay.setPrice('51600');
  await relay.goOn(30);

  expect(await relay.held()).toBe('SHORT -0.1');
  expect(await relay.open()).toEqual(['buy 0.1 at 48000', 'buy 0.1 stop 52000']);
  expect(relay.alarmNames()).toEqual([]);
});

test('A stop order by hand that opens the other side protects nothing of a position whose stop-loss is gone', async () => {
  Object.assign(relay.services, { settings: settingsWith({ protection: 'alarm' }) });
  await relay.say(long);
  await relay.goOn(30);
  const client = await relay.services.exchangeFor('main');
  await client.call(stopMarket, {
    market: 'BTC_PERP',
    side: 'sell',
    positionSide: 'SHORT',
    amount: parseDecimal('0.1'),
    activationPrice: parseDecimal('47000'),
    clientOrderId: '',
  });

  await relay.cancelByHand('sell 0.1 stop 48000');
  await relay.goOn(120);

  expect(relay.alarmNames()).toContain('position_unprotected');
});

test('Where the exchange makes no exits, closes of the one side hold up the other for a few seconds at most', async () => {
  relay.paper.control.setExits({ madeAt: 'never' });
  await relay.say(short);
  await relay.say(long);
  const startMs = relay.clock.nowMs();
  const close = { action: 'close', maxSlippage: '0.5%' };
  for (let times = 0; times < 3; times += 1) await relay.say({ ...close, positionSide: 'LONG' });
  await relay.say({ ...close, positionSide: 'SHORT' });

  expect(relay.clock.nowMs() - startMs).toBeLessThanOrEqual(6000);
  expect(await relay.held()).toBe('flat');
  await relay.goOn(60);
  expect([await relay.open(), relay.alarmNames()]).toEqual([[], []]);
});
