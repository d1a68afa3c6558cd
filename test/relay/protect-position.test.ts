import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';
import { override } from '../support/override.ts';

/** An alert changes what protects the open position of a market. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const buy = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.1',
  maxSlippage: '0.5%',
  stopLoss: '48000',
  takeProfit: '52000',
};
const protect = (members: object) => relay.say({ action: 'protect', ...members });

describe('After an entry of 0.1 with a stop-loss and a take-profit', () => {
  beforeEach(async () => {
    await relay.say(buy);
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.1 at 52000', 'sell 0.1 stop 48000']);
  });

  test('a stop-loss at the entry price takes the place of that of the entry, and the take-profit stays', async () => {
    relay.setPrice('51000');
    expect(await protect({ stopLoss: 'entry' })).toMatchObject({ status: 'satisfied' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 52000, reduces', 'sell 0.1 stop 50000, reduces']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('the stop-loss that was asked for counts as that of the entry', async () => {
    await protect({ stopLoss: '49000' });
    await relay.goOn(90);
    expect((await relay.entry('s1')).execution?.unprotectedSinceMs).toBeUndefined();

    await relay.cancelByHand('sell 0.1 stop 49000, reduces');
    await relay.goOn(90);
    expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', amount: '0.1', stopPrice: '49000' }]);
  });

  test('the stop-loss of an entry after it is missed beside the one that was asked for', async () => {
    await protect({ stopLoss: '49000' });
    await relay.goOn(30);
    await relay.say({ ...buy, stopLoss: '47000' });
    await relay.goOn(30);
    await relay.cancelByHand('sell 0.1 stop 47000');
    await relay.goOn(90);

    expect(relay.alarmNames()).toContain('position_unprotected');
    expect((await relay.entry('s1')).execution?.unprotectedSinceMs).toBeUndefined();
    expect((await relay.entry('s3')).execution?.unprotectedAtMs).toBeDefined();
  });

  test('a take-profit alone leaves a stop-loss at the price of the entry', async () => {
    await protect({ takeProfit: '53000' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 53000, reduces', 'sell 0.1 stop 48000, reduces']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('what a worker has noted that ends before it stores the outcome holds, also when it is carried out late', async () => {
    const { ledger } = relay.services;
    const move: typeof ledger.move = async (key, step) => {
      if (key.signalId === 's2') throw new RelayError('store_unavailable', 'the process has ended');
      await ledger.move(key, step);
    };
    Object.assign(relay.services, { ledger: override(ledger, { move }) });
    await expect(protect({ stopLoss: '49000' })).rejects.toThrow('ended');
    Object.assign(relay.services, { ledger });
    relay.clock.advance(20 * 60_000);
    await relay.goOn(60);

    expect(await relay.open()).toContain('sell 0.1 stop 49000, reduces');
    expect(await relay.entry('s2')).toMatchObject({ status: 'satisfied' });
  });

  test('both take the place of both', async () => {
    await protect({ stopLoss: '2%', takeProfit: '3%' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 51500, reduces', 'sell 0.1 stop 49000, reduces']);
  });

  test('a second one keeps what it does not name of the first', async () => {
    await protect({ stopLoss: '49000', takeProfit: '53000' });
    await relay.goOn(30);
    await protect({ stopLoss: '49500' });
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.1 at 53000, reduces', 'sell 0.1 stop 49500, reduces']);

    await protect({ takeProfit: '54000' });
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.1 at 54000, reduces', 'sell 0.1 stop 49500, reduces']);
  });

  test('the position is never without a stop-loss meanwhile, nor has it two take-profits', async () => {
    const seen: string[] = [];
    await protect({ stopLoss: '49000', takeProfit: '53000' });
    for (let second = 0; second < 30; second += 3) {
      seen.push((await relay.open()).join(' | '));
      await relay.goOn(3);
    }

    expect(seen.filter((orders) => !orders.includes('stop'))).toEqual([]);
    expect(seen.filter((orders) => orders.split(' at ').length > 2)).toEqual([]);
  });

  test('its stop-loss closes the position, and its take-profit goes with it', async () => {
    await protect({ stopLoss: '49000', takeProfit: '53000' });
    await relay.goOn(30);
    relay.setPrice('48900');
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('its take-profit closes the position, and its stop-loss goes with it', async () => {
    await protect({ stopLoss: '49000', takeProfit: '51000' });
    await relay.goOn(30);
    relay.setPrice('51100');
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('a close cancels what it placed', async () => {
    await protect({ stopLoss: '49000', takeProfit: '53000' });
    await relay.goOn(30);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('a close of one half leaves one half of it', async () => {
    await protect({ stopLoss: '49000', takeProfit: '53000' });
    await relay.goOn(30);
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });

    expect(await relay.open()).toEqual(['sell 0.05 at 53000, reduces', 'sell 0.05 stop 49000, reduces']);
  });

  test('a later entry brings its own', async () => {
    await protect({ stopLoss: '49000', takeProfit: '53000' });
    await relay.goOn(30);
    await relay.say({ ...buy, stopLoss: '47000', takeProfit: '54000' });
    await relay.goOn(60);

    expect(await relay.open()).toEqual([
      'sell 0.1 at 53000, reduces',
      'sell 0.1 at 54000',
      'sell 0.1 stop 47000',
      'sell 0.1 stop 49000, reduces',
    ]);
  });

  test.each(['sell 0.1 stop 49000, reduces', 'sell 0.1 at 53000, reduces'])(
    'what the owner cancels of it is not placed again: %s',
    async (order) => {
      await protect({ stopLoss: '49000', takeProfit: '53000' });
      await relay.goOn(30);
      await relay.cancelByHand(order);
      await relay.goOn(180);

      expect(await relay.open()).toEqual(
        ['sell 0.1 at 53000, reduces', 'sell 0.1 stop 49000, reduces'].filter((each) => each !== order),
      );
    },
  );

  test('a new one places what the owner had cancelled', async () => {
    await protect({ stopLoss: '49000' });
    await relay.goOn(30);
    await relay.cancelByHand('sell 0.1 stop 49000, reduces');
    await relay.goOn(60);
    await protect({ stopLoss: '49000' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 52000, reduces', 'sell 0.1 stop 49000, reduces']);
  });

  test('a stop-loss that the price has passed is denied, and nothing changes', async () => {
    expect(await protect({ stopLoss: '50500' })).toMatchObject({
      status: 'denied',
      steps: [
        {},
        {
          evidence: { rule: 'stop_loss_passed', limit: 'below 50000', actual: '50500' },
          note: expect.stringContaining('`npx relay close BTC_USDT`'),
        },
      ],
    });
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual([
      '0.1',
      ['sell 0.1 at 52000', 'sell 0.1 stop 48000'],
    ]);
  });

  test('so is break-even while the position loses', async () => {
    relay.setPrice('49000');

    expect(await protect({ stopLoss: 'entry' })).toMatchObject({
      status: 'denied',
      steps: [{}, { evidence: { rule: 'stop_loss_passed' } }],
    });
  });

  test.each([{ takeProfit: '49900' }, { takeProfits: [{ price: '49900', share: '10%' }] }])(
    'a take-profit that the price has reached is denied: %j',
    async (members) => {
      expect(await protect(members)).toMatchObject({
        status: 'denied',
        steps: [{}, { evidence: { rule: 'take_profit_reached', limit: 'above 50000', actual: '49900' } }],
      });
    },
  );

  test('a price that is a per cent without its sign is denied', async () => {
    expect(await protect({ stopLoss: '2' })).toMatchObject({
      status: 'denied',
      steps: [
        {},
        {
          evidence: { rule: 'exit_too_far', actual: '2' },
          note: expect.stringContaining('less than half of the last price of 50000'),
        },
      ],
    });
  });
});

test('A stop-loss that it asked for, and that is too small, does not silence the alarm of what it leaves', async () => {
  relay.paper.control.setExits({ madeAt: 'never' });
  await relay.say({
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49500',
    quantity: '0.2',
    stopLoss: '47000',
  });
  await relay.goOn(12);
  relay.fill('49500', '0.1');
  await relay.goOn(40);
  await protect({ stopLoss: '48000' });
  await relay.goOn(30);
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'stop-limit', probability: 1 });
  relay.fill('49500', '0.1');
  await relay.goOn(240);

  expect(relay.alarmNames()).toContain('position_unprotected');
});

test('What the owner ends of it right after an entry, before the positions show that, is not placed again', async () => {
  const bare = { ...buy, stopLoss: undefined, takeProfit: undefined };
  await relay.say(bare);
  await relay.goOn(30);
  await protect({ stopLoss: '49000' });
  await relay.goOn(30);
  relay.paper.control.addFault({
    fault: 'read_lag',
    endpoint: 'open-positions',
    delayMs: 9_000,
    probability: 1,
  });
  await relay.say(bare);
  await relay.cancelByHand('sell 0.1 stop 49000, reduces');
  await relay.goOn(120);

  expect(await relay.open()).toEqual([]);
});

test('Without a position it is denied, and later entries know nothing of it', async () => {
  expect(await protect({ stopLoss: '49000' })).toMatchObject({
    status: 'denied',
    steps: [{}, { evidence: { rule: 'no_position' } }],
  });
  await relay.say(buy);
  await relay.goOn(30);

  expect(await relay.open()).toEqual(['sell 0.1 at 52000', 'sell 0.1 stop 48000']);
});

test('An entry whose alert came with it, and is carried out after it, brings its own exits', async () => {
  // Each request takes a moment.
  const slow = await openKeptRelay({ onRequest: (_, clock) => clock.advance(1) });
  try {
    await slow.say(buy);
    await slow.goOn(30);
    const ids = { ticker: 'BTCUSDT' };
    const both = [
      { ...ids, id: 'first', action: 'protect', stopLoss: '49000' },
      { ...ids, id: 'then', ...buy, stopLoss: '47000', takeProfit: '53000' },
    ];
    await slow.receiveAll(JSON.stringify(both));
    await slow.runLine();
    await slow.goOn(30);

    expect(await slow.open()).toEqual([
      'sell 0.1 at 52000, reduces',
      'sell 0.1 at 53000',
      'sell 0.1 stop 47000',
      'sell 0.1 stop 49000, reduces',
    ]);
  } finally {
    await slow.close();
  }
});

test.each([
  ['a stop-loss', { stopLoss: '49000' }, (step: number) => ({ takeProfit: `${52_000 + step}` })],
  ['a take-profit', { takeProfit: '52000' }, (step: number) => ({ stopLoss: `${48_000 + step}` })],
])('%s stays, however often the other is moved after it', async (_, first, later) => {
  await relay.say({ ...buy, stopLoss: undefined, takeProfit: undefined });
  await protect(first);
  await relay.goOn(30);
  const [kept] = await relay.open();
  for (let step = 0; step < 25; step += 1) {
    await protect(later(step));
    await relay.goOn(9);
  }

  expect(await relay.open()).toContain(kept);
  expect(relay.alarmNames()).toEqual([]);
});

describe('A stop-loss whose price the market passes while it is on its way', () => {
  let moved: KeptRelay;
  let passed: string | null = null;
  beforeEach(async () => {
    passed = null;
    moved = await openKeptRelay({
      settings: settingsWith({ maxSlippage: '1%' }),
      onRequest(path) {
        if (passed === null || path !== '/api/v4/order/collateral/stop-limit') return;
        moved.setPrice(passed);
        passed = null;
      },
    });
    await moved.say(buy);
    await moved.goOn(30);
    moved.setPrice('50100');
    passed = '49900';
  });
  afterEach(() => moved.close());

  test('takes the place of none: it would wait for the price to rise', async () => {
    await moved.say({ action: 'protect', stopLoss: '50000' });

    expect(await moved.open()).toEqual([
      'sell 0.1 at 52000',
      'sell 0.1 stop 48000',
      'sell 0.1 stop 50000, reduces',
    ]);
    expect(moved.alarmNames()).toEqual([]);
  });

  test('sells at market with the next reading, and nothing stays open', async () => {
    await moved.say({ action: 'protect', stopLoss: '50000' });
    await moved.goOn(30);

    expect([await moved.held(), await moved.open(), moved.alarmNames()]).toEqual(['flat', [], []]);
  });
});

test('A position that was opened a moment ago is protected also by a relay whose clock is behind', async () => {
  const { clock } = relay.services;
  Object.assign(relay.services, { clock: override(clock, { nowMs: () => clock.nowMs() - 1500 }) });
  await relay.byHand('buy', '0.1');
  await protect({ stopLoss: '49000' });
  await relay.goOn(30);

  expect(await relay.open()).toEqual(['sell 0.1 stop 49000, reduces']);
});

test('A stop-loss that the exchange has cut does not fit what the owner buys back', async () => {
  await relay.say({ ...buy, stopLoss: undefined, takeProfit: undefined });
  await relay.goOn(30);
  await relay.byHand('sell', '0.04');
  const lag = { fault: 'read_lag', endpoint: 'open-positions', delayMs: 3000, probability: 1 } as const;
  relay.paper.control.addFault(lag);
  await protect({ stopLoss: '48000' });
  expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces']);
  relay.paper.control.clearFaults();
  await relay.byHand('buy', '0.04');
  await relay.goOn(60);

  expect(await relay.open()).toEqual(['sell 0.1 stop 48000, reduces']);
});

test('A position that was bought by hand is protected as a whole', async () => {
  await relay.byHand('buy', '0.07');
  relay.clock.advance(30_000);
  await protect({ stopLoss: '49000', takeProfit: '53000' });
  await relay.goOn(30);
  expect(await relay.open()).toEqual(['sell 0.07 at 53000, reduces', 'sell 0.07 stop 49000, reduces']);

  relay.setPrice('48900');
  await relay.goOn(60);
  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
});

test('A first stop-loss that the price passes on its way is missed where nothing can be read after it', async () => {
  let passed = false;
  const moved: KeptRelay = await openKeptRelay({
    onRequest(path) {
      if (path !== '/api/v4/order/collateral/stop-limit' || passed) return;
      passed = true;
      moved.setPrice('47900');
      moved.paper.control.addFault({ fault: 'refuse', endpoint: 'open-positions', probability: 1 });
    },
  });
  try {
    moved.paper.control.setExits({ madeAt: 'never' });
    await moved.say(buy);
    await moved.goOn(300);

    expect(await moved.open()).toContain('sell 0.1 stop 48000, reduces');
    expect(moved.alarmNames()).toContain('position_unprotected');
  } finally {
    await moved.close();
  }
});

describe('The stop-loss of a position that was bought by hand', () => {
  const stop = 'sell 0.1 stop 49000, reduces';
  beforeEach(() => relay.byHand('buy', '0.1'));

  test('is tried again after the exchange has refused it', async () => {
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'stop-limit', count: 1 });
    await protect({ stopLoss: '49000' });
    expect([await relay.open(), relay.alarmNames()]).toEqual([[], ['protection_failed']]);
    await relay.goOn(60);

    expect(await relay.open()).toEqual([stop]);
  });

  test('is tried again after the exchange could not be read', async () => {
    await relay.receiveAll(
      JSON.stringify({ ticker: 'BTCUSDT', id: 's1', action: 'protect', stopLoss: '49000' }),
    );
    await relay.execute('s1');
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-positions', probability: 1 });
    await relay.runLine();
    await relay.goOn(60);
    expect(await relay.services.ledger.waiting('main', 'BTC_USDT', 10)).toEqual([]);
    relay.paper.control.clearFaults();
    await relay.goOn(120);

    expect(await relay.open()).toEqual([stop]);
  });

  test('is placed when a pause has ended', async () => {
    const everything = { kind: 'everything', sinceMs: relay.clock.nowMs(), reason: '' } as const;
    await relay.services.ledger.writePause('main', everything);
    await protect({ stopLoss: '49000' });
    await relay.goOn(60);
    expect(await relay.open()).toEqual([]);
    await relay.services.ledger.writePause('main', null);
    await relay.goOn(60);

    expect(await relay.open()).toEqual([stop]);
  });

  test('is kept until the position is gone, and nothing is read after that', async () => {
    await protect({ stopLoss: '49000' });
    await relay.goOn(60);
    expect(await relay.open()).toEqual([stop]);
    await relay.byHand('sell', '0.1');
    await relay.goOn(60);
    expect(await relay.open()).toEqual([]);

    await relay.goOn(11 * 60);
    relay.asked.length = 0;
    await relay.goOn(60);
    expect(relay.asked).toEqual([]);
  });

  test('is not placed again when the owner has ended it', async () => {
    await protect({ stopLoss: '49000' });
    await relay.goOn(60);
    await relay.cancelByHand(stop);
    await relay.goOn(600);

    expect(await relay.open()).toEqual([]);
  });
});

test('A short position is protected on its other side', async () => {
  await relay.say({ ...buy, action: 'sell', stopLoss: '52000', takeProfit: '48000' });
  await relay.goOn(30);
  await protect({ stopLoss: '1%', takeProfit: '49000' });
  await relay.goOn(30);

  expect(await relay.open()).toEqual(['buy 0.1 at 49000, reduces', 'buy 0.1 stop 50499.98, reduces']);
});

describe('While the last price cannot be read', () => {
  beforeEach(async () => {
    await relay.close();
    // An account that may sell at market what a stop-loss has missed.
    relay = await openKeptRelay({ settings: settingsWith({ maxSlippage: '0.5%' }) });
    await relay.say(buy);
    await relay.goOn(30);
  });

  test('a protect is denied', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'ticker', probability: 1 });

    expect(await protect({ stopLoss: '49000' })).toMatchObject({
      status: 'denied',
      steps: [{}, { evidence: { rule: 'no_last_price' } }],
    });
  });

  test('no position is closed for want of a stop-loss: it is told, and placed later', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'ticker', probability: 1 });
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
    await relay.goOn(15);
    expect(await relay.held()).toBe('0.05');
    expect(relay.alarmNames()).toContain('protection_failed');

    relay.paper.control.clearFaults();
    await relay.goOn(60);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.05',
      ['sell 0.05 at 52000, reduces', 'sell 0.05 stop 48000, reduces'],
    ]);
  });
});

test('Beside a stop by hand only what that leaves gets a stop-loss', async () => {
  await relay.byHand('buy', '0.1');
  relay.clock.advance(30_000);
  await relay.stopByHand('49000', '0.04');
  await protect({ stopLoss: '48500' });
  await relay.goOn(120);

  expect(await relay.open()).toEqual(['sell 0.04 stop 49000, reduces', 'sell 0.06 stop 48500, reduces']);
});

describe('After the first take-profit of a protect has sold its share', () => {
  const { stopLoss: _, takeProfit: __, ...bare } = buy;
  const takeProfits = [
    { price: '51000', share: '50%' },
    { price: '55000', share: '25%' },
  ];
  const stopOfRest = 'sell 0.05 stop 49000, reduces';
  const second = 'sell 0.025 at 55000, reduces';

  const countOfSignals = async () =>
    (await relay.services.ledger.list({ account: 'main', limit: 200 })).entries.length;

  async function sellFirst(): Promise<void> {
    relay.setPrice('51100');
    await relay.goOn(30);
    relay.setPrice('50000');
    await relay.goOn(30);
    expect(await relay.held()).toBe('0.05');
  }

  /** So many that a reading of the newest entries does not reach the take-profits any more. */
  async function othersCome(): Promise<void> {
    await relay.goOn(16 * 60);
    for (let count = 0; count < 60; count += 1) await protect({ stopLoss: '60000' });
  }

  test('it is not placed anew, however much time goes by', async () => {
    await relay.say(bare);
    await protect({ stopLoss: '49000', takeProfits });
    await relay.goOn(30);
    await sellFirst();
    await othersCome();
    const before = await countOfSignals();
    await relay.goOn(20 * 60);

    expect(await relay.open()).toEqual([second, stopOfRest]);
    expect(await countOfSignals()).toBe(before);
  });

  test('nor is it when nothing protected the rest any more, and more is bought', async () => {
    await relay.say(bare);
    await protect({ takeProfits: takeProfits.slice(0, 1) });
    await relay.goOn(30);
    await sellFirst();
    await othersCome();
    await relay.say({ ...bare, quantity: '0.02', stopLoss: '48000' });
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['0.07', ['sell 0.02 stop 48000']]);
  });

  test('for what the owner buys by hand it sells its share of that alone', async () => {
    await relay.say(bare);
    await protect({ takeProfits });
    await relay.goOn(30);
    await sellFirst();
    await relay.byHand('buy', '0.06');
    await othersCome();
    await relay.goOn(20 * 60);

    expect(await relay.open()).toEqual(['sell 0.03 at 51000, reduces', 'sell 0.04 at 55000, reduces']);
  });

  test('of one that was replaced after it had sold a part, the rest is left', async () => {
    await relay.say(bare);
    await protect({ takeProfits: takeProfits.slice(0, 1) });
    await relay.goOn(30);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('51000'), parseDecimal('0.02'));
    relay.setPrice('50000');
    await relay.goOn(30);
    await relay.byHand('sell', '0.02');
    await relay.goOn(60);
    expect(await relay.open()).toEqual(['sell 0.0225 at 51000, reduces']);
    const before = await countOfSignals();
    await relay.goOn(5 * 60);

    expect(await relay.open()).toEqual(['sell 0.0225 at 51000, reduces']);
    expect(await countOfSignals()).toBe(before);
  });

  test('a new protect places it again', async () => {
    await relay.say(bare);
    await protect({ takeProfits: takeProfits.slice(0, 1) });
    await relay.goOn(30);
    await sellFirst();
    await relay.goOn(60);
    await protect({ takeProfits: takeProfits.slice(0, 1) });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.025 at 51000, reduces']);
  });
});
