import { describe, expect, test } from '@jest/globals';
import {
  ceilToStep,
  decimalPlaces,
  floorToStep,
  formatDecimal,
  formatPercent,
  isDecimalText,
  minimum,
  one,
  parseDecimal,
  stepOfPlaces,
  zero,
} from '../../lib/base/decimal.ts';

const twentyZeros = '0'.repeat(20);

describe('parseDecimal', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['+7', '7'],
    ['007', '7'],
    ['5.', '5'],
    ['.5', '0.5'],
    ['-.5', '-0.5'],
    ['1.500', '1.5'],
    ['1e-7', '0.0000001'],
    ['2.5E+3', '2500'],
    ['1194.6000000000001', '1194.6000000000001'],
    ['9007199254740993', '9007199254740993'],
    ['0e999', '0'],
    ['1e40', `1${twentyZeros}${twentyZeros}`],
    ['1e-40', `0.${twentyZeros}${'0'.repeat(19)}1`],
    [`0.${'1'.repeat(62)}`, `0.${'1'.repeat(62)}`],
  ])('reads %s as exactly %s', (text, plain) => {
    expect(formatDecimal(parseDecimal(text))).toBe(plain);
  });

  test.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '1\n',
    '.',
    '-',
    '+-1',
    '1,5',
    '1_000',
    '5%',
    '0x10',
    '1e',
    '1e5.5',
    'e5',
    'NaN',
    'Infinity',
    'null',
    '१',
    '{{close}}',
    '1e41',
    '1e-41',
    '1e999',
    '1e9999',
    '1'.repeat(65),
  ])('refuses "%s"', (text) => {
    expect(isDecimalText(text)).toBe(false);
    expect(() => parseDecimal(text)).toThrow(RangeError);
  });

  test('never quotes more than 64 characters of what it refuses', () => {
    expect(() => parseDecimal('9'.repeat(1000))).toThrow(`"${'9'.repeat(64)}" is not a decimal number`);
  });
});

describe('a decimal', () => {
  test('becomes plain text in JSON, whatever its size', () => {
    const value = {
      tiny: parseDecimal('1e-30'),
      huge: parseDecimal('1e30'),
      negative: parseDecimal('-1.10'),
    };
    expect(JSON.stringify(value)).toBe(
      `{"tiny":"0.${'0'.repeat(29)}1","huge":"1${'0'.repeat(30)}","negative":"-1.1"}`,
    );
  });

  test('adds exactly where floats do not', () => {
    expect(formatDecimal(parseDecimal('0.1').plus(parseDecimal('0.2')))).toBe('0.3');
  });

  test('is never made from a JavaScript number, and cannot be compared with < by mistake', () => {
    expect(() => one.plus(0.1)).toThrow();
    expect(() => one < zero).toThrow();
  });

  test('truncates an endless quotient at 40 places and never rounds it up', () => {
    expect(formatDecimal(parseDecimal('2').div(parseDecimal('3')))).toBe(`0.${'6'.repeat(40)}`);
  });
});

describe('steps', () => {
  test.each([
    ['1.2345', '0.01', '1.23', '1.24'],
    ['1.23', '0.01', '1.23', '1.23'],
    ['-1.2345', '0.01', '-1.24', '-1.23'],
    ['-1.23', '0.01', '-1.23', '-1.23'],
    ['0.0099', '0.01', '0', '0.01'],
    ['0', '0.01', '0', '0'],
    ['2.1', '0.7', '2.1', '2.1'],
    ['10', '3', '9', '12'],
    ['17', '5', '15', '20'],
    ['1194.6000000000001', '0.1', '1194.6', '1194.7'],
    // These quotients are closer to a whole number than 40 places can show.
    [`-2.${'0'.repeat(59)}1`, '1', '-3', '-2'],
    [`1.${'9'.repeat(60)}`, '1', '1', '2'],
  ])('of %s by %s are %s below and %s above', (value, step, below, above) => {
    expect(formatDecimal(floorToStep(parseDecimal(value), parseDecimal(step)))).toBe(below);
    expect(formatDecimal(ceilToStep(parseDecimal(value), parseDecimal(step)))).toBe(above);
  });

  test.each(['0', '-0.01'])('of %s are refused', (step) => {
    expect(() => floorToStep(one, parseDecimal(step))).toThrow(`a step must be positive, not ${step}`);
    expect(() => ceilToStep(one, parseDecimal(step))).toThrow(RangeError);
  });

  test.each([
    [0, '1'],
    [3, '0.001'],
    [8, '0.00000001'],
  ])('of %i decimals are %s', (places, step) => {
    expect(formatDecimal(stepOfPlaces(places))).toBe(step);
  });

  test.each([-1, 0.5, Number.NaN])('of %d decimals do not exist', (places) => {
    expect(() => stepOfPlaces(places)).toThrow();
  });
});

test.each([
  ['0', 0],
  ['100', 0],
  ['1.50', 1],
  ['0.001', 3],
  ['123.456', 3],
  ['1e-7', 7],
])('decimalPlaces of %s is %i', (text, places) => {
  expect(decimalPlaces(parseDecimal(text))).toBe(places);
});

test.each([
  ['0', '0%'],
  ['0.001', '0.1%'],
  ['0.03', '3%'],
  ['0.00000001', '0.000001%'],
])('formatPercent writes the rate %s as %s', (rate, text) => {
  expect(formatPercent(parseDecimal(rate))).toBe(text);
});

test('minimum gives the smaller of two', () => {
  expect(formatDecimal(minimum(parseDecimal('2'), parseDecimal('10')))).toBe('2');
  expect(formatDecimal(minimum(parseDecimal('-1'), parseDecimal('-2')))).toBe('-2');
});
