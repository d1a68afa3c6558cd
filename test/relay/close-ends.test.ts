import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { cancelReportsIn } from '../../lib/ledger/cancel-reports.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { judgeClosing } from '../../lib/relay/position/judge-closing.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';
import { token } from '../support/relay-services.ts';

/** What a close does about the resting entries of its market, about what it cannot close, and about what is closed already. */
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
/** Rests below the market. */
const buyLower = { ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined };
const settledMs = longestPositionLagMs + 1;

async function send(members: object, market = 'BTC_USDT'): Promise<Entry> {
  count += 1;
  const signalId = `s${count}`;
  await relay.receiveAll(
    JSON.stringify({ ticker: 'BTCUSDT', id: signalId, maxSlippage: '0.5%', ...members }),
  );
  const legs = 'action' in members && members.action === 'reverse' ? [`${signalId}:reduce`] : [];
  for (const id of [...legs, signalId])
    await executeSignal(relay.services, { account: 'main', signalId: id, market }).catch(() => undefined);
  return await relay.entry(signalId);
}

/** An order of the owner, beyond the reach of the relay. */
async function placeByHand(side: 'buy' | 'sell', price: string, amount = '0.05'): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const order = { market: 'BTC_USDT', amount: parseDecimal(amount), clientOrderId: '' };
  await client.call(limitEndpoint, { ...order, side, price: parseDecimal(price) });
}

async function heldAmount(market = 'BTC_USDT'): Promise<string> {
  const client = await relay.services.exchangeFor('main');
  const { records } = await client.call(openPositions, { market });
  return formatDecimal(records.reduce((sum, { amount }) => sum.plus(amount), zero));
}

function openOrders() {
  return relay.paper.control.state().orders.filter(({ status }) => !isOrderEnd(status));
}

const openSides = () => openOrders().map(({ side, type }) => `${side} ${type}`);
const alarmNames = () => relay.alarms.map(({ name }) => name);
const isOrder = (path = '') => path.includes('/order/collateral/');
const cancelPath = '/api/v4/order/cancel';

/** Runs when the exchange is asked for the path next. */
function whenAsked(path: string | ((path: string) => boolean), run: () => void): void {
  const isIt = typeof path === 'string' ? (asked: string) => asked === path : path;
  const from = relay.asked.length;
  onRequest = () => {
    if (relay.asked.length <= from || !isIt(relay.asked.at(-1) ?? '')) return;
    onRequest = () => undefined;
    run();
  };
}

/** The resting entry fills in part, and nothing more of it for now. */
function fillPart(amount = '0.04'): void {
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal(amount));
  relay.setPrice('49600');
}

function factsOf({ steps }: Entry) {
  return Object.assign({}, ...steps.map(({ facts }) => facts ?? {}));
}

