import { describe, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ceilToStep,
  type Decimal,
  decimalPlaces,
  floorToStep,
  formatDecimal,
  parseDecimal,
  zero,
} from '../../lib/base/decimal.ts';
import { runs } from '../support/runs.ts';

/** A number of the oracle: a whole count of the smallest unit, 10^-20. */
const scale = 20;
const UnitsArb = fc.oneof(
  fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
  // As prices and amounts are: few digits, and often a multiple of the step.
  fc
    .tuple(fc.bigInt({ min: -(10n ** 8n), max: 10n ** 8n }), fc.integer({ min: 0, max: 25 }))
    .map(([digits, zeros]) => digits * 10n ** BigInt(zeros)),
);
const StepArb = fc.oneof(
  fc.bigInt({ min: 1n, max: 10n ** 30n }),
  fc.integer({ min: 0, max: 25 }).map((zeros) => 10n ** BigInt(zeros)),
);
const settings = { seed: 20_260_101, numRuns: runs(2000) };

function plainText(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function decimalOf(units: bigint): Decimal {
  return parseDecimal(plainText(units));
}

/** Reads plain notation without the code under test. */
function unitsOf(value: Decimal): bigint {
  const [whole = '', fraction = ''] = formatDecimal(value).replace('-', '').split('.');
  const units = BigInt(whole + fraction.padEnd(scale, '0'));
  return formatDecimal(value).startsWith('-') ? -units : units;
}

function floorUnits(units: bigint, step: bigint): bigint {
  const rest = ((units % step) + step) % step;
  return units - rest;
}

describe('against whole numbers as the oracle', () => {
  test('a text is parsed and formatted exactly', () => {
    fc.assert(
      fc.property(UnitsArb, (units) => unitsOf(decimalOf(units)) === units),
      settings,
    );
  });

  test('exponent notation is parsed as the same number', () => {
    fc.assert(
      fc.property(UnitsArb, (units) => unitsOf(parseDecimal(`${units}e-${scale}`)) === units),
      settings,
    );
  });

  test('sums, differences and order are exact', () => {
    fc.assert(
      fc.property(UnitsArb, UnitsArb, (a, b) => {
        const [left, right] = [decimalOf(a), decimalOf(b)];
        const isExact = unitsOf(left.plus(right)) === a + b && unitsOf(left.minus(right)) === a - b;
        return isExact && left.lt(right) === a < b && left.eq(right) === (a === b);
      }),
      settings,
    );
  });

  test('floorToStep is the greatest multiple that does not exceed the value', () => {
    fc.assert(
      fc.property(UnitsArb, StepArb, (units, step) => {
        const down = unitsOf(floorToStep(decimalOf(units), decimalOf(step)));
        return down === floorUnits(units, step) && down <= units && down % step === 0n;
      }),
      settings,
    );
  });

  test('floorToStep and ceilToStep write their result as the remainder gives it', () => {
    fc.assert(
      fc.property(UnitsArb, StepArb, (units, stepUnits) => {
        const [value, step] = [decimalOf(units), decimalOf(stepUnits)];
        const rest = value.mod(step);
        const down = value.minus(rest.lt(zero) ? rest.plus(step) : rest);
        const up = value.minus(rest.gt(zero) ? rest.minus(step) : rest);
        const written = [floorToStep(value, step), ceilToStep(value, step)].map(formatDecimal);
        return written[0] === formatDecimal(down) && written[1] === formatDecimal(up);
      }),
      settings,
    );
  });

  test('ceilToStep is the smallest multiple that is not below the value', () => {
    fc.assert(
      fc.property(UnitsArb, StepArb, (units, step) => {
        const up = unitsOf(ceilToStep(decimalOf(units), decimalOf(step)));
        return up === -floorUnits(-units, step) && up >= units && up % step === 0n;
      }),
      settings,
    );
  });

  test('decimalPlaces is the smallest scale that holds the value', () => {
    fc.assert(
      fc.property(UnitsArb, (units) => {
        const places = decimalPlaces(decimalOf(units));
        const finer = 10n ** BigInt(scale - places);
        return units % finer === 0n && (places === 0 || units % (finer * 10n) !== 0n);
      }),
      settings,
    );
  });

  test('any text is either parsed or refused with a RangeError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.eE0-9]{1,12}$/)), (text) => {
        try {
          return formatDecimal(parseDecimal(text)).length <= 130;
        } catch (error) {
          return error instanceof RangeError;
        }
      }),
      settings,
    );
  });
});
