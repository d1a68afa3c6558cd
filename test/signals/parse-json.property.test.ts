import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RelayError } from '../../lib/base/errors.ts';
import { type JsonNode, parseJson } from '../../lib/signals/parse-json.ts';
import { runs } from '../support/runs.ts';
import { bytesOf } from './reading.ts';

const seed = 20_261_101;

/** The result of the platform's own parser; undefined when it finds the text broken. */
function parseByPlatform(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function parseByRelay(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: plainValue(parseJson(bytesOf(text))) };
  } catch (error) {
    if (error instanceof RelayError && error.code === 'invalid_json') return undefined;
    throw error;
  }
}

/** Of two members with the same name, the last one counts, as on the platform. */
function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ name, value }) => [name, plainValue(value)]));
    case 'array':
      return node.items.map(plainValue);
    case 'string':
      return node.text;
    case 'number':
      return Number(node.text);
    case 'boolean':
      return node.value;
    case 'null':
      return null;
  }
}

/** Pieces that JSON is made of, and pieces that only look so. */
const pieces = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '/',
    '//',
    '/*',
    '*/',
    '-',
    '+',
    '.',
    'e',
    'E',
    '0',
    '1',
    '12',
    '9',
  ],
  ...[' ', '\t', '\n', '\r', '\f', '\v', '\b', '\0', '\u00a0', '\u2028', '\u0085', '\u007f', '\u200b'],
  ...[
    '""',
    '"a"',
    '"a":',
    '"b":1',
    'true',
    'false',
    'null',
    'NaN',
    'None',
    "'",
    '=',
    ';',
    '{}',
    '[]',
    '-0',
    '1e5',
  ],
  ...['\\u00e9', '\\uD83D', '\\n', '\\x', '\\u12', 'u', 'a', 'é', '😀', '"__proto__":'],
];
const jsonLike = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));

/** JSON with some of its characters dropped, doubled or swapped for another. */
const broken = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.constantFrom('', '"', ',', ':', ' ', '\n', '}', '\\', '0', "'"),
        fc.nat({ max: 1 }),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((edited, [position, insert, drop]) => {
      const at = position % (edited.length + 1);
      return edited.slice(0, at) + insert + edited.slice(at + drop);
    }, text),
  );

describe('parseJson', () => {
  test('takes whatever JSON.parse takes, as the same value, and nothing else', () => {
    const text = fc.oneof(jsonLike, broken, fc.json({ maxDepth: 6 }));

    fc.assert(
      fc.property(text, (body) => {
        expect(parseByRelay(body)).toEqual(parseByPlatform(body));
      }),
      { seed, numRuns: runs(6_000) },
    );
  });

  test('takes every character in a string that JSON.parse takes there', () => {
    for (let code = 0; code < 0x300; code += 1) {
      const body = `"a${String.fromCharCode(code)}b"`;

      expect({ code, parsed: parseByRelay(body) }).toEqual({ code, parsed: parseByPlatform(body) });
    }
  });

  test('takes every character between tokens that JSON.parse takes there', () => {
    for (let code = 0; code < 0x300; code += 1) {
      const body = `[1,${String.fromCharCode(code)}2]`;

      expect({ code, parsed: parseByRelay(body) }).toEqual({ code, parsed: parseByPlatform(body) });
    }
  });
});