describe('A whole close cancels the resting entries first', () => {
  test.each([
    ['close', {}],
    ['flat', {}],
    ['close', { quantity: '100%' }],
    ['exit_long', { orderType: 'market' }],
  ])('%s %j: an entry that rests cannot fill later', async (action, members) => {
    await send(buyLower);
    await send({ ...buy, ...exits });
    relay.clock.advance(settledMs);

    const closed = await send({ action, ...members });

    expect([closed.status, openSides()]).toEqual(['placed', []]);
    relay.setPrice('49400');
    expect([await heldAmount(), alarmNames()]).toEqual(['0', []]);
    const [first] = relay.asked.filter((path) => path === cancelPath || isOrder(path)).slice(2);
    expect(first).toBe(cancelPath);
  });

  test('and says which, in its note and its facts', async () => {
    const { orderId } = await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close' });

    expect(factsOf(closed)).toMatchObject({
      placedBy: ['s1'],
      cancelled: [{ orderId, filled: '0' }],
    });
    expect(closed.steps.map(({ note }) => note).join(' ')).toContain(`"s1"`);
  });

  test('a half-filled entry fills no further, and its part is closed', async () => {
    await send({ ...buyLower, ...exits });
    relay.clock.advance(minuteMs);
    fillPart();
    await relay.follow();
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close' });

    expect([closed.status, await heldAmount(), openSides()]).toEqual(['placed', '0', []]);
    relay.setPrice('49400');
    expect([await heldAmount(), alarmNames()]).toEqual(['0', []]);
  });

  test.each([
    ['the position is read', '/api/v4/collateral-account/positions/open'],
    ['it is cancelled', cancelPath],
  ])('a fill right before %s is closed, too', async (_, path) => {
    await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);
    whenAsked(path, () => fillPart());

    const closed = await send({ action: 'close' });

    expect([closed.status, await heldAmount(), openSides()]).toEqual(['placed', '0', []]);
    expect(alarmNames()).toEqual([]);
  });

  test('a fill of all of it right before it is cancelled is closed, too', async () => {
    await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);
    whenAsked(cancelPath, () => relay.setPrice('49500'));

    const closed = await send({ action: 'close' });

    expect([closed.status, await heldAmount(), openSides()]).toEqual(['placed', '0', []]);
    expect(factsOf(closed)).toMatchObject({ cancelled: [{ filled: '0.1' }], placedBy: ['s1'] });
  });

  test('a list that lags behind that fill is not believed', async () => {
    await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);
    whenAsked(cancelPath, () => {
      fillPart();
      relay.paper.control.addFault({
        fault: 'read_lag',
        endpoint: 'open-positions',
        delayMs: 2000,
        probability: 1,
      });
    });

    const closed = await send({ action: 'close' });

    relay.paper.control.clearFaults();
    expect([closed.status, await heldAmount()]).toEqual(['placed', '0']);
  });

  test('a stop entry on the other side is cancelled, which would open a short position', async () => {
    await send({ ...buyLower, action: 'sell', limitPrice: '50500' });
    await send(buy);
    relay.clock.advance(settledMs);

    await send({ action: 'close' });
    relay.setPrice('51000');

    expect([await heldAmount(), openSides()]).toEqual(['0', []]);
  });

  test('a reverse does not sell into the limit buy of the relay', async () => {
    await send({ ...buyLower, limitPrice: '49990', quantity: '0.2' });
    await send(buy);
    relay.clock.advance(settledMs);

    const opened = await send({ action: 'reverse' });

    expect([opened.status, await heldAmount(), openSides()]).toEqual(['placed', '-0.1', []]);
  });

  test('a close of a named side in one-way mode, where nothing is open, cancels them, too', async () => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    await send({ ...buyLower, ...perp, quantity: '0.02' }, 'BTC_PERP');

    const closed = await send({ ...perp, action: 'close', positionSide: 'LONG' }, 'BTC_PERP');

    expect([closed.status, openSides()]).toEqual(['satisfied', []]);
  });

  test('in hedge mode those of its side alone', async () => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    relay.paper.control.setHedgeMode('main', true);
    const sized = { ...perp, quantity: '0.02' };
    await send({ ...buyLower, ...sized, positionSide: 'LONG' }, 'BTC_PERP');
    const short = { action: 'sell', positionSide: 'SHORT', limitPrice: '51000' };
    await send({ ...buyLower, ...sized, ...short }, 'BTC_PERP');
    await send({ ...buy, ...sized, positionSide: 'LONG' }, 'BTC_PERP');
    relay.clock.advance(settledMs);

    const closed = await send({ ...perp, action: 'close', positionSide: 'LONG' }, 'BTC_PERP');

    expect([closed.status, openOrders().map(({ side }) => side)]).toEqual(['placed', ['sell']]);
  });
});

describe('A close leaves', () => {
  test('resting entries with keepEntries', async () => {
    await send(buyLower);
    await send({ ...buy, ...exits });
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close', keepEntries: true });

    expect([closed.status, openOrders().map(({ side }) => side)]).toEqual(['placed', ['buy']]);
    expect(alarmNames()).toEqual([]);
  });

  test('resting entries when it closes a part', async () => {
    await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);

    await send({ action: 'close', quantity: '50%' });

    expect([await heldAmount(), openSides().length]).toEqual(['0.05', 1]);
  });

  test('resting entries when the order that presumes a flat position finds one', async () => {
    const { settings } = relay.services;
    const main = settings.accounts['main'];
    if (main === undefined) throw new Error('no account');
    const resyncing = { ...main, onMismatch: 'resync' } as const;
    const services = { ...relay.services, settings: { ...settings, accounts: { main: resyncing } } };
    for (const [id, limitPrice] of Object.entries({ a: '49500', b: '49400' })) {
      const alert = { ticker: 'BTCUSDT', id, ...buyLower, limitPrice, requirePosition: 'flat' };
      await receiveSignal(services, {
        account: 'main',
        token,
        body: Buffer.from(JSON.stringify(alert)),
      });
      for (const signalId of [`${id}:reduce`, id]) await relay.executeWith(services, signalId);
    }

    expect([(await relay.entry('b:reduce')).status, openSides().length]).toEqual(['satisfied', 2]);
  });

  test('orders by hand', async () => {
    await placeByHand('buy', '49000');
    await send(buy);
    relay.clock.advance(settledMs);

    await send({ action: 'close' });

    expect(openOrders().map(({ orderId }) => orderId)).toEqual([10000000001]);
  });

  test('entries that wait behind it', async () => {
    await send(buy);
    relay.clock.advance(settledMs);
    count += 1;
    await relay.receiveAll(
      JSON.stringify({ ticker: 'BTCUSDT', id: 's2', action: 'close', maxSlippage: '1%' }),
    );
    await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id: 's3', ...buyLower }));

    await relay.execute('s2');
    await relay.execute('s3');

    expect((await relay.entry('s3')).status).toBe('placed');
    expect(openOrders().map(({ side }) => side)).toEqual(['buy']);
  });

  test('everything while the account only rehearses', async () => {
    await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);
    const { settings } = relay.services;
    const main = settings.accounts['main'];
    if (main === undefined) throw new Error('no account');
    const rehearsing = {
      ...settings,
      accounts: { ...settings.accounts, main: { ...main, mode: 'dry-run' } },
    };
    await relay.receiveAll(
      JSON.stringify({ ticker: 'BTCUSDT', id: 'c', action: 'close', maxSlippage: '1%' }),
    );

    await relay.executeWith({ ...relay.services, settings: rehearsing as typeof settings }, 'c');

    expect([(await relay.entry('c')).status, openSides().length]).toEqual(['dry_run', 1]);
  });
});

