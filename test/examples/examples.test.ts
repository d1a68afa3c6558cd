import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { checkMarket, checkOrder } from '../../lib/limits/check-order.ts';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import { findAccount } from '../../lib/model/settings.ts';
import type { OrderSignal } from '../../lib/model/signal.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { firstAlertText, tries } from '../../lib/signals/first-alert.ts';
import { createTemplate, type TemplateName } from '../../lib/signals/message-template.ts';
import { type AlertItem, parseAlert } from '../../lib/signals/parse-alert.ts';
import { sizeOrder } from '../../lib/signals/sizing.ts';
import config from '../../relay.config.example.ts';
import { readProjectFile } from '../support/project-files.ts';
import { openWorld } from '../support/world.ts';

const folder = new URL('../../examples/', import.meta.url);
const { settings } = parseConfig(config);
const main = findAccount(settings, 'main') as Account;
/** 2026-11-20 10:00:01 UTC. */
const nowMs = 1_795_168_801_000;

/** Reads an alert as the shipped configuration does. */
function readAlert(text: string): readonly AlertItem[] {
  const { tickers, defaultMaxLagMs } = settings;
  const context = { account: main, tickers, defaultMaxLagMs, nowMs, futureAllowanceMs: 5000 };
  return parseAlert(Buffer.from(text), context).items;
}

