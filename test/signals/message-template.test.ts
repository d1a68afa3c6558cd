import { describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import type { Account } from '../../lib/model/account.ts';
import { createTemplate, type TemplateName, templatesOf } from '../../lib/signals/message-template.ts';
import { account, accountOn, readAlert, readSignal, refusalOf } from './reading.ts';

/** What TradingView fills in when a strategy sells at 59900.5; its first plot is an RSI. */
const filled: Readonly<Record<string, string>> = {
  ticker: 'ETHUSDT',
  'strategy.order.action': 'sell',
  'strategy.order.contracts': '0.25',
  'strategy.order.price': '59900.5',
  'strategy.order.id': 'Short',
  'strategy.market_position': 'short',
  'strategy.market_position_size': '0.5',
  close: '59890',
  plot_0: '54.2',
  timenow: '2026-01-31T12:00:00Z',
};

function fillIn(message: string): string {
  return message.replaceAll(/\{\{(.+?)\}\}/g, (placeholder, name) => filled[name] ?? placeholder);
}

function messageOf(name: TemplateName, of: Account = account, dialect: 'live' | 'documented' = 'live') {
  return JSON.parse(createTemplate(name, of, dialect).message);
}

const withoutOffset: Account = { ...account, limitOffsetRate: null };

describe('the message for a strategy', () => {
  test('fits any script, whatever it plots', () => {
    const { message, edits } = createTemplate('strategy', account, 'live');

    expect(edits).toEqual([]);
    expect(message).not.toContain('plot');
    expect(readSignal(fillIn(message))).toMatchObject({
      orderType: 'market',
      side: 'sell',
      size: { unit: 'base', quantity: '0.25' },
      comment: 'Short',
    });
  });

  test.each(['margin', 'futures'] as const)('follows its position on %s', (ground) => {
    const of = accountOn('ETH_USDT', ground);
    const { message, purpose, edits } = createTemplate('strategy', of, 'live');

    expect([edits, purpose]).toEqual([
      [],
      expect.stringContaining('brings the position to that of the strategy'),
    ]);
    const [item] = readAlert(fillIn(message), { account: of }).items;
    expect(item).toMatchObject({
      reduceLeg: { action: 'target', leg: 'reduce' },
      signal: { action: 'target', leg: 'open', target: { unit: 'base', quantity: '-0.5' }, comment: 'Short' },
    });
    expect(readSignal(fillIn(createTemplate('orders', of, 'live').message), { account: of })).toMatchObject({
      action: 'order',
      side: 'sell',
    });
  });

  test('says which markets have no position to follow', () => {
    const { markets } = accountOn('ETH_USDT', 'margin');
    const mixed = { ...account, markets: { ...markets, ...accountOn('DBTC_DUSDT', 'spot').markets } };

    expect(createTemplate('strategy', mixed, 'live').purpose).toContain(
      'DBTC_DUSDT on spot has no positions: use --for orders there.',
    );
  });

  test('has a bound of its own only if the account has none', () => {
    const without = { ...account, maxSlippageRate: null };

    expect(messageOf('strategy')).not.toHaveProperty('maxSlippage');
    expect(messageOf('strategy', without).maxSlippage).toBe('0.5%');
    expect(messageOf('strategy', { ...without, allowUnguardedMarket: true })).not.toHaveProperty(
      'maxSlippage',
    );
  });

  test('may be a limit order at the price of the strategy instead', () => {
    expect(readSignal(fillIn(createTemplate('limit', account, 'live').message))).toMatchObject({
      orderType: 'limit',
      side: 'sell',
      limitPrice: '59900.5',
    });
  });

  test('is not offered in the documented dialect, which has no market orders', () => {
    expect(templatesOf('live', account)).toEqual(['strategy', 'orders', 'limit', 'breakout', 'indicator']);
    expect(templatesOf('documented', account)).toEqual(['breakout', 'indicator']);
  });

  test('is the only one besides that for an indicator in the EU, which has market orders alone', () => {
    expect(templatesOf('live', { region: 'eu' })).toEqual(['strategy', 'indicator']);
  });

  test('says whether the order has a bound', () => {
    const unguarded = { ...account, maxSlippageRate: null, allowUnguardedMarket: true };

    expect(createTemplate('strategy', account, 'live').purpose).toContain('at most maxSlippage beyond');
    expect(createTemplate('strategy', unguarded, 'live').purpose).toContain('at any price');
  });
});

describe('the message for a breakout', () => {
  test('says that the plot must be the level, and expects the stop price beyond the market', () => {
    expect(createTemplate('breakout', account, 'live').edits.map(({ field }) => field)).toEqual([
      'stopPrice',
    ]);
    expect(messageOf('breakout')).toEqual({
      ticker: '{{ticker}}',
      action: '{{strategy.order.action}}',
      quantity: '{{strategy.order.contracts}}',
      stopPrice: '{{plot_0}}',
      expectTrigger: 'breakout',
      time: '{{timenow}}',
      comment: '{{strategy.order.id}}',
    });
  });

  test('has a limit price if the account has no limitOffset', () => {
    expect(messageOf('breakout', withoutOffset).limitPrice).toBe('{{plot_0}}');
  });

  test('has no expectTrigger in the documented dialect, where it cannot be checked', () => {
    expect(messageOf('breakout', account, 'documented')).not.toHaveProperty('expectTrigger');
  });
});

describe.each(dialects)('the message for an indicator, in the %s dialect', (dialect) => {
  const { message, edits } = createTemplate('indicator', account, dialect);

  test('is refused until it is edited', () => {
    expect(refusalOf(fillIn(message)).paths).toEqual(expect.arrayContaining(['action', 'quantity']));
  });

  test('names every field that is to be edited, and has no values that only strategies have', () => {
    expect(message).not.toContain('strategy.');
    const marked = Object.entries(JSON.parse(message)).filter(([, value]) =>
      String(value).startsWith('EDIT'),
    );
    expect(edits.map(({ field }) => field)).toEqual(expect.arrayContaining(marked.map(([field]) => field)));
  });
});

test.each(
  dialects.flatMap((dialect) => templatesOf(dialect, account).map((name) => [name, dialect] as const)),
)('The message for %s in the %s dialect is an order once it is edited and filled in', (name, dialect) => {
  const { message } = createTemplate(name, account, dialect);
  const edited = message.replace('EDIT: buy or sell', 'buy').replace(/EDIT: how much[^"]*/, '0.01');

  expect(readSignal(fillIn(edited)).action).toBe('order');
});