test('An entry that cannot be cancelled is told, and the close goes out', async () => {
  await send(buyLower);
  await send(buy);
  relay.clock.advance(settledMs);
  relay.paper.control.addFault({ fault: 'error_before', endpoint: 'cancel-order', probability: 1 });

  const closed = await send({ action: 'close' });

  relay.paper.control.clearFaults();
  expect([closed.status, await heldAmount()]).toEqual(['placed', '0']);
  expect(alarmNames()).toEqual(['orders_left_open']);
});

test('A cancellation that reports another order is told, and the entry counts as left', async () => {
  await send(buyLower);
  await send(buy);
  relay.clock.advance(settledMs);
  relay.paper.control.addFault({ fault: 'contradict', endpoint: 'cancel-order', count: 1 });

  const closed = await send({ action: 'close' });

  expect([closed.status, await heldAmount()]).toEqual(['placed', '0']);
  expect(alarmNames()).toContain('order_contradicted');
});

test('An entry whose cancellation was lost, and that is listed as ended, is not left', async () => {
  await send(buyLower);
  await send(buy);
  relay.clock.advance(settledMs);
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'cancel-order', probability: 1 });

  const closed = await send({ action: 'close' });

  relay.paper.control.clearFaults();
  expect([closed.status, await heldAmount(), openSides()]).toEqual(['placed', '0', []]);
  expect(alarmNames()).toEqual([]);
});

test('A close that is denied after it has cancelled an entry says so', async () => {
  await send(buyLower);
  await send(buy);
  relay.clock.advance(settledMs);
  // Prices are read after the entry is cancelled.
  relay.paper.control.addFault({ fault: 'error_before', endpoint: 'order-book', probability: 1 });

  const closed = await send({ action: 'close' });

  expect([closed.status, openSides()]).toEqual(['not_sent', []]);
  expect(factsOf(closed)).toMatchObject({ placedBy: ['s1'], cancelled: [{ filled: '0' }] });
  expect(closed.steps.at(-1)?.note).toContain('"s1"');
});

test('What a close cancelled counts for the limits and for later readings as what a cancellation did', async () => {
  const { orderId } = await send(buyLower);
  await send(buy);
  relay.clock.advance(settledMs);
  whenAsked(cancelPath, () => fillPart());
  const closed = await send({ action: 'close' });
  const entries = [await relay.entry('s1'), closed];

  const { ended, gone } = cancelReportsIn(entries);

  expect([...ended].map(([id, { filled }]) => [id, filled.toFixed()])).toEqual([[orderId, '0.04']]);
  expect(gone.size).toBe(0);
});

describe('A position that was closed by hand', () => {
  async function closeByHand(): Promise<void> {
    await placeByHand('sell', '49900', '0.1');
    expect(await heldAmount()).toBe('0');
  }

  test.each([
    ['close', true],
    ['close', false],
    ['flat', true],
    ['exit_long', true],
  ])('%s cancels the exits that are left (followed: %s)', async (action, isFollowed) => {
    await send({ ...buy, ...exits });
    if (isFollowed) await relay.follow();
    relay.clock.advance(settledMs);
    await closeByHand();
    relay.clock.advance(minuteMs);

    const closed = await send({ action, ...(action === 'exit_long' ? { orderType: 'market' } : {}) });

    expect([closed.status, openSides(), alarmNames()]).toEqual(['satisfied', [], []]);
    expect(factsOf(closed)).toMatchObject({ exitsEndedFor: ['s1'] });
    expect(closed.steps.at(-1)?.note).toContain('are cancelled');
    relay.setPrice('47000');
    expect(await heldAmount()).toBe('0');
  });

  test('a close cancels reducing orders and resting entries', async () => {
    await send(buyLower);
    await send(buy);
    await send({ ...buyLower, action: 'sell', limitPrice: '52000', quantity: '0.05', reduceOnly: true });
    relay.clock.advance(settledMs);
    await closeByHand();

    const closed = await send({ action: 'close' });

    expect([closed.status, openSides(), alarmNames()]).toEqual(['satisfied', [], []]);
    expect(factsOf(closed)).toMatchObject({ placedBy: ['s1'], cancelled: [{ filled: '0' }] });
  });

  test('a close with keepEntries leaves the entry, and the exits that it would have', async () => {
    await send({ ...buyLower, ...exits });
    await send({ ...buy, stopLoss: '47000' });
    relay.clock.advance(settledMs);
    await closeByHand();

    const closed = await send({ action: 'close', keepEntries: true });

    expect([closed.status, openOrders().map(({ side }) => side)]).toEqual(['satisfied', ['buy']]);
    relay.setPrice('49500');
    expect(openOrders().map(({ side }) => side)).toEqual(['sell', 'sell']);
  });

  test('an entry that fills while it is cancelled is closed', async () => {
    await send(buyLower);
    relay.clock.advance(settledMs);
    whenAsked(cancelPath, () => fillPart());

    const closed = await send({ action: 'close' });

    expect([closed.status, await heldAmount(), openSides()]).toEqual(['placed', '0', []]);
  });

  test('a close by half leaves the exits of nobody, and entries that rest', async () => {
    await send(buyLower);
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close', quantity: '50%' });

    expect([closed.status, openSides().length]).toEqual(['satisfied', 1]);
  });
});

