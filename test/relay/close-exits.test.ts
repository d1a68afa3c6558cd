import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { longestOrderLagMs, longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

/** Which exits a close cancels, and how long it waits for those that no list shows. */
let relay: Aftermath;
let onRequest = (): void => undefined;
let count = 0;
beforeEach(async () => {
  onRequest = () => undefined;
  count = 0;
  relay = await openAftermath('live', () => onRequest());
});
afterEach(() => relay.close());

const exits = { stopLoss: '48000', takeProfit: '52000' };
const perp = { ticker: 'BTCUSDT.P' };
const buy = { action: 'buy', orderType: 'market', quantity: '0.1' };
/** Rests at first. */
const buyLower = { ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined };

async function send(members: object, market = 'BTC_USDT'): Promise<Entry> {
  count += 1;
  const signalId = `s${count}`;
  await relay.receiveAll(
    JSON.stringify({ ticker: 'BTCUSDT', id: signalId, maxSlippage: '0.5%', ...members }),
  );
  await executeSignal(relay.services, { account: 'main', signalId, market });
  return await relay.entry(signalId);
}

async function placeByHand(side: 'buy' | 'sell', price: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const order = { market: 'BTC_USDT', amount: parseDecimal('0.05'), clientOrderId: '' };
  await client.call(limitEndpoint, { ...order, side, price: parseDecimal(price) });
}

async function cancelByHand(orderId: number): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId });
}

async function heldAmount(): Promise<string> {
  const client = await relay.services.exchangeFor('main');
  const { records } = await client.call(openPositions, { market: 'BTC_USDT' });
  const [position] = records;
  return position === undefined ? '0' : formatDecimal(position.amount);
}

/** The order is filled in part, and nothing more of it for now. */
function fillPart(): void {
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.04'));
  relay.setPrice('49600');
}

/** From now on, lists of open orders do not show what is younger. */
function lagOrders(delayMs: number): void {
  for (const endpoint of ['open-order', 'conditional-orders'])
    relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs, probability: 1 });
}

/** The resting entry was filled a second ago. */
function fillLately(lagMs: number): void {
  relay.setPrice('49500');
  relay.clock.advance(1000);
  lagOrders(lagMs);
}

function setProtection(protection: 'keep' | 'alarm'): void {
  const { settings } = relay.services;
  const { main } = settings.accounts;
  if (main === undefined) throw new Error('expected an account');
  const accounts = { ...settings.accounts, main: { ...main, protection } };
  Object.assign(relay.services, { settings: { ...settings, accounts } });
}

function hedge(): void {
  relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
  relay.paper.control.setHedgeMode('main', true);
}

async function followFor(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    await relay.follow();
    relay.clock.advance(3000);
  }
}

const isOrder = (path = '') => path.includes('/order/collateral/');

/** Runs while the next order is on its way. */
function beforeTheOrder(run: () => void): void {
  const next = onRequest;
  onRequest = () => {
    if (!isOrder(relay.asked.at(-1))) return next();
    onRequest = next;
    run();
  };
}

/** Runs with the first request after the next order. */
function afterTheOrder(run: () => void): void {
  const before = relay.asked.filter(isOrder).length;
  onRequest = () => {
    if (relay.asked.filter(isOrder).length === before || isOrder(relay.asked.at(-1))) return;
    onRequest = () => undefined;
    run();
  };
}

const openIds = () =>
  relay.paper.control
    .state()
    .orders.filter(({ status }) => !isOrderEnd(status))
    .map(({ orderId }) => orderId);

/** Closes the position. @returns what is still open, the alarms since, and how long it took */
async function close(members: object = {}, market = 'BTC_USDT'): Promise<object> {
  const [startMs, before] = [relay.clock.nowMs(), relay.alarms.length];
  const { status } = await send({ action: 'close', ...members }, market);
  expect(status).toBe('placed');
  const alarms = relay.alarms.slice(before).map(({ name }) => name);
  return { left: openIds(), alarms, waitedMs: relay.clock.nowMs() - startMs };
}

const atOnce = { alarms: [], waitedMs: 0 };
const waited = { left: [], alarms: [] };

