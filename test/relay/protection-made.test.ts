import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** What the relay keeps when the exchange makes other exits than expected, or none. */
let relay: Aftermath;
let count = 0;
beforeEach(async () => {
  count = 0;
  relay = await openAftermath('live');
});
afterEach(() => relay.close());

async function send(members: object): Promise<string> {
  count += 1;
  const signalId = `s${count}`;
  await relay.receiveAll(
    JSON.stringify({ ticker: 'BTCUSDT', id: signalId, maxSlippage: '0.5%', ...members }),
  );
  await executeSignal(relay.services, { account: 'main', signalId, market: 'BTC_USDT' });
  await runLine();
  return (await relay.entry(signalId)).status;
}

const runLine = () => relay.runLine();
const goOn = (seconds: number) => relay.goOn(seconds);

async function held(): Promise<string> {
  const client = await relay.services.exchangeFor('main');
  const { records } = await client.call(openPositions, { market: 'BTC_USDT' });
  return formatDecimal(records[0]?.amount ?? zero);
}

/** The open orders: `sell 0.1 stop 48000`, and whether they only reduce. */
async function open(): Promise<readonly string[]> {
  const { orders } = await listOpenOrders(await relay.services.exchangeFor('main'), 'BTC_USDT', {});
  return orders
    .map(({ side, remaining, price, activationPrice, reduceOnly }) => {
      const at =
        activationPrice === undefined
          ? `at ${formatDecimal(price)}`
          : `stop ${formatDecimal(activationPrice)}`;
      return `${side} ${formatDecimal(remaining)} ${at}${reduceOnly === true ? ' reduces' : ''}`;
    })
    .sort();
}

const exits = { stopLoss: '48000', takeProfit: '52000' };
const resting = {
  action: 'buy',
  orderType: 'limit',
  limitPrice: '49500',
  quantity: '0.1',
  maxSlippage: undefined,
  ...exits,
};

/** Fills this much of the resting entry. */
function fill(amount: string): void {
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal(amount));
  relay.setPrice('49600');
}

describe('An entry that was filled in part and cancelled, of which the exchange makes no exits,', () => {
  test('gets a stop-loss and a take-profit that only reduce', async () => {
    relay.paper.control.setExits({ afterPartial: false });
    await send(resting);
    fill('0.04');
    await goOn(3);
    await send({ action: 'cancel_all', maxSlippage: undefined });
    expect([await held(), await open()]).toEqual(['0.04', []]);
    await goOn(30);

    expect(await open()).toEqual(['sell 0.04 at 52000 reduces', 'sell 0.04 stop 48000 reduces']);
    relay.setPrice('47900');
    await goOn(30);
    expect([await held(), await open()]).toEqual(['0', []]);
  });

  test('is told when the exchange refuses those, too', async () => {
    relay.paper.control.setExits({ afterPartial: false, refusesReduceOnlyStops: true });
    await send(resting);
    fill('0.04');
    await send({ action: 'cancel_all', maxSlippage: undefined });
    await goOn(30);

    expect(await open()).toEqual([]);
    expect(relay.alarms.map(({ name }) => name)).toContain('protection_failed');
  });
});

test('an entry that still rests has its filled part protected, and all of it once it is filled', async () => {
  await send(resting);
  fill('0.04');
  await goOn(30);
  expect(await open()).toEqual([
    'buy 0.06 at 49500',
    'sell 0.04 at 52000 reduces',
    'sell 0.04 stop 48000 reduces',
  ]);
  fill('0.06');
  await goOn(60);

  expect(await held()).toBe('0.1');
  const stops = (await open()).filter((text) => text.includes('stop'));
  const targets = (await open()).filter((text) => text.includes(' at '));
  expect([stops, targets].map((texts) => texts.map((text) => text.split(' ')[1]))).toEqual([
    ['0.1'],
    ['0.1'],
  ]);
});

