import { expect, test } from '@jest/globals';
import type { Fill } from '../../lib/model/execution.ts';
import { createDealBooks } from '../../lib/reports/book-deals.ts';
import type { SignalFacts } from '../../lib/reports/signal-facts.ts';

type Deal = readonly [strategy: string | null, side: 'buy' | 'sell', amount: string, price: string];

/** What the sales of a spot market closed, what nothing had opened of them, and their profit after a fee of 1. */
function bookSales(deals: readonly Deal[]): unknown {
  const { book } = createDealBooks(() => true);
  return deals.flatMap(([strategy, side, amount, price], index) => {
    const fill: Fill = {
      account: 'main',
      market: 'BTC_USDT',
      dealId: index,
      atMs: index,
      signalId: strategy === null ? '' : `s-${index}`,
      orderId: index,
      role: strategy === null ? 'other' : 'order',
      side,
      liquidity: 'taker',
      amount,
      price,
      notional: String(Number(amount) * Number(price)),
      fee: side === 'sell' ? '1' : '0',
      feeAsset: 'USDT',
    };
    const facts = strategy === null ? null : { strategy: strategy === '' ? null : strategy };
    const { closed, unmatched, net } = book(fill, facts as SignalFacts | null);
    return side === 'buy' ? [] : [[closed, unmatched, net].map((value) => value.toFixed())];
  });
}

test.each<[string, readonly Deal[], readonly (readonly [string, string, string])[]]>([
  [
    'its own buys, and never those of another strategy',
    [
      ['a', 'buy', '1', '100'],
      ['b', 'sell', '1', '120'],
      ['a', 'sell', '1', '130'],
    ],
    [
      ['0', '1', '-1'],
      ['1', '0', '29'],
    ],
  ],
  [
    'its own buys first, then those of no strategy',
    [
      ['', 'buy', '1', '90'],
      ['a', 'buy', '1', '100'],
      ['a', 'sell', '1.5', '110'],
    ],
    [['1.5', '0', '19']],
  ],
  [
    'without a name those of no strategy first, then any, as by hand',
    [
      ['a', 'buy', '1', '100'],
      ['', 'buy', '1', '90'],
      ['', 'sell', '1', '110'],
      [null, 'sell', '2', '110'],
    ],
    [
      ['1', '0', '19'],
      ['1', '1', '9'],
    ],
  ],
])('a sale on spot closes %s', (_, deals, sales) => {
  expect(bookSales(deals)).toEqual(sales);
});
