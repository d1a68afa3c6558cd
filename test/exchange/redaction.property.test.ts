import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseRedacted } from '../../lib/exchange/redaction.ts';
import { runs } from '../support/runs.ts';

const hexDigits = fc.constantFrom(...'0123456789abcdefABCDEF');
const hexRun = fc
  .integer({ min: 120, max: 300 })
  .chain((length) => fc.string({ unit: hexDigits, minLength: length, maxLength: length }));
const payload = fc
  .tuple(fc.constantFrom('eyJ', 'EYJ', 'eYj', 'ey'), fc.stringMatching(/^[\w+/-]{20,40}={0,2}$/))
  .map((parts) => parts.join(''));
const filler = fc.string({ unit: fc.constantFrom(...'ghz .:-_019afé😀ſK'), maxLength: 200 });
const texts = fc.array(fc.oneof(filler, hexRun, payload)).map((parts) => parts.join(''));

test('every signature and payload in a response is replaced, wherever it stands', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const expected = text.replaceAll(/[0-9a-f]{128}|eyJ[\w+/-]{24,}={0,2}/giu, '[redacted]');
      expect(parseRedacted(JSON.stringify(text), ['another-secret'])).toBe(expected);
    }),
    { numRuns: runs(1000) },
  );
});
