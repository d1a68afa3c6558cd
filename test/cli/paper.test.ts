import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeAll(async () => {
  relay = await startRelay('live');
});

afterAll(() => relay.world.close());

describe('paper price', () => {
  test('moves the price, exactly', async () => {
    const document = await runForJson(relay.here('paper', 'price', 'ETH_USDT', '3100.5'));

    expect(document).toEqual({ target: relay.target, market: 'ETH_USDT', price: '3100.5', volume: null });
    expect(relay.world.paper.control.state().prices['ETH_USDT']).toBe('3100.5');
  });

  test('fills no more than the volume given', async () => {
    relay.world.setPrice('BTC_USDT', '60000');
    await runForJson(relay.here('send', 'examples/buy-stop-limit.json'));
    const { orderId } = await relay.world.settled('example-buy-1');

    const document = await runForJson(relay.here('paper', 'price', 'BTC_USDT', '60500', '--volume', '0.004'));

    const order = relay.world.paper.control.state().orders.find((one) => one.orderId === orderId);
    expect(document).toEqual({ target: relay.target, market: 'BTC_USDT', price: '60500', volume: '0.004' });
    expect(order).toMatchObject({ status: 'partially_filled', remaining: '0.006' });
  });

  test('of an unknown market is refused with the known ones', async () => {
    const failure = await runForFailure(relay.here('paper', 'price', 'NOPE_USDT', '1'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('BTC_USDT');
  });
});

describe('paper balance', () => {
  test('sets a main balance, and removes it', async () => {
    const document = await runForJson(relay.here('paper', 'balance', 'btc', '2.50'));
    const { stdout } = await runCli(
      relay.here('paper', 'balance', 'UAH', '0.00000001', '--account', 'second'),
    );
    await runForJson(relay.here('paper', 'balance', 'SOL', '0'));

    const { accounts } = relay.world.paper.control.state();
    expect(document).toEqual({ target: relay.target, account: 'main', ticker: 'BTC', amount: '2.5' });
    expect(stdout).toBe(`${relay.targetLine}Account second holds 0.00000001 UAH in its main balance now.\n`);
    expect(accounts['main']?.main).toEqual({ BTC: '2.5', ETH: '20', USDT: '25000.75' });
    expect(accounts['second']?.main).toEqual({ UAH: '0.00000001', USDT: '500' });
    relay.world.paper.control.setBalance('main', 'BTC', parseDecimal('1.25'));
  });

  test('of an unknown account is refused with the known ones', async () => {
    const failure = await runForFailure(relay.here('paper', 'balance', 'BTC', '1', '--account', 'rehearsal'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('no account "rehearsal"; it has main, second');
  });
});

describe('paper hedge', () => {
  test('switches an account, whose alerts may name a side of the position from then on', async () => {
    const alert = {
      ticker: 'BTCUSDT.P',
      action: 'buy',
      quantity: '0.1',
      stopPrice: '60500',
      positionSide: 'long',
    };
    await relay.world.post(JSON.stringify({ ...alert, id: 'one-way' }));
    const before = await relay.world.settled('one-way');

    const on = await runForJson(relay.here('paper', 'hedge', 'on'));
    await relay.world.post(JSON.stringify({ ...alert, id: 'hedged' }));
    const after = await relay.world.settled('hedged');

    expect(on).toEqual({ target: relay.target, account: 'main', hedgeMode: true });
    expect(before).toMatchObject({ status: 'rejected' });
    expect(before.steps.at(-1)?.note).toContain("Order's position side does not match user's setting");
    expect(after).toMatchObject({ status: 'placed' });
    expect((await runCli(relay.here('paper', 'state'))).stdout).toContain('Account main is in hedge mode.');
  });

  test('is refused while the account has an order of a perpetual market', async () => {
    const failure = await runForFailure(relay.here('paper', 'hedge', 'off'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain(
      'has orders or positions on a perpetual market; cancel and close them first',
    );
  });

  test('says of each mode what orders need in it', async () => {
    const on = await runCli(relay.here('paper', 'hedge', 'on', '--account', 'second'));
    const off = await runCli(relay.here('paper', 'hedge', 'off', '--account', 'second'));

    expect(on.stdout).toContain(
      'Account second is in hedge mode now: its orders on perpetual markets need "positionSide" LONG or SHORT.',
    );
    expect(off.stdout).toContain('Account second is in one-way mode now: its orders need no "positionSide".');
  });
});

describe('paper exits', () => {
  test('changes how exits are made, and shows the settings', async () => {
    const changed = await runForJson(
      relay.here('paper', 'exits', '--made-at', 'first_fill', '--after-partial', 'off'),
    );
    const { stdout } = await runCli(relay.here('paper', 'exits', '--stop-kind', 'market'));
    const failure = await runForFailure(relay.here('paper', 'exits', '--reduce-only', 'yes'));

    const settings = {
      madeAt: 'first_fill',
      afterPartial: false,
      reduceOnly: false,
      stopKind: 'limit',
      showsAttached: false,
      listsExits: true,
      refusesReduceOnlyStops: false,
      stopsWaitBy: 'price',
      takesUsedIds: false,
    };
    expect(changed).toEqual({ target: relay.target, exits: settings });
    expect(stdout).toMatch(/^made-at +first_fill\nafter-partial +off\nreduce-only +off\nstop-kind +market$/m);
    expect(relay.world.paper.control.state().exitSettings).toEqual({ ...settings, stopKind: 'market' });
    expect(failure).toMatchObject({ exitCode: 2 });
    relay.world.paper.control.setExits({ madeAt: 'end', afterPartial: true, stopKind: 'limit' });
  });
});

describe('paper funds', () => {
  test('sets a spot or a collateral balance', async () => {
    const spot = await runForJson(relay.here('paper', 'funds', 'spot', 'sol', '70', '--account', 'second'));
    const collateral = await runCli(
      relay.here('paper', 'funds', 'collateral', 'SOL', '50', '--account', 'second'),
    );

    expect(spot).toEqual({
      target: relay.target,
      account: 'second',
      of: 'spot',
      ticker: 'SOL',
      amount: '70',
    });
    expect(collateral.stdout).toContain('Account second holds 50 SOL in its collateral balance now.');
    expect(relay.world.paper.control.state().accounts['second']).toMatchObject({
      spot: { SOL: { available: '70' } },
      collateral: { SOL: { available: '50' } },
    });
  });
});

describe('paper leverage', () => {
  test('sets one of the leverages of the exchange', async () => {
    const set = await runForJson(relay.here('paper', 'leverage', '20', '--account', 'second'));
    const failure = await runForFailure(relay.here('paper', 'leverage', '7'));

    expect(set).toEqual({ target: relay.target, account: 'second', leverage: 20 });
    expect(relay.world.paper.control.state().accounts['second']?.leverage).toBe(20);
    expect(failure).toMatchObject({ exitCode: 2 });
    await runCli(relay.here('paper', 'leverage', '1', '--account', 'second'));
  });
});

describe('paper fee', () => {
  test('changes the named terms, and shows the current ones', async () => {
    const document = await runForJson(
      relay.here('paper', 'fee', 'BTC', '--withdraw-fixed', '0.00050', '--deposit-min-amount', '0.002'),
    );
    const { stdout } = await runCli(
      relay.here('paper', 'fee', 'usdt', '--withdraw-percent', '0.2', '--withdraw-max-fee', '80'),
    );

    const unchanged = { minFlex: '0', maxFlex: '0', percentFlex: '0' };
    expect(document).toEqual({
      target: relay.target,
      fee: {
        ticker: 'BTC',
        name: 'Bitcoin',
        canDeposit: true,
        canWithdraw: true,
        deposit: { ...unchanged, fixed: '0', minAmount: '0.002', maxAmount: '0' },
        withdraw: { ...unchanged, fixed: '0.0005', minAmount: '0.001', maxAmount: '50' },
      },
    });
    expect(stdout).toMatch(/^USDT +Tether US +none +from 5 +0\.2% \(1 to 80\) +from 5$/m);
    expect(relay.world.paper.control.state().feeTable).toMatchObject({
      BTC: { withdraw: { fixed: '0.0005' } },
      USDT: { withdraw: { percentFlex: '0.2', minFlex: '1', maxFlex: '80', fixed: '0' } },
    });
  });

  test('opens and closes deposits or withdrawals', async () => {
    await runForJson(relay.here('paper', 'fee', 'UAH', '--withdraw', 'open', '--deposit', 'closed'));

    expect(relay.world.paper.control.state().feeTable['UAH']).toMatchObject({
      canDeposit: false,
      canWithdraw: true,
      withdraw: { percentFlex: '1.5' },
    });
  });

  test('of an unknown currency is refused with the known ones', async () => {
    const failure = await runForFailure(relay.here('paper', 'fee', 'XXX', '--withdraw-fixed', '1'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('no currency "XXX"; it has BTC, ETH, SOL, USDT, UAH');
  });
});

describe('paper interest', () => {
  test('pays now, or at the time given, and the same again is another payment', async () => {
    const at = ['--at', '2026-03-30T08:30:15', '--plan', 'p', '--investment', 'i'];
    const pay = (...args: string[]) => relay.here('paper', 'interest', ...args);

    const document = await runForJson(pay('usdt', '1.50', ...at));
    const { stdout } = await runCli(pay('USDT', '1.5', ...at));
    await runForJson(pay('BTC', '0.00000001'));

    const { payments } = relay.world.paper.control.state();
    const payment = {
      planId: 'p',
      investmentId: 'i',
      ticker: 'USDT',
      amount: '1.5',
      timestamp: 1_774_859_415,
    };
    expect(document).toEqual({ target: relay.target, account: 'main', payment });
    expect(stdout).toBe(
      `${relay.targetLine}Account main was paid 1.5 USDT of plan p at 2026-03-30 08:30:15 UTC.\n`,
    );
    expect(payments['main']?.slice(0, 3)).toEqual([
      {
        planId: 'paper-plan',
        investmentId: 'paper-investment',
        ticker: 'BTC',
        amount: '0.00000001',
        timestamp: expect.any(Number),
      },
      payment,
      payment,
    ]);
    expect(payments['main']).toHaveLength(253);
  });

  test('to an account that is not a partner is refused', async () => {
    const failure = await runForFailure(relay.here('paper', 'interest', 'BTC', '1', '--account', 'second'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('no partner account "second"; it has main');
  });
});

test.each([
  [['balance', 'BTC', '-1'], 'decimal number, 0 or above'],
  [['balance', 'BTC'], "'amount'"],
  [['fee', 'BTC'], 'names no change'],
  [['fee', 'BTC', '--withdraw-fixed', 'free'], 'decimal number, 0 or above'],
  [['fee', 'BTC', '--withdraw', 'shut'], 'Allowed choices are open, closed'],
  [['interest', 'BTC', '1', '--at', 'noon'], 'date or a time in UTC'],
])('paper %j is refused as a wrong command', async (args, message) => {
  const failure = await runForFailure(relay.here('paper', ...args));

  expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
  expect(failure.message).toContain(message);
});

describe('paper faults', () => {
  test('are set, listed and removed', async () => {
    const set = await runForJson(
      relay.here('paper', 'fault', 'drop_after', '--endpoint', 'stop-limit', '--count', '2'),
    );
    await runForJson(relay.here('paper', 'fault', 'delay', '--delay-ms', '250', '--probability', '0.5'));
    const listed = await runForJson(relay.here('paper', 'faults'));
    await runForJson(relay.here('paper', 'fault', 'read_lag', '--delay-ms', '400'));
    const { stdout: table } = await runCli(relay.here('paper', 'faults'));
    const cleared = await runForJson(relay.here('paper', 'clear-faults'));

    expect(set).toMatchObject({
      fault: { fault: 'drop_after', endpoint: 'stop-limit', remaining: 2, struck: 0 },
    });
    expect(listed).toMatchObject({
      faults: [
        { fault: 'drop_after', endpoint: 'stop-limit', remaining: 2, probability: null, delayMs: null },
        { fault: 'delay', endpoint: null, remaining: null, probability: 0.5, delayMs: 250 },
      ],
    });
    expect(table).toMatch(/^drop_after +stop-limit +2 more +0$/m);
    expect(table).toMatch(/^delay +any +with probability 0\.5, 250 ms late +0$/m);
    expect(table).toMatch(/^read_lag +any +1 more, 400 ms behind +0$/m);
    expect(cleared).toEqual({ target: relay.target, faults: [] });
    expect(relay.world.paper.control.faults()).toEqual([]);
    expect((await runCli(relay.here('paper', 'faults'))).stdout).toBe('No faults are set.\n');
  });

  test('without a required option are refused, and the option is named', async () => {
    const failure = await runForFailure(relay.here('paper', 'fault', 'delay'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('delayMs');
  });
});

describe('paper state', () => {
  test('is the whole state for programs, and tables for people', async () => {
    relay.world.setPrice('SOL_USDT', '151');
    const [document, { stdout }] = await Promise.all([
      runForJson(relay.here('paper', 'state')),
      runCli(relay.here('paper', 'state')),
    ]);

    expect(document).toEqual(JSON.parse(JSON.stringify(relay.world.paper.control.state())));
    expect(stdout).toMatch(/^SOL_USDT +151$/m);
    expect(stdout).toMatch(/^main +BTC +1\.25 +10 +0 +10 +0$/m);
    expect(stdout).toMatch(/^second +BTC +0 +10 +0 +10 +0$/m);
    expect(stdout).toMatch(/^Account second has leverage 1\.$/m);
  });
});

test('an exchange that is not a paper exchange is recognised', async () => {
  const { relayUrl, world } = relay;
  relay.pointTo({ relayUrl, exchangeUrl: relayUrl });
  const failure = await runForFailure(relay.here('paper', 'state'));
  relay.pointTo({ relayUrl, exchangeUrl: world.paper.url });

  expect(failure).toMatchObject({ exitCode: 1, code: 'no_paper_exchange' });
});
