import { describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { parseJson } from '../../lib/signals/parse-json.ts';
import { bytesOf, issueOf, refusalOf } from './reading.ts';

describe('parseJson', () => {
  test('keeps every digit of a number and every member of an object', () => {
    const root = parseJson(bytesOf('{"a":1194.6000000000001,"a":1e-7,"b":[true,null,"x"],"c":{}}'));

    expect(root).toEqual({
      kind: 'object',
      members: [
        { name: 'a', value: { kind: 'number', text: '1194.6000000000001' } },
        { name: 'a', value: { kind: 'number', text: '1e-7' } },
        {
          name: 'b',
          value: {
            kind: 'array',
            items: [{ kind: 'boolean', value: true }, { kind: 'null' }, { kind: 'string', text: 'x' }],
          },
        },
        { name: 'c', value: { kind: 'object', members: [] } },
      ],
    });
  });

  test('drops one byte-order mark', () => {
    expect(parseJson(bytesOf('\ufeff"x"'))).toEqual({ kind: 'string', text: 'x' });
  });

  test('takes sixteen levels of nesting and refuses the seventeenth where it begins', () => {
    const sixteen = `${'['.repeat(16)}${']'.repeat(16)}`;

    expect(parseJson(bytesOf(sixteen)).kind).toBe('array');
    expect(refusalOf(`[${sixteen}]`).code).toBe('invalid_json');
    expect(issueOf(`[${sixteen}]`).message).toBe('line 1, column 17: nested deeper than 16 levels');
  });

  test.each(['[', '{"a":', '[{"a":'])('survives 16 KiB of %s', (piece) => {
    const body = piece.repeat(Math.floor(16_384 / piece.length));

    expect(issueOf(body).message).toContain('nested deeper than 16 levels');
  });

  test('refuses bytes that are not UTF-8, and still reads the next body', () => {
    const broken = Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d);

    expect(issueOf(broken)).toEqual({
      path: '',
      message: 'the body is not UTF-8 text',
      hint: 'send the alert message as UTF-8 text',
    });
    expect(parseJson(bytesOf('"é"'))).toEqual({ kind: 'string', text: 'é' });
  });

  test('counts lines and columns from one, whatever the line ending', () => {
    expect(issueOf('{\r\n  "a": 1,\r\n  b: 2\r\n}').message).toBe('line 3, column 3: found "b"');
    expect(issueOf('{\n  "a": 1,\n  b: 2\n}').message).toBe('line 3, column 3: found "b"');
  });

  test('shows a single character of a broken body', () => {
    const body = '{"comment": "x", secret-of-mine}';
    const refusal = (() => {
      try {
        return parseJson(bytesOf(body));
      } catch (error) {
        return error;
      }
    })();

    expect(refusal).toBeInstanceOf(RelayError);
    expect(String(refusal)).not.toMatch(/ec|ret|mine/);
    expect(issueOf(body).message).toBe('line 1, column 18: found "s"');
  });

  test('names an invisible character, also beyond the basic plane', () => {
    expect(issueOf('{\u200b}').message).toBe('line 1, column 2: found the character U+200B');
    expect(issueOf('{"a": 😀}').message).toBe('line 1, column 7: found the character U+1F600');
  });
});

const hints = {
  empty: /message box/,
  form: /form-urlencoded/,
  doubledQuotes: /quotes are doubled/,
  doubledBraces: /braces are doubled/,
  placeholderBody: /did not fill the placeholder/,
  noBraces: /braces are missing/,
  bareNames: /names and values without quotes/,
  textBefore: /text before the JSON/,
  textAround: /text around the JSON/,
  bareValues: /values without names/,
  plainText: /plain text is not accepted/,
  quotesAround: /object is inside quotes/,
  lineBreak: /must not contain a line break/,
  openString: /a string is not closed/,
  control: /raw tab or control/,
  escape: /backslash begins an escape/,
  typographic: /typographic quotes/,
  invisible: /no-break or invisible space/,
  barePlaceholder: /placeholder that has no quotes/,
  comment: /no comments/,
  innerQuote: /a quote inside a text/,
  singleQuotes: /replace the single ones/,
  equals: /write : instead of =/,
  foreignWord: /this word is not JSON/,
  decimalComma: /no decimal comma/,
  unit: /remove the unit or the per cent sign/,
  number: /a number is written like/,
  trailingComma: /remove the comma after the last value/,
  twoCommas: /one comma too many/,
  missingValue: /a value is missing/,
  missingComma: /a comma is missing/,
  semicolon: /write , instead of ;/,
  missingColon: /separated by a colon; add it/,
  bareName: /a name needs double quotes/,
  bareText: /text needs double quotes/,
  missingEnd: /the end is missing/,
  twoObjects: /several signals into one array/,
  tooMuch: /text after the JSON/,
  other: /a JSON validator/,
};

