import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../lib/base/json.ts';
import { carryFacts } from '../../lib/ledger/carried-facts.ts';
import type { StepFacts } from '../../lib/model/step-facts.ts';

const order = {
  orderId: 7,
  clientOrderId: 'tr-1',
  side: 'buy',
  status: 'filled',
  amount: '0.5',
  filled: '0.50',
  createdAtMs: 12,
  activationCondition: 'gte',
  oto: { otoId: 3, stopLoss: '49000' },
};
const report = {
  orderId: 7,
  side: 'buy',
  status: 'filled',
  amount: '0.5',
  filled: '0.5',
  createdAtMs: 12,
  endedAtMs: null,
  activationCondition: 'gte',
  exits: { stopLoss: '49000' },
} as const;
const cancelled = [{ orderId: 7, filled: '0.5' }];

/** As releases before the facts wrote them. */
describe('the evidence of an older release gives the facts', () => {
  test.each<[string, Json, StepFacts | undefined]>([
    ['of a denial: none', { rule: 'max_position', limit: '1', actual: '2' }, undefined],
    [
      'of an order that was sent',
      {
        sizedOn: { last: '50000' },
        amount: '0.5',
        price: '50000',
        exits: { stopLoss: '49000', takeProfit: '52000' },
        counted: { side: 'buy', amount: '0.5', notional: null, onlyReduces: true },
      },
      {
        amount: '0.5',
        exits: { stopLoss: '49000', takeProfit: '52000' },
        counted: { side: 'buy', amount: '0.5', notional: null, onlyReduces: true },
      },
    ],
    [
      'of a position signal that was sent',
      {
        position: { amount: '-1', side: 'SHORT' },
        positionOrder: {
          side: 'buy',
          size: { unit: 'base', quantity: '1' },
          reduceOnly: true,
          positionSide: 'SHORT',
        },
      },
      {
        position: { amount: '-1', side: 'SHORT' },
        positionOrder: {
          side: 'buy',
          size: { unit: 'base', quantity: '1' },
          reduceOnly: true,
          positionSide: 'SHORT',
        },
      },
    ],
    [
      'of a rehearsal',
      { requests: [], prepared: { position: { amount: '2' } } },
      { position: { amount: '2' } },
    ],
    ['of an order that was placed', { order }, { report, cancelled }],
    [
      'of an order whose rest was cancelled',
      { placed: { order }, ended: { ...order, status: 'cancelled', endedAtMs: 13 } },
      {
        report,
        ended: { ...report, status: 'cancelled', endedAtMs: 13 },
        cancelled: [...cancelled, ...cancelled],
      },
    ],
    [
      'of an order whose rest was gone',
      { placed: { order }, ended: null },
      { report, ended: null, cancelled },
    ],
    [
      'of an order that its fills proved',
      { orderId: 7, filled: '0.5', filledNotional: '1' },
      { proved: { orderId: 7, filled: '0.5' }, cancelled },
    ],
    ['of a refusal', { failure: { kind: 'rejected', exchangeCode: 116 } }, { refusedCode: 116 }],
    ['of a cancellation that was sent', { placedBy: 'a' }, { placedBy: ['a'] }],
    ['of a cancellation of many', { placedBy: ['a', 'b'] }, { placedBy: ['a', 'b'] }],
    [
      'of what a cancellation found',
      { orders: [{ status: 'cancelled', evidence: { order } }, { wasGone: true }], leftOut: 0 },
      { cancelled, wasGone: true },
    ],
    ['of a lookup that found the order filled', { target: { state: 'executed' } }, { wasGone: true }],
    ['of a refused alert', { code: 'stale', ticker: 'SOLUSDT', issues: [] }, { ticker: 'SOLUSDT' }],
    ['of a close that ended exits', { exitsEndedFor: ['a'] }, { exitsEndedFor: ['a'] }],
    [
      'of a first release, which stored no status',
      { order: { orderId: 7, side: 'sell', amount: '1', filled: '0' } },
      {
        report: {
          orderId: 7,
          side: 'sell',
          status: 'open',
          amount: '1',
          filled: '0',
          createdAtMs: null,
          endedAtMs: null,
        },
        cancelled: [{ orderId: 7, filled: '0' }],
      },
    ],
  ])('%s', (_, evidence, facts) => {
    expect(carryFacts({ status: 'placed', atMs: 1, note: '', evidence })).toEqual(facts);
  });
});
