import { expect, test } from '@jest/globals';
import { mayLag } from '../../lib/account/day-profit.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';

const nowMs = 1_790_000_000_000;

const position: OpenPosition = {
  positionId: 1,
  market: 'BTC_USDT',
  amount: parseDecimal('0.1'),
  basePrice: null,
  positionSide: 'LONG',
  realisedProfit: null,
  floatingProfit: null,
  margin: null,
  liquidationPrice: null,
  liquidationState: null,
  openedAtMs: null,
  modifiedAtMs: nowMs - 2000,
  tpsl: null,
};

const fill: Fill = {
  account: 'main',
  market: 'BTC_USDT',
  dealId: 1,
  atMs: nowMs - 1000,
  signalId: '',
  orderId: 1,
  role: 'other',
  side: 'sell',
  positionSide: 'LONG',
  liquidity: 'taker',
  amount: '0.1',
  price: '50000',
  notional: '5000',
  fee: '0',
  feeAsset: 'USDT',
};

const hourMs = 3_600_000;

/** What the list of positions said of the position, and the deal beside it. */
test.each<[string, Partial<OpenPosition>, Partial<Fill>, boolean]>([
  ['one that is younger than its last change', {}, {}, true],
  ['one of the same moment as its last change', {}, { atMs: nowMs - 2000 }, false],
  ['one of an hour ago', { modifiedAtMs: nowMs - 2 * hourMs }, { atMs: nowMs - hourMs }, false],
  ['one of another market', {}, { market: 'ETH_USDT' }, false],
  ['one of the other side', {}, { positionSide: 'SHORT' }, false],
  ['one of either side, beside a position of no side', { positionSide: 'BOTH' }, {}, true],
  ['one of the spot account', {}, { onSpot: true }, false],
  ['one beside a position whose last change nobody tells', { modifiedAtMs: null }, {}, false],
])('A position may not show a deal yet: %s', (_, shown, dealt, expected) => {
  expect(mayLag({ ...position, ...shown }, { ...fill, ...dealt }, nowMs)).toBe(expected);
});
