import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LedgerWatch } from '../../lib/ledger/ledger-watch.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { SignalDelivery } from '../../lib/queue/waiting-signal.ts';
import {
  bury,
  deny,
  drain,
  idsOf,
  keyOf,
  maxDeliveries,
  type OpenStore,
  openStore,
  orderIn,
  rest,
  takeAll,
} from './open-store.ts';

let store: OpenStore;
beforeEach(() => {
  store = openStore();
});
afterEach(() => store.file.close());

async function accept(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await store.ledger.accept([orderIn(id)], null);
}

function take(): SignalDelivery {
  const delivery = store.line.take();
  if (delivery === null) throw new Error('nothing is delivered');
  return delivery;
}

const isSettled = async (promise: Promise<unknown>) => {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
};

describe('the line of waiting signals', () => {
  test('delivers nothing when no signal waits', () => {
    expect(store.line.take()).toBeNull();
    expect(store.line.length).toBe(0);
  });

  test('delivers a signal with its group, for the first time', async () => {
    await store.ledger.accept([orderIn('tv-1', 'BTC_PERP', 'second')], null);

    expect(take()).toMatchObject({
      key: { account: 'second', signalId: 'tv-1', market: 'BTC_PERP' },
      group: 'second.BTC_PERP',
      deliveries: 1,
    });
  });

  test('delivers the signals of a group in the order in which they were stored', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `s-${99 - index}`);
    await accept(...ids.slice(0, 4));
    await store.ledger.accept(
      ids.slice(4).map((id) => orderIn(id)),
      null,
    );

    expect(await drain(store)).toEqual(ids);
    expect(store.line.length).toBe(0);
  });

  test('delivers one signal of a group at a time, and other markets and accounts meanwhile', async () => {
    await accept('a', 'b');
    await store.ledger.accept([orderIn('c', 'ETH_USDT')], null);
    await store.ledger.accept([orderIn('d', 'BTC_USDT', 'second')], null);

    const inFlight = takeAll(store);

    expect(idsOf(inFlight)).toEqual(['a', 'c', 'd']);
    await deny(store.ledger, keyOf('a'));
    expect(store.line.take()).toBeNull();
    store.line.finish(inFlight[0] as SignalDelivery);
    expect(idsOf(takeAll(store))).toEqual(['b']);
  });

  test('delivers a signal as soon as its write is executed, before it is durable', async () => {
    const stored = store.ledger.accept([orderIn('a')], null);

    expect(store.file.database.isTransaction).toBe(true);
    expect(idsOf(takeAll(store))).toEqual(['a']);
    await stored;
  });

  test('does not deliver a signal again that was stored before', async () => {
    await accept('a', 'b', 'a');
    expect(await drain(store)).toEqual(['a', 'b']);
    await accept('a');
    expect(store.line.take()).toBeNull();
  });

  test('has no refused alerts', async () => {
    const step = { status: 'invalid', atMs: 1, note: '' } as const;
    await store.ledger.refuse({ account: 'main', signalId: 'no', fingerprint: 'f', step });
    expect(store.line.length).toBe(0);
    store.line.reload();
    expect(store.line.length).toBe(0);
  });
});

test('a signal that only waits for another one comes again without its deliveries being counted', async () => {
  await accept('a', 'b');

  for (let delivery = 0; delivery < 2 * maxDeliveries; delivery += 1) {
    store.line.postpone(take());
    expect(idsOf(takeAll(store))).toEqual([]);
    await rest(store);
  }

  const again = take();
  expect([again.key.signalId, again.deliveries]).toEqual(['a', 1]);
});

