import { describe, expect, test } from '@jest/globals';
import { issueOf, orderWith, readAlert, readSignal, refusalOf } from './reading.ts';

const time = '"time":"2026-01-31T12:00:00Z"';

describe('a cancel', () => {
  const cancel = `"ticker":"ETHUSDT","action":"cancel",${time}`;
  const signal = {
    ticker: 'ETHUSDT',
    market: 'ETH_USDT',
    timeMs: 1769860800000,
    maxLagMs: 60_000,
    action: 'cancel',
  };

  test.each([
    ['"orderId":3686033640', { by: 'orderId', orderId: 3686033640 }],
    ['"order_id":"3686033640"', { by: 'orderId', orderId: 3686033640 }],
    ['"clientOrderId":"my.order_1-a"', { by: 'clientOrderId', clientOrderId: 'my.order_1-a' }],
    ['"client_order_id":"x"', { by: 'clientOrderId', clientOrderId: 'x' }],
    ['"signalId":"Long-7"', { by: 'signalId', signalId: 'Long-7' }],
    [
      '"signalId":"h-ba7816bf8f01cfea414140de5dae2223-0"',
      { by: 'signalId', signalId: 'h-ba7816bf8f01cfea414140de5dae2223-0' },
    ],
  ])('names its order by %s', (member, target) => {
    expect(readSignal(`{${cancel},${member}}`)).toEqual({ ...signal, target });
  });

  test('has an identity of its own besides the signal it names', () => {
    const [item] = readAlert(`{${cancel},"id":"Undo-7","signalId":"Long-7"}`).items;

    expect(item).toEqual({
      explicitId: 'Undo-7',
      signal: { ...signal, target: { by: 'signalId', signalId: 'Long-7' } },
    });
  });

  test('must name an order', () => {
    expect(issueOf(`{${cancel},"id":"Undo-7"}`)).toEqual({
      path: 'signalId',
      message: 'the cancel names no order',
      hint: 'add one of "signalId" (the signal that placed it), "clientOrderId" or "orderId"; or use the action "cancel_all"',
    });
  });

  test('must name its order once', () => {
    expect(issueOf(`{${cancel},"orderId":5,"signalId":"Long-7"}`)).toEqual({
      path: 'signalId',
      message: 'the cancel names its order more than once',
      hint: 'keep one of orderId, clientOrderId, signalId',
    });
  });

  test.each(['0', '-5', '1.5', '"12a"', '1e3', '9007199254740993', 'true', '""', '"99999999999999999"'])(
    'does not take %s for an order number',
    (orderId) => {
      expect(refusalOf(`{${cancel},"orderId":${orderId}}`).paths).toEqual(['orderId']);
    },
  );

  test.each(['""', '"a b"', '"a:b"', 'null', `"${'x'.repeat(65)}"`])(
    'does not take %s for a client order id',
    (clientOrderId) => {
      expect(refusalOf(`{${cancel},"clientOrderId":${clientOrderId}}`).paths).toEqual(['clientOrderId']);
    },
  );

  test.each(['signalId', 'clientOrderId', 'orderId'])(
    'says that TradingView did not fill the placeholder in %s',
    (name) => {
      expect(issueOf(`{${cancel},"${name}":"{{strategy.order.id}}"}`).hint).toMatch(
        /^TradingView did not fill the placeholder/,
      );
    },
  );

  test('does not accept the id of a refusal as the id of a signal', () => {
    const body = `{${cancel},"signalId":"refused-ba7816bf8f01cfea414140de5dae2223"}`;

    expect(refusalOf(body).paths).toEqual(['signalId']);
  });

  test('refuses the fields of an order', () => {
    const body = `{${cancel},"orderId":5,"quantity":1,"sl":90}`;

    expect(refusalOf(body).issues).toEqual([
      {
        path: 'quantity',
        message: 'a cancel has no fields of an order',
        hint: 'remove it, or correct "action"',
      },
      { path: 'sl', message: 'a cancel has no fields of an order', hint: 'remove it, or correct "action"' },
    ]);
  });
});

describe('a cancel of everything', () => {
  const cancelAll = `"ticker":"ETHUSDT","action":"CANCEL_ALL",${time}`;

  test('names only the market', () => {
    expect(readSignal(`{${cancelAll},"comment":"flat"}`)).toEqual({
      ticker: 'ETHUSDT',
      market: 'ETH_USDT',
      timeMs: 1769860800000,
      maxLagMs: 60_000,
      action: 'cancel_all',
      comment: 'flat',
    });
  });

  test.each([
    ['own', 'own'],
    ['Market', 'market'],
  ])('may have the scope %s', (written, scope) => {
    expect(readSignal(`{${cancelAll},"scope":"${written}"}`)).toMatchObject({ action: 'cancel_all', scope });
  });

  test('has no other scope', () => {
    expect(issueOf(`{${cancelAll},"scope":"account"}`)).toEqual({
      path: 'scope',
      message: '"account" is not a scope of a cancellation',
      hint: 'write one of "own", "market"',
    });
  });

  test.each(['cancel_all', 'CancelAll', 'cancel-all', 'cancel all'])('may be written as %s', (action) => {
    expect(readSignal(`{${cancelAll.replace('CANCEL_ALL', action)}}`)).toMatchObject({
      action: 'cancel_all',
    });
  });

  test('has a scope that neither a cancel nor an order has', () => {
    expect(issueOf(`{"ticker":"ETHUSDT","action":"cancel",${time},"orderId":5,"scope":"own"}`)).toEqual({
      path: 'scope',
      message: 'a cancel names one order; only cancel_all has a scope',
      hint: 'remove it, or correct "action"',
    });
    expect(issueOf(orderWith('"scope":"own"'))).toEqual({
      path: 'scope',
      message: 'the action places a new order; only cancel_all has a scope',
      hint: 'remove it, or correct "action"',
    });
  });

  test.each(['"orderId":5', '"clientOrderId":"x"', '"signalId":"Long-7"'])('refuses %s', (member) => {
    expect(issueOf(`{${cancelAll},${member}}`)).toEqual({
      path: member.slice(1, member.indexOf('"', 1)),
      message: 'cancel_all cancels every open order of the market, not a single one',
      hint: 'remove it, or correct "action"',
    });
  });

  test('refuses the size and prices of an order', () => {
    const body = `{${cancelAll},"type":"limit","quantity":1,"price":2,"tif":"gtc","sentiment":"flat","of":"balance"}`;

    expect(refusalOf(body).paths.toSorted()).toEqual(['of', 'price', 'quantity', 'sentiment', 'tif', 'type']);
  });
});