describe('A stop-loss that a gap has triggered and left unfilled', () => {
  beforeEach(async () => {
    await send({ action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' });
    await goOn(30);
    // Below its limit price.
    relay.setPrice('46000');
    expect([await held(), (await open()).length]).toEqual(['0.1', 1]);
  });

  test('is replaced by an order at market where the account has a bound for one', async () => {
    Object.assign(relay.services, { settings: settingsWith({ maxSlippage: '1%' }) });
    await goOn(30);

    expect([await held(), await open()]).toEqual(['0', []]);
  });

  test('is told where the account allows no order at market', async () => {
    await goOn(30);

    expect(await held()).toBe('0.1');
    expect(relay.alarms.map(({ name }) => name)).toContain('protection_failed');
  });
});

describe('In an account whose stop-losses are to fill at market', () => {
  beforeEach(async () => {
    await relay.close();
    const settings = settingsWith({ stopKind: 'market', allowUnguardedMarket: true });
    relay = await openAftermath('live', undefined, undefined, settings);
  });

  const buy = { action: 'buy', orderType: 'market', quantity: '0.1', ...exits };
  const typeOfStop = async () => {
    const { orders } = await listOpenOrders(await relay.services.exchangeFor('main'), 'BTC_USDT', {});
    return orders.filter(({ activationPrice }) => activationPrice !== undefined).map(({ type }) => type);
  };

  test('a stop-loss that the exchange makes with a limit price is replaced, and its take-profit with it', async () => {
    await send(buy);
    expect(await typeOfStop()).toEqual(['stop_limit']);
    await goOn(30);

    expect(await typeOfStop()).toEqual(['stop_market']);
    expect(await open()).toEqual(['sell 0.1 at 52000 reduces', 'sell 0.1 stop 48000 reduces']);
    expect(relay.alarms).toEqual([]);
  });

  test('one that it makes at market stays', async () => {
    relay.paper.control.setExits({ stopKind: 'market' });
    await send(buy);
    await goOn(30);

    expect(await open()).toEqual(['sell 0.1 at 52000', 'sell 0.1 stop 48000']);
  });

  test('one at market stays, whatever limit of its own the exchange shows for it', async () => {
    const { send: sendOn } = relay.transport;
    relay.transport.send = async (...asked) => {
      const outcome = await sendOn.apply(relay.transport, asked);
      if (outcome.kind !== 'answered') return outcome;
      const body = outcome.body.replaceAll(/"trigger margin market"[^}]*?"price":"0"/g, (text) =>
        text.replace('"price":"0"', '"price":"47000"'),
      );
      return { ...outcome, body };
    };
    await send({ ...buy, takeProfit: undefined });
    await goOn(30);
    await send({ action: 'close', quantityPercent: '50%' });
    await goOn(30);
    const sent = relay.paper.control.state().acceptedCreates;
    const { orders } = await listOpenOrders(await relay.services.exchangeFor('main'), 'BTC_USDT', {});
    await goOn(120);

    expect(orders.map(({ price }) => formatDecimal(price))).toEqual(['47000']);
    expect(relay.paper.control.state().acceptedCreates).toBe(sent);
  });

  test('what is left of a position has one at market', async () => {
    await send(buy);
    await goOn(30);
    await send({ action: 'close', quantityPercent: '50%' });

    expect(await typeOfStop()).toEqual(['stop_market']);
    expect(await open()).toEqual(['sell 0.05 at 52000 reduces', 'sell 0.05 stop 48000 reduces']);
  });

  test('one that cannot be replaced stays, and that is told', async () => {
    relay.paper.control.setExits({ refusesReduceOnlyStops: true });
    await send(buy);
    await goOn(30);

    expect(await open()).toEqual(['sell 0.1 at 52000', 'sell 0.1 stop 48000']);
    expect(relay.alarms.map(({ name }) => name)).toContain('protection_failed');
  });
});

test('an entry that keeps filling has a stop-loss for what has filled, although the exchange makes its own at the end', async () => {
  await send(resting);
  const naked: string[] = [];
  for (let seconds = 0; seconds < 96; seconds += 6) {
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.005'));
    relay.setPrice('49600');
    await goOn(6);
    const stop = (await open()).find((order) => order.includes('stop'));
    if (seconds >= 24 && stop !== `sell ${await held()} stop 48000 reduces`)
      naked.push(`${seconds} s: ${await held()}, ${stop}`);
  }

  expect(naked).toEqual([]);
  expect(relay.alarms).toEqual([]);

  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'));
  await goOn(60);
  expect([await held(), await open()]).toEqual(['0.1', ['sell 0.1 at 52000', 'sell 0.1 stop 48000']]);
});

test('an entry that still rests does not claim the exits of a newer one at the same prices', async () => {
  await send(resting);
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.05'));
  relay.setPrice('50000');
  await goOn(120);
  await send({ action: 'buy', orderType: 'market', quantity: '0.05', ...exits });
  await goOn(30);

  const rolesOf = async (id: string) => (await relay.entry(id)).execution?.orders.map(({ role }) => role);
  expect([await rolesOf('s1'), await rolesOf('s2')]).toEqual([
    ['order'],
    ['order', 'stop_loss', 'take_profit'],
  ]);
});

test('an entry that still rests has its filled part protected, also beside the exits of another one at the same prices', async () => {
  await send(resting);
  await send({ ...resting, limitPrice: '49400', quantity: '0.2' });
  relay.setPrice('49500');
  relay.setPrice('49600');
  await goOn(30);
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49400'), parseDecimal('0.05'));
  relay.setPrice('49600');
  await goOn(60);

  expect(await held()).toBe('0.15');
  expect((await open()).filter((text) => text.includes('stop'))).toEqual([
    'sell 0.05 stop 48000 reduces',
    'sell 0.1 stop 48000',
  ]);
});

test('an entry whose exits are gone unseen does not claim those of one that filled seconds later', async () => {
  const entry = { action: 'buy', orderType: 'market', quantity: '0.05', ...exits };
  await send(entry);
  relay.clock.advance(12_000);
  const client = await relay.services.exchangeFor('main');
  // The other one of the pair goes with it.
  const [exit] = (await listOpenOrders(client, 'BTC_USDT', {})).orders;
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId: exit?.orderId ?? 0 });
  await send(entry);
  relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'ended-order', delayMs: 8000, probability: 1 });
  await goOn(30);

  const rolesOf = async (id: string) => (await relay.entry(id)).execution?.orders.map(({ role }) => role);
  expect(await rolesOf('s2')).toEqual(['order', 'stop_loss', 'take_profit']);
});

test('a stop-loss that the owner has cancelled before anybody followed its entry is not placed again', async () => {
  await send({ action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '48000' });
  const client = await relay.services.exchangeFor('main');
  const [exit] = (await listOpenOrders(client, 'BTC_USDT', {})).orders;
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId: exit?.orderId ?? 0 });
  relay.clock.advance(300_000);

  expect(await send({ action: 'close', quantity: '50%' })).toBe('placed');
  await goOn(90);

  expect([await held(), await open()]).toEqual(['0.05', []]);
  expect(relay.alarms.map(({ name }) => name)).toEqual(['position_unprotected']);
});
