import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import type { Account } from '../../lib/model/account.ts';
import { findAccount } from '../../lib/model/settings.ts';
import type { OrderSignal } from '../../lib/model/signal.ts';
import { marketNamed } from '../../lib/paper/markets.ts';
import { checkMarket, checkOrder } from '../../lib/risk/check-order.ts';
import { createTemplate, type TemplateName } from '../../lib/signals/message-template.ts';
import { type AlertItem, parseAlert } from '../../lib/signals/parse-alert.ts';
import { sizeOrder } from '../../lib/signals/sizing.ts';
import config from '../../relay.config.example.ts';

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
  test.each(Object.entries(expectations))('say what they mean: %s', (name, items) => {
    expect(readAlert(readExample(name))).toEqual(items);
  });

  test('are all covered by these tests', () => {
    expect(readdirSync(folder).sort()).toEqual(
      [...Object.keys(expectations), ...Object.keys(templates)].sort(),
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

    const sized = sizeOrder(signal, market, main, 'tr-example');

    expect(checkMarket(signal, main)).toBeNull();
    expect(sized.ok && checkOrder(sized.order, main)).toBeNull();
    if (!sized.ok || sized.order.kind !== 'stop_limit') throw new Error('expected a stop-limit order');
    expect(sized.order.activationPrice[beyond](market.startPrice)).toBe(true);
  });
});

const templates: Readonly<Record<string, TemplateName>> = {
  'tradingview-strategy.json': 'strategy',
  'tradingview-breakout.json': 'breakout',
  'tradingview-indicator.json': 'indicator',
};

test.each(Object.entries(templates))('%s is the message that `webhook --for %s` prints', (name, template) => {
  expect(readExample(name)).toBe(`${createTemplate(template, main, 'live').message}\n`);
});