describe('a released signal', () => {
  test('comes again in its place after the pause, with its count; other groups do not pause', async () => {
    await accept('a', 'b');
    await store.ledger.accept([orderIn('e', 'ETH_USDT')], null);

    await store.line.release(take());
    await accept('c');

    expect(store.clock.sleptMs).toEqual([750]);
    expect(idsOf(takeAll(store))).toEqual(['e']);
    await rest(store);
    const again = take();
    expect([again.key.signalId, again.deliveries]).toEqual(['a', 2]);
  });

  test('becomes a dead letter after the last delivery, is reported once, and its group goes on', async () => {
    await accept('poison', 'next');
    for (let count = 1; count <= maxDeliveries; count += 1) {
      const delivery = take();
      expect([delivery.key.signalId, delivery.deliveries]).toEqual(['poison', count]);
      expect(store.buried).toEqual([]);
      await store.line.release(delivery);
      if (count < maxDeliveries) await rest(store);
    }

    expect(store.buried).toEqual(['main.BTC_USDT']);
    // Without a pause.
    expect(store.clock.sleptMs).toHaveLength(maxDeliveries - 1);
    await isSettled(Promise.resolve());
    expect(await drain(store)).toEqual(['next']);
    expect([store.line.length, store.line.find(keyOf('poison'))]).toMatchObject([0, { isOldest: true }]);
    expect(await store.ledger.read(keyOf('poison'))).toMatchObject({ status: 'accepted' });
  });

  test('is reported as a dead letter before a crash can keep it from being delivered again', async () => {
    await accept('a');
    for (let count = 1; count < maxDeliveries; count += 1) {
      await store.line.release(take());
      await rest(store);
    }

    const released = store.line.release(take());

    expect([store.file.database.isTransaction, store.buried]).toEqual([true, ['main.BTC_USDT']]);
    await released;
    expect(store.buried).toEqual(['main.BTC_USDT']);
  });

  test('that was moved on meanwhile does not come again, and is no dead letter', async () => {
    await accept('a');
    const delivery = take();
    await deny(store.ledger, keyOf('a'));
    await store.line.release(delivery);
    await rest(store);
    expect([store.line.take(), store.line.length, store.buried]).toEqual([null, 0, []]);
  });

  test('that another process has moved on is no dead letter', async () => {
    await accept('a');
    for (let count = 1; count < maxDeliveries; count += 1) {
      await store.line.release(take());
      await rest(store);
    }
    const delivery = take();
    store.file.database.exec("UPDATE entries SET status = 'denied'");

    await store.line.release(delivery);

    expect([store.line.length, store.buried]).toEqual([0, []]);
  });

  test('that has left the line changes nothing', async () => {
    await accept('a', 'b');
    const delivery = take();
    await deny(store.ledger, keyOf('a'));
    store.line.finish(delivery);

    await store.line.release(delivery);
    store.line.finish(delivery);

    expect(store.clock.sleptMs).toEqual([]);
    expect(idsOf(takeAll(store))).toEqual(['b']);
  });

  test('keeps its place when it cannot be set aside', async () => {
    await accept('a', 'b');
    for (let count = 1; count < maxDeliveries; count += 1) {
      await store.line.release(take());
      await rest(store);
    }
    const delivery = take();
    store.file.database.exec('PRAGMA query_only = ON');

    await expect(store.line.release(delivery)).rejects.toMatchObject({ code: 'store_unavailable' });

    store.file.database.exec('PRAGMA query_only = OFF');
    expect([store.line.take(), store.buried]).toEqual([null, []]);
    await rest(store);
    expect(idsOf(takeAll(store))).toEqual(['a']);
  });
});

