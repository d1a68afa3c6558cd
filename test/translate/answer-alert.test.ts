import { describe, expect, test } from '@jest/globals';
import { type Issue, RelayError } from '../../lib/base/errors.ts';
import { parseAlert } from '../../lib/signals/parse-alert.ts';
import { answerAlert } from '../../lib/translate/answer-alert.ts';
import { accountOn, bytesOf, context as usual } from '../signals/reading.ts';

const account = { ...accountOn('BTC_USDT', 'margin'), allowUnguardedMarket: true };
const context = { ...usual, account, tickers: { BTCUSDT: 'BTC_USDT' } };

/** What the relay answers to an alert that it refuses, and what it answered before it looked for another relay's words. */
function answersTo(text: string): { readonly before: readonly Issue[]; readonly after: readonly Issue[] } {
  const body = bytesOf(text);
  try {
    parseAlert(body, context);
  } catch (error) {
    return {
      before: (error as RelayError).issues,
      after: (answerAlert(error, body, context) as RelayError).issues,
    };
  }
  throw new Error(`expected a refusal of ${text}`);
}

const rewriting =
  'save the message to a file: `npx relay translate FILE` says what each part of it becomes here, and keeps its placeholders';

describe('a refused message of another relay is answered first with the message of the same meaning:', () => {
  test.each<[product: string, text: string, hint: string]>([
    [
      'WunderTrading',
      '{"code": "ENTER-LONG_BINANCE_BTCUSDT_bot_5m_9f8e7d", "orderType": "market", "amountPerTradeType": "percents", "amountPerTrade": 0.05}',
      `the message of the same meaning is {"ticker": "BTCUSDT", "action": "enter_long", "orderType": "market", "quantityPercent": "5%", "time": "{{timenow}}"}; ${rewriting}`,
    ],
    [
      '3Commas',
      '{"message_type": "bot", "bot_id": 123, "email_token": "abc-def", "delay_seconds": 0, "pair": "USDT_BTC", "action": "close_at_market_price"}',
      `the message of the same meaning is {"ticker": "BTCUSDT", "action": "close", "time": "{{timenow}}"}; ${rewriting}`,
    ],
  ])('%s, %s', (product, text, hint) => {
    const { before, after } = answersTo(text);

    expect(after[0]).toEqual({ path: '', message: `this is a message of ${product}`, hint });
    expect(after.slice(1)).toEqual(before);
  });
});

test.each([
  [
    'what is lost',
    'WunderTrading',
    '{"code": "ENTER-LONG_BINANCE_BTCUSDT_bot", "amountPerTradeType": "quote", "amountPerTrade": 50, "leverage": 5}',
  ],
  [
    'what is missing',
    'TradersPost',
    '{"ticker": "BTCUSDT", "action": "buy", "quantityType": "percent_of_equity", "quantity": 10}',
  ],
])('%s keeps it from being replaced, and the command that tells it is named last: %s', (_, product, text) => {
  const { before, after } = answersTo(text);

  expect(after).toEqual([
    ...before,
    { path: '', message: `this is a message of ${product}`, hint: rewriting },
  ]);
});

test.each([
  ['the usual names', '{"ticker": "BTCUSDT", "action": "buy", "quantity": "much"}'],
  [
    'a ticker that is not listed',
    '{"tv_instrument": "BTCUSDT", "ticker": "X", "action": "buy", "quantity": 1}',
  ],
  [
    'another time',
    '{"ticker": "BTCUSDT", "action": "buy", "quantityType": "fixed_quantity", "quantity": 1, "time": "noon"}',
  ],
])('%s: the issues alone say what to correct', (_, text) => {
  const { before, after } = answersTo(text);

  expect(after).toEqual(before);
});

test('no secret of the other relay stands in the answer', () => {
  const { after } = answersTo(
    '{"code": "ENTER-LONG_BINANCE_BTCUSDT_bot_s3cr3t9f8e7d", "secret": "hunter2hunter2", "email_token": "abc-def-ghi", "amountPerTrade": 5, "amountPerTradeType": "base"}',
  );

  expect(after.map(({ message }) => message)).toContain('this is a message of WunderTrading');
  expect(JSON.stringify(after)).not.toMatch(/s3cr3t|hunter2|abc-def/);
});

test('an error of another kind stays as it is', () => {
  const error = new RelayError('store_unavailable', 'no disk');

  for (const nobody of ['{}', '[]', '[[]]']) expect(answerAlert(error, bytesOf(nobody), context)).toBe(error);
});
