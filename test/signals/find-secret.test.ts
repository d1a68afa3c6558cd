import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fingerprintSecret, holdsSecret } from '../../lib/signals/find-secret.ts';

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
    ['as a part of a URL', 'https://relay.example/?t=%74oken%2dof%2Dthis-test'],
    ['in JSON that is a part of a URL', 'm=%7B%22a%22%3A%22%5Cu0074oken-of-this-test%22%7D'],
    ['in a part of a URL that is in JSON', '{"a":"\\u002574oken-of-this-test"}'],
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

describe('by its fingerprint', () => {
  const apiKey = 'f00dfacef00dfacef00dfacef00dface';
  const odd = 'KEY/of"this\\test, and longer';
  const fingerprint = (secret: string) => {
    const found = fingerprintSecret(secret, 'salt');
    if (found === null) throw new Error('it has no fingerprint');
    return found;
  };

  test.each([
    ['in plain', apiKey, `{"comment":"see ${apiKey}!"}`],
    ['at the beginning and the end', apiKey, apiKey],
    ['among other letters', apiKey, `{"a":"key${apiKey}0"}`],
    ['as a key', apiKey, `{"${apiKey}":1}`],
    ['behind an escape', apiKey, '{"a":"\\u0066\\u0030\\u0030dfacef00dfacef00dfacef00dface"}'],
    ['as a part of a URL', apiKey, '?k=%6600dface%6600dface%6600dfacef00dface&a=1'],
    [
      'with characters that JSON has to escape',
      odd.replaceAll(' ', '_'),
      JSON.stringify({ a: odd.replaceAll(' ', '_') }),
    ],
  ])('a secret is found %s', (_, secret, text) => {
    expect(holdsSecret(text, [fingerprint(secret)])).toBe(true);
  });

  test.each([
    ['in a part of it', `{"a":"${apiKey.slice(1)}"}`],
    ['in other letters', `{"a":"${apiKey.toUpperCase()}"}`],
    ['in another key', '{"a":"f00dfacef00dfacef00dfacef00dfac0"}'],
  ])('none is found %s', (_, text) => {
    expect(holdsSecret(text, [fingerprint(apiKey)])).toBe(false);
  });

  test('which tells nothing but its length, and is another with another salt', () => {
    const hash = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';
    expect(fingerprint(apiKey)).toMatchObject({ salt: 'salt', length: 32, isAlphanumeric: true });
    expect(fingerprint(apiKey).hash).toHaveLength(hash.length);
    expect(fingerprintSecret(apiKey, 'other')?.hash).not.toBe(fingerprint(apiKey).hash);
  });

  test('unless it is so short that it could be guessed from it', () => {
    expect(fingerprintSecret('a'.repeat(19), 'salt')).toBeNull();
    expect(fingerprintSecret('a'.repeat(20), 'salt')).not.toBeNull();
  });

  test('also in the largest alert, for the keys of ten accounts, in less than a response may take', () => {
    const many = Array.from({ length: 10 }, (_, index) => fingerprintSecret(apiKey, `${index}`)).flatMap(
      (one) => one ?? [],
    );
    const startedAtMs = performance.now();

    expect(holdsSecret('a'.repeat(16 * 1024), many)).toBe(false);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
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
