import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger, LedgerEntrance } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';

let file: SqliteFile;
let ledger: Ledger;
let entrance: LedgerEntrance;
let enqueued: string[];
/** How many messages the queue takes before it fails. */
let room: number;

beforeEach(() => {
  file = openSqlite(':memory:');
  ledger = createSqliteLedger(file);
  enqueued = [];
  room = 100;
  entrance = createQueuedEntrance(ledger, {
    async enqueue({ account, signalId, market }) {
      if (enqueued.length >= room) throw new RelayError('store_unavailable', 'the queue is out of order');
      enqueued.push(`${account} ${signalId} ${market}`);
    },
  });
});
afterEach(() => file.close());

const alert = ['a', 'b', 'c'].map((id) => orderEntry(id));
const all = ['main a BTC_USDT', 'main b BTC_USDT', 'main c BTC_USDT'];

async function deny(signalId: string): Promise<void> {
  const step = { status: 'denied', atMs: 1, note: '' } as const;
  await ledger.move({ account: 'main', signalId }, { from: 'accepted', step });
}

test('stored signals are enqueued in their order', async () => {
  expect(await entrance.accept(alert, null)).toMatchObject({ result: 'stored' });
  expect(enqueued).toEqual(all);
});

test('a signal that was stored and not enqueued is store_unavailable, and a resend enqueues all that wait', async () => {
  room = 1;
  await expect(entrance.accept(alert, null)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(enqueued).toEqual(all.slice(0, 1));
  expect(await ledger.waiting('main', 'BTC_USDT', 10)).toHaveLength(3);
  room = 100;
  enqueued = [];

  expect(await entrance.accept(alert, null)).toMatchObject({
    result: 'stored',
    signals: [{ isNew: false }, { isNew: false }, { isNew: false }],
  });

  expect(enqueued).toEqual(all);
});

test('a resend does not enqueue signals that have ended', async () => {
  await entrance.accept(alert, null);
  await deny('b');
  enqueued = [];

  await entrance.accept(alert, null);

  expect(enqueued).toEqual(['main a BTC_USDT', 'main c BTC_USDT']);
});

test.each([
  ['over_limit', alert, { maxPerMinute: 2 }],
  ['id_taken', [orderEntry('x'), orderEntry('z', { fingerprint: 'other' })], null],
] as const)('nothing is enqueued of an alert that is %s', async (result, entries, limit) => {
  await ledger.accept([orderEntry('z')], null);

  expect(await entrance.accept(entries, limit)).toMatchObject({ result });

  expect(enqueued).toEqual([]);
});

test('refusals and readings go to the ledger alone', async () => {
  const step = { status: 'invalid', atMs: 1, note: 'no' } as const;
  await entrance.refuse({ account: 'main', signalId: 'no', fingerprint: 'f', step });
  expect(await entrance.read({ account: 'main', signalId: 'no' })).toMatchObject({ status: 'invalid' });
  expect(enqueued).toEqual([]);
});
