import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { createRepeatWatch } from '../../lib/relay/receive/repeated-alert.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { override } from '../support/override.ts';

const startMs = Date.parse('2026-11-20T10:00:00Z');
const secondMs = 1000;
const hourMs = 3600 * secondMs;
/** As `"id": "{{strategy.order.id}}"` writes it. */
const longAlert = buyAlert({ id: 'Long' });
/** With neither id nor time. */
const bareAlert = buyAlert({ id: undefined });
const timedAlert = (timeMs: number, changes = {}) =>
  buyAlert({ id: undefined, time: new Date(timeMs).toISOString(), maxLag: 300, ...changes });

let clock: ManualClock;
let functions: Functions;
beforeEach(async () => {
  clock = createManualClock(startMs);
  functions = await openFunctions(() => ({}), clock);
});
afterEach(() => functions.close());

async function receive(body: string): Promise<string> {
  const { statusCode, body: text } = await functions.receive(body);
  const response = JSON.parse(text) as { duplicate?: boolean; error?: { code: string } };
  return `${statusCode} ${response.error?.code ?? (response.duplicate === true ? 'duplicate' : 'new')}`;
}

async function receiveAfter(seconds: number, body: string): Promise<string> {
  clock.advance(seconds * secondMs);
  return await receive(body);
}

const list = async () => (await functions.ledger.list({ limit: 100, oldestFirst: true })).entries;
const signalsStored = async () => (await list()).filter(({ signal }) => signal !== null);
const notes = async () =>
  (await list()).filter(({ status }) => status === 'invalid').map(({ steps }) => steps[0]?.note);
const alarms = () => functions.raised.filter(({ name }) => name === 'alert_repeated');

describe('a script that uses one id for ever', () => {
  test('gets its resends answered within 40 seconds, and each later alert refused, recorded and told', async () => {
    const responses = [
      await receive(longAlert),
      await receiveAfter(5, longAlert),
      await receiveAfter(34, longAlert),
      await receiveAfter(1, longAlert),
      await receiveAfter(86_400, longAlert),
    ];

    expect(responses).toEqual([
      '202 new',
      '200 duplicate',
      '200 duplicate',
      '400 invalid_signal',
      '400 invalid_signal',
    ]);
    expect(await signalsStored()).toHaveLength(1);
    expect(await notes()).toEqual([
      'the id "Long" was used before, 40 s earlier, by signal "Long" (accepted): this alert places nothing',
      'the id "Long" was used before, 86440 s earlier, by signal "Long" (accepted): this alert places nothing',
    ]);
    expect(await readRefusals(functions.ledger, 'main', 'Long')).toHaveLength(2);
    expect(alarms()).toMatchObject([
      { account: 'main', firstSignalId: 'Long' },
      { account: 'main', firstSignalId: 'Long' },
    ]);
  });

  test.each([
    ['with a later time', { time: '2026-11-20T10:00:01Z' }],
    ['for the other side', { action: 'sell' }],
  ])('gets the next alert %s refused within the first second, too, recorded and told', async (_, changes) => {
    await receive(longAlert);
    expect(await receiveAfter(1, buyAlert({ id: 'Long', ...changes }))).toBe('400 invalid_signal');
    expect(await signalsStored()).toHaveLength(1);
    expect(await readRefusals(functions.ledger, 'main', 'Long')).toMatchObject([
      { steps: [{ evidence: { firstSignalId: 'Long', issues: [{ path: 'id' }] } }] },
    ]);
    expect(alarms()).toHaveLength(1);
  });

  test('raises one alarm an hour for each id', async () => {
    const [long, short] = [longAlert, buyAlert({ id: 'Short' })];
    for (const body of [long, short]) await receive(body);
    for (let minute = 1; minute <= 60; minute += 1) {
      await receiveAfter(60, long);
      await receive(short);
    }
    expect(alarms().map(({ firstSignalId }) => firstSignalId)).toEqual(['Long', 'Short']);
    await receiveAfter(60, long);
    expect(alarms().map(({ firstSignalId }) => firstSignalId)).toEqual(['Long', 'Short', 'Long']);
  });

  test('has a record for each of five repeats of one millisecond', async () => {
    await receive(longAlert);
    await receiveAfter(60, longAlert);
    for (let count = 2; count <= 5; count += 1) await receive(longAlert);
    expect(await readRefusals(functions.ledger, 'main', 'Long')).toHaveLength(5);
  });

  test('raises an alarm in every process, and for every account', () => {
    const [one, other] = [createRepeatWatch('one'), createRepeatWatch('other')];
    const notes = [
      one.note('main', 'Long', startMs),
      one.note('main', 'Long', startMs + hourMs - 1),
      one.note('second', 'Long', startMs),
      other.note('main', 'Long', startMs + 1),
      one.note('main', 'Long', startMs + hourMs),
      one.note('main', 'Long', startMs - 1),
    ];
    expect(notes).toEqual([true, false, true, true, true, true]);
  });

  test.each([
    ['in the alias signalId', buyAlert({ id: undefined, signalId: 'Long' }), '400 invalid_signal'],
    [
      'in an array, and keeps the others out',
      `[${buyAlert({ id: 'x' })},${longAlert}]`,
      '400 invalid_signal',
    ],
  ])('is found %s', async (_, body, response) => {
    await receive(longAlert);
    expect(await receiveAfter(60, body)).toBe(response);
    expect((await signalsStored()).map(({ signalId }) => signalId)).toEqual(['Long']);
    expect(await readRefusals(functions.ledger, 'main', 'Long')).toHaveLength(1);
    expect(alarms()).toHaveLength(1);
  });

  test('is told, and places nothing, after the clock was set back by an hour', async () => {
    await receive(longAlert);
    expect(await receiveAfter(-3600, longAlert)).toBe('400 invalid_signal');
    expect(await notes()).toEqual([
      'the id "Long" was used before, and the clock was set back since, by signal "Long" (accepted): this alert places nothing',
    ]);
  });
});

