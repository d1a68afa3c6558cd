import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { holdsSecret } from '../../lib/signals/find-secret.ts';

const token = 'token-of-this-test';
const key = 'KEY/of"this\\test';
const secrets = [token, key];

describe('a secret is found', () => {
  test.each([
    ['in plain', `{"comment":"see ${token}!"}`],
    ['as a key', `{"${token}":1}`],
    ['behind one escape', '{"comment":"\\u0074oken-of-this-test"}'],
    ['behind an escape with capital digits', '{"comment":"token\\u002Dof-this-test"}'],
    ['in an escaped key', '{"t\\u006fken-of-this-test":1}'],
    ['deep in extras', '{"extras":{"a":[1,{"b":["tok\\u0065n-of-this-test"]}]}}'],
    ['in the second item of an array', '[{"id":"a"},{"id":"tok\\u0065n-of-this-test"}]'],
    ['with characters that JSON has to escape', JSON.stringify({ comment: key })],
    ['with an escaped slash', '{"comment":"KEY\\/of\\"this\\\\test"}'],
    ['in JSON that is a text of JSON', JSON.stringify({ extras: '{"a":"\\u0074oken-of-this-test"}' })],
    ['behind an escape that only lenient readers know', '{"comment":"token\\-of-this-test"}'],
    ['in what is no JSON', 'token \\u0074oken-of-this-test,'],
    ['in JSON that breaks off', '{"comment":"\\u0074oken-of-this-test'],
    ['where bytes are no text', Buffer.from([0xff, ...Buffer.from(token), 0xfe]).toString()],
  ])('%s', (_, text) => {
    expect(holdsSecret(text, secrets)).toBe(true);
  });

  test('whichever of its characters are escaped, however often it is wrapped', () => {
    const disguise = (escaped: readonly boolean[]) =>
      Array.from(token, (character, index) =>
        escaped[index] === true
          ? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
          : character,
      ).join('');
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: token.length, maxLength: token.length }),
        fc.integer({ min: 0, max: 3 }),
        (escaped, wrappings) => {
          let text = `{"a":"${disguise(escaped)}"}`;
          for (let count = 0; count < wrappings; count += 1) text = JSON.stringify({ a: text });
          return holdsSecret(text, secrets);
        },
      ),
    );
  });
});

describe('no secret is found', () => {
  test.each([
    ['in a part of one', '{"comment":"token-of-this"}'],
    ['in one that is written in other letters', '{"comment":"TOKEN-OF-THIS-TEST"}'],
    ['in nothing', ''],
  ])('%s', (_, text) => {
    expect(holdsSecret(text, secrets)).toBe(false);
  });

  test('for secrets so short that ordinary alerts contain them', () => {
    expect(holdsSecret('{"ticker":"BTCUSDT"}', ['', 'buy', 'BTCUSDT'])).toBe(false);
    expect(holdsSecret('{"ticker":"BTCUSDTP"}', ['BTCUSDTP'])).toBe(true);
  });
});

test('thousands of backslashes are decoded only a few times', () => {
  expect(holdsSecret('\\'.repeat(16_384), secrets)).toBe(false);
  expect(holdsSecret(`\\${'u005c'.repeat(3_000)}`, secrets)).toBe(false);
});