describe('a signal that is moved on', () => {
  test('leaves the line without having been delivered', async () => {
    await accept('a', 'b', 'c');
    const first = take();
    await deny(store.ledger, keyOf('b'));
    expect(store.line.length).toBe(2);
    await deny(store.ledger, keyOf('a'));
    store.line.finish(first);
    expect(await drain(store)).toEqual(['c']);
  });

  test('and is started keeps its group busy until its delivery ends', async () => {
    await accept('a', 'b');
    const delivery = take();
    const step = { status: 'sending', atMs: 1, note: '' } as const;
    expect(await store.ledger.start(keyOf('a'), step, null)).toEqual({ result: 'started' });
    expect(store.line.take()).toBeNull();
    store.line.finish(delivery);
    expect(idsOf(takeAll(store))).toEqual(['b']);
  });

  test('keeps its place, and its group busy, while its outcome could not be stored', async () => {
    await accept('a', 'b');
    const ids: string[] = [];
    for (let count = 0; count <= maxDeliveries; count += 1) {
      await accept(`c${count}`);
      const delivery = take();
      ids.push(delivery.key.signalId);
      if (count === 0) await store.ledger.start(keyOf('a'), { status: 'sending', atMs: 1, note: '' }, null);
      store.line.reload();
      await store.line.release(delivery);
      expect(store.line.take()).toBeNull();
      await rest(store);
    }
    const last = take();
    ids.push(last.key.signalId);
    await store.ledger.move(keyOf('a'), { from: 'sending', step: { status: 'unknown', atMs: 2, note: '' } });
    store.line.finish(last);

    expect([ids, store.buried]).toEqual([Array(maxDeliveries + 2).fill('a'), []]);
    expect(await drain(store)).toEqual(['b', 'c0', 'c1', 'c2', 'c3']);
    expect(store.line.length).toBe(0);
  });

  test('keeps its place while the store cannot say what became of it', async () => {
    await accept('a');
    const delivery = take();
    await store.ledger.start(keyOf('a'), { status: 'sending', atMs: 1, note: '' }, null);
    store.file.close();
    await store.line.release(delivery);
    expect(store.line.length).toBe(1);
  });

  test('is delivered again after the pause if its delivery ended while it is still accepted', async () => {
    await accept('a');
    store.line.finish(take());
    expect([store.line.length, store.line.take()]).toEqual([1, null]);
    await rest(store);
    expect(take()).toMatchObject({ key: { signalId: 'a' }, deliveries: 2 });
  });

  test('stays in line when the end of its delivery cannot be checked', async () => {
    await accept('a');
    const delivery = take();
    store.file.close();
    store.line.finish(delivery);
    expect(store.line.length).toBe(1);
  });
});

describe('waitForWork', () => {
  test('resolves at once when something is free', async () => {
    await accept('a');
    expect(await isSettled(store.line.waitForWork())).toBe(true);
  });

  test('resolves for every worker when a signal comes', async () => {
    const waiting = Promise.all([store.line.waitForWork(), store.line.waitForWork()]);
    expect(await isSettled(waiting)).toBe(false);
    await accept('a');
    expect(await isSettled(waiting)).toBe(true);
  });

  test('does not resolve for a signal of a busy group, but when that group is free again', async () => {
    await accept('a');
    const delivery = take();
    const waiting = store.line.waitForWork();
    await accept('b');
    expect(await isSettled(waiting)).toBe(false);
    await deny(store.ledger, keyOf('a'));
    store.line.finish(delivery);
    expect(await isSettled(waiting)).toBe(true);
  });

  test('resolves when the pause of a group ends', async () => {
    await accept('a');
    await store.line.release(take());
    const waiting = store.line.waitForWork();
    expect(await isSettled(waiting)).toBe(false);
    await rest(store);
    expect(await isSettled(waiting)).toBe(true);
  });

  test('resolves when it is aborted, before or while it waits', async () => {
    const controller = new AbortController();
    const waiting = store.line.waitForWork(controller.signal);
    expect(await isSettled(waiting)).toBe(false);
    controller.abort();
    expect(await isSettled(waiting)).toBe(true);
    expect(await isSettled(store.line.waitForWork(controller.signal))).toBe(true);
  });
});