describe('Exits that no list shows yet are waited for', () => {
  test('when an order that had rested was filled a moment ago', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(5 * minuteMs);
    fillLately(3000);

    expect(await close()).toMatchObject(waited);
  });

  test('when the follower has seen them in lists that lagged less', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(5 * minuteMs);
    relay.setPrice('49500');
    relay.clock.advance(1000);
    await relay.follow();
    expect((await relay.entry('s1')).execution?.orders).toHaveLength(3);
    lagOrders(3000);

    expect(await close()).toMatchObject(waited);
  });

  test('and when they come too late, following cancels them', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(5 * minuteMs);
    fillLately(15_000);

    expect(await close()).toMatchObject({
      left: [expect.any(Number), expect.any(Number)],
      alarms: [],
      waitedMs: expect.any(Number),
    });
    await relay.goOn(30);
    expect([openIds(), relay.alarms]).toEqual([[], []]);
  });

  test('and when they come too late, there is an alarm where the account keeps no protection', async () => {
    setProtection('alarm');
    await send({ ...buyLower, ...exits });
    relay.clock.advance(5 * minuteMs);
    fillLately(15_000);

    expect(await close()).toMatchObject({
      left: [expect.any(Number), expect.any(Number)],
      alarms: ['orders_left_open'],
    });
  });

  test.each([
    ['the lists show those of an earlier entry, at the same prices', false],
    ['the earlier entry was followed', true],
  ])('when %s', async (_, isFollowed) => {
    await send({ ...buy, ...exits });
    if (isFollowed) await followFor(120);
    relay.clock.advance(2 * minuteMs);
    await send({ ...buy, ...exits });
    relay.clock.advance(2000);
    lagOrders(4000);

    expect(await close()).toMatchObject(waited);
  });

  test('when the history shows the fill of an entry, and the deals are not listed yet', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    fillLately(30_000);
    for (const endpoint of ['executed-history', 'order-deals'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 30_000, probability: 1 });
    await followFor(3);
    expect((await relay.entry('s1')).execution?.orders).toMatchObject([{ status: 'filled', filled: '0' }]);

    expect(await close()).toMatchObject({ left: [expect.any(Number), expect.any(Number)] });
    await relay.goOn(60);
    expect([openIds(), relay.alarms]).toEqual([[], []]);
  });

  test('when the history shows those of an earlier entry, at the same prices', async () => {
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    expect(await close()).toEqual({ ...atOnce, left: [] });
    relay.clock.advance(1000);
    await send({ ...buy, ...exits });
    relay.clock.advance(2000);
    lagOrders(4000);

    expect(await close()).toMatchObject(waited);
  });

  test('when the lists show those of a later entry, at the same prices', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    await send({ ...buy, ...exits });
    relay.clock.advance(2 * minuteMs);
    fillLately(3000);

    expect(await close()).toMatchObject(waited);
  });

  test('when the history shows those of a later entry, at the same prices', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    await close({ keepEntries: true });
    relay.clock.advance(longestPositionLagMs + 1);
    fillLately(3000);

    expect(await close()).toMatchObject(waited);
  });

  test.each([
    ['cancel', { signalId: 's1' }],
    ['cancel_all', {}],
  ])('when a %s has ended an entry that had filled in part long before', async (action, members) => {
    await send({ ...buyLower, ...exits });
    await followFor(60);
    fillPart();
    await followFor(72);
    lagOrders(3000);
    await send({ action, maxSlippage: undefined, ...members });
    relay.clock.advance(500);

    expect(await close()).toMatchObject(waited);
  });

  test('when somebody else has ended an entry that had filled in part long before', async () => {
    const { orderId } = await send({ ...buyLower, ...exits });
    await followFor(60);
    fillPart();
    await followFor(72);
    lagOrders(3000);
    await cancelByHand(orderId ?? 0);
    relay.clock.advance(500);

    expect(await close()).toMatchObject(waited);
  });

  test('when a cancel_all no longer believes that the entry is open', async () => {
    await send({ ...buyLower, ...exits });
    await followFor(11 * 60);
    relay.setPrice('49500');
    relay.clock.advance(500);
    lagOrders(3000);
    await send({ action: 'cancel_all', maxSlippage: undefined });

    expect(await close()).toMatchObject(waited);
  });

  test('when others have an order at one of their prices', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    await placeByHand('sell', '52000');
    await followFor(300);
    fillLately(3000);

    expect(await close()).toMatchObject(waited);
  });

  test('when others have an order of the other side at their price', async () => {
    await placeByHand('buy', '48000');
    relay.clock.advance(minuteMs);
    await send({ ...buy, ...exits });
    relay.clock.advance(2000);
    lagOrders(4000);

    expect(await close()).toMatchObject({ left: [10000000001], alarms: [] });
  });

  test('when the position of the other side has an exit at their price', async () => {
    hedge();
    const short = { action: 'sell', positionSide: 'SHORT', takeProfit: '49000' };
    await send({ ...perp, ...buy, ...short, quantity: '0.02' }, 'BTC_PERP');
    relay.clock.advance(2 * minuteMs);
    const long = { positionSide: 'LONG', stopLoss: '49000' };
    await send({ ...perp, ...buy, ...long, quantity: '0.02' }, 'BTC_PERP');
    relay.clock.advance(longestPositionLagMs + 1);
    lagOrders(longestPositionLagMs + 2000);

    await close({ ...perp, positionSide: 'LONG' }, 'BTC_PERP');
    await relay.goOn(30, 'BTC_PERP');

    expect([openIds(), relay.alarms]).toEqual([[expect.any(Number)], []]);
  });

  test('when the other position was closed after they were placed', async () => {
    hedge();
    const sized = { ...perp, ...buy, quantity: '0.02', stopLoss: '2%' };
    await send({ ...sized, positionSide: 'LONG' }, 'BTC_PERP');
    relay.clock.advance(2 * minuteMs);
    await send({ ...sized, action: 'sell', positionSide: 'SHORT' }, 'BTC_PERP');
    relay.clock.advance(longestPositionLagMs + 1);
    await close({ ...perp, positionSide: 'LONG' }, 'BTC_PERP');
    relay.clock.advance(longestPositionLagMs + 1);
    lagOrders(2 * longestPositionLagMs + 3000);

    await close({ ...perp, positionSide: 'SHORT' }, 'BTC_PERP');
    await relay.goOn(30, 'BTC_PERP');

    expect([openIds(), relay.alarms]).toEqual([[], []]);
  });

  test('when the entry was filled in part at once, and the rest a moment ago', async () => {
    await send({ ...buyLower, quantity: '2', limitPrice: '50010', ...exits });
    expect(await heldAmount()).toBe('1');
    relay.clock.advance(5 * minuteMs);
    relay.setPrice('50005');
    relay.setPrice('49900');
    relay.clock.advance(1000);
    lagOrders(3000);

    expect(await close()).toMatchObject(waited);
  });

  test.each([
    ['cancel', undefined, { signalId: 's1' }],
    ['cancel_all', undefined, {}],
    ['cancel', '0.04', { signalId: 's1' }],
  ])('when a %s came too late for the entry (filled: %s)', async (action, filled, members) => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    const amount = filled === undefined ? undefined : parseDecimal(filled);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), amount);
    relay.clock.advance(500);
    await send({ action, maxSlippage: undefined, ...members });
    relay.clock.advance(longestPositionLagMs);
    lagOrders(longestPositionLagMs + 2000);

    await close();
    await relay.goOn(30);
    expect([openIds(), relay.alarms]).toEqual([[], []]);
  });
});

