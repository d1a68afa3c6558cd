import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findTurnedByHand } from '../../lib/account/find-turned.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { override } from '../support/override.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { testConfig } from '../support/world.ts';

/** The exits that the exchange makes do not say that they only reduce: one that fires beside another order turns the position. */
const { main } = testConfig.accounts;
function settingsOf(changes: object) {
  const accounts = { ...testConfig.accounts, main: { ...main, maxSlippage: '1%', ...changes } };
  return parseConfig({ ...testConfig, accounts }).settings;
}

const createPaths = ['/api/v4/order/collateral/market', '/api/v4/order/collateral/limit'];
const buy = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%', stopLoss: '49000' };

let relay: KeptRelay;
/** What happens with the first request after an order was placed. */
let afterOrder: (() => void) | null = null;
let isOrderSent = false;

async function open(changes: object = {}, market: 'BTC_USDT' | 'BTC_PERP' = 'BTC_USDT'): Promise<void> {
  relay = await openKeptRelay({
    settings: settingsOf(changes),
    market,
    onRequest(path) {
      if (afterOrder === null) return;
      if (isOrderSent) {
        const act = afterOrder;
        afterOrder = null;
        act();
      } else isOrderSent = createPaths.includes(path);
    },
  });
}
beforeEach(() => {
  afterOrder = null;
  isOrderSent = false;
});
afterEach(() => relay.close());

async function goOnForMinutes(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await relay.goOn(60);
    await reconcileSignals(relay.services);
  }
  await relay.goOn(15);
}

const turned = () => relay.alarms.filter(({ name }) => name === 'position_turned');

/** The orders that closed what was turned, oldest first: `buy 0.1, only reduces`. */
async function corrections(): Promise<readonly string[]> {
  const { entries } = await relay.services.ledger.list({ account: 'main', limit: 100, oldestFirst: true });
  return entries.flatMap(({ signal, status, steps }) => {
    const order = steps.findLast(({ status: of }) => of === 'sending')?.facts?.protective;
    return signal?.action === 'protect' && signal.turnedBy !== undefined && order !== undefined
      ? [`${order.side} ${order.amount}: ${status}`]
      : [];
  });
}

/** A stop-loss opens 0.04 too much, and the owner sells 0.2. */
async function turnBesideOwner(): Promise<void> {
  await relay.say(buy);
  await relay.goOn(30);
  await relay.byHand('sell', '0.04');
  relay.setPrice('48900');
  await relay.byHand('sell', '0.2');
}

