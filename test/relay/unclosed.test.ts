import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';
import { testConfig } from '../support/world.ts';

/** An alert that closes a position by an order, and cancels all orders of the market after it. */
let relay: KeptRelay;
/** Of 30, an order at market within this closes 5.4. */
const narrow = '0.5%';

beforeEach(async () => {
  const markets = { BTC_USDT: { tradesOn: 'margin' } } as const;
  const main = { ...testConfig.accounts.main, maxSlippage: '20%', allowUnguardedMarket: true, markets };
  relay = await openKeptRelay({
    settings: parseConfig({ ...testConfig, accounts: { ...testConfig.accounts, main } }).settings,
  });
  relay.paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('100000000'));
  await relay.say({
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49900',
    quantity: '30',
    stopLoss: '48000',
  });
  relay.setPrice('49900');
  await relay.goOn(30);
  await relay.say({ action: 'buy', orderType: 'limit', limitPrice: '40000', quantity: '0.1' });
});
afterEach(() => relay.close());

const order = { action: 'sell', orderType: 'market', quantityPercent: '100%', of: 'position' };
const stop = expect.stringMatching(/^sell [0-9.]+ stop 48000/);

/** @returns the outcomes of the first order and of the cancellation */
async function exit(first: object, ...others: readonly object[]): Promise<readonly Entry[]> {
  const items = [
    { ...first, id: 'exit' },
    ...others.map((other, place) => ({ ...other, id: `other-${place}` })),
    { id: 'cancel', action: 'cancel_all', scope: 'market' },
  ].map((item) => ({ ticker: 'BTCUSDT', ...item }));
  await relay.receiveAll(JSON.stringify(items));
  await relay.runLine('BTC_USDT');
  return [await relay.entry('exit'), await relay.entry('cancel')];
}

test('that closed the position leaves no order', async () => {
  const [, cancelled] = await exit(order);

  expect(cancelled?.status).toBe('cancelled');
  expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['flat', [], []]);
});

test('that another worker is still sending is awaited, and nothing is cancelled meanwhile', async () => {
  const items = [
    { ...order, id: 'exit' },
    { id: 'cancel', action: 'cancel_all', scope: 'market' },
  ].map((item) => ({ ticker: 'BTCUSDT', ...item }));
  await relay.receiveAll(JSON.stringify(items));
  const { clock, ledger } = relay.services;
  await ledger.start(
    await relay.entry('exit'),
    { status: 'sending', atMs: clock.nowMs(), note: 'on its way to the exchange' },
    null,
  );
  const before = await relay.open();

  await expect(relay.execute('cancel')).rejects.toMatchObject({ code: 'position_awaited' });

  expect([await relay.open(), relay.alarmNames()]).toEqual([before, []]);
  expect((await relay.entry('cancel')).status).toBe('accepted');
});

