import { describe, expect, test } from '@jest/globals';
import { readRefusedNames } from '../../lib/signals/refused-names.ts';

const namesIn = (text: string) => readRefusedNames(Buffer.from(text), []);

describe('the names of a refused alert', () => {
  test.each([
    ['its id and ticker', '{"id":"a","ticker":"BTCUSDT"}', 'a', 'BTCUSDT'],
    ['an id that is a number', '{"id":7}', '7', null],
    ['an id although all else is wrong', '{"quantity":{},"id":"a","nonsense":[[]],"ticker":5}', 'a', '5'],
    ['the other name of an order id', '{"action":" BUY ","signalId":"a"}', 'a', null],
    ['the order id of an exit', '{"ACTION":"exit-long","signal_id":"a"}', 'a', null],
    ['the signal a cancel names, which is another one', '{"action":"cancel","signalId":"a"}', null, null],
    ['the ticker under another name', '{"symbol":"BTCUSDT"}', null, 'BTCUSDT'],
    ['the beginning of a long ticker', `{"ticker":"${'x'.repeat(99)}"}`, null, `${'x'.repeat(28)}…`],
    ['a ticker that would steer a terminal', '{"ticker":"\\u001b[2J"}', null, '\\u001b[2J'],
    ['no id that no signal could have', '{"id":"a@refused-b"}', null, null],
    ['no id of the kind the relay gives', '{"id":"refused-1"}', null, null],
    ['what stands before a trailing comma', '{"id":"a","ticker":"BTCUSDT",}', 'a', 'BTCUSDT'],
    ['what stands before the end, where it breaks off', '{"id":"a","ticker":"BTCUS', 'a', null],
    ['nothing of what is no object', '"id"', null, null],
  ])('are %s', (_, text, id, ticker) => {
    expect(namesIn(text)).toEqual([{ id, ticker }]);
  });

  test('are those of each signal of an array', () => {
    expect(namesIn('[{"id":"a"},5,{"id":"b","ticker":"ETHUSDT"}]')).toEqual([
      { id: 'a', ticker: null },
      { id: null, ticker: null },
      { id: 'b', ticker: 'ETHUSDT' },
    ]);
  });

  test.each(['', 'no json', '[]', '['.repeat(16_000).slice(0, 1)])('are none in %j', (text) => {
    expect(namesIn(text).filter(({ id, ticker }) => id !== null || ticker !== null)).toEqual([]);
  });

  test('are empty for bytes that are not text, and for thousands of brackets', () => {
    expect(readRefusedNames(new Uint8Array([0x7b, 0xff]), [])).toEqual([]);
    expect(namesIn('['.repeat(16_000))).toEqual([{ id: null, ticker: null }]);
  });
});
