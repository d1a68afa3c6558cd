import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { removeSecrets, secretNames } from '../../lib/signals/remove-secrets.ts';
import { runs } from '../support/runs.ts';
import { orderSignal, orderWith, readSignal } from './reading.ts';

const seed = 20_261_123;
/** Stands for the secret of another relay. */
const held = 'S3cr3t.of-them/7';

describe('the secret of another relay in a text that only informs is removed:', () => {
  test.each([
    [`token=${held}`, 'token=(removed)'],
    [`go long, token = ${held}, qty=5`, 'go long, token = (removed), qty=5'],
    [`key=${held}&side=buy`, 'key=(removed)&side=buy'],
    [`API key: '${held} and more' ok`, 'API key: (removed) ok'],
    [`pass_phrase: ${held}`, 'pass_phrase: (removed)'],
    [`x-api-key:${held}`, 'x-api-key:(removed)'],
    [`user.token=${held}`, 'user.token=(removed)'],
    [
      `{"ticker": "A", "secret": "${held}", "action": "buy"}`,
      '{"ticker": "A", "secret": (removed), "action": "buy"}',
    ],
    [`{"secret":{"a":"${held}"}}`, '{"secret":(removed)'],
    [`{'passphrase': '${held}'`, "{'passphrase': (removed)"],
    [`“token”: “${held}”`, '“token”: (removed)'],
    [`{"token": "${held}`, '{"token": (removed)'],
    [`{"order": "{\\"token\\": \\"${held}\\"}"}`, '(removed)'],
    [`token%3D${held}`, '(removed)'],
    [`\\u0074oken=${held}`, '(removed)'],
    [`Authorization: Bearer ${held}`, 'Authorization: (removed)'],
    [`send Bearer ${held} with it`, 'send (removed) with it'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzaWduYWwiOjF9.c2ln and more', '(removed) and more'],
    ['to 1234567890:AAE-stand_in-token-of-a-bot-0123456 now', 'to (removed) now'],
    ['ghp_standInTokenStandInTokenStandIn0123 tk_standintokenstandin0123', '(removed) (removed)'],
    ['github_pat_standIn0123_standIn0123standIn xoxb-standIn-0123-standIn0123', '(removed) (removed)'],
    ['pwd=abc mnemonic: one', 'pwd=(removed) mnemonic: (removed)'],
    [`https://me:${held.replace('/', '')}@host.example/a`, 'https://(removed)@host.example/a'],
    [
      'https://hooks.example/trading/webhook/6f0c9a1e-1111-4222-8333-444455556666/0123456789abcdef0123?x=1',
      'https://hooks.example/trading/webhook/(removed)/(removed)?x=1',
    ],
  ])('%s', (text, kept) => {
    expect(removeSecrets(text)).toBe(kept);
  });

  test.each([
    'crossed at 12:30, stop=59000 key level 60000',
    'Long Entry #3 (breakout: yes)',
    'https://www.tradingview.com/x/AbCd1234/',
    '{"ticker": "BTCUSDT", "quantity": 0.001, "bot_uuid": "6f0c9a1e-1111-4222-8333-444455556666"}',
    'token: ',
    '100% sure; 50\\50',
    '{{strategy.order.alert_message}}',
    '',
  ])('nothing of: %s', (text) => {
    expect(removeSecrets(text)).toBe(text);
  });

  test('whatever its name, its quotes and what stands around it', () => {
    const quote = fc.constantFrom(['', ''], ['"', '"'], ["'", "'"], ['“', '”'], ['`', '`']);
    const around = fc.constantFrom(
      '',
      ' ',
      ', ',
      '; ',
      '&',
      '\n',
      'price: 3, ',
      '{"a": 1, ',
      '{"a": {"b": "c"}, ',
    );
    const name = fc
      .tuple(fc.constantFrom(...secretNames), fc.boolean(), fc.constantFrom('', 'my_', 'x-', 'a.'))
      .map(([text, isUpper, before]) => `${before}${isUpper ? text.toUpperCase() : text}`);
    const written = fc.tuple(
      around,
      quote,
      name,
      fc.constantFrom('=', ':', ' = ', ': ', '=>'),
      quote,
      around,
    );

    fc.assert(
      fc.property(written, fc.nat(3), ([before, [open, close], key, sign, [begin, end], after], wraps) => {
        let text = `${before}${open}${key}${close}${sign}${begin}${held}${end}${after}`;
        for (let wrap = 0; wrap < wraps; wrap += 1) text = JSON.stringify({ text });

        expect(removeSecrets(text)).not.toContain(held);
      }),
      { seed, numRuns: runs(2_000) },
    );
  });

  test('long texts without a secret cost little', () => {
    const startedMs = performance.now();
    for (const piece of ['key ', ':', ' = ', '"', 'a:', '%41', 'https://', 'eyJ', ', a', '\\'])
      removeSecrets(piece.repeat(4096));

    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});

describe('no field keeps such a secret:', () => {
  const message = `{"token": "${held}", "ticker": "A"}`;
  const removed = '{"token": (removed), "ticker": "A"}';

  test.each(['alert_message', 'order_comment', 'indicator', 'strategy.order.alert_message'])('%s', (name) => {
    const { info } = readSignal(orderWith(`${JSON.stringify(name)}: ${JSON.stringify(message)}`));

    expect(info).toEqual({ [name]: removed });
  });

  test('one that is cut at 256 characters', () => {
    const long = JSON.stringify(`${'x'.repeat(238)} token="${held.repeat(9)}"`);
    const { info } = readSignal(orderWith(`"alert_message": ${long}`));

    expect(info?.['alert_message']).toBe(`${'x'.repeat(238)} token=(removed)…`);
  });

  test('comment and strategy', () => {
    const text = JSON.stringify(message);

    expect(readSignal(orderWith(`"comment": ${text}, "strategy": "key=${held}"`))).toEqual({
      ...orderSignal,
      comment: removed,
      strategy: 'key=(removed)',
    });
  });

  test('extras, by the name of a member and in texts', () => {
    const extras = { apiKey: { a: held }, list: [message], tokens: 2, note: 'fine' };

    expect(readSignal(orderWith(`"extras": ${JSON.stringify(extras)}`))).toEqual({
      ...orderSignal,
      extras: { apiKey: '(removed)', list: [removed], tokens: 2, note: 'fine' },
    });
  });
});
