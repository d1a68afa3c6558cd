import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { SignalMessage, SignalQueue } from '../../lib/queue/queue.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { sweepAccepted } from '../../lib/relay/settle/sweep-accepted.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';
import { openWorld, type World } from '../support/world.ts';

function arrayOf(...ids: readonly string[]): string {
  return JSON.stringify(ids.map((id) => JSON.parse(buyAlert({ id }))));
}

describe('an alert of several signals, over HTTP', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld({ dialect: 'live' });
    world.setPrice('BTC_USDT', '50000');
  });
  afterEach(() => world.close());

  const ordersSent = () => world.paper.control.state().orders.map(({ clientOrderId }) => clientOrderId);
  const storedIds = async () => {
    const { entries } = await world.ledger.list({ limit: 20 });
    return entries.filter(({ status }) => status !== 'invalid').map(({ signalId }) => signalId);
  };

  test('gets 400 if the second has the id of another alert, and none of it is stored or sent', async () => {
    await world.post(buyAlert({ id: 'taken' }));
    await world.settled('taken');

    const { status, body } = await world.post(arrayOf('first', 'taken', 'third'));

    expect([status, body.error?.code]).toEqual([400, 'invalid_signal']);
    expect(body.error?.issues).toMatchObject([
      {
        path: '[1].id',
        message: '"taken" was used before, by a different alert: an id places one order, ever',
      },
    ]);
    expect(await storedIds()).toEqual(['taken']);
    // A signal of that alert would be executed before this one, in its market.
    await world.post(buyAlert({ id: 'later' }));
    await world.settled('later');
    expect(ordersSent()).toEqual([clientOrderIdOf('main', 'taken'), clientOrderIdOf('main', 'later')]);
    expect(await storedIds()).toEqual(['later', 'taken']);
  });

  test('gets 503 and is not stored when one of them cannot be stored, and is accepted whole when it is resent', async () => {
    const file = openSqlite(join(dirname(world.secretsPath), 'relay.db'));
    file.database.exec(
      `CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN NEW.signal_id = 'second' AND NEW.status = 'accepted'
       BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );

    const refused = await world.post(arrayOf('first', 'second'));

    expect(refused.status).toBe(503);
    expect(await storedIds()).toEqual([]);
    // The relay holds the lock until the second turn after the refused write.
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    file.database.exec('DROP TRIGGER refuse');
    file.close();
    expect((await world.post(arrayOf('first', 'second'))).status).toBe(202);
    await world.settled('first');
    await world.settled('second');
    expect(ordersSent()).toEqual([clientOrderIdOf('main', 'first'), clientOrderIdOf('main', 'second')]);
  });
});

describe('an alert of several signals of which only a part was queued', () => {
  let functions: Functions;
  /** What a queue beside the ledger was given. */
  let queued: SignalMessage[];
  let queue: SignalQueue;
  let allowedEnqueues = 0;

  beforeEach(async () => {
    allowedEnqueues = 1;
    queued = [];
    queue = {
      async enqueue(message) {
        allowedEnqueues -= 1;
        if (allowedEnqueues < 0) throw new RelayError('store_unavailable', 'the queue is out of order');
        queued.push(message);
      },
    };
    functions = await openFunctions(({ ledger }) => ({
      ledger: override(ledger, createQueuedEntrance(ledger, queue)),
    }));
  });
  afterEach(() => functions.close());

  test('is completed by the sweep, and executed in order', async () => {
    expect(await functions.receive(arrayOf('a', 'b', 'c'))).toMatchObject({ statusCode: 503 });
    const { entries } = await functions.ledger.list({ status: 'accepted', limit: 10 });
    expect(entries).toHaveLength(3);
    allowedEnqueues = 10;

    const window = { fromMs: 0, untilMs: Number.POSITIVE_INFINITY, aheadMs: Number.POSITIVE_INFINITY };
    expect(await sweepAccepted({ ledger: functions.ledger, queue }, window, 'test')).toMatchObject({
      enqueued: 3,
    });

    // The queue drops the first of them: it was enqueued before.
    const ids = queued.map(({ signalId }) => signalId);
    expect(ids).toEqual(['a', 'a', 'b', 'c']);
    for (const id of ids) await functions.execute(id);
    expect(functions.paper.control.state().orders.map(({ clientOrderId }) => clientOrderId)).toEqual(
      ['a', 'b', 'c'].map((id) => clientOrderIdOf('main', id)),
    );
  });

  test('keeps its order although the message of its last signal is delivered first', async () => {
    allowedEnqueues = 0;
    await functions.receive(arrayOf('a', 'b', 'c'));

    await functions.execute('c');

    expect(functions.paper.control.state().orders.map(({ clientOrderId }) => clientOrderId)).toEqual(
      ['a', 'b', 'c'].map((id) => clientOrderIdOf('main', id)),
    );
  });
});