describe('Nothing is waited for', () => {
  test('when the entry that would have the exits is open without a fill', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    await send({ ...buy, ...exits });
    relay.clock.advance(1000);

    expect(await close({ keepEntries: true })).toEqual({ ...atOnce, left: [expect.any(Number)] });
  });

  test('when two entries have exits at the same prices, and the lists show all', async () => {
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [] });
  });

  test('when an earlier position of the other side had exits at the same prices', async () => {
    await send({ ...buy, action: 'sell', stopLoss: '52000', takeProfit: '48000' });
    relay.clock.advance(longestPositionLagMs + 1);
    await close();
    relay.clock.advance(1000);
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [] });
  });

  test('when the entry has filled in part and is open', async () => {
    await send({ ...buyLower, ...exits });
    await followFor(60);
    fillPart();
    await followFor(12);

    expect(await close({ keepEntries: true })).toEqual({ ...atOnce, left: [10000000001] });
  });

  test('when the entry fills right after the close', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(2 * minuteMs);
    await send({ ...buy, stopLoss: '47000', takeProfit: '53000' });
    relay.clock.advance(500);
    afterTheOrder(() => {
      relay.clock.advance(2000);
      relay.setPrice('49500');
    });

    expect(await close()).toMatchObject({ alarms: [], waitedMs: 2000 });
  });

  test('when the position has long been as it is', async () => {
    relay.paper.control.listCancelled('main', false);
    await send({ ...buy, ...exits });
    await send({ ...buyLower, ...exits });
    relay.clock.advance(longestOrderLagMs + 1);
    await cancelByHand(openIds().at(-1) ?? 0);
    // No list tells that it has not filled.
    await expect(close({ keepEntries: true })).rejects.toMatchObject({ code: 'position_awaited' });
    relay.clock.advance(longestPositionLagMs);
    const startMs = relay.clock.nowMs();

    await executeSignal(relay.services, { account: 'main', signalId: 's3', market: 'BTC_USDT' });
    expect([openIds(), relay.alarms, relay.clock.nowMs() - startMs]).toEqual([[], [], 0]);
  });

  test('when the history shows that the entry ended without a fill', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    await send({ ...buy, ...exits });
    await cancelByHand(10000000001);
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [] });
  });

  test.each([[true], [false]])(
    'when an earlier close has ended the exits (followed: %s)',
    async (isFollowed) => {
      relay.paper.control.listCancelled('main', false);
      await send({ ...buyLower, ...exits });
      await followFor(60);
      relay.setPrice('49500');
      relay.clock.advance(1000);
      expect(await close()).toEqual({ ...atOnce, left: [] });
      if (isFollowed) await followFor(60);
      await send({ ...buy, stopLoss: '2%', takeProfit: '4%' });
      relay.clock.advance(longestPositionLagMs + 1);

      expect(await close()).toEqual({ ...atOnce, left: [] });
    },
  );

  test('when a cancellation has ended the exits', async () => {
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    await send({ action: 'cancel_all', scope: 'market', maxSlippage: undefined });

    expect(await close()).toEqual({ ...atOnce, left: [] });
  });

  test('when the stop-loss was hit, and there is a new position', async () => {
    await send({ ...buy, stopLoss: '49900', takeProfit: '52000' });
    relay.clock.advance(15_000);
    relay.setPrice('49890');
    relay.clock.advance(longestPositionLagMs + 1);
    await send(buy);
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [] });
  });
});

