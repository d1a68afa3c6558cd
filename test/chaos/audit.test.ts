import { describe, expect, test } from '@jest/globals';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import type { Execution } from '../../lib/model/execution.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { createExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { describeState, type OrderState } from '../../lib/paper/server/state.ts';
import type { PlannedCancel, PlannedOrder } from './alerts.ts';
import { auditRun } from './audit.ts';
import type { Facts } from './facts.ts';
import type { Delivery, SentAlert } from './sender.ts';

const quietSinceMs = 1_000_000;

function planOrder(id: string, limitPrice: string): PlannedOrder {
  return {
    action: 'order',
    id,
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    kind: 'stop_limit',
    side: 'buy',
    amount: '0.0001',
    isQuote: false,
    stopPrice: '60000',
    limitPrice,
    reduceOnly: false,
    exits: null,
  };
}

function planCancel(id: string, target: string): PlannedCancel {
  return { action: 'cancel', id, ticker: 'BTCUSDT', market: 'BTC_USDT', target };
}

function deliver(httpStatus: number | null, ...signalIds: readonly string[]): Delivery {
  return { atMs: 1_000, tookMs: 1, httpStatus, signalIds, reason: '' };
}

function sendAlert(signal: PlannedOrder | PlannedCancel, ...deliveries: readonly Delivery[]): SentAlert {
  return { account: 'main', signals: [signal], flaw: null, fingerprint: `bytes of ${signal.id}`, deliveries };
}

function keepEntry(signalId: string, path: readonly Status[], changes: Partial<Entry> = {}): Entry {
  const steps: readonly Step[] = path.map((status) => ({ status, atMs: 1_000, note: '' }));
  return {
    account: 'main',
    signalId,
    status: path.at(-1) ?? 'accepted',
    signal: { action: 'order' } as Signal,
    clientOrderId: `tr-${signalId}`,
    fingerprint: `bytes of ${signalId}`,
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    steps,
    orderId: null,
    orderOpen: false,
    lookup: null,
    execution: null,
    ...changes,
  };
}

function holdOrder(
  orderId: number,
  signalId: string,
  price: string,
  status: OrderState['status'],
): OrderState {
  return {
    orderId,
    account: 'main',
    clientOrderId: `tr-${signalId}`,
    market: 'BTC_USDT',
    side: 'buy',
    positionSide: 'BOTH',
    type: 'stop_limit',
    status,
    endReason: null,
    activated: false,
    amount: '0.0001',
    remaining: '0.0001',
    price,
    activationPrice: '60000',
    postOnly: false,
    ioc: false,
    reduceOnly: false,
    filled: '0',
    filledNotional: '0',
    fee: '0',
    reserved: '0',
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
  };
}

function holdOrders(...orders: readonly OrderState[]): Facts['exchange'] {
  const acceptedOrderIds = orders.map(({ orderId }) => orderId);
  const { accounts, counterparty, fees } = describeState(createExchangeState());
  return { orders, acceptedCreates: orders.length, acceptedOrderIds, accounts, counterparty, fees };
}

function alarmLine(signalId: string): string {
  const timestamp = '2026-11-01T08:31:45.120Z';
  return JSON.stringify({ level: 'ERROR', message: 'm', timestamp, account: 'main', signalId, alarm: true });
}

const shown = ['one', 'two', 'five'].map((signalId) => `08:31:45.120  m  main ${signalId}`);

/** A log file, and a terminal that showed every alarm unless stated otherwise. */
function writeLog(lines: readonly string[], terminal: readonly string[] = shown): Facts['writings'] {
  return [
    { place: 'relay.log', kind: 'log', text: lines.join('\n') },
    { place: 'terminal', kind: 'log', text: terminal.join('\n') },
  ];
}

const cancelOfOne = {
  action: 'cancel',
  market: 'BTC_USDT',
  target: { by: 'signalId', signalId: 'one' },
} as Signal;