describe('a signal that is stored again before the line has learned that its first write was lost', () => {
  /** Stores it, loses the write, and stores it again in another row. */
  async function storeAgain(): Promise<void> {
    const { seq } = store.line.find(keyOf('a')) ?? { seq: 0 };
    const lost = await store.ledger.read(keyOf('a'));
    if (lost === null) throw new Error('it is not stored');
    store.line.added(lost, seq + 5);
  }

  test('is delivered once, in its new place', async () => {
    await accept('a', 'b');
    await storeAgain();
    expect(store.line.find(keyOf('a'))).toMatchObject({ seq: 6, isOldest: false });
    expect(store.line.length).toBe(2);
    expect(idsOf(takeAll(store))).toEqual(['b']);
  });

  test('keeps its delivery', async () => {
    await accept('a', 'b');
    const delivery = take();
    await storeAgain();
    expect(store.line.take()).toBeNull();
    store.line.left(keyOf('a'));
    store.line.finish(delivery);
    expect(idsOf(takeAll(store))).toEqual(['b']);
  });
});

describe('a transaction that is lost', () => {
  test('stores nothing: the ledger rejects, and the line forgets the signals that nobody holds', async () => {
    const stored = store.ledger.accept([orderIn('a'), orderIn('b')], null);
    store.file.database.exec('ROLLBACK');

    await expect(stored).rejects.toMatchObject({ code: 'store_unavailable' });

    expect([store.line.length, store.line.take()]).toEqual([0, null]);
    await accept('a');
    expect(await drain(store)).toEqual(['a']);
  });

  test('is read from the file once, however many signals were in it', async () => {
    let reloads = 0;
    const { line } = store;
    const counting: LedgerWatch = {
      added: (entry, seq) => line.added(entry, seq),
      left: (key) => line.left(key),
      find: (key) => line.find(key),
      listWaiting: (account, market, limit) => line.listWaiting(account, market, limit),
      reload() {
        reloads += 1;
        line.reload();
      },
    };
    const ledger = createSqliteLedger(store.file, counting);
    for (const counted of [1, 2]) {
      const stored = ['a', 'b', 'c'].map((id) => ledger.accept([orderIn(id)], null));
      expect(line.length).toBe(3);
      store.file.database.exec('ROLLBACK');

      for (const one of await Promise.allSettled(stored)) expect(one.status).toBe('rejected');

      expect([reloads, line.length]).toEqual([counted, 0]);
    }
  });

  test('of a signal that a worker holds frees its group when the delivery ends', async () => {
    const stored = store.ledger.accept([orderIn('a')], null);
    const delivery = take();
    store.file.database.exec('ROLLBACK');
    await expect(stored).rejects.toMatchObject({ code: 'store_unavailable' });
    await accept('b');

    expect(store.line.take()).toBeNull();
    await store.line.release(delivery);

    expect(await drain(store)).toEqual(['b']);
  });

  test('of a signal that a worker holds: its worker never gets the signal of another alert with its id', async () => {
    const lost = store.ledger.accept([orderIn('a')], null);
    const delivery = take();
    store.file.database.exec('ROLLBACK');
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
    const corrected = { ...orderIn('a', 'ETH_USDT'), fingerprint: 'other bytes' };

    const early = store.ledger.accept([orderIn('c', 'ETH_USDT'), corrected], null);
    await expect(early).rejects.toMatchObject({ code: 'store_unavailable' });

    expect(await store.ledger.read(keyOf('c'))).toBeNull();
    await store.line.release(delivery);
    await store.ledger.accept([orderIn('c', 'ETH_USDT'), corrected, orderIn('b')], null);
    expect(await drain(store)).toEqual(['c', 'b', 'a']);
  });

  test('of a signal that a worker holds: stored again, it is not sent before what was stored meanwhile', async () => {
    const lost = store.ledger.accept([orderIn('a')], null);
    const delivery = take();
    store.file.database.exec('ROLLBACK');
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
    await accept('b', 'a');
    const sending = { status: 'sending', atMs: 1, note: '' } as const;

    const started = store.ledger.start(keyOf('a'), sending, null);

    await expect(started).rejects.toMatchObject({ code: 'earlier_signals_wait' });
    await store.line.release(delivery);
    await rest(store);
    expect(idsOf(takeAll(store))).toEqual(['b']);
    store.line.left(keyOf('b'));
    expect(await store.ledger.start(keyOf('a'), sending, null)).toEqual({ result: 'started' });
  });

  test('of a signal that a worker holds: stored again, it is sent when nothing was stored meanwhile', async () => {
    const lost = store.ledger.accept([orderIn('a')], null);
    take();
    store.file.database.exec('ROLLBACK');
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
    await accept('a', 'b');

    const started = store.ledger.start(keyOf('a'), { status: 'sending', atMs: 1, note: '' }, null);

    expect(await started).toEqual({ result: 'started' });
  });

  test('with a move leaves the signal accepted, and it is delivered again', async () => {
    await accept('a', 'b');
    const delivery = take();
    const moved = deny(store.ledger, keyOf('a'));
    const withdrawn = deny(store.ledger, keyOf('b'));
    expect(store.line.length).toBe(1);
    store.file.database.exec('ROLLBACK');

    await expect(moved).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(withdrawn).rejects.toMatchObject({ code: 'store_unavailable' });
    await store.line.release(delivery);
    await rest(store);

    expect(await drain(store)).toEqual(['a', 'b']);
  });

  test('with the end of a delivery: the signal is accepted still, and is delivered again', async () => {
    await accept('a');
    const delivery = take();
    const moved = deny(store.ledger, keyOf('a'));
    store.file.database.exec('ROLLBACK');
    await expect(moved).rejects.toMatchObject({ code: 'store_unavailable' });
    store.line.finish(delivery);
    await rest(store);
    expect(idsOf(takeAll(store))).toEqual(['a']);
  });

  test('never lets a signal be started in the row of another', async () => {
    const lost = store.ledger.accept([orderIn('lost')], null);
    store.file.database.exec('ROLLBACK');
    // Before the ledger has learned of the loss, the number of the row is given to another signal.
    store.file.database.exec(
      `INSERT INTO entries (account, signal_id, status, fingerprint, created_at_ms, updated_at_ms, steps)
       VALUES ('main', 'other', 'accepted', 'f', 1, 1, '[{"status":"accepted","atMs":1,"note":""}]')`,
    );
    const started = store.ledger.start(keyOf('lost'), { status: 'sending', atMs: 1, note: '' }, null);
    await expect(started).rejects.toMatchObject({ code: 'entry_conflict' });
    const moved = deny(store.ledger, keyOf('lost'));
    await expect(moved).rejects.toMatchObject({ code: 'entry_conflict' });
    await lost.catch(() => undefined);
    expect(await store.ledger.read(keyOf('lost'))).toBeNull();
    expect(await store.ledger.read(keyOf('other'))).toMatchObject({ status: 'accepted' });
  });
});