describe('the hint for broken JSON', () => {
  test.each<[string, number, keyof typeof hints]>([
    ['', 1, 'empty'],
    [' \t ', 4, 'empty'],
    ['ticker=BTCUSDT&action=buy', 1, 'form'],
    ['payload=%7B%22ticker%22%3A1%7D', 1, 'form'],
    ['%7B%22ticker%22%3A1%7D', 1, 'form'],
    ['payload={"ticker":1}', 1, 'form'],
    ['{"ticker":1}=', 13, 'form'],
    ['{""ticker"":""BTC""}', 4, 'doubledQuotes'],
    ['"{""ticker"":""BTC""}"', 4, 'doubledQuotes'],
    ['""ticker"": ""BTC""', 3, 'doubledQuotes'],
    ['{{"ticker":"BTC"}}', 2, 'doubledBraces'],
    ['{{strategy.order.alert_message}}', 2, 'placeholderBody'],
    ['"ticker": "BTC", "action": "buy"', 9, 'noBraces'],
    ['ticker: BTC', 1, 'bareNames'],
    ['Long entry! {"ticker":"BTC"}', 1, 'textBefore'],
    ['Alert: {"ticker":"BTC"}', 1, 'textBefore'],
    ['Alert: {"ticker":"BTC"} thanks', 1, 'textAround'],
    ['Long! [{"ticker":"BTC"}] #bot', 1, 'textAround'],
    ['Alert: {"ticker":} thanks', 1, 'bareNames'],
    ['60123456789,buy,EURUSD', 12, 'bareValues'],
    ['{"ticker":"BTC"} long entry', 18, 'tooMuch'],
    ['BTCUSDT buy', 1, 'plainText'],
    ['<html>', 1, 'plainText'],
    ['None', 1, 'plainText'],
    ['\'{"ticker":"BTC"}\'', 1, 'quotesAround'],
    ['```\n{"ticker":"BTC"}\n```', 1, 'quotesAround'],
    ['{"a":"x\ny"}', 8, 'lineBreak'],
    ['{"a":"x\r\ny"}', 8, 'lineBreak'],
    ['{"a":"x', 8, 'openString'],
    ['{"a":"x\ty"}', 8, 'control'],
    ['{"a":"\u0085\u0000"}', 8, 'control'],
    ['{"a":"\\d"}', 7, 'escape'],
    ['{"a":"C:\\\\x\\y\\n"}', 12, 'escape'],
    ['{"a":"\\u12"}', 7, 'escape'],
    ['{“ticker”:"BTC"}', 2, 'typographic'],
    ['{"ticker":“BTC”}', 11, 'typographic'],
    ['{\u00a0"ticker":1}', 2, 'invisible'],
    ['{"a":true\u00a0}', 6, 'invisible'],
    ['\ufeff\ufeff{}', 1, 'invisible'],
    ['{"a":{{strategy.order.price}}}', 7, 'barePlaceholder'],
    ['{"a":1} // note', 9, 'comment'],
    ['{"a":1, /* note */ "b":2}', 9, 'comment'],
    ['{"a":"he said "buy" now"}', 16, 'innerQuote'],
    ['{"a":"5" x", "b":1}', 10, 'innerQuote'],
    ['{"a":"is "5" enough"}', 11, 'innerQuote'],
    ["{'ticker':'BTC'}", 2, 'singleQuotes'],
    ['{"ticker":\'BTC\'}', 11, 'singleQuotes'],
    ['{"ticker"="BTC"}', 10, 'equals'],
    ['{"ticker" = "BTC"}', 11, 'equals'],
    ['{ticker="BTC"}', 2, 'equals'],
    ['{"a":None}', 6, 'foreignWord'],
    ['{"a": NaN}', 7, 'foreignWord'],
    ['{"a":True, "b":1}', 6, 'foreignWord'],
    ['[undefined]', 2, 'foreignWord'],
    ['{"a":1,5}', 8, 'decimalComma'],
    ['{"a":5%}', 7, 'unit'],
    ['{"a":5 USDT}', 8, 'unit'],
    ['{"a":0x1f}', 7, 'unit'],
    ['{"a":.5}', 6, 'number'],
    ['{"a":+5}', 6, 'number'],
    ['{"a":-}', 6, 'number'],
    ['{"a":5.}', 6, 'number'],
    ['{"a":1e}', 6, 'number'],
    ['{"a":007}', 7, 'number'],
    ['{"a":1.2.3}', 9, 'number'],
    ['{"a":1,}', 8, 'trailingComma'],
    ['{"a":1 , \n }', 2, 'trailingComma'],
    ['[1,]', 4, 'trailingComma'],
    ['{"a":1,,"b":2}', 8, 'twoCommas'],
    ['{,"a":1}', 2, 'twoCommas'],
    ['{"a":}', 6, 'missingValue'],
    ['{"a":,"b":1}', 6, 'missingValue'],
    ['{"a":1 "b":2}', 8, 'missingComma'],
    ['{"a":"x"\n"b":2}', 1, 'missingComma'],
    ['[1 2]', 4, 'missingComma'],
    ['[{} {}]', 5, 'missingComma'],
    ['{"a":1;"b":2}', 7, 'semicolon'],
    ['{"a" 1}', 6, 'missingColon'],
    ['{"a","b"}', 5, 'missingColon'],
    ['{a:1}', 2, 'bareName'],
    ['{"a":1, b:2}', 9, 'bareName'],
    ['{1:2}', 2, 'bareName'],
    ['{"a":BTC}', 6, 'bareText'],
    ['{"a":1', 7, 'missingEnd'],
    ['[{"a":1}', 9, 'missingEnd'],
    ['{"a":1}{"b":2}', 8, 'twoObjects'],
    ['{"a":1},{"b":2}', 8, 'twoObjects'],
    ['{"a":1}}', 8, 'tooMuch'],
    ['{"a":1}"b"', 8, 'tooMuch'],
    ['{"a":1]', 7, 'other'],
    ['{"a":@}', 6, 'other'],
  ])('for %j points at column %d and says %s', (body, column, name) => {
    const { path, message, hint } = issueOf(body);

    expect(path).toBe('');
    expect(message).toMatch(new RegExp(`^line \\d+, column ${column}: found `));
    expect(hint).toMatch(hints[name]);
  });
});
