import { describe, expect, test } from '@jest/globals';
import { collectFields, type Field, otherNames } from '../../lib/signals/fields.ts';
import { createIssues } from '../../lib/signals/issues.ts';
import type { JsonObject } from '../../lib/signals/parse-json.ts';
import { issueOf, orderWith, readSignal, refusalOf } from './reading.ts';

function objectWith(name: string): JsonObject {
  return { kind: 'object', members: [{ name, value: { kind: 'null' } }] };
}

function hintOf(member: string): string {
  return issueOf(orderWith(member)).hint;
}

describe('a key', () => {
  test.each([
    ['stopLos', 'stopLoss'],
    ['postionSide', 'positionSide'],
    ['coment', 'comment'],
    ['redcueOnly', 'reduceOnly'],
    ['quantityPercen', 'quantityPercent'],
    ['message', 'comment'],
  ])('%s is refused, and %s proposed', (key, known) => {
    expect(issueOf(orderWith(`"${key}":1`))).toEqual({
      path: key,
      message: `"${key}" is not a field of an alert`,
      hint: `did you mean "${known}"?`,
    });
  });

  const spellings = [
    (name: string) => name.toUpperCase(),
    (name: string) => name.replaceAll(/(?=[A-Z])/g, '_').toLowerCase(),
    (name: string) => name.replaceAll(/(?=[A-Z])/g, '-').toLowerCase(),
    (name: string) => name.replaceAll(/(?=[A-Z])/g, ' '),
  ];

  test.each(Object.entries(otherNames).flatMap(([name, others]) => [name, ...others]))(
    '%s is known in every spelling',
    (name) => {
      for (const spell of spellings) {
        const issues = createIssues();
        const key = spell(name);
        const fields = collectFields(objectWith(key), '', issues);

        expect(issues.issues).toEqual([]);
        expect(Object.values(fields as Readonly<Record<string, Field>>).map((field) => field.key)).toEqual([
          key,
        ]);
      }
    },
  );

  test('has one field only, however it is spelled', () => {
    const names = Object.values(otherNames).flat();
    const plain = [...Object.keys(otherNames), ...names].map((name) =>
      name.toLowerCase().replaceAll('_', ''),
    );

    expect(plain).toHaveLength(new Set(plain).size);
  });

  test('that shares only half its letters with a known one gets no proposal', () => {
    expect(hintOf('"intervention":5')).toMatch(/^the relay does nothing of that name/);
  });

  test('far from all known ones is told where fields are listed', () => {
    expect(hintOf('"cooldown":5')).toBe(
      'the relay does nothing of that name: if it only informs, write it into "extras": {…}; if it must change the order, docs/alert-reference.md lists the fields for that',
    );
  });

  test.each(['passphrase', 'password', 'api_key', 'webhookToken', 'secret', 'key', 'apiSecret'])(
    'that names a secret, as %s does, is recorded without its value',
    (key) => {
      const { info } = readSignal(orderWith(`"${key}":"hunter2-hunter2"`));

      expect(info).toEqual({ [key]: '(removed)' });
    },
  );

  test.each(['my_secret', 'bot_token', 'passphrase2'])(
    'that looks like a secret, as %s does, is refused without its value',
    (key) => {
      const refusal = refusalOf(orderWith(`"${key}":"hunter2-hunter2"`));

      expect(JSON.stringify(refusal)).not.toContain('hunter2');
      expect(refusal.issues[0]?.hint).toBe(
        'remove it: the token in the webhook URL is the only secret; a message must not contain one',
      );
    },
  );

  test('is shortened and made printable where it is shown', () => {
    const issue = issueOf(orderWith(`"\\u001b[2J${'x'.repeat(60)}":1`));

    expect(issue.path).toBe(`\\u001b[2J${'x'.repeat(24)}…`);
    expect(issue.message).toBe(`"\\u001b[2J${'x'.repeat(24)}…" is not a field of an alert`);
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is not a field', (key) => {
    expect(refusalOf(orderWith(`"${key}":{"action":"sell"}`)).paths).toEqual([key]);
  });

  test.each([
    ['"qty":0.5', 'qty', '"quantity" and "qty" are names of the same field'],
    ['"stopPrice":100', 'stopPrice', '"stopPrice" is given twice'],
    ['"price":101,"limitPrice":101', 'limitPrice', '"price" and "limitPrice" are names of the same field'],
    ['"sl":90,"stopLoss":90', 'stopLoss', '"sl" and "stopLoss" are names of the same field'],
    ['"symbol":"BTCUSDT.P"', 'symbol', '"ticker" and "symbol" are names of the same field'],
    [
      '"take_profit":90,"TakeProfit":90',
      'TakeProfit',
      '"take_profit" and "TakeProfit" are names of the same field',
    ],
    ['"id":"a","signalId":"a"', 'signalId', '"id" and "signalId" are names of the same field'],
  ])('beside another of the same field is refused: %s', (member, path, message) => {
    expect(issueOf(orderWith(member))).toEqual({ path, message, hint: 'keep one of them' });
  });
});
