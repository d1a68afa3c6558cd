import { describe, expect, test } from '@jest/globals';
import type { Issue } from '../../lib/base/errors.ts';
import { issueOf, orderSignal, orderText, readAlert, readSignal, refusalOf } from './reading.ts';

/** Bodies that people, scripts and bridges really sent, and the response to each. */
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
          hint: 'JSON needs double quotes "; replace the single ones',
        },
      ],
      [
        'a quote inside a value',
        '{"ticker":"BTCUSDT.P","comment":"the "long" side"}',
        {
          message: 'line 1, column 39: found "l"',
          hint: 'write a quote inside a text as \\", or remove it',
        },
      ],
      [
        '= for :',
        '{"ticker"="BTCUSDT.P"}',
        {
          message: 'line 1, column 10: found "="',
          hint: 'a name and its value are separated by a colon; write : instead of =',
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
          hint: 'this word is not JSON; the script had no value to write: correct the script, or leave the line out',
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
          hint: 'the text contains a no-break or invisible space, often copied from a web page; replace it by a plain space',
        },
      ],
      [
        'a bare placeholder that stayed literal',
        `{${orderText},"limitPrice":{{strategy.order.prise}}}`,
        {
          message: 'line 1, column 113: found "{"',
          hint: 'TradingView did not fill a placeholder that has no quotes; check its spelling, and put it in double quotes',
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
        'commands of Alertatron',
        'MyKeys(XBTUSD) { market(side=buy, amount=100); }\n#bot',
        {
          message: 'line 1, column 1: found "M"',
          hint: 'commands of other services are not accepted; write the order as a JSON object with ticker, action and the rest',
        },
      ],
      [
        'commands of CrossTrade',
        'key=your-secret-key;\ncommand=PLACE;\naction=buy;\nqty=1;',
        {
          message: 'line 1, column 1: found "k"',
          hint: 'commands of other services are not accepted; write the order as a JSON object with ticker, action and the rest',
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

  describe('whose price is not a number is refused with the reason', () => {
    const absent = 'correct the script, or leave the line out if it is optional';
    test.each<[string, string, string]>([
      ['"None"', '"None" means that there is no value', absent],
      ['"null"', '"null" means that there is no value', absent],
      ['"NaN"', '"NaN" means that there is no value', absent],
      ['null', 'null is not a number', absent],
      ['""', '"" is empty', `TradingView filled the placeholder with nothing; ${absent}`],
      ['"True"', '"True" is true or false', 'write the number in digits, with a point before decimals'],
      ['true', 'true is not a number', 'write the number in digits, with a point before decimals'],
      [
        '"5 %%"',
        '"5 %%" is a per cent in the notation of another relay',
        'a per cent has one sign, for example "2%", and may stand in "quantity", "quantityPercent", "maxSlippage", "stopLoss" and "takeProfit"; "of" says what a size is a share of: "balance" or "position"',
      ],
      [
        '"{{plot_0}}"',
        '"{{plot_0}}" is a placeholder, not a number',
        'TradingView did not fill the placeholder: check its spelling; alert() fills no placeholders, and {{strategy.…}} needs a strategy alert',
      ],
    ])('%s', (price, message, hint) => {
      const body = `{${orderText},"stopLoss":${price}}`;

      expect(refusalOf(body).code).toBe('invalid_signal');
      expect(issueOf(body)).toEqual({ path: 'stopLoss', message, hint });
    });
  });

  describe('that is JSON but not an object is refused with its kind', () => {
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

    test('an object inside a string gets its own hint', () => {
      expect(issueOf('"{\\"ticker\\":1}"').hint).toBe(
        'the object is inside quotes; send it without them, beginning with {',
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
      isByArrival: false,
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
