import { createHmac, createSecretKey } from 'node:crypto';
import { RelayError } from '../base/errors.ts';

/** The base64 text of a body, and the signature over that text. */
export interface SignedPayload {
  readonly payload: string;
  /** Lower-case hex. */
  readonly signature: string;
}

/** Signs bodies with one key. */
export interface Signer {
  readonly apiKey: string;
  /** @param body exactly the text that will be sent, as UTF-8 */
  sign(body: string): SignedPayload;
}

/**
 * Builds the signer of a key: HMAC-SHA512 over the base64 text of the body.
 *
 * @param apiKey public; sent with every request
 * @param apiSecret the HMAC key; never sent
 * @throws RelayError `secrets_missing` when the key or the secret is empty or holds blanks
 * @see https://docs.whitebit.com/api-reference/trading/cancel-order the three headers
 */
export function createSigner(apiKey: string, apiSecret: string): Signer {
  checkSecretText('API key', apiKey);
  checkSecretText('API secret', apiSecret);
  // A key object never shows the secret when an object is printed.
  const key = createSecretKey(apiSecret, 'utf8');
  return {
    apiKey,
    sign(body) {
      const payload = Buffer.from(body, 'utf8').toString('base64');
      return { payload, signature: createHmac('sha512', key).update(payload).digest('hex') };
    },
  };
}

/**
 * A line break that was copied with a key makes every signature wrong, and the exchange's refusal does not
 * say why.
 */
function checkSecretText(what: string, text: string): void {
  if (text === '') throw new RelayError('secrets_missing', `the exchange's ${what} is empty: store it again`);
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new RelayError(
      'secrets_missing',
      `the exchange's ${what} holds a blank, a line break or another character that no key has: store it again`,
    );
}