describe('A close leaves everything open, with an alarm, that may protect what is left of the position', () => {
  const other = { stopLoss: '47000', takeProfit: '53000' };

  test('when another entry fills between the reading of the position and the order', async () => {
    await send({ ...buyLower, limitPrice: '49900', ...exits });
    relay.clock.advance(2 * minuteMs);
    await send({ ...buy, ...other });
    relay.clock.advance(longestPositionLagMs + 1);
    beforeTheOrder(() => relay.setPrice('49900'));

    expect(await close({ keepEntries: true })).toMatchObject({
      left: [expect.any(Number), expect.any(Number), expect.any(Number), expect.any(Number)],
      alarms: ['orders_left_open'],
    });
    relay.paper.control.clearFaults();
    expect(await heldAmount()).toBe('0.1');
  });

  test('when that changes again more than a second later', async () => {
    await send({ ...buyLower, limitPrice: '49900', ...exits });
    await placeByHand('buy', '49800');
    relay.clock.advance(2 * minuteMs);
    await send({ ...buy, ...other });
    relay.clock.advance(longestPositionLagMs + 1);
    afterTheOrder(() => {
      relay.clock.advance(2000);
      relay.setPrice('49800');
    });
    beforeTheOrder(() => relay.setPrice('49900'));

    expect(await close({ keepEntries: true })).toMatchObject({
      left: [expect.any(Number), expect.any(Number), expect.any(Number), expect.any(Number)],
      alarms: ['orders_left_open'],
    });
    expect(await heldAmount()).toBe('0.15');
  });

  test('when the stop-loss closes the position first, and another entry opens one', async () => {
    await send({ ...buyLower, limitPrice: '49000', ...exits });
    relay.clock.advance(2 * minuteMs);
    await send({ ...buy, stopLoss: '49500' });
    relay.clock.advance(longestPositionLagMs + 1);
    afterTheOrder(() => relay.setPrice('49000'));
    beforeTheOrder(() => relay.setPrice('49500'));

    const { status, steps } = await send({ action: 'close', keepEntries: true });

    expect([status, await heldAmount(), openIds().length]).toEqual(['rejected', '0.1', 2]);
    expect(steps.at(-1)?.note).toContain('as there was none, but the position is long 0.1 now');
    expect(relay.alarms.map(({ name }) => name)).toContain('orders_left_open');
  });
});

