import { expect, test } from '@jest/globals';
import { decodeJsonEscapes, readJson } from '../../lib/base/json.ts';

test.each([
  ['{"a":[1,null]}', { a: [1, null] }],
  ['null', null],
  ['{"a":', undefined],
  ['', undefined],
])('%j holds, as JSON, %j', (text, content) => {
  expect(readJson(text)).toEqual(content);
});

test.each([
  [String.raw`\u0041\U0042`, 'AB'],
  [String.raw`a\nb\tc`, 'a\nb\tc'],
  [String.raw`\"\\\/`, '"\\/'],
  [String.raw`\q`, 'q'],
  [String.raw`\\u0041`, String.raw`\u0041`],
])('%s is decoded once', (text, decoded) => {
  expect(decodeJsonEscapes(text)).toBe(decoded);
});