describe('With protection that is kept', () => {
  beforeEach(() => open());

  test.each([
    ['closed', '0.1', '-0.1', '0.1'],
    ['reduced', '0.04', '-0.04', '0.04'],
  ])(
    'what a stop-loss has turned after the owner %s is closed, and told once',
    async (_, sold, held, amount) => {
      await relay.say(buy);
      await relay.goOn(30);
      await relay.byHand('sell', sold);
      relay.setPrice('48900');
      expect(await relay.held()).toBe(held);

      await goOnForMinutes(3);

      expect([await relay.held(), await relay.open(), await corrections()]).toEqual([
        'flat',
        [],
        [`buy ${amount}: placed`],
      ]);
      expect(turned()).toMatchObject([
        { account: 'main', market: 'BTC_USDT', signalId: 's1', opened: amount, amount: held, closes: amount },
      ]);
    },
  );

  test('what the first of two take-profits has turned is closed with what the second one opened', async () => {
    const target = { ...buy, stopLoss: '45000' };
    await relay.say({ ...target, takeProfit: '51000' });
    await relay.say({ ...target, takeProfit: '51100' });
    await relay.goOn(30);
    await relay.byHand('sell', '0.14');
    relay.setPrice('51200');
    expect(await relay.held()).toBe('-0.14');

    await goOnForMinutes(3);

    expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.14: placed']]);
  });

  test.each([
    ['close 50 %', { action: 'close', quantity: '50%', maxSlippage: '0.5%' }, '-0.05', 'flat', '0.05'],
    ['close', { action: 'close', maxSlippage: '0.5%' }, '-0.1', 'flat', '0.1'],
    ['reverse', { action: 'reverse', maxSlippage: '0.5%' }, '-0.1', 'flat', '0.1'],
    [
      'sell without reduceOnly',
      { action: 'sell', orderType: 'market', quantity: '0.15', maxSlippage: '0.5%' },
      '-0.15',
      '-0.05',
      '0.1',
    ],
  ])(
    'what a stop-loss has turned that fires beside "%s" is closed, and no more',
    async (_, alert, held, after, amount) => {
      await relay.say(buy);
      await relay.goOn(30);
      afterOrder = () => relay.setPrice('48900');
      await relay.say(alert);
      if (afterOrder !== null) relay.setPrice('48900');
      expect(await relay.held()).toBe(held);

      await goOnForMinutes(3);

      expect([await relay.held(), await corrections()]).toEqual([after, [`buy ${amount}: placed`]]);
      expect(turned()).toHaveLength(1);
    },
  );

  test('a position that the owner opens after it is left alone', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('48900');
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');

    await goOnForMinutes(3);

    expect([await relay.held(), await corrections(), turned()]).toEqual(['-0.1', [], []]);
  });

  test.each([
    ['of the exchange', {}],
    ['of the relay', { madeAt: 'never' }],
  ] as const)(
    'what a stop by hand has turned beside a stop-loss %s is told once, and left alone',
    async (_, exits) => {
      relay.paper.control.setExits(exits);
      await relay.say(buy);
      await relay.goOn(90);
      await relay.stopByHand('48950', '0.06', { reduceOnly: false });
      relay.setPrice('48900');
      expect(await relay.held()).toBe('-0.06');

      await goOnForMinutes(3);

      expect([await relay.held(), await corrections()]).toEqual(['-0.06', []]);
      expect(turned()).toMatchObject([
        {
          account: 'main',
          market: 'BTC_USDT',
          amount: '-0.06',
          whatToDo: 'npx relay close BTC_USDT --account main',
        },
      ]);
      expect(turned()[0]).not.toHaveProperty('signalId');
    },
  );

  test.each([
    ['of another market', { exitMarket: 'ETH_USDT' }],
    ['of the other side', { exitSide: 'buy' }],
    ['six seconds before', { exitAtMs: 4000 }],
  ] as const)(
    'an order by hand beside a stop-loss %s has turned nothing',
    (_, {
      exitMarket = 'BTC_USDT',
      exitSide = 'sell',
      exitAtMs = 10_000,
    }: {
      readonly exitMarket?: string;
      readonly exitSide?: 'buy' | 'sell';
      readonly exitAtMs?: number;
    }) => {
      const exit = {
        market: exitMarket,
        dealId: 1,
        orderId: 1,
        signalId: 's1',
        role: 'stop_loss',
        side: exitSide,
        amount: '0.1',
        atMs: exitAtMs,
      } as const;
      const hand = {
        market: 'BTC_USDT',
        dealId: 2,
        orderId: 2,
        signalId: '',
        role: 'other',
        side: 'sell',
        amount: '0.1',
        atMs: 10_000,
      } as const;
      const position = {
        market: 'BTC_USDT',
        amount: parseDecimal('-0.1'),
        positionSide: 'BOTH',
        openedAtMs: 10_000,
        modifiedAtMs: 10_000,
      } as const;

      expect(findTurnedByHand(position, [exit, hand])).toBeNull();
      const beside = { ...exit, market: 'BTC_USDT', side: 'sell', atMs: 10_000 } as const;
      expect(findTurnedByHand(position, [beside, hand])).toEqual(hand);
    },
  );

  test('what the owner adds to it stays', async () => {
    await turnBesideOwner();
    expect(await relay.held()).toBe('-0.24');

    await goOnForMinutes(3);

    expect([await relay.held(), await corrections()]).toEqual(['-0.2', ['buy 0.04: placed']]);
  });

  describe('an alert that comes after it', () => {
    const leftToIt = [
      {
        opened: '0.1',
        adoptedBy: expect.stringMatching(/^s2/),
        whatToDo: 'npx relay close BTC_USDT --account main',
      },
    ];

    async function turn(): Promise<void> {
      await relay.say(buy);
      await relay.goOn(30);
      await relay.byHand('sell', '0.1');
      relay.setPrice('48900');
    }

    test.each([
      ['a target of the same side', { action: 'target', target: '-0.1', maxSlippage: '0.5%' }, 15],
      ['a protect', { action: 'protect', takeProfit: '2%' }, 3],
    ])('%s takes it over, and the owner is told', async (_, alert, afterSeconds) => {
      await turn();
      await relay.goOn(afterSeconds);
      expect(await relay.say(alert)).toMatchObject({ status: 'satisfied' });

      await goOnForMinutes(5);

      expect([await relay.held(), await corrections()]).toEqual(['-0.1', []]);
      expect(turned()).toMatchObject(leftToIt);
    });

    test('is no reason to leave it if it was a protect written before', async () => {
      await turn();
      const time = new Date(relay.clock.nowMs() - 1000).toISOString();
      await relay.goOn(3);
      expect(await relay.say({ action: 'protect', takeProfit: '2%', time })).toMatchObject({
        status: 'satisfied',
      });

      await goOnForMinutes(3);

      expect([await relay.held(), await relay.open(), await corrections()]).toEqual([
        'flat',
        [],
        ['buy 0.1: placed'],
      ]);
      expect(turned()).toMatchObject([{ opened: '0.1', closes: '0.1' }]);
    });

    test('comes from the owner who was told that nothing has closed it: he is not told again', async () => {
      Object.assign(relay.services, { settings: settingsOf({ maxSlippage: undefined }) });
      await turn();
      await goOnForMinutes(4);
      expect(turned()).toHaveLength(1);
      expect(await relay.say({ action: 'protect', stopLoss: '3%' })).toMatchObject({ status: 'satisfied' });

      await goOnForMinutes(4);

      expect(turned()).toHaveLength(1);
    });
  });

  describe('and a relay that was down', () => {
    test.each([
      ['had never looked', async () => {}],
      ['had looked before', async () => void (await reconcileSignals(relay.services))],
    ])('for hours, and %s, what a stop-loss has turned is closed, and told once', async (_, before) => {
      await relay.say(buy);
      await relay.goOn(30);
      await before();
      await relay.byHand('sell', '0.1');
      relay.setPrice('48900');
      relay.clock.advance(5 * 3_600_000);

      // The positions are read before anything is followed.
      await reconcileSignals(relay.services);
      await goOnForMinutes(3);

      expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
      expect(turned()).toMatchObject([{ signalId: 's1', opened: '0.1', amount: '-0.1', closes: '0.1' }]);
    });

    test('for hours, what a stop-loss has turned is closed from DynamoDB, too', async () => {
      const dynamodb = await startDynamodb();
      try {
        await createStackTable(dynamodb.client, 'ledger', 'ledger');
        const options = { client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 };
        const ledger = createDynamodbLedger(options);
        Object.assign(relay.services, {
          ledger,
          entrance: ledger,
          executions: createDynamodbExecutions(options),
          facts: createDynamodbAccountFacts(options),
        });
        await relay.say(buy);
        await relay.goOn(3);
        await reconcileSignals(relay.services);
        await relay.byHand('sell', '0.1');
        relay.setPrice('48900');
        relay.clock.advance(5 * 3_600_000);

        await reconcileSignals(relay.services);
        for (let minute = 0; minute < 3; minute += 1) {
          relay.clock.advance(57_000);
          await relay.goOn(3);
          await reconcileSignals(relay.services);
        }
        await relay.goOn(3);

        expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
        expect(turned()).toHaveLength(1);
      } finally {
        await dynamodb.close();
      }
    });

    test('again and again, what a stop-loss has turned is closed', async () => {
      await relay.say(buy);
      await relay.goOn(30);
      await relay.byHand('sell', '0.1');
      relay.setPrice('48900');
      for (let times = 0; times < 3; times += 1) {
        relay.clock.advance(20 * 60_000);
        await reconcileSignals(relay.services);
      }

      await goOnForMinutes(3);

      expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
    });

    test.each([
      ['closed it and opened the same again', ['buy', 'sell'], '-0.1', []],
      ['enlarged it', ['sell'], '-0.2', ['buy 0.1: placed']],
    ] as const)('what the owner opened who %s stays', async (_, sides, held, expected) => {
      await relay.say(buy);
      await relay.goOn(30);
      await reconcileSignals(relay.services);
      await relay.byHand('sell', '0.1');
      relay.setPrice('48900');
      for (const side of sides) {
        relay.clock.advance(3_600_000);
        await relay.byHand(side, '0.1');
      }
      expect(await relay.held()).toBe(held);
      relay.clock.advance(3_600_000);

      await reconcileSignals(relay.services);
      await goOnForMinutes(5);

      expect([await relay.held(), await corrections()]).toEqual(['-0.1', expected]);
    });

    test('what stood for long before stays', async () => {
      const { settings } = relay.services;
      Object.assign(relay.services, { settings: settingsOf({ maxSlippage: undefined }) });
      await relay.say(buy);
      await relay.goOn(30);
      await relay.byHand('sell', '0.1');
      relay.setPrice('48900');
      await goOnForMinutes(25);
      const told = turned().length;
      Object.assign(relay.services, { settings });
      relay.clock.advance(3_600_000);

      await goOnForMinutes(5);

      expect([await relay.held(), await corrections(), turned()]).toEqual(['-0.1', [], expect.any(Array)]);
      expect([told, turned().length]).toEqual([1, 1]);
    });
  });

  test('what a stop-loss has turned while the orders could not be read is closed', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await reconcileSignals(relay.services);
    await relay.byHand('sell', '0.1');
    relay.setPrice('48900');
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });
    await goOnForMinutes(40);
    relay.paper.control.clearFaults();

    await goOnForMinutes(4);

    expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
  });

  test.each([5, 13, 20])(
    'what a stop-loss has turned before the exchange was away for %d minutes is closed, and told once',
    async (minutes) => {
      await relay.say(buy);
      await relay.goOn(9);
      await relay.byHand('sell', '0.1');
      relay.setPrice('48900');
      relay.paper.control.addFault({ fault: 'error_before', probability: 1 });
      await goOnForMinutes(minutes);
      relay.paper.control.clearFaults();
      // The order is followed to its end before the positions are read.
      await relay.goOn(60);
      expect(await relay.services.executions.followed('main', 10)).toEqual([]);

      await goOnForMinutes(3);

      expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
      expect(turned()).toHaveLength(1);
    },
  );

  test('a loss that a stop-loss made before the exchange was away pauses the account', async () => {
    Object.assign(relay.services, { settings: settingsOf({ maxDailyLoss: '50' }) });
    await relay.say(buy);
    await relay.goOn(9);
    relay.setPrice('48900');
    relay.paper.control.addFault({ fault: 'error_before', probability: 1 });
    await goOnForMinutes(13);
    relay.paper.control.clearFaults();
    await relay.goOn(60);
    expect(await relay.services.executions.followed('main', 10)).toEqual([]);

    await reconcileSignals(relay.services);

    expect(await relay.services.ledger.readPause('main')).toMatchObject({ kind: 'daily_loss' });
  });

  test('what a stop-loss has turned within a minute after a limit order filled that had rested for long is closed', async () => {
    await relay.say({ ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined });
    await goOnForMinutes(20);
    relay.setPrice('49500');
    await relay.goOn(3);
    await relay.byHand('sell', '0.1');
    relay.setPrice('48900');
    await relay.goOn(30);
    expect([await relay.held(), await relay.services.executions.followed('main', 10)]).toEqual(['-0.1', []]);

    await goOnForMinutes(3);

    expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
    expect(turned()).toHaveLength(1);
  });

  test('a list of positions that lags does not close it twice', async () => {
    await turnBesideOwner();
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 9000,
      probability: 1,
    });

    await goOnForMinutes(4);
    relay.paper.control.clearFaults();

    expect([await relay.held(), await corrections()]).toEqual(['-0.2', ['buy 0.04: placed']]);
  });

  test.each([
    ['was seen, and its fill not', false],
    ['has a fill that was stored', true],
  ])(
    'a reversal opens nothing beside what a stop-loss has turned that %s, although the list lags',
    async (_, isStored) => {
      await relay.say(buy);
      await relay.goOn(30);
      const { executions, ledger } = relay.services;
      afterOrder = () => undefined;
      let firedAtMs: number | null = null;
      Object.assign(relay.services, {
        executions: override(executions, {
          async followed(...asked) {
            // The close is filled, and looks for the exits of its position before it is stored.
            if (isOrderSent && firedAtMs === null) {
              relay.clock.advance(500);
              relay.setPrice('48900');
              firedAtMs = relay.clock.nowMs();
              relay.clock.advance(500);
              if (isStored) await relay.follow();
              relay.clock.advance(500);
            }
            return await executions.followed(...asked);
          },
        }),
        ledger: override(ledger, {
          async move(key, ...rest) {
            const delayMs = relay.clock.nowMs() - (firedAtMs ?? 0) + 250;
            // The next reading is from between the close and the stop-loss.
            if (key.signalId === 's2:reduce')
              relay.paper.control.addFault({
                fault: 'read_lag',
                endpoint: 'open-positions',
                delayMs,
                count: 1,
              });
            return await ledger.move(key, ...rest);
          },
        }),
      });

      await relay.say({ action: 'reverse', maxSlippage: '0.5%' });

      expect([(await relay.entry('s2')).status, await relay.held()]).toEqual(['denied', '-0.1']);
      await goOnForMinutes(3);
      expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
    },
  );

  test.each([
    ['whose response is lost', { fault: 'drop_after' }],
    ['that the exchange answers with an error', { fault: 'error_after' }],
  ] as const)('an order %s is looked up, and the owner keeps what he has sold', async (_, fault) => {
    await turnBesideOwner();
    relay.paper.control.addFault({ ...fault, endpoint: 'limit', count: 1 });

    await goOnForMinutes(6);

    expect(await relay.held()).toBe('-0.2');
    expect(turned()).toHaveLength(1);
  });

  test('an order that never arrived is followed by another one once that is proven', async () => {
    await turnBesideOwner();
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit', count: 1 });

    await goOnForMinutes(5);
    expect([await relay.held(), await corrections()]).toEqual(['-0.24', ['buy 0.04: unknown']]);
    expect(turned().at(-1)).toMatchObject({ whatToDo: 'npx relay close BTC_USDT --account main' });

    await goOnForMinutes(8);
    expect([await relay.held(), await corrections()]).toEqual([
      '-0.2',
      ['buy 0.04: not_placed', 'buy 0.04: placed'],
    ]);
  });

  test.each(['start', 'move'] as const)(
    'a relay that is killed at "%s" of the order closes it once',
    async (step) => {
      await turnBesideOwner();
      await relay.goOn(30);
      const { services } = relay;
      const { ledger } = services;
      let isKilled = false;
      const kill = async (): Promise<never> => {
        isKilled = true;
        throw new Error('killed');
      };
      await reconcileSignals(services);
      Object.assign(services, { ledger: override(ledger, { [step]: kill }) });
      await relay.goOn(15).catch(() => undefined);
      Object.assign(services, { ledger });
      expect(isKilled).toBe(true);

      await goOnForMinutes(6);

      expect(await relay.held()).toBe('-0.2');
      expect(turned()).toHaveLength(1);
    },
  );

  test('an order that fills in part is followed by another one', async () => {
    const large = { ...buy, quantity: '0.9' };
    await relay.say(large);
    await relay.say(large);
    await relay.say(large);
    await relay.goOn(30);
    await relay.byHand('sell', '0.9');
    await relay.byHand('sell', '0.9');
    relay.setPrice('48900');
    const before = await relay.held();
    Object.assign(relay.services, { settings: settingsOf({ maxSlippage: '0.05%' }) });

    await goOnForMinutes(6);

    expect([before, await relay.held(), await corrections()]).toEqual([
      '-1.8',
      'flat',
      ['buy 1.8: placed', 'buy 0.8: placed'],
    ]);
  });
});