test('a close that the exchange refuses as if nothing were open leaves the exits of a position that is listed', async () => {
  await send({ ...buy, ...exits });
  relay.clock.advance(longestPositionLagMs + 1);
  const client = await relay.services.exchangeFor('main');
  const refusing = override(client, {
    prepare: (endpoint, params) => {
      const request = client.prepare(endpoint, params);
      if (endpoint.repeatable) return request;
      const message = "Reduce-only: Position doesn't exist or wrong side";
      const failure = { kind: 'rejected', httpStatus: 422, exchangeCode: 116, message, errors: {} } as const;
      return {
        ...request,
        send: async () => {
          throw new ExchangeError(endpoint, [{ atMs: relay.clock.nowMs(), failure }]);
        },
      };
    },
  });
  await relay.receiveAll(
    JSON.stringify({ ticker: 'BTCUSDT', id: 'c', action: 'close', maxSlippage: '0.5%' }),
  );

  await relay.executeWith({ ...relay.services, exchangeFor: async () => refusing }, 'c');

  expect(await relay.entry('c')).toMatchObject({ status: 'rejected' });
  expect([await heldAmount(), openIds().length]).toEqual(['0.1', 2]);
  expect(relay.alarms.map(({ name }) => name)).toEqual(['orders_left_open']);
});

test('a close reads the position once more, and asks for nothing else, when no entry has exits', async () => {
  await send(buy);
  relay.clock.advance(longestPositionLagMs + 1);
  const before = relay.asked.length;

  expect(await close()).toEqual({ ...atOnce, left: [] });
  const asked = relay.asked.slice(before);
  expect(asked.slice(asked.findIndex(isOrder) + 1)).toEqual(['/api/v4/collateral-account/positions/open']);
});

test('a position that the stop-loss has turned right after the close is an alarm', async () => {
  await send({ ...buy, ...exits });
  relay.clock.advance(longestPositionLagMs + 1);
  afterTheOrder(() => relay.setPrice('47990'));

  expect(await close()).toMatchObject({ alarms: ['orders_left_open'] });
  expect(await heldAmount()).toBe('-0.1');
});

test('a close whose rest fills before it is cancelled cancels the exits, too', async () => {
  await send({ ...buyLower, quantity: '2', limitPrice: '50100', ...exits });
  relay.clock.advance(longestPositionLagMs + 1);
  relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', count: 1 });
  onRequest = () => {
    if (relay.asked.at(-1) === '/api/v4/order/cancel') relay.setPrice('50300');
  };

  expect(await close({ maxSlippage: '0.03%' })).toMatchObject({ left: [], alarms: [] });
  expect(await heldAmount()).toBe('0');
});

test('a close cancels exits that the follower knows, although an earlier close has missed them', async () => {
  await send({ ...buy, ...exits });
  lagOrders(5 * minuteMs);
  relay.clock.advance(longestOrderLagMs + 1);
  expect(await close()).toMatchObject({ left: [10000000004, 10000000005], alarms: [] });
  relay.paper.control.clearFaults();
  await relay.follow();
  await send(buy);
  relay.clock.advance(longestPositionLagMs + 1);

  expect(await close()).toEqual({ ...atOnce, left: [] });
});

