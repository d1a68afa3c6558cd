import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { describeError, describeSafely } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';

const own = new RelayError('store_unavailable', 'the ledger could not be read');

describe('an error is described', () => {
  test.each([
    ['of the relay, by its words', own, 'the ledger could not be read'],
    ['of the operating system, by its words', new Error('ENOSPC: disk full'), 'ENOSPC: disk full'],
    ['of a library, with its kind', new TypeError('no function'), 'TypeError: no function'],
    ['of another realm', runInNewContext('new RangeError("too much")'), 'RangeError: too much'],
    ['that is none', 'text', 'something that is no error was thrown'],
  ])('%s', (_, error: unknown, description) => {
    expect(describeError(error)).toBe(description);
  });

  test.each([
    ['of the relay, by its words', own, 'the ledger could not be read'],
    ['of anybody else, by its kind', new TypeError('the key is secret'), 'unexpected TypeError'],
    ['that is none', 'the key is secret', 'unexpected failure'],
  ])('to readers who must see no secret: %s', (_, error: unknown, description) => {
    expect(describeSafely(error)).toBe(description);
  });
});