describe('While the account is paused with everything', () => {
  beforeEach(async () => {
    await open();
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    const paused = { sinceMs: relay.clock.nowMs(), reason: 'night', kind: 'everything' } as const;
    await relay.services.ledger.writePause('main', paused);
    relay.setPrice('48900');
  });

  test('nothing is closed or asked for, and one alarm says so, and what to do', async () => {
    await goOnForMinutes(10);

    expect([await relay.held(), await corrections()]).toEqual(['-0.1', []]);
    const told = turned();
    expect(told).toMatchObject([
      {
        signalId: 's1',
        amount: '-0.1',
        whatToDo: 'npx relay resume main; npx relay close BTC_USDT --account main',
      },
    ]);
    expect(told[0]).not.toHaveProperty('closes');
    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 100 });
    expect(entries.map(({ signalId }) => signalId)).toEqual(['s1']);
  });

  test('what it opened is closed once the account is resumed', async () => {
    await goOnForMinutes(3);
    await relay.services.ledger.writePause('main', null);
    await goOnForMinutes(3);

    expect([await relay.held(), await corrections()]).toEqual(['flat', ['buy 0.1: placed']]);
    expect(turned().map(({ closes }) => closes)).toEqual([undefined, '0.1']);
  });

  test('an order that was asked for before the pause is not told as sent', async () => {
    await relay.services.ledger.writePause('main', null);
    await reconcileSignals(relay.services);
    relay.clock.advance(60_000);
    await relay.follow();
    await reconcileSignals(relay.services);
    expect(await relay.services.ledger.waiting('main', 'BTC_USDT', 1)).toHaveLength(1);
    const paused = { sinceMs: relay.clock.nowMs(), reason: 'night', kind: 'everything' } as const;
    await relay.services.ledger.writePause('main', paused);

    await goOnForMinutes(5);

    expect([await relay.held(), await corrections()]).toEqual(['-0.1', []]);
    expect(turned().map(({ closes }) => closes)).toEqual([undefined]);
  });
});

