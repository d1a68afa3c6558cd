import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import type { Ledger, NewEntry } from '../../lib/ledger/ledger.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { StopLimitSignal } from '../../lib/model/signal.ts';
import { acceptOne } from '../support/accept-one.ts';

/** An empty ledger. */
export interface LedgerFixture {
  readonly ledger: Ledger;
  /** Opens a new ledger over the same data, as after a restart. */
  reopen(): Promise<Ledger>;
  close(): Promise<void>;
}

const noonMs = 1_767_268_800_000;

export const signal: StopLimitSignal = {
  action: 'order',
  orderType: 'stop_limit',
  ticker: 'BTCUSDT',
  market: 'BTC_USDT',
  timeMs: noonMs - 1000,
  maxLagMs: 60_000,
  side: 'buy',
  size: { unit: 'base', quantity: '0.0000001' },
  stopPrice: '60000.1',
  limitPrice: null,
  comment: 'with "quotes", a \\ and żółw 🐢',
  extras: { nested: [1, '2', null, { deep: true }] },
};

export function orderEntry(signalId: string, changes: Partial<NewEntry> = {}): NewEntry {
  return {
    account: 'main',
    signalId,
    signal,
    clientOrderId: `r-${signalId}`,
    fingerprint: 'f1',
    atMs: noonMs,
    ...changes,
  };
}

function cancelEntry(signalId: string): NewEntry {
  const target = { by: 'orderId', orderId: 1 } as const;
  const cancel = {
    action: 'cancel',
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    timeMs: null,
    maxLagMs: null,
    target,
  } as const;
  return orderEntry(signalId, { signal: cancel, clientOrderId: null });
}

function keyOf(signalId: string, account = 'main'): EntryKey {
  return { account, signalId };
}

function sendingAt(atMs: number) {
  return { status: 'sending', atMs, note: 'on its way' } as const;
}

const waysTo: Readonly<Record<Exclude<Status, 'invalid'>, readonly Status[]>> = {
  accepted: [],
  denied: ['denied'],
  satisfied: ['satisfied'],
  dry_run: ['dry_run'],
  sending: ['sending'],
  not_sent: ['sending', 'not_sent'],
  placed: ['sending', 'placed'],
  cancelled: ['sending', 'cancelled'],
  rejected: ['sending', 'rejected'],
  unknown: ['sending', 'unknown'],
  not_placed: ['sending', 'unknown', 'not_placed'],
};
const everyStatus = [...(Object.keys(waysTo) as Status[]), 'invalid'] as const;

/** Adds an entry with the given status to the ledger. */
async function bringTo(ledger: Ledger, status: Status, signalId: string): Promise<void> {
  if (status === 'invalid')
    return ledger.refuse({
      ...keyOf(signalId),
      fingerprint: 'f',
      step: { status, atMs: noonMs, note: 'no' },
    });
  await acceptOne(ledger, orderEntry(signalId), null);
  let from: Status = 'accepted';
  for (const next of waysTo[status]) {
    await ledger.move(keyOf(signalId), { from, step: { status: next, atMs: noonMs, note: next } });
    from = next;
  }
}

async function readAll(ledger: Ledger, limit: number, onPage = async () => {}): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Ledger['list']>> = await ledger.list(
      cursor === null ? { limit } : { limit, cursor },
    );
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    all.push(...page.entries);
    cursor = page.next;
    await onPage();
  } while (cursor !== null);
  return all;
}

