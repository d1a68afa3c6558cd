import { describe, expect, test } from '@jest/globals';
import { parseSignalMessage } from '../../lib/queue/parse-message.ts';
import { deduplicationIdOf, groupOf } from '../../lib/queue/queue.ts';

const message = { account: 'main', signalId: 'tv-1.a', market: 'BTC_USDT' };

test('a group is an account and a market; a duplicate has the same account and signal', () => {
  expect(groupOf(message)).toBe('main.BTC_USDT');
  expect(deduplicationIdOf(message)).toBe('main.tv-1.a');
});

describe('parseSignalMessage', () => {
  test('reads what was enqueued', () => {
    expect(parseSignalMessage('{"account":"main","signalId":"tv-1.a","market":"BTC_USDT"}')).toStrictEqual(
      message,
    );
  });

  test.each([
    '',
    'null',
    '[]',
    '{"account":"main"}',
    '{"account":1,"signalId":"a","market":"B"}',
    '{"account":',
  ])('refuses %j without quoting it', (body) => {
    expect(() => parseSignalMessage(body)).toThrow(
      expect.objectContaining({
        code: 'message_invalid',
        message: 'the message is not a pointer to a signal',
      }),
    );
  });
});