test('the alarm of a repeat is raised before its record is stored, and the alert must be sent again', async () => {
  await functions.close();
  functions = await openFunctions(
    ({ ledger }) => ({
      ledger: override(ledger, {
        refuse: async () => {
          throw new RelayError('store_unavailable', 'the disk is full');
        },
      }),
    }),
    clock,
  );
  for (const body of [longAlert, bareAlert]) await receive(body);

  expect([await receiveAfter(60, longAlert), await receive(bareAlert)]).toEqual([
    '503 not_stored',
    '202 new',
  ]);
  expect(await receiveAfter(5, bareAlert)).toBe('503 not_stored');
  expect(alarms()).toHaveLength(2);
});

describe('an alert with a time', () => {
  test('is a resend within the window, and told when it comes later', async () => {
    const body = timedAlert(startMs);
    expect([await receive(body), await receiveAfter(20, body), await receiveAfter(20, body)]).toEqual([
      '202 new',
      '200 duplicate',
      '400 invalid_signal',
    ]);
    expect(await notes()).toEqual([expect.stringMatching(/^the same message came before, 40 s earlier/)]);
    expect(alarms()).toHaveLength(1);
  });

  test('is another alert when its time is another', async () => {
    expect([await receive(timedAlert(startMs)), await receive(timedAlert(startMs + 1000))]).toEqual([
      '202 new',
      '202 new',
    ]);
    expect(alarms()).toEqual([]);
  });
});

