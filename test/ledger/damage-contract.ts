import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { acceptOne } from '../support/accept-one.ts';
import { orderEntry } from './ledger-contract.ts';

const noonMs = 1_767_268_800_000;

/** The parts of an entry that a store keeps as text. */
const texts = ['signal', 'steps', 'look'] as const;
type Text = (typeof texts)[number];

export interface DamageFixture {
  readonly ledger: Ledger;
  /** Writes a text that is not JSON, or not a status, directly into the store. */
  damage(key: EntryKey, part: Text | 'status'): Promise<void>;
  close(): Promise<void>;
}

function keyOf(signalId: string): EntryKey {
  return { account: 'main', signalId };
}

const ids = ['a', 'b', 'c'] as const;
const damagedNote = 'damaged in the store, cannot be read: compare with the exchange by hand';

/** The contract of every ledger for damaged entries. */
export function describeDamage(name: string, openFixture: () => Promise<DamageFixture>): void {
  let fixture: DamageFixture;
  let ledger: Ledger;

  beforeEach(async () => {
    fixture = await openFixture();
    ledger = fixture.ledger;
  });
  afterEach(() => fixture.close());

  /** Stores three entries of the status; the middle one is damaged. */
  async function store(status: Status, part: Text | 'status'): Promise<void> {
    const steps: readonly Status[] = status === 'accepted' ? [] : ['sending', status];
    for (const [index, id] of ids.entries()) {
      await acceptOne(ledger, orderEntry(id, { atMs: noonMs + index }), null);
      let from: Status = 'accepted';
      for (const to of steps) {
        const order = to === 'sending' ? {} : { orderId: 100 + index, orderOpen: true };
        await ledger.move(keyOf(id), {
          from,
          step: { status: to, atMs: noonMs + index, note: to },
          ...order,
        });
        from = to;
      }
    }
    await fixture.damage(keyOf('b'), part);
  }

  /** Describes each entry: id, status, and whether it is damaged. */
  const inShort = (entries: readonly Entry[]) =>
    entries.map(
      ({ signalId, status, signal, steps }) =>
        `${signalId} ${status} ${signal === null && steps[0]?.note === damagedNote ? 'damaged' : 'whole'}`,
    );

  describe.each([...texts, 'status'] as const)(`${name}: an entry whose %s is damaged`, (part) => {
    test('is listed with the others, with its status', async () => {
      await store('unknown', part);

      const { entries } = await ledger.list({ limit: 10 });

      expect(inShort(entries)).toEqual(['c unknown whole', 'b unknown damaged', 'a unknown whole']);
      expect(entries[1]).toStrictEqual({
        account: 'main',
        signalId: 'b',
        status: 'unknown',
        signal: null,
        clientOrderId: 'r-b',
        fingerprint: 'f1',
        createdAtMs: noonMs + 1,
        updatedAtMs: noonMs + 1,
        steps: [{ status: 'unknown', atMs: noonMs + 1, note: damagedNote }],
        orderId: 101,
        orderOpen: true,
        lookup: null,
        execution: null,
      });
    });

    test('is among the open orders of its market, with the ids needed to cancel it', async () => {
      await store('unknown', part);

      const open = await ledger.openOrders('main', 'BTC_USDT', 10);

      expect(inShort(open)).toEqual(['c unknown whole', 'b unknown damaged', 'a unknown whole']);
      expect(open[1]).toMatchObject({ clientOrderId: 'r-b', orderId: 101, orderOpen: true });
    });

    test('is found by its order id, and can be closed', async () => {
      await store('placed', part);

      expect(await ledger.findOrder('main', 'BTC_USDT', 101)).toMatchObject({ signalId: 'b', signal: null });
      expect(await ledger.findOrder('main', 'ETH_USDT', 101)).toBeNull();
      await ledger.closeOrder(keyOf('b'));
      expect((await ledger.openOrders('main', 'BTC_USDT', 10)).map(({ signalId }) => signalId)).toEqual([
        'c',
        'a',
      ]);
    });

    test('throws entry_damaged when it is read alone', async () => {
      await store('unknown', part);
      await expect(ledger.read(keyOf('b'))).rejects.toMatchObject({
        code: 'entry_damaged',
        message: 'the entry of signal "b" of account main cannot be read',
      });
      expect(await ledger.read(keyOf('a'))).toMatchObject({ status: 'unknown', steps: { length: 3 } });
    });
  });

  describe.each(texts)(`${name}: an entry whose %s alone is damaged`, (part) => {
    test('is listed among the waiting signals in its order', async () => {
      await store('accepted', part);
      expect(inShort(await ledger.waiting('main', 'BTC_USDT', 10))).toEqual([
        'a accepted whole',
        'b accepted damaged',
        'c accepted whole',
      ]);
    });

    test('is due for a lookup with the others', async () => {
      await store('unknown', part);
      expect(inShort(await ledger.dueLookups(noonMs + 10, 10))).toEqual([
        'a unknown whole',
        'b unknown damaged',
        'c unknown whole',
      ]);
    });

    test('can be moved, and stays damaged', async () => {
      await store('accepted', part);
      const step = { status: 'denied', atMs: noonMs + 9, note: 'no' } as const;

      await ledger.move(keyOf('b'), { from: 'accepted', step });

      const { entries } = await ledger.list({ status: 'denied', limit: 10 });
      expect(entries).toMatchObject([{ signalId: 'b', updatedAtMs: noonMs + 9, signal: null }]);
      expect(await ledger.waiting('main', 'BTC_USDT', 10)).toHaveLength(2);
      await expect(ledger.read(keyOf('b'))).rejects.toMatchObject({ code: 'entry_damaged' });
      await expect(ledger.move(keyOf('b'), { from: 'accepted', step })).rejects.toMatchObject({
        code: 'entry_conflict',
        message: 'signal "b" of account main cannot become denied: it is denied, no longer accepted',
      });
    });
  });

  test(`${name}: a refused alert with damaged steps is listed among those of its id`, async () => {
    for (const [index, id] of ['a@refused-1', 'a@refused-2'].entries())
      await ledger.refuse({
        ...keyOf(id),
        fingerprint: 'f',
        step: { status: 'invalid', atMs: noonMs + index, note: 'no' },
      });
    await fixture.damage(keyOf('a@refused-1'), 'steps');

    const refusals = await readRefusals(ledger, 'main', 'a');

    expect(refusals.map(({ signalId, steps }) => `${signalId}: ${steps[0]?.note}`)).toEqual([
      'a@refused-2: no',
      `a@refused-1: ${damagedNote}`,
    ]);
  });
}
