import { describe, expect, test } from '@jest/globals';
import { parseRedacted } from '../../lib/exchange/redaction.ts';

const secrets = ['public-key-0123456789', 'top/secret+text', 'a'.repeat(128)];

function read(text: string): unknown {
  return parseRedacted(text, secrets);
}

describe('a secret that comes back in a response', () => {
  test.each([
    ['a text', '{"a":"my public-key-0123456789!"}', { a: 'my [redacted]!' }],
    ['a key', '{"public-key-0123456789":1}', { '[redacted]': 1 }],
    ['a list', '[["top/secret+text"],1,null,true]', [['[redacted]'], 1, null, true]],
    ['a bare text', '"top/secret+text"', '[redacted]'],
    ['an escaped text', String.raw`{"a":"\u0070ublic-key-0123456789"}`, { a: '[redacted]' }],
    ['an escaped key', String.raw`{"t\u006fp\/secret+text":1}`, { '[redacted]': 1 }],
    ['JSON within a text', String.raw`{"a":"{\"k\":\"top\\/secret+text\"}"}`, { a: '{"k":"[redacted]"}' }],
    [
      'JSON within JSON within a text',
      String.raw`{"a":"[\"{\\\"k\\\":\\\"\\\\u0074op/secret+text\\\"}\"]"}`,
      { a: '["{"k":"[redacted]"}"]' },
    ],
  ])('is replaced in %s', (_, text, content) => {
    expect(read(text)).toEqual(content);
  });

  test.each([
    ['a signature', 'f'.repeat(128)],
    ['a signature in capitals', 'AB'.repeat(64)],
    ['a payload', Buffer.from('{"request":"/api/v4/order","nonce":1}').toString('base64')],
  ])('is replaced even when it is %s of another request', (_, text) => {
    expect(read(JSON.stringify({ a: `x ${text} y` }))).toEqual({ a: 'x [redacted] y' });
  });
});

describe('everything else', () => {
  test.each([
    '{"a":"ordinary","n":1.5,"list":[{"b":null}]}',
    String.raw`{"a":"a line\nand \"quotes\" \\ and \u00e9"}`,
    `{"a":"${'f'.repeat(127)} eyJhIjox"}`,
  ])('stays unchanged: %s', (text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  test('stays unchanged when the request held no secrets', () => {
    expect(parseRedacted(`{"a":"${'f'.repeat(128)}"}`, [])).toEqual({ a: 'f'.repeat(128) });
  });

  test('cannot change a prototype', () => {
    const content = read('{"__proto__":{"x":"top/secret+text"},"a":1}');

    expect(Object.getPrototypeOf(content)).toBe(Object.prototype);
    expect(Object.keys(content as object)).toEqual(['__proto__', 'a']);
  });

  test('that is not JSON, or hides a secret deeper than any response nests, is an error', () => {
    expect(() => read('<html>')).toThrow(SyntaxError);
    expect(() => read(`${'['.repeat(40)}"top/secret+text"${']'.repeat(40)}`)).toThrow(RangeError);
  });

  test('is not redacted when the secret is so short that it could be a word', () => {
    expect(parseRedacted('{"status":"OPEN"}', ['OPEN'])).toEqual({ status: 'OPEN' });
  });
});
