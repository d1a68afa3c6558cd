import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { WireOutcome } from '../../lib/base/wire.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { futures } from '../../lib/exchange/endpoints/futures.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import type { ExchangeError } from '../../lib/exchange/errors.ts';
import { connect, failureOf } from './scripted-exchange.ts';

const answer = (body: unknown, status = 200): WireOutcome => ({
  kind: 'answered',
  status,
  body: JSON.stringify(body),
});
const readBook = (body: unknown) =>
  failureOf(connect([answer(body)]).client.call(orderBook, { market: 'BTC_USDT' }, { timeoutMs: 1 }));
const issueOf = ({ attempts }: ExchangeError) => attempts[0].failure;

describe('the order book', () => {
  const book = { ticker_id: 'BTC_USDT', timestamp: 1, asks: [['2', '1']], bids: [['1', '1']] };

  test.each([
    ['a price of zero', { ...book, asks: [['0', '1']] }],
    ['a negative price', { ...book, bids: [['-1', '1']] }],
    ['an amount of zero', { ...book, bids: [['1', '0']] }],
    ['no amount', { ...book, asks: [['2']] }],
    ['a third element', { ...book, asks: [['2', '1', '3']] }],
    ['a price as a number', { ...book, asks: [[2, '1']] }],
    ['a price that is no number', { ...book, asks: [['NaN', '1']] }],
    ['an object for a level', { ...book, asks: [{ price: '2', amount: '1' }] }],
    [
      'one odd level among good ones',
      {
        ...book,
        asks: [
          ['2', '1'],
          ['x', '1'],
          ['3', '1'],
        ],
      },
    ],
    ['no bids at all', { ...book, bids: undefined }],
    ['no time', { ...book, timestamp: undefined }],
  ])('with %s is an error', async (_, body) => {
    expect(issueOf(await readBook(body)).kind).toBe('ambiguous');
  });

  test('may be empty on one side', async () => {
    const { client } = connect([answer({ ...book, asks: [] })]);

    const { asks, bids } = await client.call(orderBook, { market: 'BTC_USDT' });

    expect([asks.length, bids.length]).toEqual([0, 1]);
  });

  test('of a market that does not exist is refused, in the form of the public endpoints', async () => {
    const { client } = connect([answer({ market: ['Market is not available.'] }, 422)]);

    const refused = await failureOf(client.call(orderBook, { market: 'NO_SUCH' }));

    expect(refused.failure).toEqual({
      kind: 'rejected',
      httpStatus: 422,
      exchangeCode: null,
      message: 'Validation failed',
      errors: { market: ['Market is not available.'] },
    });
  });
});

describe('a parameter in the path', () => {
  test('is sent there alone, encoded', async () => {
    const { client } = connect([]);

    const prepared = client.prepare(orderBook, { market: 'A/B ?&#_USDT', limit: 1 });

    expect(prepared).toMatchObject({
      path: '/api/v4/public/orderbook/A%2FB%20%3F%26%23_USDT',
      fields: { limit: 1 },
    });
  });

  test.each(['', '.', '..'])(
    'that would change the path is refused before anything is sent: "%s"',
    (market) => {
      const { client } = connect([]);

      expect(() => client.prepare(orderBook, { market })).toThrow(
        'the path /api/v4/public/orderbook/{market} needs a text for market',
      );
    },
  );
});

test('a position that says nothing of its side is one-way', async () => {
  const { client } = connect([answer([{ positionId: 7, market: 'BTC_USDT', amount: '-1', basePrice: '' }])]);

  expect((await client.call(openPositions, {})).records).toEqual([
    {
      positionId: 7,
      market: 'BTC_USDT',
      amount: parseDecimal('-1'),
      basePrice: null,
      positionSide: 'BOTH',
      realisedProfit: null,
      floatingProfit: null,
      margin: null,
      liquidationPrice: null,
      liquidationState: null,
      openedAtMs: null,
      modifiedAtMs: null,
      tpsl: null,
    },
  ]);
});

test('a position is read although what is only told about it cannot be, and its danger is not taken for safety', async () => {
  const told = { pnl: 7, margin: 'much', liquidationPrice: [], liquidationState: 3, openDate: 'today' };
  const { client } = connect([answer([{ positionId: 7, market: 'BTC_USDT', amount: '1', ...told }])]);

  expect((await client.call(openPositions, {})).records).toMatchObject([
    { positionId: 7, realisedProfit: null, margin: null, liquidationState: 'unreadable', openedAtMs: null },
  ]);
});

test('a summary without a leverage is an error', async () => {
  const summary = { equity: '1', margin: '0', freeMargin: '1', pnl: '0' };
  const { client } = connect([answer(summary)]);

  const error = await failureOf(client.call(collateralSummary, {}, { timeoutMs: 1 }));

  expect(error.attempts[0].failure).toMatchObject({ reason: expect.stringContaining('leverage') });
});

test('a list of perpetual markets that reports a failure is an error', async () => {
  const { client } = connect([answer({ success: false, message: 'busy', result: [] })]);

  const error = await failureOf(client.call(futures, {}, { timeoutMs: 1 }));

  expect(error.attempts[0].failure.kind).toBe('ambiguous');
});
