import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReceivedMessage } from '../../lib/ledger/entry.ts';
import { keepMessage, mostKeptBytes } from '../../lib/relay/receive/received-message.ts';
import { secretNames } from '../../lib/signals/remove-secrets.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { runs } from '../support/runs.ts';

const keep = (text: string, ...secrets: readonly string[]) => keepMessage(Buffer.from(text), secrets)?.text;

describe('what is kept of a message', () => {
  test('is its text, as it was received', () => {
    const text = ' {"ticker": "BTCUSDT",\n "id": "long-2026-11-24T19:22:00Z", "note": "ключ ä 👍"}\r\n';
    expect(keep(text, 'a-token-of-the-relay')).toBe(text);
  });

  test.each([
    ['a secret of the relay', 'x a-token-of-the-relay y'],
    ['one in escapes of JSON', '{"a": "\\u0061-token-of-the-relay"}'],
    ['one in escapes of URLs', 'a%2Dtoken-of-the-relay'],
    ['more bytes than an alert may have', 'x'.repeat(16 * 1024 + 1)],
  ])('is nothing of one with %s', (_, text) => {
    expect(keep(text, 'a-token-of-the-relay')).toBeUndefined();
  });

  test.each([
    ['{"id": "a", "passphrase": "hunter2"}', '{"id": "a", "passphrase": (removed)}'],
    ['buy 0f9e8d7c6b5a49382716051423324150 now', 'buy (removed) now'],
    [
      'https://host.example/signals/main/aB3dEfGh1jKlMn0pQrStUvWxYz234567',
      'https://host.example/signals/main/(removed)',
    ],
    ['{"a": "{\\"token\\": \\"x1\\"}"}', '(removed)'],
  ])('lacks what looks like a secret: %s', (text, kept) => {
    expect(keep(text)).toBe(kept);
  });

  test('never holds a secret behind a name of one, or a word as long as a key, wherever it stands', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'];
    const key = fc
      .array(fc.constantFrom(...letters), { minLength: 30, maxLength: 80 })
      .map((drawn) => `${drawn.join('')}a1`);
    const around = fc.string({ unit: 'binary', maxLength: 3_000 });
    const name = fc.constantFrom('', ...[...secretNames].map((one) => `"${one}": `));
    fc.assert(
      fc.property(around, name, key, around, (before, named, secret, after) => {
        const kept = keepMessage(Buffer.from(`${before} ${named}"${secret}" ${after}`), []);
        expect(kept?.text.includes(secret) ?? false).toBe(false);
      }),
      { seed: 20_261_124, numRuns: runs(300) },
    );
  });

  test('of UTF-16 never holds a secret of the relay between its zeros', () => {
    const token = 'a-token-of-the-relay-0123456789';

    expect(keepMessage(Buffer.from(`{"key": "${token}"}`, 'utf16le'), [token])).toBeUndefined();
    expect(keepMessage(Buffer.from('buy', 'utf16le'), [token])).toEqual({ text: 'buy', omittedBytes: 0 });
  });

  test('is cut at a character where it is long, and says by how much', () => {
    const text = `${'x'.repeat(mostKeptBytes - 1)}ä and more`;
    expect(keepMessage(Buffer.from(text), [])).toEqual({
      text: 'x'.repeat(mostKeptBytes - 1),
      omittedBytes: 11,
    });
  });
});

describe('the ledger keeps the message', () => {
  let functions: Functions;
  afterEach(() => functions.close());

  async function readMessage(signalId: string): Promise<ReceivedMessage | null> {
    const { ledger } = functions.services;
    const entry = await ledger.read({ account: 'main', signalId });
    return entry === null ? null : ledger.readMessage(entry);
  }

  test('of an alert that was accepted', async () => {
    functions = await openFunctions();
    await functions.receive(buyAlert());
    expect(await readMessage('buy-1')).toEqual({ text: buyAlert(), omittedBytes: 0 });
  });

  test('of one that was refused', async () => {
    functions = await openFunctions();
    await functions.receive('what is this');
    const { entries } = await functions.services.ledger.list({ status: 'invalid', limit: 1 });
    expect(await readMessage(entries[0]?.signalId ?? '')).toEqual({ text: 'what is this', omittedBytes: 0 });
  });
});