/** The contract of every ledger. */
export function describeLedger(name: string, openFixture: () => Promise<LedgerFixture>): void {
  let fixture: LedgerFixture;
  let ledger: Ledger;

  beforeEach(async () => {
    fixture = await openFixture();
    ledger = fixture.ledger;
  });
  afterEach(() => fixture.close());

  describe(`${name}: accept`, () => {
    test('stores a complete signal and returns its entry', async () => {
      const accepted = await acceptOne(ledger, orderEntry('a'), null);
      const expected: Entry = {
        account: 'main',
        signalId: 'a',
        status: 'accepted',
        signal,
        clientOrderId: 'r-a',
        fingerprint: 'f1',
        createdAtMs: 1_767_268_800_000,
        updatedAtMs: 1_767_268_800_000,
        steps: [{ status: 'accepted', atMs: 1_767_268_800_000, note: 'stored' }],
        orderId: null,
        orderOpen: false,
        lookup: null,
        execution: null,
      };
      expect(accepted).toStrictEqual({ result: 'created', entry: expected });
      expect(await ledger.read(keyOf('a'))).toStrictEqual(expected);
    });

    test('keeps what the message said beside the entries of its alert, and not in them', async () => {
      const message = { text: '{"id": "ä\\u0000", "x": (removed)}\n', omittedBytes: 7 };
      const alert = ['a', 'b'].map((id) => orderEntry(id, { message }));
      await ledger.accept(alert, null);
      await ledger.accept(
        alert.map((one) => ({ ...one, message: { text: 'again', omittedBytes: 0 } })),
        null,
      );
      await acceptOne(ledger, orderEntry('own', { fingerprint: 'f2' }), null);

      const [a, b, own] = await Promise.all(['a', 'b', 'own'].map((id) => ledger.read(keyOf(id))));

      expect(await Promise.all([a, b, own].map((entry) => ledger.readMessage(entry as Entry)))).toEqual([
        message,
        message,
        null,
      ]);
      expect(a).not.toHaveProperty('message');
    });

    test('returns the current entry for a resend and changes nothing', async () => {
      await bringTo(ledger, 'placed', 'a');
      const again = await acceptOne(ledger, orderEntry('a', { atMs: noonMs + 5000 }), null);
      expect(again).toMatchObject({ result: 'exists', entry: { status: 'placed', fingerprint: 'f1' } });
      expect(await ledger.read(keyOf('a'))).toMatchObject({ createdAtMs: noonMs, steps: { length: 3 } });
    });

    test('stores nothing of an alert when one of its ids belongs to another', async () => {
      await acceptOne(ledger, orderEntry('b'), null);
      const alert = ['a', 'b', 'c'].map((id) => orderEntry(id, { fingerprint: 'f2' }));

      const accepted = await ledger.accept(alert, null);

      expect(accepted).toMatchObject({ result: 'id_taken', by: { signalId: 'b', fingerprint: 'f1' } });
      expect((await ledger.list({ limit: 10 })).entries).toMatchObject([{ signalId: 'b' }]);
    });

    test('reports that the id of a single signal belongs to another alert', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      const other = orderEntry('a', { fingerprint: 'f2' });
      expect(await acceptOne(ledger, other, null)).toMatchObject({
        result: 'id_taken',
        entry: { fingerprint: 'f1' },
      });
      expect(await acceptOne(ledger, other, { maxPerMinute: 5 })).toMatchObject({ result: 'id_taken' });
    });

    test('stores the missing signals of a partly stored alert', async () => {
      await acceptOne(ledger, orderEntry('b'), null);
      const accepted = await ledger.accept(
        ['a', 'b', 'c'].map((id) => orderEntry(id)),
        null,
      );
      expect(accepted).toMatchObject({
        result: 'stored',
        signals: [
          { isNew: true, entry: { signalId: 'a' } },
          { isNew: false, entry: { signalId: 'b' } },
          { isNew: true, entry: { signalId: 'c' } },
        ],
      });
      expect((await ledger.list({ limit: 10 })).entries).toHaveLength(3);
    });

    test('stores an alert of ten signals once when it arrives ten times at the same time', async () => {
      const ids = Array.from({ length: 10 }, (_, index) => `s-${index}`);
      const alert = ids.map((id) => orderEntry(id));
      const results = await Promise.all(Array.from({ length: 10 }, () => ledger.accept(alert, null)));
      const fresh = results.filter(
        (accepted) => accepted.result === 'stored' && accepted.signals.every(({ isNew }) => isNew),
      );
      expect(fresh).toHaveLength(1);
      expect(results.map(({ result }) => result)).toEqual(Array(10).fill('stored'));
      expect((await ledger.waiting('main', 'BTC_USDT', 20)).map(({ signalId }) => signalId)).toEqual(ids);
    });

    test('creates one entry when the same signal arrives fifty times at the same time', async () => {
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) => acceptOne(ledger, orderEntry('a', { atMs: noonMs + i }), null)),
      );
      expect(results.filter(({ result }) => result === 'created')).toHaveLength(1);
      expect(results.filter(({ result }) => result === 'exists')).toHaveLength(49);
      expect((await ledger.list({ limit: 10 })).entries).toHaveLength(1);
    });

    test('keeps equal signal ids of two accounts separate', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      const other = await acceptOne(
        ledger,
        orderEntry('a', { account: 'second', clientOrderId: 'r-2' }),
        null,
      );
      expect(other.result).toBe('created');
      expect(await ledger.read(keyOf('a', 'second'))).toMatchObject({
        account: 'second',
        clientOrderId: 'r-2',
      });
    });

    test('has no entry for an unknown key', async () => {
      expect(await ledger.read(keyOf('nobody'))).toBeNull();
    });
  });

  describe(`${name}: the limit of signals`, () => {
    const limit = { maxPerMinute: 3 };

    test('counts exactly the last 60 seconds', async () => {
      for (const [id, atMs] of [
        ['a', noonMs],
        ['b', noonMs + 1],
        ['c', noonMs + 59_999],
      ] as const)
        expect((await acceptOne(ledger, orderEntry(id, { atMs }), limit)).result).toBe('created');

      expect(await acceptOne(ledger, orderEntry('d', { atMs: noonMs + 59_999 }), limit)).toEqual({
        result: 'over_limit',
        count: 3,
      });
      expect((await acceptOne(ledger, orderEntry('d', { atMs: noonMs + 60_000 }), limit)).result).toBe(
        'created',
      );
      expect((await acceptOne(ledger, orderEntry('e', { atMs: noonMs + 60_000 }), limit)).result).toBe(
        'over_limit',
      );
      expect((await acceptOne(ledger, orderEntry('e', { atMs: noonMs + 60_001 }), limit)).result).toBe(
        'created',
      );
    });

    test('stores nothing of a signal that exceeds it', async () => {
      await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 1 });
      await acceptOne(ledger, orderEntry('b'), { maxPerMinute: 1 });
      expect(await ledger.read(keyOf('b'))).toBeNull();
    });

    test('does not apply to a resend', async () => {
      await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 1 });
      expect((await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 1 })).result).toBe('exists');
      expect((await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 0 })).result).toBe('exists');
    });

    test('counts every accepted signal, whatever its outcome', async () => {
      for (const id of ['a', 'b']) await acceptOne(ledger, orderEntry(id), limit);
      await acceptOne(ledger, cancelEntry('c'), limit);
      const step = { status: 'denied', atMs: noonMs, note: 'no' } as const;
      await ledger.move(keyOf('a'), { from: 'accepted', step });
      expect(await acceptOne(ledger, orderEntry('d'), limit)).toEqual({ result: 'over_limit', count: 3 });
    });

    test('counts no signal in the future of a clock that was set back', async () => {
      const anHourAhead = noonMs + 3_600_000;
      for (const id of ['a', 'b', 'c']) await acceptOne(ledger, orderEntry(id, { atMs: anHourAhead }), limit);
      for (const id of ['d', 'e', 'f'])
        expect((await acceptOne(ledger, orderEntry(id), limit)).result).toBe('created');
      expect(await acceptOne(ledger, orderEntry('g'), limit)).toEqual({ result: 'over_limit', count: 3 });
    });

    test('counts a signal that another writer stored a moment in the future', async () => {
      for (const id of ['a', 'b', 'c'])
        await acceptOne(ledger, orderEntry(id, { atMs: noonMs + 5000 }), limit);
      expect((await acceptOne(ledger, orderEntry('d'), limit)).result).toBe('over_limit');
    });

    test('accepts all signals of an alert or none', async () => {
      await acceptOne(ledger, orderEntry('a'), limit);
      await acceptOne(ledger, orderEntry('b'), limit);
      const alert = [orderEntry('c'), orderEntry('d')];
      expect(await ledger.accept(alert, limit)).toEqual({ result: 'over_limit', count: 2 });
      expect((await ledger.list({ limit: 10 })).entries).toHaveLength(2);
      expect(await ledger.accept(alert, { maxPerMinute: 4 })).toMatchObject({ result: 'stored' });
      expect(await ledger.accept(alert, { maxPerMinute: 4 })).toMatchObject({
        result: 'stored',
        signals: [{ isNew: false }, { isNew: false }],
      });
    });

    test('counts alerts that only reduce apart, with the same limit', async () => {
      const reducing = (id: string) => orderEntry(id, { reduces: true });
      for (const id of ['a', 'b', 'c'])
        expect((await acceptOne(ledger, orderEntry(id), limit)).result).toBe('created');
      for (const id of ['d', 'e', 'f'])
        expect((await acceptOne(ledger, reducing(id), limit)).result).toBe('created');

      expect(await acceptOne(ledger, orderEntry('g'), limit)).toEqual({ result: 'over_limit', count: 3 });
      expect(await acceptOne(ledger, reducing('h'), limit)).toEqual({ result: 'over_limit', count: 3 });
      expect((await acceptOne(ledger, reducing('f'), limit)).result).toBe('exists');
      const later = { atMs: noonMs + 60_000 };
      expect((await acceptOne(ledger, { ...reducing('h'), ...later }, limit)).result).toBe('created');
      expect((await acceptOne(ledger, { ...orderEntry('g'), ...later }, limit)).result).toBe('created');
    });

    test('counts no signal that was stored without a limit, as those of the relay itself', async () => {
      for (const id of ['a', 'b']) await acceptOne(ledger, orderEntry(id), null);
      for (const id of ['c', 'd']) await acceptOne(ledger, orderEntry(id, { reduces: true }), null);
      expect((await acceptOne(ledger, orderEntry('e'), { maxPerMinute: 1 })).result).toBe('created');
      expect((await acceptOne(ledger, orderEntry('f', { reduces: true }), { maxPerMinute: 1 })).result).toBe(
        'created',
      );
    });

    test('counts neither refused alerts nor other accounts', async () => {
      await bringTo(ledger, 'invalid', 'refused');
      await acceptOne(ledger, orderEntry('a', { account: 'second' }), null);
      expect((await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 1 })).result).toBe('created');
    });

    test('holds when all signals arrive at the same time', async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) => acceptOne(ledger, orderEntry(`s-${i}`), { maxPerMinute: 7 })),
      );
      expect(results.filter(({ result }) => result === 'created')).toHaveLength(7);
      expect(results.filter(({ result }) => result === 'over_limit')).toHaveLength(13);
    });
  });

  describe(`${name}: refuse`, () => {
    test('records the reasons once, however often the same bytes arrive', async () => {
      const step = {
        status: 'invalid',
        atMs: noonMs,
        note: 'no quantity',
        evidence: { issues: [] },
      } as const;
      const message = { text: 'buy', omittedBytes: 0 };
      const refusal = { ...keyOf('refused-1'), fingerprint: 'f9', step, message };
      await ledger.refuse(refusal);
      await Promise.all([
        ledger.refuse({ ...refusal, step: { ...step, atMs: noonMs + 5000, note: 'again' } }),
        ledger.refuse(refusal),
      ]);
      expect(await ledger.read(keyOf('refused-1'))).toStrictEqual({
        account: 'main',
        signalId: 'refused-1',
        status: 'invalid',
        signal: null,
        clientOrderId: null,
        fingerprint: 'f9',
        createdAtMs: noonMs,
        updatedAtMs: noonMs,
        steps: [step],
        orderId: null,
        orderOpen: false,
        lookup: null,
        execution: null,
      });
      expect((await ledger.list({ limit: 10 })).entries).toHaveLength(1);
      expect(await ledger.readMessage(refusal)).toEqual(message);
    });
  });

  describe(`${name}: refusals of an id`, () => {
    const refuse = (signalId: string, atMs: number, account = 'main') =>
      ledger.refuse({
        ...keyOf(signalId, account),
        fingerprint: 'f9',
        step: { status: 'invalid', atMs, note: `no ${signalId}` },
      });

    test('are read newest first, only those of the id, and without the signal itself', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      await refuse('a@refused-2', noonMs + 1);
      await refuse('a@refused-1', noonMs + 2);
      await refuse('a@refused-1', noonMs, 'second');
      for (const other of [
        'refused-a',
        'A@refused-1',
        'a.b@refused-1',
        'ab@refused-1',
        'a-@refused-1',
        'a:@refused-1',
      ])
        await refuse(other, noonMs);

      const refusals = await readRefusals(ledger, 'main', 'a');

      expect(refusals.map(({ account, signalId }) => `${account} ${signalId}`)).toEqual([
        'main a@refused-1',
        'main a@refused-2',
      ]);
      expect(refusals[1]).toStrictEqual(await ledger.read(keyOf('a@refused-2')));
    });

    test('are ten at most', async () => {
      for (let index = 10; index < 22; index += 1) await refuse(`a@refused-${index}`, noonMs);
      expect(await readRefusals(ledger, 'main', 'a')).toHaveLength(10);
    });

    test('do not prevent that the id is accepted later', async () => {
      await refuse('a@refused-1', noonMs);
      expect(await acceptOne(ledger, orderEntry('a'), null)).toMatchObject({ result: 'created' });
      expect(await readRefusals(ledger, 'main', 'a')).toHaveLength(1);
    });

    test.each(['', 'nobody', '%', '_', 'a@'])('are empty for %j', async (alertId) => {
      await refuse('a@refused-1', noonMs);
      expect(await readRefusals(ledger, 'main', alertId)).toEqual([]);
    });
  });

  describe(`${name}: start`, () => {
    test('moves an accepted signal to sending', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      expect(await ledger.start(keyOf('a'), sendingAt(noonMs + 7), null)).toEqual({ result: 'started' });
      expect(await ledger.read(keyOf('a'))).toMatchObject({
        status: 'sending',
        createdAtMs: noonMs,
        updatedAtMs: noonMs + 7,
        steps: [{ status: 'accepted' }, { status: 'sending', atMs: noonMs + 7, note: 'on its way' }],
      });
    });

    test('lets exactly one of fifty workers send', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      const results = await Promise.all(
        Array.from({ length: 50 }, () => ledger.start(keyOf('a'), sendingAt(noonMs), null)),
      );
      expect(results.filter(({ result }) => result === 'started')).toHaveLength(1);
      expect(results.filter(({ result }) => result === 'conflict')).toHaveLength(49);
      expect((await ledger.read(keyOf('a')))?.steps).toHaveLength(2);
    });

    test.each(everyStatus.filter((status) => status !== 'accepted'))(
      'does not start a signal that is %s, and returns its entry',
      async (status) => {
        await bringTo(ledger, status, 'a');
        const before = await ledger.read(keyOf('a'));
        expect(await ledger.start(keyOf('a'), sendingAt(noonMs), { maxPerMinute: 0 })).toEqual({
          result: 'conflict',
          entry: before,
        });
        expect(await ledger.read(keyOf('a'))).toEqual(before);
      },
    );

    test('refuses a signal that is not in the ledger', async () => {
      await expect(ledger.start(keyOf('nobody'), sendingAt(noonMs), null)).rejects.toMatchObject({
        code: 'entry_conflict',
      });
    });

    test('applies the limit of orders to exactly the last 60 seconds', async () => {
      for (const id of ['a', 'b', 'c']) await acceptOne(ledger, orderEntry(id), null);
      const limit = { maxPerMinute: 2 };
      expect((await ledger.start(keyOf('a'), sendingAt(noonMs), limit)).result).toBe('started');
      expect((await ledger.start(keyOf('b'), sendingAt(noonMs + 1), limit)).result).toBe('started');
      expect(await ledger.start(keyOf('c'), sendingAt(noonMs + 59_999), limit)).toEqual({
        result: 'over_limit',
        count: 2,
      });
      expect(await ledger.read(keyOf('c'))).toMatchObject({ status: 'accepted', steps: { length: 1 } });
      expect((await ledger.start(keyOf('c'), sendingAt(noonMs + 60_000), limit)).result).toBe('started');
    });

    test('counts an order by the time it was sent, whatever its outcome', async () => {
      await acceptOne(ledger, orderEntry('a', { atMs: noonMs - 300_000 }), null);
      await ledger.start(keyOf('a'), sendingAt(noonMs), { maxPerMinute: 1 });
      await ledger.move(keyOf('a'), {
        from: 'sending',
        step: { status: 'rejected', atMs: noonMs + 90, note: '' },
      });
      await acceptOne(ledger, orderEntry('b', { atMs: noonMs + 100 }), null);
      expect(await ledger.start(keyOf('b'), sendingAt(noonMs + 100), { maxPerMinute: 1 })).toEqual({
        result: 'over_limit',
        count: 1,
      });
    });

    test('counts no order in the future of a clock that was set back', async () => {
      const limit = { maxPerMinute: 1 };
      for (const id of ['a', 'b']) await acceptOne(ledger, orderEntry(id), null);
      await ledger.start(keyOf('a'), sendingAt(noonMs + 3_600_000), limit);
      expect(await ledger.start(keyOf('b'), sendingAt(noonMs), limit)).toEqual({ result: 'started' });
    });

    test('counts neither cancellations, nor waiting signals, nor other accounts', async () => {
      await acceptOne(ledger, cancelEntry('cancel'), null);
      await ledger.start(keyOf('cancel'), sendingAt(noonMs), null);
      await acceptOne(ledger, orderEntry('waiting'), null);
      await acceptOne(ledger, orderEntry('a', { account: 'second' }), null);
      await ledger.start(keyOf('a', 'second'), sendingAt(noonMs), null);
      await acceptOne(ledger, orderEntry('a'), null);
      expect((await ledger.start(keyOf('a'), sendingAt(noonMs), { maxPerMinute: 1 })).result).toBe('started');
    });

    test('applies the limit when all signals start at the same time', async () => {
      const ids = Array.from({ length: 20 }, (_, i) => `s-${i}`);
      for (const id of ids) await acceptOne(ledger, orderEntry(id), null);
      const results = await Promise.all(
        ids.map((id) => ledger.start(keyOf(id), sendingAt(noonMs), { maxPerMinute: 7 })),
      );
      expect(results.filter(({ result }) => result === 'started')).toHaveLength(7);
      expect(results.filter(({ result }) => result === 'over_limit')).toHaveLength(13);
    });
  });

  describe(`${name}: move`, () => {
    test('appends the step and stores the order id', async () => {
      await bringTo(ledger, 'sending', 'a');
      const evidence = {
        order: { orderId: 9_007_199_254_740_991, note: 'it\'s "quoted" 🐢' },
        list: [null, 1.5],
      };
      const step = { status: 'placed', atMs: noonMs + 20, note: 'the exchange holds it', evidence } as const;
      await ledger.move(keyOf('a'), {
        from: 'sending',
        step,
        orderId: 9_007_199_254_740_991,
        orderOpen: true,
      });
      const moved = await ledger.read(keyOf('a'));
      expect(moved).toMatchObject({
        status: 'placed',
        updatedAtMs: noonMs + 20,
        orderId: 9_007_199_254_740_991,
        orderOpen: true,
      });
      expect(moved?.steps.at(-1)).toStrictEqual(step);
    });

    test('leaves the order as it was when a move does not mention it', async () => {
      await bringTo(ledger, 'sending', 'a');
      const unknown = { status: 'unknown', atMs: noonMs, note: 'lost' } as const;
      await ledger.move(keyOf('a'), { from: 'sending', step: unknown, orderId: 5, orderOpen: true });
      const placed = { status: 'placed', atMs: noonMs, note: 'found' } as const;
      await ledger.move(keyOf('a'), { from: 'unknown', step: placed });
      expect(await ledger.read(keyOf('a'))).toMatchObject({
        orderId: 5,
        orderOpen: true,
      });
    });

    test.each(['cancelled', 'rejected', 'not_placed', 'not_sent'] as const)(
      'to %s closes the order, whatever the move says about it',
      async (to) => {
        await bringTo(ledger, 'sending', 'a');
        const lost = { status: 'unknown', atMs: noonMs, note: 'lost' } as const;
        await ledger.move(keyOf('a'), { from: 'sending', step: lost, orderOpen: true });
        const end = { from: 'unknown', step: { status: to, atMs: noonMs, note: 'seen' } } as const;
        await ledger.move(keyOf('a'), end);
        expect(await ledger.read(keyOf('a'))).toMatchObject({ status: to, orderOpen: false });
        expect(await ledger.openOrders('main', 'BTC_USDT', 100)).toEqual([]);
      },
    );

    test('refuses a caller who saw another status', async () => {
      await bringTo(ledger, 'unknown', 'a');
      const step = { status: 'placed', atMs: noonMs, note: '' } as const;
      await expect(ledger.move(keyOf('a'), { from: 'sending', step })).rejects.toMatchObject({
        code: 'entry_conflict',
        message: 'signal "a" of account main cannot become placed: it is unknown, no longer sending',
      });
      expect(await ledger.read(keyOf('a'))).toMatchObject({ status: 'unknown' });
    });

    test('refuses a signal that is not in the ledger', async () => {
      const step = { status: 'placed', atMs: noonMs, note: '' } as const;
      await expect(ledger.move(keyOf('nobody'), { from: 'sending', step })).rejects.toMatchObject({
        code: 'entry_conflict',
        message: 'signal "nobody" of account main cannot become placed: it is not in the ledger',
      });
    });

    test('lets only one of two reconcilers settle an entry', async () => {
      await bringTo(ledger, 'unknown', 'a');
      const settle = (status: Status) =>
        ledger.move(keyOf('a'), { from: 'unknown', step: { status, atMs: noonMs, note: '' } });
      const results = await Promise.allSettled([settle('placed'), settle('not_placed')]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await ledger.read(keyOf('a')))?.steps).toHaveLength(4);
    });
  });

  describe(`${name}: what an execution begins with`, () => {
    const dueOf = (signalId: string) => ({ ...keyOf(signalId), market: 'BTC_USDT' });

    test('is nothing but the pause when there is no such entry', async () => {
      await acceptOne(ledger, orderEntry('a'));
      expect(await ledger.readDue(dueOf('none'), 10)).toEqual({ entry: null, earlier: [], pause: null });
      const pause = { sinceMs: noonMs, reason: 'news', kind: 'everything' } as const;
      await ledger.writePause('main', pause);
      expect(await ledger.readDue(dueOf('none'), 10)).toEqual({ entry: null, earlier: [], pause });
    });

    test('is the entry, the earlier signals of its market and the pause of its account', async () => {
      for (const id of ['z', 'y', 'x']) await acceptOne(ledger, orderEntry(id));
      await acceptOne(ledger, orderEntry('eth', { signal: { ...signal, market: 'ETH_USDT' } }));
      await acceptOne(ledger, orderEntry('z', { account: 'second' }));
      await ledger.writePause('second', { sinceMs: 1, reason: 'other account', kind: 'everything' });

      const due = await ledger.readDue(dueOf('x'), 10);

      expect(due.entry).toStrictEqual(await ledger.read(keyOf('x')));
      expect(due.earlier).toStrictEqual([await ledger.read(keyOf('z')), await ledger.read(keyOf('y'))]);
      expect(due.pause).toBeNull();
      expect(await ledger.readDue(dueOf('z'), 10)).toStrictEqual({
        entry: await ledger.read(keyOf('z')),
        earlier: [],
        pause: null,
      });
      expect((await ledger.readDue({ ...dueOf('z'), account: 'second' }, 10)).pause).toEqual({
        sinceMs: 1,
        reason: 'other account',
        kind: 'everything',
      });
    });

    test('names no more earlier signals than asked for, the oldest ones', async () => {
      for (const id of ['z', 'y', 'x', 'w']) await acceptOne(ledger, orderEntry(id));
      const { earlier } = await ledger.readDue(dueOf('w'), 2);
      expect(earlier.map(({ signalId }) => signalId)).toEqual(['z', 'y']);
    });

    test('names no earlier signals of one that is no longer accepted', async () => {
      for (const id of ['z', 'y']) await acceptOne(ledger, orderEntry(id));
      await ledger.start(keyOf('y'), sendingAt(noonMs), null);
      expect(await ledger.readDue(dueOf('y'), 10)).toMatchObject({
        entry: { status: 'sending' },
        earlier: [],
      });
    });
  });

  describe(`${name}: waiting signals`, () => {
    test('are the accepted ones of the account and market, in the order of arrival', async () => {
      await ledger.accept([cancelEntry('z'), orderEntry('y')], null);
      await acceptOne(ledger, orderEntry('x', { atMs: noonMs + 1 }), null);
      await acceptOne(ledger, orderEntry('eth', { signal: { ...signal, market: 'ETH_USDT' } }), null);
      await acceptOne(ledger, orderEntry('usd', { signal: { ...signal, market: 'BTC_USD' } }), null);
      await acceptOne(ledger, orderEntry('other', { account: 'second' }), null);
      for (const status of everyStatus.filter((known) => known !== 'accepted'))
        await bringTo(ledger, status, status);

      const waiting = await ledger.waiting('main', 'BTC_USDT', 10);

      expect(waiting.map(({ signalId }) => signalId)).toEqual(['z', 'y', 'x']);
      expect(waiting[1]).toStrictEqual(await ledger.read(keyOf('y')));
      expect(waiting.map(({ orderOpen }) => orderOpen)).toEqual([false, false, false]);
      expect(await ledger.waiting('main', 'BTC_USDT', 2)).toHaveLength(2);
      expect(await ledger.openOrders('main', 'BTC_USDT', 10)).toEqual([]);
    });
  });

  describe(`${name}: an order by its id`, () => {
    async function place(id: string, orderId: number): Promise<EntryKey> {
      await bringTo(ledger, 'sending', id);
      const step = { status: 'placed', atMs: noonMs, note: '' } as const;
      await ledger.move(keyOf(id), { from: 'sending', step, orderId, orderOpen: true });
      return keyOf(id);
    }

    test('is found in its account and market, open or not', async () => {
      const key = await place('a', 9_007_199_254_740_991);
      await place('b', 2);
      expect(await ledger.findOrder('main', 'BTC_USDT', 9_007_199_254_740_991)).toStrictEqual(
        await ledger.read(key),
      );
      await ledger.closeOrder(key);
      expect(await ledger.findOrder('main', 'BTC_USDT', 9_007_199_254_740_991)).toMatchObject({
        signalId: 'a',
      });
      expect(await ledger.findOrder('main', 'ETH_USDT', 2)).toBeNull();
      expect(await ledger.findOrder('second', 'BTC_USDT', 2)).toBeNull();
      expect(await ledger.findOrder('main', 'BTC_USDT', 3)).toBeNull();
    });
  });

  describe(`${name}: a text that is too long`, () => {
    test('is cut in an outcome, and says by how much', async () => {
      await bringTo(ledger, 'sending', 'a');
      const orders = Array.from({ length: 1000 }, (_, index) => ({ index, text: 'x'.repeat(2000) }));
      const step = {
        status: 'cancelled',
        atMs: noonMs,
        note: 'ż'.repeat(5000),
        evidence: { orders },
      } as const;

      await ledger.move(keyOf('a'), { from: 'sending', step });

      const last = (await ledger.read(keyOf('a')))?.steps.at(-1);
      expect(Buffer.byteLength(JSON.stringify(last))).toBeLessThan(24 * 1024);
      expect(last?.note).toMatch(/^ż{2048}… \(5904 more bytes\)$/);
      expect(last?.evidence).toMatchObject({
        orders: expect.arrayContaining([{ leftOut: '990 more of 1000' }]),
      });
    });

    test('is cut in an outcome, and its facts stay whole', async () => {
      await bringTo(ledger, 'sending', 'a');
      const cancelled = Array.from({ length: 300 }, (_, index) => ({ orderId: index, filled: '0.5' }));
      const evidence = { orders: cancelled.map((order) => ({ ...order, text: 'x'.repeat(2000) })) };
      const step = { status: 'cancelled', atMs: noonMs, note: '', evidence, facts: { cancelled } } as const;

      await ledger.move(keyOf('a'), { from: 'sending', step });

      const last = (await ledger.read(keyOf('a')))?.steps.at(-1);
      expect(last?.evidence).toMatchObject({
        orders: expect.arrayContaining([{ leftOut: '290 more of 300' }]),
      });
      expect(last?.facts).toEqual({ cancelled });
    });

    test('of an older release gives its facts, as far as it says them', async () => {
      await bringTo(ledger, 'sending', 'a');
      const evidence = {
        orders: [{ evidence: { order: { orderId: 7, filled: '0.5' } } }, { wasGone: true }],
      };
      const step = { status: 'cancelled', atMs: noonMs, note: '', evidence } as const;

      await ledger.move(keyOf('a'), { from: 'sending', step });

      expect((await ledger.read(keyOf('a')))?.steps.at(-1)?.facts).toEqual({
        cancelled: [{ orderId: 7, filled: '0.5' }],
        wasGone: true,
      });
    });

    test('is cut in the step before an order is sent, too', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      const evidence = { requests: Array(100_000).fill('request') };
      await ledger.start(keyOf('a'), { ...sendingAt(noonMs), evidence }, null);
      const steps = (await ledger.read(keyOf('a')))?.steps ?? [];
      expect(steps.at(-1)?.evidence).toEqual({
        requests: [...Array(1000).fill('request'), { leftOut: '99000 more of 100000' }],
      });
    });
  });

  describe(`${name}: open orders`, () => {
    async function place(id: string, atMs: number, changes: Partial<NewEntry> = {}): Promise<EntryKey> {
      const entry = orderEntry(id, { atMs, ...changes });
      await acceptOne(ledger, entry, null);
      await ledger.start(entry, sendingAt(atMs), null);
      await ledger.move(entry, {
        from: 'sending',
        step: { status: 'placed', atMs, note: '' },
        orderOpen: true,
      });
      return { account: entry.account, signalId: id };
    }

    test('are those of the account and market that were not closed, newest first', async () => {
      await place('newer', noonMs + 2);
      await place('older', noonMs + 1);
      await place('other-market', noonMs, { signal: { ...signal, market: 'ETH_USDT' } });
      await place('other-account', noonMs, { account: 'second' });
      const closed = await place('closed', noonMs);
      await bringTo(ledger, 'placed', 'filled-at-once');
      await ledger.closeOrder(closed);

      const open = await ledger.openOrders('main', 'BTC_USDT', 100);

      expect(open.map(({ signalId }) => signalId)).toEqual(['newer', 'older']);
      expect(open[1]).toStrictEqual(await ledger.read(keyOf('older')));
    });

    test.each([
      ['BTC_USD', 'usd'],
      ['BTC_USDT', 'usdt'],
    ])('of %s do not include those of a market with a similar name', async (market, signalId) => {
      await place('usd', noonMs, { signal: { ...signal, market: 'BTC_USD' } });
      await place('usdt', noonMs + 1, { signal: { ...signal, market: 'BTC_USDT' } });
      expect(await ledger.openOrders('main', market, 100)).toMatchObject([{ signalId }]);
    });

    test('are returned up to the limit, however large the entries are', async () => {
      const evidence = { text: 'x'.repeat(8000), more: ['y'.repeat(8000)] };
      for (let index = 0; index < 100; index += 1) {
        const key = await place(`long-${index}`, noonMs + index);
        await ledger.closeOrder(key);
        const entry = orderEntry(`open-${index}`, { atMs: noonMs + index });
        await acceptOne(ledger, entry, null);
        await ledger.start(entry, { ...sendingAt(noonMs), evidence }, null);
        const step = { status: 'placed', atMs: noonMs, note: '', evidence } as const;
        await ledger.move(entry, { from: 'sending', step, orderOpen: true });
      }
      const open = await ledger.openOrders('main', 'BTC_USDT', 1000);
      expect(open.map(({ signalId }) => signalId)).toEqual(
        Array.from({ length: 100 }, (_, index) => `open-${99 - index}`),
      );
      expect(await ledger.openOrders('main', 'BTC_USDT', 90)).toHaveLength(90);
    });

    test('include an order that is being sent, but no cancellation', async () => {
      await acceptOne(ledger, orderEntry('a'), null);
      await acceptOne(ledger, cancelEntry('cancel'), null);
      for (const id of ['a', 'cancel']) await ledger.start(keyOf(id), sendingAt(noonMs), null);
      expect(await ledger.openOrders('main', 'BTC_USDT', 100)).toMatchObject([
        { signalId: 'a', status: 'sending', orderOpen: true },
      ]);
      expect(await ledger.read(keyOf('cancel'))).toMatchObject({ status: 'sending', orderOpen: false });
    });

    test('include an order whose response was lost until lookups prove that it does not exist', async () => {
      await bringTo(ledger, 'sending', 'a');
      const lost = { status: 'unknown', atMs: noonMs, note: 'lost' } as const;
      await ledger.move(keyOf('a'), { from: 'sending', step: lost, orderOpen: true });
      expect(await ledger.openOrders('main', 'BTC_USDT', 100)).toMatchObject([
        { signalId: 'a', status: 'unknown' },
      ]);
      const none = { status: 'not_placed', atMs: noonMs, note: 'looked up' } as const;
      await ledger.move(keyOf('a'), { from: 'unknown', step: none, orderOpen: false });
      expect(await ledger.openOrders('main', 'BTC_USDT', 100)).toEqual([]);
    });

    test('can be closed twice, and closing changes nothing else', async () => {
      const key = await place('a', noonMs);
      const before = await ledger.read(key);
      await ledger.closeOrder(key);
      await ledger.closeOrder(key);
      await ledger.closeOrder(keyOf('nobody'));
      expect(await ledger.read(key)).toStrictEqual({ ...before, orderOpen: false });
      expect(await ledger.read(keyOf('nobody'))).toBeNull();
    });
  });

  describe(`${name}: list`, () => {
    test('is empty at first', async () => {
      expect(await ledger.list({ limit: 10 })).toEqual({ entries: [], cursors: [], next: null });
    });

    test('returns complete entries, newest first', async () => {
      for (const [id, atMs] of [
        ['b', noonMs + 2],
        ['c', noonMs + 3],
        ['a', noonMs + 1],
      ] as const)
        await acceptOne(ledger, orderEntry(id, { atMs }), null);
      const { entries } = await ledger.list({ limit: 10 });
      expect(entries.map(({ signalId }) => signalId)).toEqual(['c', 'b', 'a']);
      expect(entries[1]).toStrictEqual(await ledger.read(keyOf('b')));
    });

    test.each([1, 3, 23, 24, 100])(
      'returns each entry once in pages of %i while more arrive',
      async (limit) => {
        const ids = Array.from({ length: 23 }, (_, i) => `s-${i}`);
        // Some of them arrived in the same millisecond.
        for (const [i, id] of ids.entries())
          await acceptOne(ledger, orderEntry(id, { atMs: noonMs + Math.floor(i / 5) }), null);
        let late = 0;
        const arrive = async () => {
          late += 1;
          await acceptOne(ledger, orderEntry(`late-${late}`, { atMs: noonMs + 1000 + late }), null);
        };

        const all = await readAll(ledger, limit, arrive);

        expect(all.map(({ signalId }) => signalId).sort()).toEqual([...ids].sort());
        expect(all.map(({ createdAtMs }) => createdAtMs)).toEqual(
          all.map(({ createdAtMs }) => createdAtMs).sort((a, b) => b - a),
        );
      },
    );

    test('returns the pages of one account, whatever the others have', async () => {
      for (const [index, account] of ['main', 'second', 'main', 'second', 'main'].entries())
        await acceptOne(ledger, orderEntry(`s-${index}`, { account, atMs: noonMs + index }), null);
      await ledger.refuse({
        ...keyOf('s-5'),
        fingerprint: 'f',
        step: { status: 'invalid', atMs: noonMs + 9, note: 'no' },
      });
      const first = await ledger.list({ account: 'main', limit: 3 });
      const rest = await ledger.list({ account: 'main', limit: 3, cursor: first.next ?? '' });
      expect(first.entries.map(({ signalId }) => signalId)).toEqual(['s-5', 's-4', 's-2']);
      expect(rest).toMatchObject({ entries: [{ signalId: 's-0' }], next: null });
    });

    test('returns one status of one account', async () => {
      await acceptOne(ledger, orderEntry('a', { account: 'second' }), null);
      await acceptOne(ledger, orderEntry('b'), null);
      await bringTo(ledger, 'denied', 'c');
      const { entries } = await ledger.list({ account: 'main', status: 'accepted', limit: 10 });
      expect(entries.map(({ account, signalId }) => `${account} ${signalId}`)).toEqual(['main b']);
    });

    test('returns the pages of one status, with the current entries', async () => {
      for (const id of ['u-1', 'u-2', 'u-3']) await bringTo(ledger, 'unknown', id);
      for (const id of ['p-1', 'p-2']) await bringTo(ledger, 'placed', id);
      await ledger.move(keyOf('u-2'), {
        from: 'unknown',
        step: { status: 'placed', atMs: noonMs, note: '' },
      });

      const first = await ledger.list({ status: 'unknown', limit: 1 });
      const second = await ledger.list({ status: 'unknown', limit: 5, cursor: first.next ?? '' });

      expect([...first.entries, ...second.entries].map(({ signalId }) => signalId).sort()).toEqual([
        'u-1',
        'u-3',
      ]);
      expect(second.next).toBeNull();
      expect((await ledger.list({ status: 'rejected', limit: 5 })).entries).toEqual([]);
    });

    test.each(['x', '', 'WzEsMg', 'bm9uZQ=='])('refuses "%s" as a cursor', async (cursor) => {
      await expect(ledger.list({ limit: 5, cursor })).rejects.toThrow('is not a cursor of this ledger');
    });
  });

  describe(`${name}: pause`, () => {
    test('is off at first, and can be set, changed and lifted for each account', async () => {
      expect(await ledger.readPause('main')).toBeNull();
      await ledger.writePause('main', { sinceMs: noonMs, reason: 'news', kind: 'everything' });
      await ledger.writePause('main', { sinceMs: noonMs + 1, reason: 'more news', kind: 'entries' });
      expect(await ledger.readPause('main')).toStrictEqual({
        sinceMs: noonMs + 1,
        reason: 'more news',
        kind: 'entries',
      });
      expect(await ledger.readPause('second')).toBeNull();
      await ledger.writePause('main', null);
      await ledger.writePause('main', null);
      expect(await ledger.readPause('main')).toBeNull();
    });
  });

  describe(`${name}: a pause of the relay itself`, () => {
    const own = { sinceMs: noonMs, reason: 'a loss', kind: 'daily_loss' } as const;

    test('begins while the account runs, and again after it was lifted', async () => {
      expect(await ledger.pauseRunning('main', own)).toBe(true);
      expect(await ledger.readPause('main')).toStrictEqual(own);
      expect(await ledger.pauseRunning('main', own)).toBe(true);
      await ledger.writePause('main', null);
      expect(await ledger.pauseRunning('main', { ...own, sinceMs: noonMs + 5 })).toBe(true);
      expect(await ledger.readPause('main')).toMatchObject({ sinceMs: noonMs + 5 });
      expect(await ledger.readPause('second')).toBeNull();
    });

    test('never replaces a pause that exists', async () => {
      await ledger.writePause('main', { sinceMs: noonMs - 1, reason: 'news', kind: 'everything' });

      expect(await ledger.pauseRunning('main', own)).toBe(false);
      expect(await ledger.readPause('main')).toStrictEqual({
        sinceMs: noonMs - 1,
        reason: 'news',
        kind: 'everything',
      });
    });
  });

  describe(`${name}: restart`, () => {
    test('loses nothing', async () => {
      await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 1 });
      await bringTo(ledger, 'invalid', 'b');
      await ledger.writePause('main', { sinceMs: noonMs, reason: 'news', kind: 'everything' });
      const before = await readAll(ledger, 10);

      const again = await fixture.reopen();

      expect(before).toHaveLength(2);
      expect(await readAll(again, 10)).toStrictEqual(before);
      expect(await again.readPause('main')).toMatchObject({ sinceMs: noonMs, reason: 'news' });
      expect((await acceptOne(again, orderEntry('a'), null)).result).toBe('exists');
      expect((await acceptOne(again, orderEntry('c'), { maxPerMinute: 1 })).result).toBe('over_limit');
    });
  });
}
