import { describe, expect, test } from '@jest/globals';
import type { Issue } from '../../lib/base/errors.ts';
import { issueOf, orderSignal, orderText, readAlert, readSignal, refusalOf } from './reading.ts';

/** Bodies that people, scripts and bridges were seen to send, and how each is answered. */
describe('a body seen in the wild', () => {
  describe('that is not JSON is refused with the place and the likely mistake', () => {
    test.each<[string, string, Omit<Issue, 'path'>]>([
      [
        'trailing comma',
        '{"ticker":"BTCUSDT.P","action":"buy",}',
        { message: 'line 1, column 38: found "}"', hint: 'remove the comma after the last value' },
      ],
      [
        'missing comma',
        '{"ticker":"BTCUSDT.P"\n"action":"buy"}',
        { message: 'line 2, column 1: found a double quote', hint: 'a comma is missing before this' },
      ],
      [
        'single quotes',
        "{'ticker':'BTCUSDT.P'}",
        {
          message: 'line 1, column 2: found "\'"',
          hint: 'JSON takes double quotes "; replace the single ones',
        },
      ],
      [
        'a quote inside a value',
        '{"ticker":"BTCUSDT.P","comment":"the "long" side"}',
        {
          message: 'line 1, column 39: found "l"',
          hint: 'a quote inside a text must be written \\"; or remove it',
        },
      ],
      [
        '= for :',
        '{"ticker"="BTCUSDT.P"}',
        {
          message: 'line 1, column 10: found "="',
          hint: 'a name and its value are parted by a colon; write : for =',
        },
      ],
      [
        'no braces',
        '"ticker":"BTCUSDT.P","action":"buy"',
        {
          message: 'line 1, column 9: found ":"',
          hint: 'the braces are missing; put { before the first line and } after the last',
        },
      ],
      [
        'CRLF and doubled quotes from an e-mail bridge',
        '{\r\n""ticker"":""BTCUSDT.P"",\r\n""action"":""buy""\r\n}',
        {
          message: 'line 2, column 3: found "t"',
          hint: 'quotes are doubled, as e-mail and CSV bridges do; send each quote once',
        },
      ],
      [
        'an empty body',
        '',
        {
          message: 'line 1, column 1: found the end of the body',
          hint: 'write the alert into the message box of the alert: a JSON object with ticker, action and the rest',
        },
      ],
      [
        'a bare NaN',
        `{${orderText},"limitPrice":NaN}`,
        {
          message: 'line 1, column 112: found "N"',
          hint: 'JSON does not know this word; a script wrote a value it did not have: correct the script, or leave the line out',
        },
      ],
      [
        'a raw newline inside a string',
        `{${orderText},"comment":"first\nsecond"}`,
        {
          message: 'line 1, column 115: found a line break',
          hint: 'a string must not contain a line break; write \\n, or put the text on one line',
        },
      ],
      [
        'no-break spaces',
        '{\u00a0"ticker":\u00a0"BTCUSDT.P"}',
        {
          message: 'line 1, column 2: found the character U+00A0',
          hint: 'a no-break or invisible space came along when copying; replace it by a plain space',
        },
      ],
      [
        'a bare placeholder that stayed literal',
        `{${orderText},"limitPrice":{{strategy.order.prise}}}`,
        {
          message: 'line 1, column 113: found "{"',
          hint: 'a placeholder stands bare where TradingView filled nothing in; check its spelling, and quote it',
        },
      ],
      [
        'smart quotes',
        '{\u201cticker\u201d:\u201cBTCUSDT.P\u201d}',
        {
          message: 'line 1, column 2: found the character U+201C',
          hint: 'typographic quotes came from a word processor or chat; use straight double quotes "',
        },
      ],
      [
        'a form',
        'ticker=BTCUSDT.P&action=buy',
        {
          message: 'line 1, column 1: found "t"',
          hint: 'this looks form-urlencoded; send the JSON object itself as the body, not a form',
        },
      ],
    ])('%s', (_, body, issue) => {
      expect(refusalOf(body)).toEqual({
        code: 'invalid_json',
        paths: [''],
        issues: [{ path: '', ...issue }],
      });
    });
  });

  describe('whose price is none is refused by the name of what it is', () => {
    const absent = 'correct the script, or leave the line out if it is optional';
    test.each<[string, string, string]>([
      ['"None"', '"None" says that there is no value', absent],
      ['"null"', '"null" says that there is no value', absent],
      ['"NaN"', '"NaN" says that there is no value', absent],
      ['null', 'null is not a number', absent],
      ['""', '"" is empty', `the placeholder was filled with nothing; ${absent}`],
      ['"True"', '"True" is true or false', 'write the number in digits, with a point before decimals'],
      ['true', 'true is not a number', 'write the number in digits, with a point before decimals'],
      [
        '"5%"',
        '"5%" is a per cent',
        'shares of a balance or price are not taken; let the script work out the number',
      ],
      [
        '"{{plot_0}}"',
        '"{{plot_0}}" is a placeholder, not a number',
        'nothing filled the placeholder: check its spelling; alert() fills none, and {{strategy.…}} needs a strategy alert',
      ],
    ])('%s', (price, message, hint) => {
      const body = `{${orderText},"stopLoss":${price}}`;

      expect(refusalOf(body).code).toBe('invalid_signal');
      expect(issueOf(body)).toEqual({ path: 'stopLoss', message, hint });
    });
  });

  describe('that is JSON but no object is refused with its kind', () => {
    const hint = 'send an object with ticker, action and the rest: {"ticker": "{{ticker}}", …}';
    test.each([
      ['"buy"', 'the signal is a string, not an object'],
      ['42', 'the signal is a number, not an object'],
      ['true', 'the signal is a boolean, not an object'],
      ['null', 'the signal is null, not an object'],
    ])('%s', (body, message) => {
      expect(refusalOf(body).code).toBe('invalid_signal');
      expect(issueOf(body)).toEqual({ path: '', message, hint });
    });

    test('an object inside a string is told from other strings', () => {
      expect(issueOf('"{\\"ticker\\":1}"').hint).toBe(
        'the object stands in quotes, as text; send it as it is, beginning with {',
      );
    });
  });

  test('a number where a text should be is refused', () => {
    expect(issueOf(`{${orderText.replace('"BTCUSDT.P"', '1234')}}`)).toEqual({
      path: 'ticker',
      message: '"1234" is not a ticker',
      hint: 'write the ticker in double quotes: "{{ticker}}"',
    });
  });

  test('duplicate keys are refused, also when their values agree', () => {
    expect(issueOf(`{${orderText},"quantity":0.5}`)).toEqual({
      path: 'quantity',
      message: '"quantity" is given twice',
      hint: 'keep one of them',
    });
  });

  test('a byte-order mark is tolerated', () => {
    expect(readSignal(`\ufeff{${orderText}}`)).toEqual(orderSignal);
  });

  test('CRLF between the lines is plain JSON', () => {
    expect(readSignal(`{\r\n${orderText.replaceAll(',', ',\r\n')}\r\n}\r\n`)).toEqual(orderSignal);
  });

  test('every number may be a string', () => {
    const body = `{${orderText.replace('0.5', '"0.5"').replace('100', '"100"')}}`;

    expect(readSignal(body)).toEqual(orderSignal);
  });

  test('1e-7 becomes a plain decimal', () => {
    expect(readSignal(`{${orderText.replace('0.5', '1e-7')}}`)).toEqual({
      ...orderSignal,
      size: { unit: 'base', quantity: '0.0000001' },
    });
  });

  test('1194.6000000000001 keeps every digit', () => {
    expect(readSignal(`{${orderText.replace(':100', ':1194.6000000000001')}}`)).toEqual({
      ...orderSignal,
      stopPrice: '1194.6000000000001',
    });
  });

  test('more digits than a float holds are kept, as a number too', () => {
    expect(readSignal(`{${orderText.replace(':100', ':0.12345678901234567890123')}}`)).toEqual({
      ...orderSignal,
      stopPrice: '0.12345678901234567890123',
    });
  });

  test('an array of signals is taken in order', () => {
    const cancel = '{"ticker":"BTCUSDT.P","action":"cancel_all","time":"2026-01-31T12:00:00Z"}';

    expect(readAlert(`[${cancel},{${orderText}}]`)).toEqual({
      isArray: true,
      items: [
        {
          explicitId: null,
          signal: {
            ticker: 'BTCUSDT.P',
            market: 'BTC_PERP',
            timeMs: 1769860800000,
            maxLagMs: 60_000,
            action: 'cancel_all',
          },
        },
        { explicitId: null, signal: orderSignal },
      ],
    });
  });
});
