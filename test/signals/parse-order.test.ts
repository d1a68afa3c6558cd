import { describe, expect, test } from '@jest/globals';
import type { StopLimitSignal } from '../../lib/model/signal.ts';
import {
  account,
  issueOf,
  orderSignal,
  orderText,
  orderWith,
  readAlert,
  readSignal,
  refusalOf,
} from './reading.ts';

describe('an order alert', () => {
  test('with everything in it becomes a signal with everything in it', () => {
    const body = `{
      "ticker": "BTCUSDT.P", "action": "sell", "orderType": "stop_limit", "quantity": "0.250",
      "stopPrice": 50000.10, "limitPrice": "49990", "stopLoss": 51000, "takeProfit": 4.8e4,
      "positionSide": "SHORT", "time": "2026-01-31T12:00:01Z", "maxLag": 30, "id": "Short-7",
      "strategy": "breakout", "interval": "15", "comment": "first entry",
      "extras": {"version": 3, "tags": ["a", null, true], "exact": 0.1000}
    }`;

    expect(readAlert(body)).toEqual({
      isArray: false,
      isByArrival: false,
      items: [
        {
          explicitId: 'Short-7',
          signal: {
            ticker: 'BTCUSDT.P',
            market: 'BTC_PERP',
            timeMs: 1769860801000,
            maxLagMs: 30_000,
            action: 'order',
            orderType: 'stop_limit',
            side: 'sell',
            size: { unit: 'base', quantity: '0.25' },
            stopPrice: '50000.1',
            limitPrice: '49990',
            stopLoss: '51000',
            takeProfit: '48000',
            positionSide: 'SHORT',
            strategy: 'breakout',
            interval: '15',
            comment: 'first entry',
            extras: { version: 3, tags: ['a', null, true], exact: '0.1000' },
          },
        },
      ],
    });
  });

  test.each([
    ['ticker', 'symbol'],
    ['ticker', 'market'],
    ['ticker', 'pair'],
    ['action', 'side'],
    ['quantity', 'amount'],
    ['quantity', 'contracts'],
    ['quantity', 'qty'],
    ['stopPrice', 'activation_price'],
    ['stopPrice', 'activationPrice'],
    ['time', 'timestamp'],
    ['time', 'timenow'],
  ])('%s may be called %s', (name, alias) => {
    expect(readSignal(`{${orderText.replace(`"${name}"`, `"${alias}"`)}}`)).toEqual(orderSignal);
  });

  test.each([
    ['"price":101', { limitPrice: '101' }],
    ['"limitPrice":101', { limitPrice: '101' }],
    ['"sl":90', { stopLoss: '90' }],
    ['"tp":120', { takeProfit: '120' }],
    ['"positionSide":"long"', { positionSide: 'LONG' }],
    ['"positionSide":" Both "', { positionSide: 'BOTH' }],
    ['"orderType":"Stop-Limit"', {}],
    ['"orderType":"stop limit"', {}],
    ['"interval":15', { interval: '15' }],
    ['"comment":""', {}],
    ['"stopLoss":" 90 "', { stopLoss: '90' }],
    ['"stopLoss":"+90."', { stopLoss: '90' }],
    ['"stopLoss":".5"', { stopLoss: '0.5' }],
    ['"extras":"free"', { extras: 'free' }],
  ])('takes %s', (member, changes) => {
    expect(readSignal(orderWith(member))).toEqual({ ...orderSignal, ...changes });
  });

  test.each(['"BUY"', '"Buy"', '" buy "'])('takes %s for buy', (action) => {
    expect(readSignal(`{${orderText.replace('"buy"', action)}}`)).toEqual(orderSignal);
  });

  test('may have a size in the quote currency', () => {
    const body = `{${orderText.replace('"quantity":0.5', '"quoteQuantity":"250.00"')}}`;

    expect(readSignal(body)).toEqual({ ...orderSignal, size: { unit: 'quote', quoteQuantity: '250' } });
  });

  test('without a size gets a hint how to give one', () => {
    expect(issueOf(`{${orderText.replace('"quantity":0.5,', '')}}`)).toEqual({
      path: 'quantity',
      message: 'the order has no size',
      hint: 'add "quantity": "{{strategy.order.contracts}}", or "quoteQuantity" for an amount of the quote currency, or "quantityPercent" for a share of what the account holds',
    });
  });

  test.each(['exit_long', 'close_long', 'exitShort'])(
    '%s without a size gets a hint how to close all, where its price keeps it from that',
    (action) => {
      const body = `{${orderText.replace('"buy"', `"${action}"`).replace('"quantity":0.5,', '')}}`;

      expect(issueOf(body)).toMatchObject({
        path: 'quantity',
        message: 'the order has no size',
        hint: expect.stringMatching(
          /^for the whole position at market write "action": "close" without prices; for a part, or a price of its own, add "quantityPercent": "100%" with "of": "position", or "quantity"/,
        ),
      });
    },
  );

  test('with two sizes is refused', () => {
    expect(issueOf(orderWith('"quoteQuantity":50'))).toEqual({
      path: 'quoteQuantity',
      message: 'the size is given more than once',
      hint: 'keep one of "quantity" (in the base currency), "quoteQuantity" (in the quote currency) and "quantityPercent" (a share of what the account holds)',
    });
  });

  test('with an unreadable size gets only that issue', () => {
    expect(refusalOf(`{${orderText.replace(':0.5', ':"NaN"')}}`).paths).toEqual(['quantity']);
  });

  test('with only a price, which could be any kind of order, must name its kind', () => {
    expect(issueOf(`{${orderText.replace('"stopPrice"', '"price"')}}`)).toEqual({
      path: 'price',
      message: '"price" could be a limit, or the last price',
      hint: 'add "orderType": "market" if it is the last price, or "orderType": "limit" if it is the worst price you accept',
    });
  });

  test('for a stop-limit order must have a stop price', () => {
    const body = `{${orderText.replace('"stopPrice"', '"orderType":"stop_limit","price"')}}`;

    expect(issueOf(body)).toEqual({
      path: 'stopPrice',
      message: 'a stop-limit order needs its stop price',
      hint: 'add "stopPrice"; "price" means the limit price here',
    });
  });

  test('needs a limit price when the account sets no offset', () => {
    const withoutOffset = { account: { ...account, limitOffsetRate: null } };

    expect(issueOf(`{${orderText}}`, withoutOffset)).toEqual({
      path: 'limitPrice',
      message: 'the order has no limit price, and account main has no limit offset to compute one from',
      hint: 'add "limitPrice", or give the account a limit offset in relay.config.ts',
    });
    expect(readSignal(orderWith('"limitPrice":101'), withoutOffset)).toEqual({
      ...orderSignal,
      limitPrice: '101',
    });
  });

  test('of another kind is refused by name, together with its other issues', () => {
    const { issues } = refusalOf(orderWith('"orderType":"trailing_stop","stopLoss":"NaN"'));

    expect(issues).toEqual([
      {
        path: 'orderType',
        message: '"trailing_stop" is not a kind of order this relay places',
        hint: 'the exchange has no trailing orders; the relay moves the stop-loss itself: write how far behind the best price it stays, as a per cent: "trailing": "1.5%"',
      },
      {
        path: 'stopLoss',
        message: '"NaN" means that there is no value',
        hint: 'correct the script, or leave the line out if it is optional',
      },
    ]);
  });

  test.each([
    ['above', 'buy', 'above'],
    ['"BELOW"', 'buy', 'below'],
    ['breakout', 'buy', 'above'],
    ['breakout', 'sell', 'below'],
  ])('may say where its stop price must lie: %s for a %s is %s', (word, side, expectTrigger) => {
    const text = orderWith(`"expectTrigger":"${word.replaceAll('"', '')}"`).replace('"buy"', `"${side}"`);

    expect(readSignal(text)).toMatchObject({ side, expectTrigger });
  });

  test.each([
    ['"up"', '"up" is not a side of the last price', 'write one of "above", "below", "breakout"'],
    ['true', 'true is not a side of the last price', 'write one of "above", "below", "breakout"'],
  ])('cannot expect its stop price at %s', (value, message, hint) => {
    expect(issueOf(orderWith(`"expectTrigger":${value}`))).toEqual({ path: 'expectTrigger', message, hint });
  });

  test('does not choose its client order id', () => {
    expect(issueOf(orderWith('"clientOrderId":"x"'))).toEqual({
      path: 'clientOrderId',
      message: 'the action places a new order, but this field names an existing one',
      hint: 'remove it, or correct "action"',
    });
  });

  test('may carry the name that a strategy gave it: it informs', () => {
    expect(readSignal(orderWith('"order_id":"Long"'))).toEqual({
      ...orderSignal,
      info: { order_id: 'Long' },
    });
  });

  test('gets all its issues at once', () => {
    const body =
      '{"ticker":"DOGEUSDT","action":"by","qty":"NaN","stopPrice":-1,"stopLos":1,"time":"now","maxLag":0}';

    expect(refusalOf(body).paths).toEqual([
      'stopLos',
      'action',
      'ticker',
      'maxLag',
      'time',
      'qty',
      'stopPrice',
    ]);
  });

  test('gets twenty issues at most', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `"key${index}":1`).join(',');

    expect(refusalOf(`{${keys}}`).issues).toHaveLength(20);
  });
});

