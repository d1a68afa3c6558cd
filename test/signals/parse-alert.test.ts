import { describe, expect, test } from '@jest/globals';
import { issueOf, orderSignal, orderText, orderWith, readAlert, refusalOf } from './reading.ts';

const time = '"time":"2026-01-31T12:00:00Z"';

describe('the action', () => {
  test('must be there', () => {
    expect(issueOf(`{${orderText.replace('"action":"buy",', '')}}`)).toEqual({
      path: 'action',
      message: 'the alert has no action',
      hint: 'add "action": "{{strategy.order.action}}", or "buy", "sell", "close", "reverse", "protect", "cancel", "cancel_all"; or "marketPosition" with "marketPositionSize" to follow the position of a strategy',
    });
  });

  test.each([
    [
      '"hold"',
      '"hold" is not an action',
      'write one of "buy", "sell", "enter_long", "enter_short", "exit_long", "exit_short", "close", "reverse", "target", "protect", "cancel", "cancel_all"',
    ],
    [
      '"long"',
      '"long" is not an action',
      'it names a position; write what to do: "enter_long" or "buy", "enter_short" or "sell", "exit_long", "exit_short", "close"; or "sentiment" without an action, with the size of the position that you want',
    ],
    [
      '"__proto__"',
      '"__proto__" is not an action',
      'write one of "buy", "sell", "enter_long", "enter_short", "exit_long", "exit_short", "close", "reverse", "target", "protect", "cancel", "cancel_all"',
    ],
    [
      '1',
      '"1" is not an action',
      'write one of "buy", "sell", "enter_long", "enter_short", "exit_long", "exit_short", "close", "reverse", "target", "protect", "cancel", "cancel_all"',
    ],
    [
      '["buy"]',
      'an array is not an action',
      'write one of "buy", "sell", "enter_long", "enter_short", "exit_long", "exit_short", "close", "reverse", "target", "protect", "cancel", "cancel_all"',
    ],
    [
      '"{{strategy.order.action}}"',
      '"{{strategy.order.action}}" is not an action',
      'TradingView did not fill the placeholder: check its spelling; alert() fills no placeholders, and {{strategy.…}} needs a strategy alert',
    ],
  ])('is not %s', (action, message, hint) => {
    expect(issueOf(`{${orderText.replace('"buy"', action)}}`)).toEqual({ path: 'action', message, hint });
  });

  test('if it is unknown, the ids of a cancel are still checked', () => {
    expect(refusalOf(`{"ticker":"ETHUSDT","action":"kill",${time},"orderId":"x"}`).paths).toEqual([
      'action',
      'orderId',
    ]);
  });
});

describe('the identity of an alert', () => {
  const untimed = orderText.replace(',"time":"2026-01-31T12:00:00Z"', '');

  test.each(['"id":"Long-7"', '"signalId":"Long-7"'])('may be %s, and then needs no time', (member) => {
    expect(readAlert(`{${untimed},${member}}`).items).toEqual([
      { explicitId: 'Long-7', signal: { ...orderSignal, timeMs: null, maxLagMs: null } },
    ]);
  });

  test('may be a number', () => {
    expect(readAlert(orderWith('"id":1042')).items[0]?.explicitId).toBe('1042');
  });

  test('is its arrival when it has neither id nor time', () => {
    expect(readAlert(`{${untimed}}`)).toEqual({
      isArray: false,
      isByArrival: true,
      items: [{ explicitId: null, signal: { ...orderSignal, timeMs: null, maxLagMs: null } }],
    });
  });

  test.each([
    ['both items have neither', `[{${untimed}},{${untimed}}]`, true],
    ['one item has an id', `[{${untimed}},{${untimed},"id":"a"}]`, false],
    ['one item has a time', `[{${untimed}},${orderWith('"comment":"x"')}]`, false],
  ])('of an array is its arrival only if no item has an id or a time: %s', (_, text, isByArrival) => {
    expect(readAlert(text).isByArrival).toBe(isByArrival);
  });

  test.each([
    '""',
    '"Long 7"',
    '"h-1"',
    '"refused-1"',
    '"{{strategy.order.id}}"',
    'null',
    `"${'x'.repeat(65)}"`,
  ])('is not %s', (id) => {
    const issue = issueOf(orderWith(`"id":${id}`));

    expect(issue.path).toBe('id');
    expect(issue.message).toMatch(/ cannot be the id of a signal$/);
  });
});

test('an id that TradingView did not fill is told so', () => {
  expect(issueOf(orderWith('"id":"{{strategy.order.id}}"')).hint).toMatch(
    /^TradingView did not fill the placeholder/,
  );
});

describe('an array of alerts', () => {
  test('names the signal that has an issue', () => {
    const body = `[{${orderText}},{${orderText.replace(':0.5', ':"NaN"')},"foo":1},7]`;

    expect(refusalOf(body).paths).toEqual(['[1].foo', '[1].quantity', '[2]']);
    expect(refusalOf(`[{${orderText}},[]]`).issues).toEqual([
      {
        path: '[1]',
        message: 'the signal is an array, not an object',
        hint: 'send an object with ticker, action and the rest: {"ticker": "{{ticker}}", …}',
      },
    ]);
  });

  test('names the signal in which something is missing', () => {
    expect(refusalOf('[{}]').paths).toEqual(['[0].action', '[0].ticker']);
    expect(refusalOf('[{"action":"buy"}]').paths).toEqual(['[0].ticker', '[0].quantity']);
    expect(refusalOf('[{"action":"cancel"}]').paths).toEqual(['[0].ticker', '[0].signalId']);
  });

  test('of one is still an array', () => {
    expect(readAlert(`[{${orderText}}]`)).toEqual({
      isArray: true,
      isByArrival: false,
      items: [{ explicitId: null, signal: orderSignal }],
    });
  });

  test('holds one to ten', () => {
    const order = `{${orderText}}`;

    expect(readAlert(`[${Array(10).fill(order).join(',')}]`).items).toHaveLength(10);
    expect(issueOf(`[${Array(11).fill(order).join(',')}]`).message).toBe('the array contains 11 signals');
    expect(issueOf('[]').message).toBe('the array contains no signal');
  });

  test('refuses a second signal with the same id, which would count as a resend', () => {
    const body = `[{${orderText},"id":"a"},{${orderText},"id":"b"},{${orderText},"id":"a"}]`;

    expect(issueOf(body)).toEqual({
      path: '[2].id',
      message: '[0] has the same id',
      hint: 'give every signal an id of its own',
    });
  });
});

describe('the message of a refusal', () => {
  test.each([
    ['{}', 'the alert was refused: action: the alert has no action (and 1 more)'],
    ['7', 'the alert was refused: the signal is a number, not an object'],
    [orderWith('"sl":"NaN"'), 'the alert was refused: sl: "NaN" means that there is no value'],
  ])('of %s tells the first fault and how many follow', (body, message) => {
    expect(() => readAlert(body)).toThrow(message);
  });
});
