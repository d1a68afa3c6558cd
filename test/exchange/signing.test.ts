import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createSigner } from '../../lib/exchange/signing.ts';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly body: string;
  readonly payload: string;
  readonly signature: string;
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../vectors/signing-vectors.json', import.meta.url), 'utf8'),
);

describe('signing', () => {
  test('there are four vectors', () => {
    expect(vectors).toHaveLength(4);
  });

  test.each(vectors)('reproduces the vector "$name"', ({ secret, body, payload, signature }) => {
    const signed = createSigner('any-key', secret).sign(body);

    expect(signed).toEqual({ payload, signature });
  });

  test('signs the UTF-8 bytes of a body that is not ASCII', () => {
    const { payload } = createSigner('any-key', 'secret-1').sign('{"x":"é€"}');

    expect(payload).toBe('eyJ4Ijoiw6nigqwifQ==');
  });

  test.each([
    ['', 'secret-1'],
    ['key', ''],
    ['key\n', 'secret-1'],
    ['key', 'secret-1\n'],
    ['key', ' secret-1'],
    ['kéy', 'secret-1'],
  ])('refuses %j with %j as an invalid key, and does not repeat it', (apiKey, apiSecret) => {
    expect(() => createSigner(apiKey, apiSecret)).toThrow(
      expect.objectContaining({ code: 'secrets_missing', message: expect.not.stringContaining('secret-1') }),
    );
  });

  test('does not show the secret when the signer is printed', () => {
    const signer = createSigner('any-key', 'a-secret-to-keep');

    expect(inspect(signer, { depth: 9, showHidden: true })).not.toContain('a-secret-to-keep');
    expect(JSON.stringify(signer)).not.toContain('a-secret-to-keep');
  });
});