describe('an alert with neither id nor time', () => {
  test('is accepted, and again after 40 seconds, each time under an id of its own', async () => {
    expect([await receive(bareAlert), await receiveAfter(40, bareAlert)]).toEqual(['202 new', '202 new']);
    const [one, two] = await signalsStored();
    expect([one?.signalId, two?.signalId]).toEqual(Array(2).fill(expect.stringMatching(/^h-[0-9a-f]{32}$/)));
    expect(one?.clientOrderId).not.toBe(two?.clientOrderId);
    expect([await notes(), alarms()]).toEqual([[], []]);
  });

  test('places nothing within the window, but is recorded each time and told once an hour', async () => {
    const responses = [
      await receive(bareAlert),
      await receiveAfter(5, bareAlert),
      await receiveAfter(34, bareAlert),
    ];
    const [first] = await signalsStored();

    expect(responses).toEqual(['202 new', '200 duplicate', '200 duplicate']);
    expect(await signalsStored()).toHaveLength(1);
    const noteAfter = (seconds: number) =>
      `the same message came before, ${seconds} s earlier, by signal "${first?.signalId}" (accepted): this alert places nothing`;
    expect(await notes()).toEqual([noteAfter(5), noteAfter(39)]);
    const refused = (await list()).find(({ status }) => status === 'invalid');
    expect(refused?.steps[0]?.evidence).toEqual({
      code: 'invalid_signal',
      ticker: 'BTCUSDT',
      firstSignalId: first?.signalId,
      issues: [
        {
          path: 'time',
          message: 'without a time, an alert cannot be told from a resend of the one before it',
          hint: 'send "time": "{{timenow}}", which differs from alert to alert',
        },
      ],
    });
    expect(alarms()).toMatchObject([{ account: 'main', firstSignalId: first?.signalId }]);
  });

  test('raises one alarm an hour, although each window begins with another signal', async () => {
    for (let repeat = 0; repeat < 10; repeat += 1) {
      await receiveAfter(60, bareAlert);
      await receiveAfter(5, bareAlert);
    }
    expect([(await signalsStored()).length, (await notes()).length, alarms().length]).toEqual([10, 10, 1]);
    clock.advance(hourMs);
    await receive(bareAlert);
    await receiveAfter(5, bareAlert);
    expect(alarms()).toHaveLength(2);
  });

  test('of several signals is one alert', async () => {
    const body = `[${bareAlert},${buyAlert({ id: undefined, action: 'cancel_all', quantity: undefined, stopPrice: undefined, limitPrice: undefined, stopLoss: undefined, takeProfit: undefined })}]`;
    const first = JSON.parse((await functions.receive(body)).body);
    clock.advance(5000);
    const again = JSON.parse((await functions.receive(body)).body);

    expect(first).toEqual({
      signals: [0, 1].map((index) => ({
        signalId: expect.stringMatching(new RegExp(`^h-[0-9a-f]{32}-${index}$`)),
        status: 'accepted',
      })),
    });
    expect(again.signals.map(({ signalId }: { signalId: string }) => signalId)).toEqual(
      first.signals.map(({ signalId }: { signalId: string }) => signalId),
    );
    expect(await notes()).toHaveLength(1);
  });

  test('that was stored and not enqueued is completed by its resend', async () => {
    await functions.close();
    const enqueued: SignalMessage[] = [];
    let isBroken = true;
    functions = await openFunctions(({ ledger }) => {
      const enqueue = async (message: SignalMessage) => {
        if (isBroken) throw new RelayError('store_unavailable', 'no queue');
        enqueued.push(message);
      };
      return { ledger: override(ledger, createQueuedEntrance(ledger, { enqueue })) };
    }, clock);

    const first = await receive(bareAlert);
    isBroken = false;
    const resent = await receiveAfter(5, bareAlert);

    expect([first, resent]).toEqual(['503 not_stored', '200 duplicate']);
    const [stored] = await signalsStored();
    expect(enqueued).toEqual([{ account: 'main', signalId: stored?.signalId, market: 'BTC_USDT' }]);
  });

  test('grows stale from its arrival on', async () => {
    await receive(bareAlert);
    const [stored] = await signalsStored();
    clock.advance(10 * 60 * secondMs);
    await functions.execute(stored?.signalId ?? '');
    expect(await signalsStored()).toMatchObject([
      { status: 'denied', steps: [{}, { evidence: { rule: 'stale' } }] },
    ]);
  });
});