/** Carries out the further closes that wait, each after so long. */
async function runRests(pauseMs = 0): Promise<readonly Entry[]> {
  const tried: Entry[] = [];
  for (;;) {
    const waiting = await relay.services.ledger.waiting('main', 'BTC_USDT', 10);
    const next = waiting.find(({ signalId }) => signalId.includes(':rest-'));
    if (next === undefined) return tried;
    relay.clock.advance(pauseMs);
    await executeSignal(relay.services, { ...next, market: 'BTC_USDT' });
    tried.push(await relay.entry(next.signalId));
  }
}

/** From now on no further try of a close can be stored. */
function refuseRests(): void {
  const { entrance } = relay.services;
  const lost = new RelayError('store_unavailable', 'the disk is full');
  const accept: typeof entrance.accept = async (entries, limit) => {
    if (entries.some(({ signalId }) => signalId.includes(':rest-'))) throw lost;
    return await entrance.accept(entries, limit);
  };
  allowRests = () => Object.assign(relay.services, { entrance });
  Object.assign(relay.services, { entrance: override(entrance, { accept }) });
}

let allowRests = (): unknown => undefined;

describe('A close that fills in part', () => {
  /** More than the first level of the book has within the bound. */
  const large = { quantity: '2', limitPrice: '50100' };

  test.each([['close'], ['flat']])('%s tells what is left', async (action) => {
    await send({ ...buyLower, ...large, ...exits });
    relay.clock.advance(settledMs);

    const closed = await send({ action, maxSlippage: '0.06%' });

    const held = await heldAmount();
    expect(held).not.toBe('0');
    expect([closed.status, alarmNames()]).toEqual(['placed', ['close_incomplete']]);
    expect(factsOf(closed)).toMatchObject({ rest: held });
    expect(closed.steps.at(-1)?.note).toContain(`long ${held}`);
  });

  test('is tried again within the bounds of the alert, three times at most', async () => {
    await send({ ...buyLower, ...large, ...exits });
    relay.clock.advance(settledMs);
    await send({ action: 'close', maxSlippage: '0.06%' });
    const first = await heldAmount();
    relay.setPrice('50000');

    const tried = await runRests();

    expect(tried[0]).toMatchObject({ signalId: 's2:rest-1', status: 'placed' });
    expect(parseDecimal(await heldAmount()).lt(parseDecimal(first))).toBe(true);
    expect(tried.length).toBeLessThanOrEqual(3);
  });

  test('is tried again after a try whose response was lost, although the position was enlarged meanwhile', async () => {
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);
    await send({ action: 'close', maxSlippage: '0.06%' });
    await placeByHand('buy', '50100', '0.3');
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', count: 1 });
    await runRests();
    expect((await relay.entry('s3:rest-1')).status).toBe('unknown');
    relay.clock.advance(minuteMs / 4);

    await relay.reconcile();

    const found = await relay.entry('s3:rest-1');
    expect(found.status).toBe('placed');
    expect(factsOf(found)?.rest).toBeDefined();
    expect(alarmNames()).toEqual(['close_incomplete', 'outcome_unknown']);
    relay.clock.advance(settledMs);
    await relay.follow();
    expect((await runRests())[0]).toMatchObject({ signalId: 's3:rest-2' });
  });

  test.each([
    ['close', undefined],
    ['flat', undefined],
    ['close, of a short position,', 'short'],
  ])('a %s is not tried again beyond the bound of its first order', async (name, of) => {
    const [side, opposite, away] = of === 'short' ? ['sell', 'buy', '50300'] : ['buy', 'sell', '49700'];
    await send({ ...buyLower, ...large, action: side, limitPrice: of === 'short' ? '49900' : '50100' });
    relay.clock.advance(settledMs);
    await send({ action: name.replace(/,.*/, ''), maxSlippage: '0.06%' });
    const first = await heldAmount();
    const bound = relay.paper.control.state().orders.findLast((order) => order.side === opposite)?.price;
    relay.setPrice(away);

    const tried = await runRests(settledMs);

    expect(tried.length).toBeGreaterThan(0);
    const orders = relay.paper.control.state().orders.filter((order) => order.side === opposite);
    expect(orders.map(({ price }) => price)).toEqual(orders.map(() => bound));
    expect(orders).toHaveLength(tried.length + 1);
    expect([await heldAmount(), alarmNames()[0]]).toEqual([first, 'close_incomplete']);
  });

  test.each([['close'], ['flat']])(
    'a %s whose tries close nothing more is told at first and after the last one',
    async (action) => {
      await send({ ...buyLower, ...large });
      relay.clock.advance(settledMs);
      const closed = await send({ action, maxSlippage: '0.06%' });
      expect(closed.steps.at(-1)?.note).toMatch(/the relay tries again, .* close what is left then$/);
      relay.setPrice('49700');

      const tried = await runRests(settledMs);

      expect(tried.map(({ status }) => status)).toEqual(['placed', 'placed', 'placed']);
      expect(relay.alarms.map(({ signalId, name }) => [signalId, name])).toEqual([
        ['s2', 'close_incomplete'],
        ['s2:rest-3', 'close_incomplete'],
      ]);
      expect(tried.at(-1)?.steps.at(-1)?.note).toMatch(/left open; close the rest$/);
    },
  );

  test.each([
    ['is tried again by following when its own worker could not store another try', 10_000],
    ['is denied then, with an alarm, when the alert is too old', 10 * minuteMs],
  ])('%s', async (_, laterMs) => {
    await send({ ...buyLower, ...large, ...exits });
    relay.clock.advance(settledMs);
    refuseRests();
    await send({ action: 'close', maxSlippage: '0.06%' });
    allowRests();
    expect([await runRests(), alarmNames()]).toEqual([[], ['close_incomplete']]);
    relay.setPrice('50000');
    relay.clock.advance(laterMs);

    for (let times = 0; times < 2; times += 1) await relay.follow();

    const tried = (await runRests()).map(({ signalId, status }) => `${signalId} ${status}`);
    expect(tried[0]).toBe(laterMs > minuteMs ? 's2:rest-1 denied' : 's2:rest-1 placed');
    expect(alarmNames().includes('signal_not_executed')).toBe(laterMs > minuteMs);
  });

  test('is told once more when a further try could not be stored before the alert was too old', async () => {
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);
    await send({ action: 'close', maxSlippage: '0.06%' });
    refuseRests();
    relay.setPrice('49700');
    expect(await runRests()).toMatchObject([{ signalId: 's2:rest-1', status: 'placed' }]);
    allowRests();
    expect(alarmNames()).toEqual(['close_incomplete']);
    relay.clock.advance(2 * minuteMs);

    for (let times = 0; times < 3; times += 1) await relay.follow();
    await runRests();

    expect(relay.alarms.map(({ signalId, name }) => [signalId, name])).toEqual([
      ['s2', 'close_incomplete'],
      ['s2:rest-2', 'signal_not_executed'],
    ]);
  });

  test('leaves a position alone that was opened since, when following tries it again', async () => {
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);
    refuseRests();
    await send({ action: 'close', maxSlippage: '0.06%' });
    relay.setPrice('50000');
    await send({ action: 'close' });
    expect(await heldAmount()).toBe('0');
    relay.clock.advance(settledMs);
    await send({ ...buy, quantity: '0.3' });
    allowRests();
    relay.clock.advance(settledMs);
    await relay.follow();

    expect(await runRests()).toMatchObject([{ signalId: 's2:rest-1', status: 'satisfied' }]);
    expect(await heldAmount()).toBe('0.3');
  });

  test('stops nothing that is followed while its next try cannot be stored', async () => {
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);
    refuseRests();
    await send({ action: 'close', maxSlippage: '0.06%' });
    relay.clock.advance(settledMs);
    await relay.follow();

    expect((await relay.entry('s2')).execution).toMatchObject({
      isFollowed: true,
      orders: [{ status: 'cancelled' }],
    });
  });

  test('leaves entries alone that were sent after it when it is tried again', async () => {
    await send({ ...buyLower, ...large, ...exits });
    relay.clock.advance(settledMs);
    await send({ action: 'close', maxSlippage: '0.06%' });
    await send({ ...buyLower, limitPrice: '49000' });
    const bought = await send({ ...buy, quantity: '0.3' });
    relay.setPrice('50000');
    relay.clock.advance(settledMs);

    await runRests();

    expect(bought.status).toBe('placed');
    expect([await heldAmount(), (await relay.entry('s3')).orderOpen]).toEqual(['0.3', true]);
  });

  test.each([
    ['0.4', 'rest'],
    ['1', 'other'],
  ])('and was a further try beside a newer entry: %s of 1 filled is judged as %s', (filled, kind) => {
    const report = { orderId: 1, side: 'sell', status: 'cancelled', amount: '1', filled } as const;
    const outcome = {
      status: 'placed',
      note: '',
      evidence: null,
      orderOpen: false,
      facts: { report: { ...report, createdAtMs: null, endedAtMs: null } },
    } as const;
    const closed = {
      ...{ account: 'main', market: 'BTC_USDT', modifiedAtMs: null, attached: [], isFurtherTry: true },
      position: { amount: parseDecimal('1.5'), side: null },
      amount: parseDecimal('1'),
    };

    expect(judgeClosing(outcome, closed).kind).toBe(kind);
  });

  test('keeps the entries that the alert keeps when it is tried again', async () => {
    await send({ ...buyLower, ...large });
    await send({ ...buyLower, limitPrice: '49000' });
    relay.clock.advance(settledMs);
    await send({ action: 'close', keepEntries: true, maxSlippage: '0.06%' });
    relay.setPrice('50000');

    const [first] = await runRests();

    expect([first?.status, openOrders().map(({ side }) => side)]).toEqual(['placed', ['buy']]);
  });

  test('is not tried again when the alert is too old', async () => {
    await send({ ...buyLower, ...large, ...exits });
    relay.clock.advance(settledMs);
    await send({ action: 'close', maxSlippage: '0.06%' });
    relay.clock.advance(10 * minuteMs);

    expect(await runRests()).toMatchObject([{ status: 'denied' }]);
  });

  test('the first leg of a reverse tells it, and nothing is opened', async () => {
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);

    const opened = await send({ action: 'reverse', maxSlippage: '0.06%' });

    expect([opened.status, alarmNames()]).toEqual(['denied', ['close_incomplete']]);
    expect(factsOf(await relay.entry('s2:reduce'))).toHaveProperty('rest');
  });

  test('a close by half that fills in part is no incomplete close', async () => {
    await send({ ...buyLower, ...large });
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close', quantity: '90%', maxSlippage: '0.06%' });

    expect([factsOf(closed).rest, alarmNames()]).toEqual([undefined, []]);
  });

  test('and whose rest the stop-loss closes is complete, and its other exit is cancelled', async () => {
    await send({ ...buy, quantity: '1' });
    relay.setPrice('50000');
    await send({ ...buy, quantity: '1', stopLoss: '49980', takeProfit: '52000' });
    relay.setPrice('50000');
    relay.clock.advance(settledMs);
    let isSent = false;
    onRequest = () => {
      if (isOrder(relay.asked.at(-1))) isSent = true;
      else if (isSent) {
        onRequest = () => undefined;
        relay.setPrice('49970');
      }
    };

    const closed = await send({ action: 'close', maxSlippage: '0.06%' });

    expect([closed.status, openSides()]).toEqual(['placed', []]);
    expect([await heldAmount(), alarmNames()]).toEqual(['0', []]);
  });
});