const one = sendAlert(planOrder('one', '60001'), deliver(503), deliver(202, 'one'));
const two = sendAlert(planOrder('two', '60002'), deliver(202, 'two'));
const three = sendAlert(planCancel('three', 'one'), deliver(202, 'three'));
const four = { ...sendAlert(planOrder('four', '60004'), deliver(400)), flaw: 'misspelt' as const };
const five = sendAlert(planOrder('five', '60005'), deliver(null));

const entryOne = keepEntry('one', ['accepted', 'sending', 'placed'], { orderId: 11 });
const entryTwo = keepEntry('two', ['accepted', 'sending', 'unknown'], { orderOpen: true });
const entryThree = keepEntry('three', ['accepted', 'sending', 'cancelled'], {
  signal: cancelOfOne,
  clientOrderId: null,
});
const entryFour = keepEntry('refused-4', ['invalid'], {
  signal: null,
  clientOrderId: null,
  fingerprint: 'bytes of four',
});
const entryFive = keepEntry('five', ['accepted', 'sending', 'placed'], { orderId: 15, orderOpen: true });

const orderOne = holdOrder(11, 'one', '60001', 'cancelled');
const orderFive = holdOrder(15, 'five', '60005', 'open');

/**
 * A placed order that was cancelled, an unknown one with its alarm, a refused alert, and one without a
 * response.
 */
const sound: Facts = {
  alerts: [one, two, three, four, five],
  entries: [entryOne, entryTwo, entryThree, entryFour, entryFive],
  queue: { waiting: 0, deadLetters: 0 },
  exchange: holdOrders(orderOne, orderFive),
  writings: writeLog(['{"level":"INFO"}', alarmLine('two'), '{"cut short']),
  secrets: [
    { name: 'the token of main', value: 'a-token', mayBeStored: false },
    { name: 'the mark of a raw body', value: 'a-mark', mayBeStored: true },
  ],
  ownEnds: [{ wasReady: false, diskWasFull: true, exitCode: 1, lastWords: 'no room' }],
  followed: null,
  notices: null,
  quietSinceMs,
};

/** The consistent facts, with some entries replaced by changed ones. */
function withEntries(...changed: readonly Entry[]): Facts {
  const byId = new Map(changed.map((entry) => [entry.signalId, entry]));
  return { ...sound, entries: sound.entries.map((entry) => byId.get(entry.signalId) ?? entry) };
}

function withoutEntry(signalId: string): Facts {
  return { ...sound, entries: sound.entries.filter((entry) => entry.signalId !== signalId) };
}

function withAlert(changed: SentAlert): Facts {
  const alerts = sound.alerts.map((alert) => (alert.fingerprint === changed.fingerprint ? changed : alert));
  return { ...sound, alerts };
}

function judge(facts: Facts): readonly string[] {
  return auditRun(facts).map(({ wrong, what }) => `${wrong}: ${what}`);
}