test('With the protection "alarm" it stays, and the alarm has the command', async () => {
  await open({ protection: 'alarm' });
  await relay.say(buy);
  await relay.goOn(30);
  await relay.byHand('sell', '0.04');
  relay.setPrice('48900');

  await goOnForMinutes(3);

  expect([await relay.held(), await corrections()]).toEqual(['-0.04', []]);
  expect(turned()).toMatchObject([
    { signalId: 's1', amount: '-0.04', whatToDo: 'npx relay close BTC_USDT --account main' },
  ]);
});

describe('With the protection "alarm", an alert that comes after it', () => {
  const target = { action: 'target', target: '-0.1', maxSlippage: '0.5%' };

  async function turn(): Promise<void> {
    await open({ protection: 'alarm' });
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    relay.setPrice('48900');
    await relay.goOn(15);
  }

  test('may have asked for it, which is what the owner is told', async () => {
    await turn();
    expect(await relay.say(target)).toMatchObject({ status: 'satisfied' });

    await goOnForMinutes(5);

    expect([await relay.held(), await corrections()]).toEqual(['-0.1', []]);
    expect(turned()).toMatchObject([
      { adoptedBy: expect.stringMatching(/^s2/), whatToDo: 'npx relay close BTC_USDT --account main' },
    ]);
  });

  test('that comes after the owner was told is not told, too', async () => {
    await turn();
    await goOnForMinutes(2);
    expect(turned()).toHaveLength(1);
    expect(await relay.say(target)).toMatchObject({ status: 'satisfied' });

    await goOnForMinutes(4);

    expect(turned()).toHaveLength(1);
  });
});

test('An account that allows no order at market is told so, with the command', async () => {
  relay = await openKeptRelay();
  await relay.say(buy);
  await relay.goOn(30);
  await relay.byHand('sell', '0.04');
  relay.setPrice('48900');

  await goOnForMinutes(5);

  expect([await relay.held(), await corrections()]).toEqual(['-0.04', []]);
  expect(turned().map(({ whatToDo }) => whatToDo)).toEqual(['npx relay close BTC_USDT --account main']);
  expect(await relay.failuresTold()).toEqual([]);
});

test('In hedge mode a stop-loss that fires beside a close turns nothing', async () => {
  await open({}, 'BTC_PERP');
  relay.paper.control.setHedgeMode('main', true);
  await relay.say({ ...buy, positionSide: 'LONG' });
  await relay.goOn(30);
  afterOrder = () => relay.setPrice('48900');
  await relay.say({ action: 'close', quantity: '50%', positionSide: 'LONG', maxSlippage: '0.5%' });
  relay.setPrice('48900');

  await goOnForMinutes(2);

  expect([await relay.held(), await corrections(), turned()]).toEqual(['flat', [], []]);
});