function readExample(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

/** An alert with an explicit id needs no time. */
const timeless = { timeMs: null, maxLagMs: null };
const btc = { ticker: 'BTCUSDT', market: 'BTC_USDT', ...timeless };

const expectations: Readonly<Record<string, readonly AlertItem[]>> = {
  'buy-stop-limit.json': [
    {
      explicitId: 'example-buy-1',
      signal: {
        ...btc,
        action: 'order',
        orderType: 'stop_limit',
        side: 'buy',
        size: { unit: 'base', quantity: '0.01' },
        stopPrice: '60500',
        limitPrice: '60560',
        stopLoss: '59000',
        takeProfit: '64000',
      },
    },
  ],
  'buy-on-spot.json': [
    {
      explicitId: 'example-spot-1',
      signal: {
        ...btc,
        action: 'order',
        orderType: 'market',
        side: 'buy',
        size: { unit: 'base', quantity: '0.001' },
      },
    },
  ],
  'sell-stop-limit.json': [
    {
      explicitId: 'example-sell-1',
      signal: {
        ticker: 'ETHUSDT',
        market: 'ETH_USDT',
        ...timeless,
        action: 'order',
        orderType: 'stop_limit',
        side: 'sell',
        size: { unit: 'base', quantity: '0.1' },
        stopPrice: '2950',
        limitPrice: '2945',
      },
    },
  ],
  'quote-quantity.json': [
    {
      explicitId: 'example-quote-1',
      signal: {
        ticker: 'SOLUSDT',
        market: 'SOL_USDT',
        ...timeless,
        action: 'order',
        orderType: 'stop_limit',
        side: 'buy',
        size: { unit: 'quote', quoteQuantity: '500' },
        stopPrice: '153',
        limitPrice: null,
      },
    },
  ],
  'cancel-by-signal.json': [
    {
      explicitId: 'example-cancel-1',
      signal: { ...btc, action: 'cancel', target: { by: 'signalId', signalId: 'example-buy-1' } },
    },
  ],
  'cancel-then-buy.json': [
    { explicitId: 'example-replace-1', signal: { ...btc, action: 'cancel_all' } },
    {
      explicitId: 'example-replace-2',
      signal: {
        ...btc,
        action: 'order',
        orderType: 'stop_limit',
        side: 'buy',
        size: { unit: 'base', quantity: '0.01' },
        stopPrice: '60800',
        limitPrice: '60860',
      },
    },
  ],
};

describe('the examples', () => {
  test.each(Object.entries(tries))('are what the greeting knows of them: %s', (name, needs) => {
    const [item] = readAlert(readExample(name));
    const { ticker, side, orderType, size } = (item as AlertItem).signal as OrderSignal;

    expect({ ticker, side, kind: orderType, amount: size.unit === 'base' && size.quantity }).toEqual({
      ticker: needs.ticker,
      side: needs.side,
      kind: needs.kind,
      amount: needs.amount,
    });
  });

  test.each(Object.entries(expectations))('say what they mean: %s', (name, items) => {
    expect(readAlert(readExample(name))).toEqual(items);
  });

  test('are all covered by these tests', () => {
    expect(readdirSync(folder).sort()).toEqual(
      [...Object.keys(expectations), ...Object.keys(templates), ...Object.keys(runs)].sort(),
    );
  });

  test.each([
    ['buy-stop-limit.json', 'gt'],
    ['quote-quantity.json', 'gt'],
    ['cancel-then-buy.json', 'gt'],
    ['sell-stop-limit.json', 'lt'],
  ] as const)('pass every check where the paper exchange starts: %s', (name, beyond) => {
    const signal = readAlert(readExample(name)).find((item) => item.signal.action === 'order')
      ?.signal as OrderSignal;
    const market = marketNamed(signal.market);

    const sized = sizeOrder(signal, {
      market,
      account: main,
      tradesOn: 'margin',
      readings: { oppositePrice: null, holding: null },
      clientOrderId: 'tr-example',
    });

    expect(checkMarket(signal, main)).toBeNull();
    expect(sized.ok && checkOrder(sized, main)).toBeNull();
    const stopPrice = sized.ok ? sized.order.activationPrice : undefined;
    expect(stopPrice?.[beyond](market.startPrice)).toBe(true);
  });
});

const templates: Readonly<Record<string, TemplateName>> = {
  'tradingview-strategy.json': 'strategy',
  'tradingview-orders.json': 'orders',
  'tradingview-limit.json': 'limit',
  'tradingview-breakout.json': 'breakout',
  'tradingview-indicator.json': 'indicator',
};

test.each(Object.entries(templates))('%s is the message that `webhook --for %s` prints', (name, template) => {
  expect(readExample(name)).toBe(`${createTemplate(template, main, 'live').message}\n`);
});

test('the first alert is the one of the README and of the greeting', () => {
  const [, shown] = /```json\n([\s\S]*?)\n```/.exec(readProjectFile('README.md')) ?? [];

  expect(shown).toBe(firstAlertText);
  expect(readExample('first-alert.json')).toBe(`${firstAlertText}\n`);
});

/** What TradingView fills in for an order of a strategy. */
function fillIn(message: string, values: Readonly<Record<string, string>>): string {
  const filled: Readonly<Record<string, string>> = {
    'strategy.order.id': 'Entry',
    'strategy.order.price': '60000',
    timenow: new Date().toISOString().replace(/\.\d{3}Z$/, 'Z'),
    ...values,
  };
  return message.replaceAll(/\{\{(.+?)\}\}/g, (placeholder, name) => filled[name] ?? placeholder);
}

interface ExampleOrder {
  readonly action: 'buy' | 'sell';
  readonly contracts?: string;
}

interface ExampleRun {
  readonly tradesOn: TradingGround;
  readonly ticker: string;
  /** The orders of the strategy, one after the other. */
  readonly orders: readonly ExampleOrder[];
  /** Every order at the exchange afterwards: side, type, amount and status. */
  readonly placed: readonly string[];
}

const runs: Readonly<Record<string, ExampleRun>> = {
  'first-alert.json': {
    tradesOn: 'margin',
    ticker: 'BTCUSDT',
    orders: [{ action: 'buy' }],
    placed: ['buy limit 0.001 filled', 'sell stop_limit 0.001 open', 'sell limit 0.001 open'],
  },
  'tradingview-long-only.json': {
    tradesOn: 'spot',
    ticker: 'DBTCDUSDT',
    orders: [{ action: 'buy' }, { action: 'sell' }],
    placed: ['buy spot_limit 0.016583 filled', 'sell spot_limit 0.016566 filled'],
  },
  'tradingview-long-short.json': {
    tradesOn: 'futures',
    ticker: 'BTCUSDT.P',
    orders: [
      { action: 'buy', contracts: '0.01' },
      { action: 'sell', contracts: '0.02' },
    ],
    placed: ['buy limit 0.01 filled', 'sell limit 0.02 filled'],
  },
  'tradingview-percent.json': {
    tradesOn: 'futures',
    ticker: 'BTCUSDT.P',
    orders: [{ action: 'buy' }],
    placed: ['buy limit 1.699 filled'],
  },
  'tradingview-entry-with-exits.json': {
    tradesOn: 'margin',
    ticker: 'BTCUSDT',
    orders: [{ action: 'buy', contracts: '0.01' }],
    placed: ['buy limit 0.01 filled', 'sell stop_limit 0.01 open', 'sell limit 0.01 open'],
  },
  'tradingview-post-only.json': {
    tradesOn: 'margin',
    ticker: 'BTCUSDT',
    orders: [{ action: 'sell', contracts: '0.01' }],
    placed: ['sell limit 0.01 open'],
  },
  'tradingview-close.json': {
    tradesOn: 'futures',
    ticker: 'BTCUSDT.P',
    orders: [{ action: 'sell' }],
    // The stop-loss and take-profit of the entry go with the position.
    placed: [
      'buy limit 0.03 filled',
      'sell stop_limit 0.03 cancelled',
      'sell limit 0.03 cancelled',
      'sell limit 0.03 filled',
    ],
  },
};

describe('an example for TradingView, filled in and sent to a relay', () => {
  test.each(Object.entries(runs))('%s', async (name, { tradesOn, ticker, orders, placed }) => {
    const market = settings.tickers[ticker] ?? '';
    const own = parseConfig({
      ...config,
      accounts: {
        main: { ...config.accounts.main, mode: 'live', markets: { [market]: { tradesOn } } },
      },
    }).settings;
    const world = await openWorld({ dialect: 'live', settings: own });
    try {
      // What the account holds of the demo pair: little enough for the order book.
      world.paper.control.setFunds('main', 'spot', 'DUSDT', parseDecimal('1000'));
      world.paper.control.setFunds('main', 'spot', 'DBTC', parseDecimal('0'));
      const before = name === 'tradingview-close.json' ? [openAPosition(ticker)] : [];
      const messages = orders.map(({ action, contracts = '0.01' }) =>
        fillIn(readExample(name), {
          ticker,
          'strategy.order.action': action,
          'strategy.order.contracts': contracts,
        }),
      );
      for (const message of [...before, ...messages]) {
        const { status, body } = await world.post(message);
        expect(status).toBe(202);
        for (const { signalId = '' } of body.signals ?? [body]) {
          const { status: outcome, signal } = await world.settled(signalId);
          expect(outcome).toBe(signal?.action === 'order' ? 'placed' : 'cancelled');
        }
      }

      const held = world.paper.control.state().orders;
      expect(held.map(({ side, type, amount, status }) => `${side} ${type} ${amount} ${status}`)).toEqual(
        placed,
      );
    } finally {
      await world.close();
    }
  });
});

function openAPosition(ticker: string): string {
  const protection = { stopLoss: '2%', takeProfit: '4%' };
  return JSON.stringify({
    id: 'entry',
    ticker,
    action: 'buy',
    orderType: 'market',
    quantity: '0.03',
    ...protection,
  });
}