describe('A close leaves alone', () => {
  test('the exits of an entry that fills right after it', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(2 * minuteMs);
    await send({ ...buy, stopLoss: '47000', takeProfit: '53000' });
    relay.clock.advance(500);
    afterTheOrder(() => {
      relay.clock.advance(2000);
      relay.setPrice('49500');
    });

    expect(await close({ keepEntries: true })).toMatchObject({
      left: [expect.any(Number), expect.any(Number)],
      alarms: [],
    });
    expect(await heldAmount()).toBe('0.1');
    expect((await relay.entry('s3')).steps.at(-1)?.facts?.exitsEndedFor).toEqual(['s2']);

    // They are kept fitting later on.
    await relay.goOn(60);
    await placeByHand('sell', '49000');
    await relay.goOn(60);
    const open = relay.paper.control.state().orders.filter(({ status }) => status === 'open');
    expect([await heldAmount(), open.map(({ amount }) => amount)]).toEqual(['0.05', ['0.05', '0.05']]);
  });

  test('an order by hand at the price of an exit, placed before the entry', async () => {
    await placeByHand('sell', '52000');
    relay.clock.advance(minuteMs);
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [10000000001] });
  });

  test('an order with the name of others, at the price of an exit', async () => {
    await send({ ...buy, ...exits });
    const client = await relay.services.exchangeFor('main');
    const order = { market: 'BTC_USDT', amount: parseDecimal('0.05'), price: parseDecimal('52000') };
    await client.call(limitEndpoint, { ...order, side: 'sell', clientOrderId: 'mine' });
    relay.clock.advance(longestPositionLagMs + 1);

    await close();

    const open = relay.paper.control.state().orders.filter(({ status }) => status === 'open');
    expect(open.map(({ clientOrderId }) => clientOrderId)).toEqual(['mine']);
  });

  test('an order by hand at the price of exits that never were', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    await send({ action: 'cancel', signalId: 's1', maxSlippage: undefined });
    await send(buy);
    await placeByHand('sell', '52000');
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [10000000004] });
  });

  test('an order by hand at the price of an exit that is long gone', async () => {
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    await close();
    relay.paper.control.listCancelled('main', false);
    relay.clock.advance(40 * minuteMs);
    await send(buy);
    await placeByHand('sell', '52000');
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await close()).toEqual({ ...atOnce, left: [expect.any(Number)] });
  });
});

test('The stop-loss of a closed entry is not missed when there is a new position', async () => {
  await send({ ...buy, ...exits });
  await followFor(30);
  await close();
  await send(buy);

  await followFor(180);

  expect(relay.alarms).toEqual([]);
  const { execution } = await relay.entry('s1');
  expect(execution).toMatchObject({ isFollowed: false, exitsEnded: true });
  expect(execution?.unprotectedSinceMs).toBeUndefined();
});

describe('Exits of an entry by hand', () => {
  const byHand = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal('0.1'), clientOrderId: '' } as const;
  async function enterByHand(): Promise<void> {
    const client = await relay.services.exchangeFor('main');
    const [price, stopLoss, takeProfit] = ['50100', '48000', '52000'].map(parseDecimal);
    await client.call(limitEndpoint, { ...byHand, price: price ?? zero, stopLoss, takeProfit });
    relay.clock.advance(longestPositionLagMs + 1);
  }

  test('are cancelled with the position when its list shows their ids', async () => {
    await enterByHand();
    relay.paper.control.addFault({ fault: 'show_tpsl', probability: 1 });

    expect(await close()).toMatchObject({ left: [], alarms: [] });
  });

  test('stay when it does not, for nothing tells that they are exits', async () => {
    await enterByHand();

    expect(await close()).toMatchObject({ left: [expect.any(Number), expect.any(Number)] });
  });
});

describe('A close whose response is lost', () => {
  /** The close reaches the exchange, and its response never comes back. */
  async function closeUnheard(): Promise<void> {
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', count: 1 });
    const { status } = await send({ action: 'close' });
    expect([status, await heldAmount()]).toEqual(['unknown', '0']);
    relay.clock.advance(minuteMs);
  }

  test('has its exits cancelled by the lookup that finds it', async () => {
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    await closeUnheard();

    await relay.reconcile();

    const found = await relay.entry('s2');
    expect([found.status, openIds()]).toEqual(['placed', []]);
    expect(relay.alarms.map(({ name }) => name)).toEqual(['outcome_unknown']);
  });

  test('leaves the exits of a position that was opened since', async () => {
    await send({ ...buy, ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    await closeUnheard();
    await send({ ...buy, stopLoss: '47000' });
    const [, , later] = openIds();

    await relay.reconcile();

    expect(openIds()).toEqual([later]);
    const ended = (await relay.entry('s2')).steps.at(-1)?.facts?.exitsEndedFor;
    expect(ended).toEqual(['s1']);
  });
});
