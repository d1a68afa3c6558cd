import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { readRestoredAt } from '../../lib/ledger/account-facts.ts';
import { createFollower } from '../../lib/relay/follow/follow-orders.ts';
import { createLostProtection } from '../../lib/relay/protect/lost-protection.ts';
import { createSentBefore } from '../../lib/relay/settle/sent-before.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { testConfig } from '../support/world.ts';

/** A relay whose folder is restored from a backup: of what it placed since, the ledger knows nothing. */
let relay: Aftermath;
let follower: ReturnType<typeof createFollower>;
let count = 0;
afterEach(() => relay.close());

async function open(account: object = {}): Promise<void> {
  const main = {
    mode: 'live',
    markets: { BTC_USDT: { tradesOn: 'margin' } },
    maxSlippage: '0.5%',
    allowUnguardedMarket: true,
    ...account,
  };
  count = 0;
  relay = await openAftermath(
    'live',
    undefined,
    undefined,
    parseConfig({ ...testConfig, accounts: { main } }).settings,
  );
  follower = createFollower(relay.services);
}

async function receive(members: object, id: string): Promise<void> {
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id, ...members }));
}

async function say(members: object, id?: string): Promise<void> {
  count += 1;
  await receive(members, id ?? `s${count}`);
  await relay.runLine();
}

async function goOn(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    relay.clock.advance(3000);
    await follower.run(Number.POSITIVE_INFINITY);
    await relay.runLine();
  }
}

/** @returns what puts the ledger back as it is now, into a relay that has just been started on it */
function backUp(): () => Promise<void> {
  const tables = tablesOf(relay.file);
  return async () => {
    const { database } = relay.file;
    for (const { name, rows } of tables) {
      database.exec(`DELETE FROM ${name}`);
      for (const row of rows) {
        const columns = Object.keys(row);
        const places = columns.map(() => '?').join(', ');
        database
          .prepare(`INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places})`)
          .run(...Object.values(row));
      }
    }
    const { services, clock } = relay;
    await services.facts.write('main', 'restored', { atMs: clock.nowMs() });
    Object.assign(services, {
      settleSentBefore: createSentBefore(services, await readRestoredAt(services.facts, ['main'])),
      lostProtection: createLostProtection(services, await readRestoredAt(services.facts, ['main'])),
    });
    follower = createFollower(services);
  };
}

function tablesOf({ database }: SqliteFile) {
  const names = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map((row) => String(row['name']));
  return names.map((name) => ({ name, rows: database.prepare(`SELECT * FROM ${name}`).all() }));
}

async function listOpen() {
  const client = await relay.services.exchangeFor('main');
  return (await listOpenOrders(client, 'BTC_USDT', {})).orders;
}

/** The open orders of the market: `10000000001 sell 0.1 stop 48000`. */
async function standing(): Promise<readonly string[]> {
  const orders = await listOpen();
  return orders
    .map(({ orderId, side, remaining, price, activationPrice: stop }) => {
      const at = stop === undefined ? `at ${formatDecimal(price)}` : `stop ${formatDecimal(stop)}`;
      return `${orderId - 10_000_000_000} ${side} ${formatDecimal(remaining)} ${at}`;
    })
    .sort();
}

async function buyByHand(amount: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const order = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal(amount), clientOrderId: '' } as const;
  await client.call(marketEndpoint, order);
}

async function cancelByHand(orderId: number): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId: 10_000_000_000 + orderId });
}

async function held(): Promise<string> {
  const { BTC } = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  return formatDecimal(BTC?.available.plus(BTC.freeze) ?? parseDecimal('0'));
}

const alarmNames = () => relay.alarms.map(({ name }) => name);

const resting = {
  action: 'buy',
  orderType: 'limit',
  limitPrice: '49500',
  quantity: '0.1',
  stopLoss: '48000',
};
const takeProfits = [
  { price: '51000', share: '60%' },
  { price: '52000', share: '40%' },
];
/** What protects the entry, as the lost relay placed it. */
const whole = ['3 sell 0.1 stop 48000', '4 sell 0.06 at 51000', '5 sell 0.04 at 52000'];
const everything = { sinceMs: 0, reason: 'restored', kind: 'everything' } as const;
const close = { action: 'close', orderType: 'market', maxSlippage: '0.5%' };

