import { describe, expect, test } from '@jest/globals';
import type { TradingGround } from '../../lib/model/account.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { readProjectFile } from '../support/project-files.ts';
import { account, readAlert } from './reading.ts';

/** What TradingView fills in. */
const filledIn: Readonly<Record<string, string>> = {
  timenow: '2026-01-31T12:00:00Z',
  ticker: 'BTCUSDT',
  plot_0: '61000',
  'strategy.order.action': 'buy',
  'strategy.order.contracts': '0.001',
  'strategy.order.id': 'Entry',
  'strategy.market_position': 'long',
  'strategy.market_position_size': '0.001',
};

/** The messages of the page under their headings. */
const recipes = Array.from(
  readProjectFile('docs/alerts.md').matchAll(/^## ([^\n]+)\n(?:(?!^## )[\s\S])*?```json\n([\s\S]*?)```/gm),
  ([, heading = '', message = '']) => ({ heading, message }),
);

function signalsOf(message: string, tradesOn: TradingGround): readonly Signal[] {
  const text = message.replaceAll(/\{\{(.+?)\}\}/g, (placeholder, name) => filledIn[name] ?? placeholder);
  const limits = { sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } as const;
  const markets = { BTC_USDT: { ...limits, tradesOn } };
  const tickers = { BTCUSDT: 'BTC_USDT' };
  return readAlert(text, { tickers, account: { ...account, markets } }).items.map(({ signal }) => signal);
}

const bought = { unit: 'base', quantity: '0.001' };

/** What each message means: of the fields that matter, their values. */
const meanings: Readonly<
  Record<string, { readonly tradesOn: TradingGround; readonly signals: readonly object[] }>
> = {
  'An alert that only buys': {
    tradesOn: 'spot',
    signals: [{ action: 'order', orderType: 'market', side: 'buy', size: bought }],
  },
  'Enter with a stop': {
    tradesOn: 'margin',
    signals: [
      { action: 'order', orderType: 'market', side: 'buy', size: bought, stopLoss: '2%', takeProfit: '4%' },
    ],
  },
  'My strategy has a position': {
    tradesOn: 'margin',
    signals: [{ action: 'target', target: { unit: 'base', quantity: '0.001' } }],
  },
  'My strategy sends orders': {
    tradesOn: 'spot',
    signals: [{ action: 'order', orderType: 'market', side: 'buy', size: bought, comment: 'Entry' }],
  },
  'Leave a position': { tradesOn: 'futures', signals: [{ action: 'close' }] },
  'Buy a breakout': {
    tradesOn: 'margin',
    signals: [
      {
        action: 'order',
        orderType: 'stop_limit',
        side: 'buy',
        size: bought,
        stopPrice: '61000',
        expectTrigger: 'above',
      },
    ],
  },
  'Wait at a better price': {
    tradesOn: 'margin',
    signals: [{ action: 'order', orderType: 'limit', side: 'buy', size: bought, limitPrice: '58000' }],
  },
  'A share of what I have': {
    tradesOn: 'margin',
    signals: [
      {
        action: 'order',
        orderType: 'market',
        side: 'buy',
        size: { unit: 'percent', quantityPercent: '5%', of: 'balance' },
      },
    ],
  },
  'Spot: all in, all out': {
    tradesOn: 'spot',
    signals: [
      {
        action: 'order',
        orderType: 'market',
        side: 'buy',
        size: { unit: 'percent', quantityPercent: '100%', of: 'balance' },
      },
    ],
  },
  'Cancel what waits': {
    tradesOn: 'margin',
    signals: [
      { action: 'cancel_all' },
      { action: 'order', orderType: 'limit', side: 'buy', size: bought, limitPrice: '58000' },
    ],
  },
  'From TradersPost, 3Commas and others': {
    tradesOn: 'margin',
    signals: [
      { action: 'order', orderType: 'market', side: 'buy', size: bought, stopLoss: '2%', takeProfit: '4%' },
    ],
  },
};

describe('the recipes of docs/alerts.md', () => {
  test('are all covered here', () => {
    expect(recipes.map(({ heading }) => heading)).toEqual(Object.keys(meanings));
  });

  test.each(recipes)('mean what they say: $heading', ({ heading, message }) => {
    const { tradesOn = 'spot', signals = [] } = meanings[heading] ?? {};

    expect(signalsOf(message, tradesOn)).toMatchObject(signals);
  });
});
