import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Entry } from '../../lib/ledger/entry.ts';
import { lookUp } from '../../lib/relay/settle/look-up.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

const options = { timeoutMs: 2_000 };

describe('looking up the outcome of an entry', () => {
  let relay: Aftermath;
  let entry: Entry;
  beforeEach(async () => {
    relay = await openAftermath();
    entry = await relay.send(buyAlert());
  });
  afterEach(() => relay.close());

  const lookUpNow = (changes: Partial<Entry>) => lookUp(relay.services, { ...entry, ...changes }, options);

  test('finds an open order, which stays open in the ledger', async () => {
    expect(await lookUpNow({})).toEqual({
      kind: 'found',
      outcome: {
        status: 'placed',
        note: 'found at the exchange as order 10000000001, open (0 of 0.01 filled)',
        evidence: { order: expect.objectContaining({ orderId: 10_000_000_001 }), others: 0 },
        facts: {
          report: {
            orderId: 10_000_000_001,
            side: 'buy',
            status: 'open',
            amount: '0.01',
            filled: '0',
            filledNotional: '0',
            fee: '0',
            feeAsset: 'USDT',
            createdAtMs: 1_790_000_000_000,
            endedAtMs: null,
            activationCondition: 'gte',
            exits: { stopLoss: '49000', takeProfit: '52000' },
          },
        },
        orderId: 10_000_000_001,
        orderOpen: true,
      },
    });
  });

  test('does not find an order under another client order id', async () => {
    expect(await lookUpNow({ clientOrderId: 'tr-of-nobody', orderId: null })).toMatchObject({
      kind: 'not_found',
      outcome: { status: 'not_placed', orderOpen: false },
    });
  });

  test.each([
    ['a refused alert', { signal: null, clientOrderId: null }],
    ['an order without a client order id', { clientOrderId: null }],
  ])('is inconclusive for %s', async (_, changes) => {
    expect(await lookUpNow(changes)).toEqual({
      kind: 'inconclusive',
      finding: 'the ledger entry names no order',
    });
  });

  test('is inconclusive for the cancellation of a signal that placed no order', async () => {
    const undo = await relay.send(
      JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', action: 'cancel', signalId: 'buy-1' }),
    );
    const { signal } = undo;
    if (signal?.action !== 'cancel') throw new Error('it is no cancellation');
    const ofItself = { ...signal, target: { by: 'signalId', signalId: 'undo' } } as const;

    expect(await lookUpNow({ signal: ofItself, clientOrderId: null })).toMatchObject({
      kind: 'inconclusive',
    });
  });

  test('requests only the lists', async () => {
    const before = relay.asked.length;
    await lookUpNow({});

    expect(relay.asked.slice(before)).toEqual(['/api/v4/orders', '/api/v4/trade-account/order/history']);
  });
});