test('ten thousand signals of one market, and of five thousand markets, are delivered in their order', async () => {
  const ids = Array.from({ length: 5000 }, (_, index) => `one-${99_999 - index}`);
  await store.ledger.accept(
    ids.map((id) => orderIn(id)),
    null,
  );
  const others = Array.from({ length: 5000 }, (_, index) => orderIn(`many-${index}`, `M${index}_USDT`));
  await store.ledger.accept(others, null);

  const inFlight = takeAll(store);

  expect(idsOf(inFlight)).toEqual([ids[0], ...others.map(({ signalId }) => signalId)]);
  for (const delivery of inFlight) {
    store.line.left(delivery.key);
    store.line.finish(delivery);
  }
  const rest: string[] = [];
  for (let next = store.line.take(); next !== null; next = store.line.take()) {
    rest.push(next.key.signalId);
    store.line.left(next.key);
    store.line.finish(next);
  }
  expect(rest).toEqual(ids.slice(1));
});

test('a dead letter keeps its place, so that a later signal of its market is not the oldest', async () => {
  await accept('dead');
  await bury(store);
  await accept('later');

  expect(store.line.find(keyOf('later'))).toMatchObject({ isOldest: false });
  const { earlier } = await store.ledger.readDue(keyOf('later'), 10);
  expect(earlier.map(({ signalId }) => signalId)).toEqual(['dead']);
});
