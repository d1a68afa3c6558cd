import { expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';

test('decimals become plain text and undefined fields are dropped, at every depth', () => {
  const value = {
    price: parseDecimal('1e-7'),
    list: [{ amount: parseDecimal('2.50'), note: undefined }],
    none: null,
  };
  expect(toJson(value)).toStrictEqual({ price: '0.0000001', list: [{ amount: '2.5' }], none: null });
});
