import type { ReceivedMessage } from '../../ledger/entry.ts';
import { type HeldSecret, holdsSecret } from '../../signals/find-secret.ts';
import { removedSecret, removeSecrets } from '../../signals/remove-secrets.ts';

/**
 * TradingView states no limit; real alerts stay far below. A larger body is not parsed, not even for its id.
 */
export const maximumBodyBytes = 16 * 1024;
/** What is kept of a message, in bytes of UTF-8; real alerts stay far below. */
export const mostKeptBytes = 8 * 1024;

/** As long as the keys of the exchange and the relay's tokens, or nearly: letters and digits that no word of an alert has. */
const longWord = /[\w-]{28,}/g;

/**
 * What the ledger keeps of a message that nobody has searched yet.
 *
 * @param secrets what the relay holds: a message with one of these is not kept at all
 * @returns undefined when nothing may be kept
 */
export function keepMessage(body: Buffer, secrets: readonly HeldSecret[]): ReceivedMessage | undefined {
  // Of a larger one only the beginning is here, and that may end within a secret.
  if (body.byteLength > maximumBodyBytes) return undefined;
  // UTF-16 has a zero beside each letter, and a secret between zeros would not be found.
  const text = body.toString().replaceAll('\0', '');
  return holdsSecret(text, secrets) ? undefined : keepSearched(text);
}

/**
 * What the ledger keeps of a message, for people: its text without what may be a secret of another, cut where it is long.
 *
 * @param text was searched, and holds no secret of the relay
 */
export function keepSearched(text: string): ReceivedMessage {
  return cutMessage(removeSecrets(text).replace(longWord, removeKey));
}

function removeKey(word: string): string {
  return /\d/.test(word) && /[a-z]/i.test(word) ? removedSecret : word;
}

function cutMessage(text: string): ReceivedMessage {
  const byteLength = Buffer.byteLength(text);
  if (byteLength <= mostKeptBytes) return { text, omittedBytes: 0 };
  // The cut may fall within a character.
  const kept = Buffer.from(text)
    .subarray(0, mostKeptBytes)
    .toString()
    .replace(/\ufffd+$/, '');
  return { text: kept, omittedBytes: byteLength - Buffer.byteLength(kept) };
}
