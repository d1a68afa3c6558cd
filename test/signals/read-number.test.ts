import { describe, expect, test } from '@jest/globals';
import { issueOf, orderSignal, orderText, orderWith, readSignal, refusalOf } from './reading.ts';

describe('a number', () => {
  const plain = 'write the number in digits, with a point before decimals';
  const exit = 'write a price, or a distance from the entry price: "takeProfit": "4%"';
  const absent = 'correct the script, or leave the line out if it is optional';
  const size = 'write at most 64 characters, between 1e-40 and 1e40';
  test.each([
    ['"  "', '"" is empty', `TradingView filled the placeholder with nothing; ${absent}`],
    ['"none"', '"none" means that there is no value', absent],
    ['"na"', '"na" means that there is no value', absent],
    ['"undefined"', '"undefined" means that there is no value', absent],
    ['"Infinity"', '"Infinity" is infinite', 'correct the division by zero in the script'],
    ['"-inf"', '"-inf" is infinite', 'correct the division by zero in the script'],
    ['"false"', '"false" is true or false', plain],
    ['false', 'false is not a number', plain],
    ['{}', 'the take-profit needs one price or one distance', exit],
    ['"0x1F"', '"0x1F" is not decimal', plain],
    ['"0b11"', '"0b11" is not decimal', plain],
    [
      '"1,234.5"',
      '"1,234.5" has separators between its digits',
      'leave thousands separators out, and write a point before decimals: 1234.5',
    ],
    [
      '"1 234"',
      '"1 234" has separators between its digits',
      'leave thousands separators out, and write a point before decimals: 1234.5',
    ],
    ['"0,5"', '"0,5" has a decimal comma', 'write a point before decimals: 1234.5'],
    ['"1.234,56"', '"1.234,56" has a decimal comma', 'write a point before decimals: 1234.5'],
    ['0', '"0" is zero', 'write a number above zero, or leave the line out if it is optional'],
    ['"-0.00"', '"-0.00" is zero', 'write a number above zero, or leave the line out if it is optional'],
    ['-1', '"-1" is negative', 'write a number above zero; "action" sets the direction'],
    ['"90 USDT"', '"90 USDT" is not a number', plain],
    ['"1e"', '"1e" is not a number', plain],
    ['"1.2.3"', '"1.2.3" is not a number', plain],
    ['"--1"', '"--1" is not a number', plain],
    ['1e41', '"1e41" is too large, too small or too long for any market', size],
    ['1e-41', '"1e-41" is too large, too small or too long for any market', size],
    ['1e999', '"1e999" is too large, too small or too long for any market', size],
    [`"${'9'.repeat(65)}"`, `"${'9'.repeat(28)}…" is too large, too small or too long for any market`, size],
  ])('is not %s', (price, message, hint) => {
    expect(issueOf(orderWith(`"takeProfit":${price}`))).toEqual({ path: 'takeProfit', message, hint });
  });

  test('may have an exponent of either sign and case', () => {
    expect(readSignal(orderWith('"takeProfit":1.5E+3,"stopLoss":"25e-1"'))).toEqual({
      ...orderSignal,
      takeProfit: '1500',
      stopLoss: '2.5',
    });
  });
});

describe('a number that must be no per cent', () => {
  test.each([
    [
      '"5%"',
      '"5%" is a per cent',
      'this field takes a number; per cents belong into "quantity", "quantityPercent", "maxSlippage", "stopLoss" and "takeProfit"',
    ],
    [
      '"50%p"',
      '"50%p" is a per cent in the notation of another relay',
      'a per cent has one sign, for example "2%", and may stand in "quantity", "quantityPercent", "maxSlippage", "stopLoss" and "takeProfit"; "of" says what a size is a share of: "balance" or "position"',
    ],
    ['{"value":90}', 'an object is not a number', 'this field takes one number: let the script calculate it'],
  ])('is not %s', (price, message, hint) => {
    expect(issueOf(orderWith(`"limitPrice":${price}`))).toEqual({ path: 'limitPrice', message, hint });
  });
});

describe('the largest lag', () => {
  test.each([
    ['30', 30_000],
    ['"30"', 30_000],
    ['0.5', 500],
    ['0.0019', 1],
    ['86400', 86_400_000],
  ])('of %s s is taken', (maxLag, maxLagMs) => {
    expect(readSignal(orderWith(`"maxLag":${maxLag}`))).toEqual({ ...orderSignal, maxLagMs });
  });

  test.each(['0', '-1', '0.0009', '86400.001', '"1 min"', 'null'])('of %s is refused', (maxLag) => {
    expect(refusalOf(orderWith(`"maxLag":${maxLag}`)).paths).toEqual(['maxLag']);
  });

  test('needs a time to be compared with', () => {
    const body = `{${orderText.replace('"time":"2026-01-31T12:00:00Z"', '"id":"a","maxLag":30')}}`;

    expect(issueOf(body)).toEqual({
      path: 'maxLag',
      message: 'without a time, the age of the alert cannot be compared with maxLag',
      hint: 'add "time": "{{timenow}}"',
    });
  });
});
