import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';
import { runs } from '../support/runs.ts';

const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, Number.NaN, Symbol('left out'), () => 'left out'),
  fc.date({ noInvalidDate: true }),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((digits) => parseDecimal(`${digits}e-12`)),
);
const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON', 'constructor', '7', '-1', 'b', 'a'));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));

test('a value is the same as JSON, to the byte, as after writing and parsing it', () => {
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 6 }), (given) => {
      const plain: unknown = JSON.parse(JSON.stringify(given));
      const direct = toJson(given);
      expect(JSON.stringify(direct)).toBe(JSON.stringify(plain));
      expect(isDeepStrictEqual(direct, plain)).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

test('a bigint has no JSON form', () => {
  expect(() => toJson({ a: 1n })).toThrow(TypeError);
});