describe('On margin', () => {
  beforeEach(() => open());

  /** An entry rests when the backup is made, fills after it, and the lost relay protects it. */
  async function fillAfterBackup(entry: object = { ...resting, takeProfits }): Promise<() => Promise<void>> {
    await say(entry);
    const restore = backUp();
    relay.setPrice('49500');
    await goOn(30);
    return restore;
  }

  test('take-profits of the lost relay are those of their entry, and go with it', async () => {
    const restore = await fillAfterBackup();
    expect(await standing()).toEqual(whole);

    await restore();
    await goOn(30);
    expect(await standing()).toEqual(whole);
    await say(close);
    await goOn(30);

    expect([await standing(), alarmNames()]).toEqual([[], []]);
  });

  test('they are taken in while the account is paused', async () => {
    const restore = await fillAfterBackup();
    await restore();
    await relay.services.ledger.writePause('main', everything);
    await goOn(6);

    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 10 });
    const placed = entries.filter(({ status }) => status === 'placed');
    expect(placed.map(({ orderId }) => (orderId ?? 0) - 10_000_000_000).sort()).toEqual([1, 4, 5]);
    expect(placed.find(({ orderId }) => orderId === 10_000_000_005)?.steps.map(({ note }) => note)).toEqual([
      expect.anything(),
      'sent by the relay whose backup this folder was restored from',
      'found at the exchange as order 10000000005, which the lost relay had placed',
    ]);
    expect(alarmNames()).toEqual([]);
  });

  test('what one of them has sold is not sold again', async () => {
    const restore = await fillAfterBackup();
    relay.setPrice('51000');
    await goOn(30);
    const before = await standing();
    expect(before).toEqual(['5 sell 0.04 at 52000', '6 sell 0.04 stop 48000']);

    await restore();
    await goOn(30);

    expect([await standing(), alarmNames()]).toEqual([before, []]);
  });

  test('those that the lost relay has made smaller stay', async () => {
    await say({ ...resting, orderType: 'market', limitPrice: undefined, maxSlippage: '0.5%', takeProfits });
    await goOn(30);
    const restore = backUp();
    await say({
      action: 'sell',
      orderType: 'market',
      quantity: '0.05',
      maxSlippage: '0.5%',
      reduceOnly: true,
    });
    await goOn(30);
    const before = await standing();
    expect(before.map((text) => text.slice(2).trim())).toEqual(
      expect.arrayContaining(['sell 0.03 at 51000', 'sell 0.02 at 52000', 'sell 0.05 stop 48000']),
    );

    await restore();
    await goOn(30);

    expect([await standing(), alarmNames()]).toEqual([before, []]);
  });

  test('a stop-loss that has followed the price does not move back', async () => {
    await say({
      ...resting,
      orderType: 'market',
      limitPrice: undefined,
      trailing: '2%',
      maxSlippage: '0.5%',
    });
    await goOn(30);
    const restore = backUp();
    relay.setPrice('60000');
    await goOn(30);
    relay.setPrice('59500');
    await goOn(30);
    const before = await standing();
    expect(before).toEqual([expect.stringMatching(/ sell 0.1 stop 58800$/)]);

    await restore();
    await goOn(30);
    expect(await standing()).toEqual(before);
    relay.setPrice('61000');
    await goOn(30);

    expect(await standing()).toEqual([expect.stringMatching(/ sell 0.1 stop 59780$/)]);
    expect(alarmNames()).toEqual([]);
  });

  test('they wait for their entry, where its alert comes again', async () => {
    const restore = backUp();
    await say({ ...resting, takeProfits }, 'again');
    relay.setPrice('49500');
    await goOn(30);
    await restore();
    await goOn(30);
    expect(await standing()).toEqual(whole);

    await receive({ ...resting, takeProfits }, 'again');
    await goOn(30);

    expect(await relay.entry('again')).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
    expect([await standing(), alarmNames()]).toEqual([whole, []]);
    await say(close);
    await goOn(30);
    expect(await standing()).toEqual([]);
  });

  test('those of an alert about a position opened by hand are its own, when that alert comes again', async () => {
    const restore = backUp();
    await buyByHand('0.1');
    const protect = { action: 'protect', stopLoss: '48000', takeProfit: '53000' };
    await say(protect, 'again');
    await goOn(30);
    const before = await standing();
    expect(before).toEqual(['2 sell 0.1 stop 48000', '3 sell 0.1 at 53000']);
    await restore();
    await goOn(30);

    await receive(protect, 'again');
    await goOn(30);
    expect([await standing(), alarmNames()]).toEqual([before, []]);
    await say(close);
    await goOn(30);

    expect([await standing(), alarmNames()]).toEqual([[], []]);
  });

  test('beside one of an alert that nobody knows none is placed, and an alarm tells how to go on', async () => {
    await say(resting);
    const restore = backUp();
    relay.setPrice('49500');
    await goOn(30);
    await say({ action: 'protect', takeProfit: '53000' });
    await goOn(30);
    const before = await standing();
    expect(before).toEqual(['3 sell 0.1 stop 48000', '4 sell 0.1 at 53000']);
    await restore();
    await goOn(30);

    await say({ action: 'protect', takeProfit: '54000' });
    await goOn(30);
    expect([await standing(), alarmNames()]).toEqual([before, ['protection_failed']]);
    const { entries } = await relay.services.ledger.list({ account: 'main', status: 'denied', limit: 1 });
    expect(entries[0]?.steps.at(-1)?.note).toBe(
      'one that the relay placed before this folder was restored stands already, and the ledger does not know for which signal (order 10000000004); leave it, or cancel it (`npx relay cancel BTC_USDT --order-id 10000000004 --account main`): then the relay places its own',
    );

    await cancelByHand(4);
    await goOn(600);
    expect(await standing()).toEqual([before[0], expect.stringMatching(/ sell 0.1 at 54000$/)]);
  });

  test('what was placed after the restore is not taken for that of the lost relay', async () => {
    const restore = await fillAfterBackup();
    relay.clock.advance(-3_600_000);
    await restore();
    relay.clock.advance(3_600_000);
    await goOn(30);

    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 10 });
    expect(entries.filter(({ steps }) => steps.some(({ note }) => note.includes('lost relay')))).toEqual([]);
  });
});