describe('A whole close behind an order of unknown outcome', () => {
  /** Adds to a position, and loses the response. */
  async function loseEntry(
    fault: 'drop_before' | 'drop_after',
    entry: object,
    first: object = buy,
  ): Promise<void> {
    await send(first);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault, endpoint: 'limit' });
    expect((await send(entry)).status).toBe('unknown');
  }

  const leftOpen = () => relay.alarms.filter(({ name }) => name === 'orders_left_open');

  test.each([['close'], ['flat']])(
    '%s: goes out in one delivery once the lists must show it',
    async (action) => {
      Object.assign(relay.services, { exchangeTimeoutMs: 10_000 });
      await loseEntry('drop_before', buy, { ...buy, ...exits });
      const lostAtMs = relay.clock.nowMs();
      relay.clock.advance(500);

      const closed = await send({ action });

      expect([closed.status, await heldAmount(), openSides()]).toEqual(['placed', '0', []]);
      const sentAtMs = closed.steps.find(({ status }) => status === 'sending')?.atMs ?? 0;
      expect(sentAtMs - lostAtMs).toBeGreaterThan(longestPositionLagMs);
      expect(sentAtMs - lostAtMs).toBeLessThan(longestPositionLagMs + 1000);
      expect((await relay.entry('s2')).status).toBe('unknown');
      expect(leftOpen()).toHaveLength(1);
      expect(factsOf(closed).placedBy).toEqual(['s2']);
    },
  );

  test('closes what that has filled, and cancels what that has left to protect it', async () => {
    await loseEntry('drop_after', { ...buy, ...exits });
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close' });

    expect([closed.status, await heldAmount(), openSides(), leftOpen()]).toEqual(['placed', '0', [], []]);
    expect((await relay.entry('s2')).status).toBe('placed');
  });

  test('cancels what rests, so that it fills no more', async () => {
    await loseEntry('drop_after', buyLower);
    relay.clock.advance(settledMs);

    const closed = await send({ action: 'close' });

    expect([closed.status, openSides(), leftOpen()]).toEqual(['placed', [], []]);
    expect(await relay.entry('s2')).toMatchObject({ status: 'placed', orderOpen: false });
    relay.setPrice('49400');
    expect(await heldAmount()).toBe('0');
  });

  test('cancels by the client order id what no list shows yet', async () => {
    await loseEntry('drop_after', buyLower);
    relay.clock.advance(settledMs);
    for (const endpoint of ['open-order', 'ended-order'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: minuteMs, probability: 1 });

    expect((await send({ action: 'close' })).status).toBe('placed');
    expect([await heldAmount(), openSides()]).toEqual(['0', []]);
  });

  test('tells one that nobody has, even after a minute', async () => {
    await loseEntry('drop_before', buyLower);
    relay.clock.advance(2 * minuteMs);

    expect([(await send({ action: 'close' })).status, await heldAmount()]).toEqual(['placed', '0']);
    expect(leftOpen()).toHaveLength(1);
  });

  test('closes what a thin book has left without waiting for that order', async () => {
    await loseEntry('drop_before', buyLower, { ...buyLower, quantity: '2', limitPrice: '50100' });
    relay.clock.advance(settledMs);
    await send({ action: 'close', maxSlippage: '0.06%' });
    const left = await heldAmount();
    relay.setPrice('50000');

    const tried = await runRests();

    expect(tried[0]).toMatchObject({ signalId: 's3:rest-1', status: 'placed' });
    expect(parseDecimal(await heldAmount()).lt(parseDecimal(left))).toBe(true);
    expect((await relay.entry('s2')).status).toBe('unknown');
  });

  test.each([
    ['close', { quantity: '50%' }, buy],
    ['close', { keepEntries: true }, buy],
    ['reverse', { orderType: 'market', quantity: '0.1' }, buy],
    ['exit_long', { orderType: 'market' }, { ...buy, action: 'sell' }],
  ])('but %s %j goes on waiting: what it leaves depends on that order', async (action, members, first) => {
    await loseEntry('drop_before', buyLower, first);
    const held = await heldAmount();
    relay.clock.advance(settledMs);

    expect((await send({ action, ...members })).status).toBe('accepted');
    expect(await heldAmount()).toBe(held);
  });
});