describe('that did not close it', () => {
  test.each([
    ['an order', order, '24.6'],
    [
      'an order of that amount',
      { action: 'sell', orderType: 'market', quantity: '30', reduceOnly: true },
      '24.6',
    ],
    [
      'a smaller order that says nothing of the position',
      { action: 'sell', orderType: 'market', quantity: '5.4' },
      '24.6',
    ],
    ['a plain order of that amount', { action: 'sell', orderType: 'market', quantity: '30' }, '24.6'],
  ])('because %s filled in part, leaves the stop-loss for the rest, and says so', async (_, first, left) => {
    const [sold, cancelled] = await exit({ ...first, maxSlippage: narrow });

    expect([sold?.status, cancelled?.status]).toEqual(['placed', 'cancelled']);
    expect([await relay.held(), await relay.open()]).toEqual([left, [stop]]);
    expect(relay.alarmNames()).toContain('close_incomplete');
    expect(cancelled?.steps.at(-1)?.note).toContain('this cancel_all leaves what protects it');
    await relay.goOn(60);
    expect(await relay.open()).toEqual([`sell ${left} stop 48000, reduces`]);
  });

  test('because its order was smaller than the position, leaves the stop-loss for the rest', async () => {
    const [sold, cancelled] = await exit({
      ...order,
      quantityPercent: undefined,
      of: undefined,
      quantity: '1',
      sentiment: 'flat',
    });

    expect([sold?.status, cancelled?.status]).toEqual(['placed', 'cancelled']);
    expect([await relay.held(), await relay.open()]).toEqual(['29', [stop]]);
    expect(relay.alarmNames()).toEqual(['close_incomplete', 'close_incomplete']);
  });

  test('because it was for another side, leaves the stop-loss', async () => {
    const [exited, cancelled] = await exit({ action: 'exit_short' });

    expect([exited?.status, cancelled?.status]).toEqual(['satisfied', 'cancelled']);
    expect([await relay.open(), relay.alarmNames()]).toEqual([[stop], ['close_incomplete']]);
  });

  test('because it opens one, leaves the stop-loss without an alarm', async () => {
    const entry = { action: 'buy', orderType: 'market', quantity: '1', stopLoss: '48000' };
    await exit(entry);

    expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['31', [stop, stop], []]);
    const note = (await relay.entry('cancel')).steps.at(-1)?.note;
    expect(note).toContain('this cancel_all leaves what protects it');
  });

  test('because more was bought a moment before, which no list showed, leaves the stop-loss', async () => {
    await relay.say({ action: 'buy', orderType: 'market', quantity: '1', stopLoss: '48000' });
    relay.clock.advance(1_000);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 3_000,
      probability: 1,
    });

    await expect(exit(order)).rejects.toMatchObject({ code: 'position_awaited' });
    relay.clock.advance(longestPositionLagMs);
    await relay.runLine('BTC_USDT');

    expect([await relay.held(), await relay.open()]).toEqual(['1', [stop]]);
  });

  test('because the first of two orders was not carried out, leaves the stop-loss for the rest', async () => {
    const half = { ...order, quantityPercent: undefined, of: undefined, quantity: '2', reduceOnly: true };
    await exit({ ...half, maxSlippage: narrow, quantity: '28' }, half);

    expect(await relay.open()).toEqual([stop]);
    expect(await relay.held()).not.toBe('flat');
  });

  test('looks up the cancellation of what may open one alone, where its response was lost', async () => {
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'cancel-order' });
    const [, cancelled] = await exit({ ...order, maxSlippage: narrow });
    expect(cancelled?.status).toBe('unknown');

    await relay.reconcileFor(20);

    expect((await relay.entry('cancel')).status).toBe('cancelled');
    expect(await relay.open()).toEqual([expect.stringMatching(/^sell [0-9.]+ stop 48000/)]);
  });

  test('because the account is paused, leaves the stop-loss', async () => {
    const { ledger, clock } = relay.services;
    await ledger.writePause('main', { sinceMs: clock.nowMs(), reason: 'news', kind: 'everything' });

    const [sold, cancelled] = await exit(order);

    expect([sold?.status, cancelled?.status]).toEqual(['denied', 'cancelled']);
    expect([await relay.held(), await relay.open()]).toEqual(['30', ['sell 30 stop 48000']]);
    expect(relay.alarmNames()).toEqual(['signal_not_executed', 'close_incomplete']);
  });

  test('leaves an alert’s own stop-loss, too, and cancels the entries that rest', async () => {
    await relay.say({
      action: 'sell',
      orderType: 'stop_market',
      stopPrice: '47000',
      quantity: '30',
      reduceOnly: true,
    });

    await exit({ ...order, maxSlippage: narrow });

    expect(await relay.open()).toEqual(expect.arrayContaining(['sell 30 stop 47000, reduces']));
    expect((await relay.open()).filter((text) => text.startsWith('buy'))).toEqual([]);
  });
});

test('that closed what had been closed in part by hand leaves no order', async () => {
  await relay.byHand('sell', '4');
  const [, cancelled] = await exit({
    ...order,
    quantityPercent: undefined,
    of: undefined,
    quantity: '30',
    reduceOnly: true,
  });

  expect(cancelled?.status).toBe('cancelled');
  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
});

describe('An order alone that was to close the position', () => {
  const exit = { ticker: 'BTCUSDT', action: 'sell', orderType: 'market', sentiment: 'flat' };

  test.each([
    ['and filled in part', { quantity: '30', maxSlippage: narrow }, '24.6'],
    ['and is smaller than it', { quantity: '1' }, '29'],
  ])('%s raises an alarm', async (_, size, left) => {
    expect((await relay.say({ ...exit, ...size })).status).toBe('placed');

    expect([await relay.held(), relay.alarmNames()]).toEqual([left, ['close_incomplete']]);
  });

  test('and did so raises none', async () => {
    await relay.say({ ...exit, quantity: '30' });

    expect([await relay.held(), relay.alarmNames()]).toEqual(['flat', []]);
  });
});