describe('the audit of a run', () => {
  test('finds nothing when everything agrees', () => {
    expect(judge(sound)).toEqual([]);
  });

  test('finds nothing when a cancellation withdrew its order before it was sent', () => {
    const withdrawn = keepEntry('one', ['accepted', 'cancelled']);
    expect(judge({ ...withEntries(withdrawn), exchange: holdOrders(orderFive) })).toEqual([]);
  });

  test('finds an order at the exchange that was withdrawn', () => {
    const withdrawn = keepEntry('one', ['accepted', 'cancelled']);
    expect(judge(withEntries(withdrawn))).toContain(
      'disagreement: the ledger says cancelled, but the exchange has the order',
    );
  });

  test('prints everything that is known about a violation', () => {
    const [violation] = auditRun({
      ...sound,
      exchange: holdOrders(orderOne, orderFive, { ...orderFive, orderId: 16 }),
    });

    expect(violation?.details).toEqual([
      'alert of main: buy 0.0001 BTC_USDT at 60005',
      '  00:00:01.000  posted: no response ',
      'ledger main/five: placed, client order id tr-five, order 15, open true',
      '  00:00:01.000  accepted: ',
      '  00:00:01.000  sending: ',
      '  00:00:01.000  placed: ',
      'exchange 00:00:01.000  order 15 of main, buy 0.0001 BTC_USDT at 60005, open, client order id tr-five',
      'exchange 00:00:01.000  order 16 of main, buy 0.0001 BTC_USDT at 60005, open, client order id tr-five',
    ]);
  });

  test('says what the follower believes of an order that it counts as closed', () => {
    const execution: Execution = {
      revision: 2,
      readAtMs: 3_500,
      orders: [
        {
          role: 'order',
          orderId: 15,
          status: 'filled',
          endedAtMs: 3_000,
          filled: '0.0001',
          filledNotional: '6.0005',
          fees: {},
        },
      ],
      isFollowed: false,
    };
    const [violation] = auditRun(withEntries({ ...entryFive, orderOpen: false, execution }));

    expect(violation?.what).toBe('the ledger counts an open order as closed');
    expect(violation?.details).toContain(
      '  00:00:03.500  read, change 2, no longer followed: order 15 filled at 00:00:03.000, 0.0001 filled',
    );
  });

  test.each([
    ['that the exchange has cut to the position', { amount: '0.00004', reduceOnly: true }, []],
    [
      'that is larger than asked for',
      { amount: '0.0003', reduceOnly: true },
      ['the exchange has an order that no alert asked for'],
    ],
    [
      'that is smaller and does not only reduce',
      { amount: '0.00004', reduceOnly: false },
      ['the exchange has an order that no alert asked for'],
    ],
  ])('judges a reduction %s', (_, changes, whats) => {
    const reduction = { ...planOrder('five', ''), limitPrice: null, amount: '0.0002', reduceOnly: true };
    const alerts = [one, two, three, four, sendAlert(reduction, deliver(null))];
    const facts = { ...sound, alerts, exchange: holdOrders(orderOne, { ...orderFive, ...changes }) };
    expect(auditRun(facts).map(({ what }) => what)).toEqual(whats);
  });

  test('takes a reduction that was cut for its own, although another alert asked for such an order', () => {
    const market = { limitPrice: null, stopPrice: null };
    const reduction = { ...planOrder('five', ''), ...market, amount: '0.0002', reduceOnly: true };
    const other = sendAlert({ ...planOrder('one', ''), ...market, amount: '0.00004' }, deliver(202, 'one'));
    const alerts = [other, two, three, four, sendAlert(reduction, deliver(null))];
    const ofOther = { ...orderOne, amount: '0.00004', price: '0' };
    const cut = { ...orderFive, amount: '0.00004', price: '0', reduceOnly: true };

    const found = auditRun({ ...sound, alerts, exchange: holdOrders(ofOther, cut) });

    expect(found.map(({ what }) => what)).toEqual([]);
  });

  const lookup = {
    count: 1,
    notFound: 1,
    firstNotFoundAtMs: quietSinceMs + 1,
    lastAtMs: quietSinceMs + 1,
    dueAtMs: quietSinceMs + 60_000,
    alarmedAtMs: 1_000,
    finding: 'in no list',
  };

  const cases: readonly (readonly [string, Facts, readonly string[]])[] = [
    [
      'an acknowledged alert without an entry',
      withoutEntry('two'),
      ['lost: an acknowledged alert is not in the ledger'],
    ],
    [
      'a response that names a signal of other bytes',
      withAlert({ ...two, deliveries: [deliver(202, 'one')] }),
      ['lost: an acknowledged alert is not in the ledger'],
    ],
    [
      'an alert of two signals of which only one was stored',
      withAlert({ ...two, signals: [...two.signals, planOrder('two-b', '60009')] }),
      ['lost: an acknowledged alert is not in the ledger'],
    ],
    ['a refusal without a ledger entry', withoutEntry('refused-4'), ['lost: a refusal is not in the ledger']],
    [
      'a flawed alert that was accepted',
      withAlert({ ...two, flaw: 'misspelt' }),
      ['disagreement: a flawed alert was acknowledged'],
    ],
    [
      'a good alert that was accepted and also refused',
      withAlert({ ...two, deliveries: [deliver(202, 'two'), deliver(400)] }),
      ['disagreement: a good alert was refused', 'lost: a refusal is not in the ledger'],
    ],
    [
      'an entry that no sender sent',
      { ...sound, entries: [...sound.entries, keepEntry('six', ['accepted', 'denied'])] },
      ['disagreement: the ledger has a signal that no sender sent'],
    ],
    [
      'an unknown outcome whose alarm is another signal’s',
      { ...sound, writings: writeLog([alarmLine('one')]) },
      ['silent: an outcome is unknown, and no alarm was raised'],
    ],
    [
      'an unknown outcome in a line that is not an alarm',
      { ...sound, writings: writeLog([alarmLine('two').replace('true', 'false')]) },
      ['silent: an outcome is unknown, and no alarm was raised'],
    ],
    [
      'a signal that was never executed, and its dead letter',
      {
        ...withEntries(keepEntry('two', ['accepted'])),
        queue: { waiting: 0, deadLetters: 1 },
      },
      ['silent: a signal is still accepted', 'silent: the queue still holds 0 messages and 1 dead letters'],
    ],
    [
      'a signal that was left in sending',
      withEntries(keepEntry('two', ['accepted', 'sending'])),
      ['silent: a signal is still sending'],
    ],
    [
      'a signal that was sent twice',
      withEntries(keepEntry('two', ['accepted', 'sending', 'unknown', 'sending', 'rejected'])),
      ['duplicated: an entry made an illegal status change: accepted, sending, unknown, sending, rejected'],
    ],
    [
      'a status without a step',
      withEntries({ ...keepEntry('two', ['accepted', 'sending']), status: 'rejected' }),
      ['disagreement: an entry made an illegal status change: accepted, sending'],
    ],
    [
      'a second order with the same client order id and content',
      { ...sound, exchange: holdOrders(orderOne, orderFive, { ...orderFive, orderId: 16 }) },
      ['duplicated: one signal led to 2 orders', 'duplicated: the exchange has the same order 2 times'],
    ],
    [
      'a second order of the same content with another client order id',
      {
        ...sound,
        exchange: holdOrders(orderOne, orderFive, { ...orderFive, orderId: 16, clientOrderId: 'x' }),
      },
      [
        'disagreement: the exchange has an order that the ledger does not know',
        'duplicated: the exchange has the same order 2 times',
      ],
    ],
    [
      'a placed order that does not exist',
      { ...sound, exchange: holdOrders(orderOne) },
      ['disagreement: a placed order is not at the exchange'],
    ],
    [
      'an order of a signal that was rejected',
      withEntries(keepEntry('five', ['accepted', 'sending', 'rejected'])),
      ['disagreement: the ledger says rejected, but the exchange has the order'],
    ],
    [
      'an existing order that lookups did not find',
      withEntries(keepEntry('five', ['accepted', 'sending', 'unknown', 'not_placed'])),
      ['disagreement: the ledger says not_placed, but the exchange has the order'],
    ],
    [
      'an order that a lookup did not find although there were no faults',
      {
        ...withEntries(keepEntry('five', ['accepted', 'sending', 'unknown'], { lookup })),
        writings: writeLog([alarmLine('two'), alarmLine('five')]),
      },
      ['disagreement: a lookup did not find an order that exists'],
    ],
    [
      'money that no trade can have made',
      { ...sound, exchange: { ...sound.exchange, counterparty: { USDT: '-5' }, fees: { USDT: '5.5' } } },
      ['disagreement: the exchange had 4000000 USDT in all, and has 4000000.5'],
    ],
    [
      'a market order that rests',
      withEntries({ ...entryFive, signal: { action: 'order', orderType: 'market' } as Signal }),
      ['disagreement: a market order rests'],
    ],
    [
      'two orders without a limit price of the same amount',
      {
        ...sound,
        exchange: holdOrders(
          orderOne,
          orderFive,
          { ...orderFive, orderId: 16, amount: '0.0002', price: '60006', clientOrderId: 'x' },
          { ...orderFive, orderId: 17, amount: '0.0002', price: '60007', clientOrderId: 'y' },
        ),
      },
      [
        'disagreement: the exchange has an order that no alert asked for',
        'disagreement: the exchange has an order that no alert asked for',
        'duplicated: the exchange has the same order 2 times',
      ],
    ],
    [
      'different order ids for the same order',
      withEntries({ ...entryFive, orderId: 99 }),
      ['disagreement: ledger and exchange have different order ids'],
    ],
    [
      'an open order that the ledger counts as closed',
      withEntries({ ...entryFive, orderOpen: false }),
      ['disagreement: the ledger counts an open order as closed'],
    ],
    [
      'an order in another account',
      { ...sound, exchange: holdOrders(orderOne, { ...orderFive, account: 'second' }) },
      ['disagreement: the order is in a wrong account'],
    ],
    [
      'an order that differs from its alert',
      { ...sound, exchange: holdOrders(orderOne, { ...orderFive, amount: '0.0002' }) },
      ['disagreement: the exchange has an order that no alert asked for'],
    ],
    [
      'an order with the client order id of another signal',
      {
        ...withEntries(keepEntry('five', ['accepted', 'denied'])),
        exchange: holdOrders(orderOne, holdOrder(15, 'two', '60005', 'open')),
      },
      ['disagreement: the exchange has an order with the client order id of another signal'],
    ],
    [
      'an order of a refused alert',
      { ...sound, exchange: holdOrders(orderOne, orderFive, holdOrder(14, 'four', '60004', 'open')) },
      [
        'disagreement: the exchange has an order of a refused alert',
        'disagreement: the exchange has an order that the ledger does not know',
      ],
    ],
    [
      'a confirmed cancellation of an order that is open',
      { ...sound, exchange: holdOrders({ ...orderOne, status: 'filled' }, orderFive) },
      [
        'disagreement: the ledger says cancelled; at the exchange: exchange 00:00:01.000  order 11 of main, buy 0.0001 BTC_USDT at 60001, filled, client order id tr-one',
      ],
    ],
    [
      'a create without an order',
      { ...sound, exchange: { ...holdOrders(orderOne, orderFive), acceptedCreates: 3 } },
      ['disagreement: the exchange accepted 3 creates, but lists 2 orders'],
    ],
    [
      'an alarm that did not reach the terminal',
      { ...sound, writings: writeLog([alarmLine('two')], ['08:31:45.120  m  main one']) },
      ['silent: an alarm did not reach the terminal'],
    ],
    [
      'an alarm that reached the terminal once although it was raised twice',
      {
        ...sound,
        writings: writeLog([alarmLine('two'), alarmLine('two').replace('45.120', '46.120')]),
      },
      ['silent: an alarm did not reach the terminal'],
    ],
    [
      'a token in a log',
      { ...sound, writings: writeLog([alarmLine('two'), 'POST /signals/main/a-token']) },
      ['leak: relay.log contains the token of main'],
    ],
    [
      'a signature in a log',
      { ...sound, writings: writeLog([alarmLine('two'), '0123456789abcdef'.repeat(8)]) },
      ['leak: relay.log contains a signature'],
    ],
    [
      'a raw body in a log, but not in the database, and a token in both',
      {
        ...sound,
        writings: [
          ...writeLog([alarmLine('two'), 'a-mark']),
          { place: 'relay.db', kind: 'store', text: 'a-mark a-token' },
        ],
      },
      ['leak: relay.log contains the mark of a raw body', 'leak: relay.db contains the token of main'],
    ],
    [
      'a relay that ended by itself, full disk or not',
      { ...sound, ownEnds: [{ wasReady: true, diskWasFull: true, exitCode: 1, lastWords: '' }] },
      ['breakdown: the relay ended by itself, or not when told to'],
    ],
    [
      'a relay that did not start although the disk had room',
      { ...sound, ownEnds: [{ wasReady: false, diskWasFull: false, exitCode: 1, lastWords: '' }] },
      ['breakdown: the relay did not start'],
    ],
  ];

  test.each(cases)('finds %s', (_name, facts, found) => {
    expect(judge(facts)).toEqual(found);
  });
});