test('An order of unknown outcome whose id is known, and that is not open any more, is no alarm', async () => {
  await send(buy);
  relay.clock.advance(settledMs);
  relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', probability: 1 });
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', probability: 1 });
  const lost = await send({ ...buy, quantity: '2', maxSlippage: '0.05%' });
  relay.paper.control.clearFaults();
  expect([lost.status, lost.orderId === null]).toEqual(['unknown', false]);
  relay.clock.advance(2 * minuteMs);
  const client = await relay.services.exchangeFor('main');
  for (const { orderId } of openOrders()) await client.call(cancelOrder, { market: 'BTC_USDT', orderId });
  relay.clock.advance(settledMs);
  const before = relay.alarms.length;

  await send({ action: 'close', maxSlippage: '5%' });
  // The lookup has found a fill, which the list of positions need not show at once.
  relay.clock.advance(settledMs);
  await executeSignal(relay.services, { account: 'main', signalId: 's3', market: 'BTC_USDT' });

  expect([(await relay.entry('s3')).status, await heldAmount()]).toEqual(['placed', '0']);
  expect(relay.alarms.slice(before)).toEqual([]);
});

test('A pair that could not be cancelled, and has ended when that is tried again, is not told as open', async () => {
  await send({ ...buyLower, stopLoss: '48000', takeProfit: '53000' });
  await send({ ...buy, ...exits });
  relay.clock.advance(2 * minuteMs);
  relay.setPrice('49500');
  relay.clock.advance(1000);
  // No list shows the exits of the first entry yet, so the close reads them again.
  for (const endpoint of ['open-order', 'conditional-orders'])
    relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 3000, probability: 1 });
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-conditional', count: 1 });
  whenAsked('/api/v4/order/conditional-cancel', () =>
    whenAsked('/api/v4/order/conditional-cancel', () => relay.setPrice('52000')),
  );

  const closed = await send({ action: 'close' });

  expect([closed.status, openSides()]).toEqual(['placed', []]);
  expect(closed.steps.map(({ note }) => note).join()).not.toContain('may still be open');
  expect(factsOf(closed).exitsEndedFor).toEqual(expect.arrayContaining(['s1', 's2']));
});