describe('a limit order alert', () => {
  const text =
    '"ticker":"BTCUSDT.P","action":"buy","orderType":"limit","quantity":0.5,"time":"2026-01-31T12:00:00Z"';
  const { stopPrice: _, ...common } = orderSignal as StopLimitSignal;
  const signal = { ...common, orderType: 'limit', limitPrice: '99.5' };

  test.each(['limitPrice', 'price'])('takes its price as %s', (name) => {
    expect(readSignal(`{${text},"${name}":99.5}`)).toEqual(signal);
  });

  test('may have stop-loss, take-profit, a position side and a size in the quote currency', () => {
    const body = `{${text.replace('"quantity":0.5', '"quoteQuantity":100')},"price":99.5,"sl":90,"tp":120,"positionSide":"long"}`;

    expect(readSignal(body)).toEqual({
      ...signal,
      size: { unit: 'quote', quoteQuantity: '100' },
      stopLoss: '90',
      takeProfit: '120',
      positionSide: 'LONG',
    });
  });

  test('refuses expectTrigger, because it refuses a stop price', () => {
    expect(issueOf(`{${text},"price":99.5,"expectTrigger":"above"}`)).toEqual({
      path: 'expectTrigger',
      message: 'a limit order has no stop price that could be on the wrong side',
      hint: 'remove it, or write "orderType": "stop_limit"',
    });
  });

  test('refuses a stop price', () => {
    expect(issueOf(`{${text},"price":99.5,"stopPrice":99}`)).toEqual({
      path: 'stopPrice',
      message: 'a limit order has no stop price',
      hint: 'remove it, or write "orderType": "stop_limit" for an order that waits for a stop price',
    });
  });

  test('needs its limit price, whatever offset the account sets', () => {
    expect(issueOf(`{${text}}`)).toEqual({
      path: 'limitPrice',
      message: 'a limit order needs its limit price',
      hint: 'add "limitPrice"',
    });
  });
});