describe('On spot', () => {
  beforeEach(async () => {
    await open({ markets: { BTC_USDT: { tradesOn: 'spot' } } });
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.5'));
  });
  const sell = { action: 'sell', orderType: 'market', quantity: '0.1' };

  test('a stop-loss of the lost relay is that of its buy, and goes with it', async () => {
    await say(resting);
    const restore = backUp();
    relay.setPrice('49500');
    await goOn(30);
    const before = await standing();
    expect(before).toEqual(['2 sell 0.0999 stop 48000']);

    await restore();
    await goOn(30);
    expect(await standing()).toEqual(before);
    await say(sell);
    await goOn(30);

    expect([await standing(), await held(), alarmNames()]).toEqual([[], '0.4999', []]);
  });

  test('what it has sold is not sold again of what the owner has besides', async () => {
    await say(resting);
    const restore = backUp();
    relay.setPrice('49500');
    await goOn(30);
    relay.setPrice('47900');
    await goOn(30);
    expect([await standing(), await held()]).toEqual([[], '0.5']);

    await restore();
    await goOn(30);

    expect([await standing(), await held(), alarmNames()]).toEqual([[], '0.5', []]);
  });

  test('what an alert that nobody knows has sold counts as held, until the owner cancels its stop-loss', async () => {
    await say(resting);
    const restore = backUp();
    relay.setPrice('49500');
    await goOn(30);
    await say(sell);
    await goOn(30);
    expect([await standing(), await held()]).toEqual([[], '0.4999']);
    await restore();
    await goOn(30);
    expect(await standing()).toEqual(['4 sell 0.0999 stop 48000']);

    await cancelByHand(4);
    await goOn(600);

    expect(await standing()).toEqual([]);
  });
});

test('A folder that was not restored has nothing of a lost relay', async () => {
  await open();
  const restoredAtMs = await readRestoredAt(relay.services.facts, ['main']);
  expect(createLostProtection(relay.services, restoredAtMs)).toBeUndefined();
});