test('A sale on spot that sold all leaves no order of the market', async () => {
  const spot = await openKeptRelay({ settings: settingsWith({ maxSlippage: '1%' }, { tradesOn: 'spot' }) });
  await spot.say({ action: 'buy', orderType: 'market', quantity: '0.1' });
  await spot.say({ action: 'sell', orderType: 'limit', limitPrice: '60000', quantity: '0.04' });
  const sale = { id: 'exit', action: 'sell', orderType: 'market', quantity: '0.05' };
  const items = [sale, { id: 'cancel', action: 'cancel_all', scope: 'market' }];
  await spot.receiveAll(JSON.stringify(items.map((item) => ({ ticker: 'BTCUSDT', ...item }))));
  await spot.runLine('BTC_USDT');

  expect((await spot.entry('cancel')).status).toBe('cancelled');
  expect([await spot.open(), spot.alarmNames()]).toEqual([[], []]);
  await spot.close();
});

describe('One that leaves what the orders before it were not about, without an alarm', () => {
  let other: KeptRelay;
  afterEach(() => other.close());

  async function run(market: string, ticker: string, ...items: readonly object[]): Promise<Entry> {
    const all = [...items, { id: 'cancel', action: 'cancel_all', scope: 'market' }];
    await other.receiveAll(JSON.stringify(all.map((item) => ({ ticker, ...item }))));
    await other.runLine(market);
    return await other.entry('cancel');
  }

  test.each([
    ['LONG', 'SHORT -1', 'buy 1 stop 52000'],
    ['SHORT', 'LONG 1', 'sell 1 stop 48000'],
  ])('in hedge mode the other side than %s', async (positionSide, held, stop) => {
    other = await openKeptRelay({ market: 'BTC_PERP' });
    other.paper.control.setHedgeMode('main', true);
    const order = { orderType: 'market', quantity: '1', maxSlippage: '0.5%' };
    await other.say({ ...order, action: 'buy', positionSide: 'LONG', stopLoss: '48000' });
    await other.say({ ...order, action: 'sell', positionSide: 'SHORT', stopLoss: '52000' });
    await other.goOn(30);

    const close = { id: 'exit', action: 'close', positionSide, maxSlippage: '0.5%' };
    const cancelled = await run('BTC_PERP', 'BTCUSDT.P', close);

    expect(cancelled.status).toBe('cancelled');
    expect([await other.held(), await other.open(), other.alarmNames()]).toEqual([held, [stop], []]);
    other.clock.advance(longestPositionLagMs + 1);
    const last = [
      { ...close, id: 'last', positionSide: held?.split(' ')[0] },
      { id: 'all', action: 'cancel_all', scope: 'market' },
    ];
    await other.receiveAll(JSON.stringify(last.map((item) => ({ ticker: 'BTCUSDT.P', ...item }))));
    await other.runLine('BTC_PERP');
    expect([await other.held(), await other.open()]).toEqual(['flat', []]);
  });

  test('on spot the other buys, whose stop-losses stay', async () => {
    other = await openKeptRelay({
      settings: settingsWith({ maxSlippage: '1%' }, { tradesOn: 'spot' }),
    });
    other.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0'));
    for (const stopLoss of ['48000', '47000', '46000']) {
      await other.say({ action: 'buy', orderType: 'market', quantity: '0.1', stopLoss });
      await other.goOn(12);
    }
    expect(await other.open()).toHaveLength(3);

    await run('BTC_USDT', 'BTCUSDT', { id: 'exit', action: 'sell', orderType: 'market', quantity: '0.0999' });
    await other.goOn(30);

    expect([(await other.open()).length, other.alarmNames()]).toEqual([2, []]);
  });

  test.each([
    ['nothing of which had to be reduced', '0.2', '-0.5', '-0.5'],
    ['which was reduced as far', '0.5', '-0.2', '-0.2'],
    ['which was turned', '0.2', '0.5', '0.5'],
  ])('a target, %s', async (_, quantity, target, held) => {
    other = await openKeptRelay();
    const short = { action: 'sell', orderType: 'market', quantity, maxSlippage: '0.5%', stopLoss: '52000' };
    await other.say(short);
    await other.goOn(30);

    await run('BTC_USDT', 'BTCUSDT', { id: 'exit', target, maxSlippage: '0.5%' });

    expect([await other.held(), other.alarmNames()]).toEqual([held, []]);
  });
});
