import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { explainText } from '../../lib/translate/answer-text.ts';
import { issuesOf, writeMessage } from '../../lib/translate/own-message.ts';
import { readSignal, context as usual } from '../signals/reading.ts';
import { runs } from '../support/runs.ts';

const seed = 20_261_123;
const context = { ...usual, tickers: { BTCUSDT: 'BTC_USDT', ETHUSDT: 'ETH_USDT' } };

const action = fc.constantFrom(['buy', 'buy'], ['SELL', 'sell'], ['long', 'buy'], ['Short', 'sell']);
const ticker = fc.constantFrom('BTCUSDT', 'ETHUSDT');
const size = fc.integer({ min: 1, max: 99_999 }).map((thousandths) => String(thousandths / 1000));
const noise = fc.constantFrom('now', 'signal', 'hunter2Secret', '!', 'kHz9_x', 'strategy');
/** Words of the vocabulary and others, in any order and number. */
const word = fc.oneof(
  fc.constantFrom(
    'buy',
    'sell',
    'long',
    'short',
    'close',
    'not',
    'limit',
    'market',
    'sl',
    'tp',
    '@',
    'at',
    'stop',
  ),
  fc.constantFrom(
    'BTCUSDT',
    'ETHUSDT',
    'qty=',
    'action:',
    'ticker=',
    '&',
    ';',
    ',',
    '=',
    '%',
    'USDT',
    'reduceOnly',
  ),
  fc.constantFrom('{{ticker}}', '{{strategy.order.action}}', '{{close}}', 'order', 'filled on'),
  size,
  noise,
);

const name = fc.oneof(
  fc.constantFrom('side', 'amount', 'offset', 'q', 'fp', 'l', 'qty', 'action', 'limit_price', 'comment'),
  noise,
);
/** Of other relays, around the values that follow their symbol. */
const commands: readonly ((pairs: readonly string[]) => string)[] = [
  (pairs) => `hunterKey(BTCUSDT) { market(${pairs.join(', ')}); }`,
  (pairs) => `MyKeys(hunter2) { limit(${pairs.join(', ')}); hunter(${pairs[0] ?? ''}); }`,
  (pairs) => `a=hunter2 s=BTCUSDT b=buy ${pairs.join(' ')}`,
  (pairs) => `key=hunter2; command=CLOSEPOSITION; account=hunter; instrument=BTCUSDT; ${pairs.join('; ')};`,
  (pairs) => `6012345678901,closelong,BTCUSDT,${pairs.join(',')}`,
];

describe('an answer to a text', () => {
  test('has the side and the size of the words, whatever their order and what stands around them', () => {
    fc.assert(
      fc.property(
        fc.tuple(
          action,
          ticker,
          size,
          fc.array(noise, { maxLength: 2 }),
          fc.constantFrom(' ', ', ', '; ', '\n'),
        ),
        fc.infiniteStream(fc.nat()),
        ([[said, side], symbol, quantity, others, separator], order) => {
          const words = [said as string, symbol, quantity, ...others]
            .map((text) => ({ text, rank: order.next().value ?? 0 }))
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ text }) => text);
          const messages = explainText(words.join(separator), context)?.messages ?? [];

          // A word that means nothing to the relay could be the stop or the unit.
          if (others.length > 0 && messages.length === 0) return;
          expect(messages).toHaveLength(1);
          const sent = writeMessage(messages[0] ?? {}).replace('{{timenow}}', '2026-01-31T12:00:00Z');
          expect(readSignal(sent, context)).toMatchObject({
            action: 'order',
            ticker: symbol,
            side,
            size: { unit: 'base', quantity },
          });
        },
      ),
      { seed, numRuns: runs(400) },
    );
  });

  test('never fails, is bounded, repeats nothing unknown, and its message is taken by the relay', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
          fc.array(word, { maxLength: 12 }).map((words) => words.join('')),
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc
            .tuple(fc.constantFrom(...commands), fc.array(fc.tuple(name, word), { maxLength: 4 }))
            .map(([shape, pairs]) => shape(pairs.map(([key, value]) => `${key}=${value}`))),
        ),
        (text) => {
          const answer = explainText(text, context);
          if (answer === null) return;
          expect(answer.hint.length).toBeLessThan(3_000);
          expect(answer.hint).not.toMatch(/hunter|kHz9/);
          if (answer.messages.length === 0) return;
          const issues = issuesOf(answer.messages, context);
          expect(issues.filter(({ path }) => !path.endsWith('ticker'))).toEqual([]);
        },
      ),
      { seed, numRuns: runs(3_000) },
    );
  });
});
