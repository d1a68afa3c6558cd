import { expect, test } from '@jest/globals';
import { connectCcxt } from './ccxt.ts';

test('loads', async () => {
  const e = await connectCcxt('http://127.0.0.1:1', 'paper-key', 'paper-secret');
  expect(e.urls.api).toEqual({});
});