test('A take-profit that fills in part while its pair is cancelled leaves no rest', async () => {
  await send({ ...buy, ...exits });
  relay.clock.advance(settledMs);
  whenAsked('/api/v4/order/conditional-cancel', () => {
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('52000'), parseDecimal('0.04'));
  });

  const closed = await send({ action: 'close' });

  expect([closed.status, openSides()]).toEqual(['placed', []]);
  expect([await heldAmount(), factsOf(closed).turned]).toEqual(['-0.04', '-0.04']);
});

describe('A position that was to be closed or reduced, and stands, is an alarm', () => {
  const untold = () => relay.alarms.filter(({ name }) => name === 'signal_not_executed');

  test.each([
    ['close', {}],
    ['flat', {}],
    ['target', { action: undefined, target: '0.05', orderType: 'market' }],
    ['sell', { quantity: '0.05', orderType: 'market', reduceOnly: true }],
  ])('when a %s %j came too late', async (action, members) => {
    await send(buy);
    relay.clock.advance(settledMs);
    await relay.receiveAll(
      JSON.stringify({ ticker: 'BTCUSDT', id: 's2', maxSlippage: '0.5%', action, ...members }),
    );
    relay.clock.advance(2 * minuteMs);
    await relay.runLine();

    expect(await heldAmount()).toBe('0.1');
    expect(untold()).toMatchObject([{ signalId: expect.stringMatching(/^s2/) }]);
  });

  test('when the exchange refuses its order', async () => {
    await send(buy);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'limit', count: 1 });

    expect((await send({ action: 'close' })).status).toBe('rejected');
    expect([await heldAmount(), untold().length]).toEqual(['0.1', 1]);
  });

  test('when its order never arrived', async () => {
    await send(buy);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit', count: 1 });
    expect((await send({ action: 'close' })).status).toBe('unknown');
    for (let minute = 0; minute < 30 && (await relay.entry('s2')).status === 'unknown'; minute += 1) {
      relay.clock.advance(minuteMs);
      await relay.reconcile();
    }

    expect((await relay.entry('s2')).status).toBe('not_placed');
    expect([await heldAmount(), untold().length]).toEqual(['0.1', 1]);
  });

  test.each([
    ['all of it', {}],
    ['a part of it', { quantity: '50%' }],
  ])('when a close of %s is denied', async (_, part) => {
    await send(buy);
    relay.clock.advance(settledMs);

    expect((await send({ action: 'close', positionSide: 'LONG', ...part })).status).toBe('denied');
    expect(untold()).toHaveLength(1);
  });

  test.each([
    ['reversal', { action: 'reverse' }],
    ['target', { target: '0.05' }],
  ])('once when the reducing leg of a %s is denied', async (_, alert) => {
    await send(buy);
    relay.clock.advance(settledMs);
    const pause = { sinceMs: relay.clock.nowMs(), reason: 'a drill', kind: 'everything' } as const;
    await relay.services.ledger.writePause('main', pause);

    expect((await send(alert)).status).toBe('denied');
    expect(untold()).toHaveLength(1);
  });

  test('but not when a reversal finds no position', async () => {
    expect((await send({ action: 'reverse', quantity: '0.1' })).status).toBe('denied');
    expect(untold()).toEqual([]);
  });

  test('when nothing of it could be sent', async () => {
    await send(buyLower);
    await send(buy);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'order-book', probability: 1 });

    expect((await send({ action: 'close' })).status).toBe('not_sent');
    expect([await heldAmount(), untold().length]).toEqual(['0.1', 1]);
  });

  test('when it became too old while it was prepared', async () => {
    await send(buy);
    relay.clock.advance(2 * minuteMs);
    whenAsked('/api/v4/collateral-account/positions/open', () => relay.clock.advance(4000));
    await relay.receiveAll(
      JSON.stringify({
        ...{ ticker: 'BTCUSDT', id: 's2', action: 'close', maxSlippage: '0.5%', maxLag: 60 },
        time: new Date(relay.clock.nowMs() - 58_000).toISOString(),
      }),
    );
    await relay.runLine();

    expect([(await relay.entry('s2')).status, await heldAmount()]).toEqual(['denied', '0.1']);
    expect(untold()).toHaveLength(1);
  });

  test('but not when the exchange says that there is none', async () => {
    await send(buy);
    relay.clock.advance(settledMs);
    await placeByHand('sell', '49000', '0.1');
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 4000,
      probability: 1,
    });
    relay.clock.advance(1000);

    expect((await send({ action: 'close' })).status).toBe('rejected');
    expect(untold()).toEqual([]);
  });
});

describe('While the exchange cannot be read', () => {
  test('a close waits until it can', async () => {
    await send(buy);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-positions', probability: 1 });
    expect((await send({ action: 'close' })).status).toBe('accepted');
    relay.paper.control.clearFaults();

    await relay.runLine();

    expect([(await relay.entry('s2')).status, await heldAmount(), alarmNames()]).toEqual(['placed', '0', []]);
  });

  test('a close goes on in the same delivery when it can be read again', async () => {
    Object.assign(relay.services, { exchangeTimeoutMs: 10_000 });
    await send(buy);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-positions', count: 8 });

    expect([(await send({ action: 'close' })).status, await heldAmount()]).toEqual(['placed', '0']);
  });

  test('a close ends when the exchange refuses to be read', async () => {
    await send(buy);
    relay.clock.advance(settledMs);
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'open-positions', probability: 1 });

    expect((await send({ action: 'close' })).status).toBe('not_sent');
    expect(alarmNames()).toEqual(['signal_not_executed']);
  });

  test('an entry ends: nobody knows whether it is still wanted', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'order-book', probability: 1 });

    expect((await send(buy)).status).toBe('not_sent');
  });
});
