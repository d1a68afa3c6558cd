import { describe, expect, test } from '@jest/globals';
import { issueOf, marketOrder, orderSignal, orderWith, readAlert, readSignal, refusalOf } from './reading.ts';

describe('the reference price of an order', () => {
  test.each(['referencePrice', 'reference_price', 'signalPrice', 'signal-price', 'refPrice'])(
    'is kept exactly, and changes nothing else, when it is written as %s',
    (name) => {
      expect(readSignal(orderWith(`"${name}": "60120.50"`))).toEqual({
        ...orderSignal,
        referencePrice: '60120.5',
      });
    },
  );

  test.each([
    ['limit', { limitPrice: 3000 }],
    ['stop_limit', { stopPrice: 3000, limitPrice: 3001 }],
    ['market', {}],
  ])('belongs to every kind of order: %s', (orderType, prices) => {
    expect(readSignal(marketOrder({ orderType, ...prices, referencePrice: 2999.5 }))).toMatchObject({
      orderType,
      referencePrice: '2999.5',
    });
  });

  test.each([
    ['"NaN"', '"NaN" means that there is no value'],
    ['"{{close}}"', '"{{close}}" is a placeholder, not a number'],
    ['"1%"', '"1%" is a per cent'],
    ['0', '"0" is zero'],
  ])('is a price, not %s', (written, message) => {
    expect(issueOf(orderWith(`"referencePrice": ${written}`))).toMatchObject({
      path: 'referencePrice',
      message,
    });
  });

  test('has no place in a cancellation, which fills nothing', () => {
    const cancel = '{"ticker":"ETHUSDT","action":"cancel_all","id":"c","referencePrice":3000}';

    expect(refusalOf(cancel).issues).toEqual([
      {
        path: 'referencePrice',
        message: 'a cancel has no fields of an order',
        hint: 'remove it, or correct "action"',
      },
    ]);
  });

  test('is not guessed from the price of other relays', () => {
    expect(refusalOf(orderWith('"alertPrice": 100')).issues).toMatchObject([
      {
        path: 'alertPrice',
        hint: '"stopPrice" is the trigger price of the order, "limitPrice" the worst price you accept, "referencePrice" the price that the fills are compared with: use the one you mean, or remove it',
      },
    ]);
  });
});

describe('the reference price of a position action', () => {
  test.each([
    ['close', {}],
    ['reverse', {}],
    ['target', { target: '-0.5' }],
  ])('belongs to every leg of a %s', (action, members) => {
    const { items } = readAlert(
      JSON.stringify({
        ticker: 'BTCUSDT.P',
        action,
        time: '2026-01-31T12:00:00Z',
        signalPrice: '60120.50',
        ...members,
      }),
    );

    expect(items.length).toBeGreaterThan(0);
    for (const { signal } of items) expect(signal).toMatchObject({ action, referencePrice: '60120.5' });
  });
});
