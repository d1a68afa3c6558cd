import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RelayError } from '../../lib/base/errors.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { otherNames } from '../../lib/signals/fields.ts';
import { escapeText } from '../../lib/signals/issues.ts';
import { type Alert, parseAlert } from '../../lib/signals/parse-alert.ts';
import { runs } from '../support/runs.ts';
import { bytesOf, context } from './reading.ts';

const seed = 20_261_102;

/** The parsed alert; undefined when it was refused as invalid. Any other error fails the test. */
function readOrRefuse(body: Uint8Array): Alert | undefined {
  try {
    return parseAlert(body, context);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    // One look at everything: thousands of refusals come by.
    const words = error.issues.map(({ message, hint }) => `${message} ${hint}`).join(' ');
    const isSound = error.row.httpStatus === 400 && words !== '' && !/[\p{Cc}\p{Zl}\p{Cs}]/u.test(words);
    if (!isSound) throw error;
    return undefined;
  }
}

const keys = [
  ...Object.entries(otherNames).flat(2),
  ...['__proto__', 'constructor', 'leverage', 'stopLos', 'stop-loss', 'ORDER_TYPE', 'reduce only'],
];
const texts =
  'BTCUSDT.P ETHUSDT buy SELL exit_long enter-short cancel cancel_all LONG flat bullish market stop limit stop_limit gtc ioc fok cb base quote percent position balance own 2026-01-31T12:00:00Z 0.5 100 1e-7 5% 150% 0% true {{close}} NaN h-1';
const values = [
  ...[...texts.split(' '), '', 1, 0.5, 100, -3, 1_769_860_800, true, false, null],
  ...[{ percent: 2 }, { type: 'stop', stopPrice: 90 }, { limitPrice: 120 }],
];

describe('parseAlert accepts or refuses, and never throws anything else,', () => {
  test('whatever bytes come', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        readOrRefuse(body);
      }),
      { seed, numRuns: runs(1_500) },
    );
  });

  test('whatever text comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        readOrRefuse(bytesOf(text));
      }),
      { seed, numRuns: runs(1_500) },
    );
  });

  test('whatever JSON comes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        readOrRefuse(bytesOf(text));
      }),
      { seed, numRuns: runs(1_500) },
    );
  });

  test('whatever JSON comes under the names of its fields', () => {
    const value = fc.oneof(fc.constantFrom(...values), fc.jsonValue({ maxDepth: 2 }));
    const object = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 12 });

    fc.assert(
      fc.property(fc.oneof(object, fc.array(object, { maxLength: 12 })), (alert) => {
        readOrRefuse(bytesOf(JSON.stringify(alert)));
      }),
      { seed, numRuns: runs(2_500) },
    );
  });

  test.each([
    ' '.repeat(16_384),
    `${' '.repeat(16_383)}x`,
    `"${'\\'.repeat(16_382)}`,
    `{"comment":"${'a'.repeat(16_000)}\\q"}`,
    `{${'"a":1,'.repeat(2_500)}"b":1}`,
    `{"qty":"${'1'.repeat(16_000)}x"}`,
    `{"qty":"${'1,'.repeat(8_000)}"}`,
    `{"qty":"${'1'.repeat(8_000)}.1.${'1'.repeat(8_000)}"}`,
    `${'a'.repeat(16_000)}%`,
    `${'1 '.repeat(8_000)}x`,
    `${'{"a":'.repeat(16)}${'1'.repeat(8_000)}`,
  ])('however long and crooked a body of 16 KiB is: case %#', (text) => {
    expect(readOrRefuse(bytesOf(text))).toBeUndefined();
  });
});

/** An order alert whose every field is known, as values that are written differently and mean the same. */
const orderValues = {
  ticker: fc.constant('BTCUSDT.P'),
  action: fc.constantFrom('buy', 'sell'),
  quantity: fc.integer({ min: 1, max: 99_999 }),
  stopPrice: fc.integer({ min: 1, max: 99_999 }),
  limitPrice: fc.integer({ min: 1, max: 99_999 }),
  stopLoss: fc.integer({ min: 1, max: 99_999 }),
  takeProfit: fc.integer({ min: 1, max: 99_999 }),
  time: fc.integer({ min: 1_769_860_000, max: 1_769_860_800 }),
  comment: fc.constantFrom('entry', 'x, "y": 1', "it's", 'a:b'),
};

interface Edit {
  readonly position: number;
  readonly insert: string;
  readonly drop: number;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  position: fc.nat(),
  insert: fc.constantFrom(
    ...[
      '',
      '',
      '',
      "'",
      '"',
      ',',
      ':',
      '=',
      '0',
      '1',
      '.',
      '-',
      'e',
      ' ',
      '\n',
      '%',
      '{',
      '}',
      '“',
      '\u00a0',
    ],
    ...['"sl":5,', '"quantity":1,', '"action":"sell",', '"foo":1,', ',"price":7', '\\', '\\u0022'],
  ),
  drop: fc.nat({ max: 2 }),
});

function applyEdit(text: string, { position, insert, drop }: Edit): string {
  const at = position % (text.length + 1);
  return text.slice(0, at) + insert + text.slice(at + drop);
}

/** The names that edits can leave in an alert, without their case and separators, and their fields. */
const knownNames = new Map([
  ...Object.keys(orderValues).map((name): [string, string] => [name.toLowerCase(), name]),
  ...([
    ['sl', 'stopLoss'],
    ['price', 'limitPrice'],
  ] as const),
]);

/** The signal that a valid order means, computed from its JSON values; numbers below 1e15 print in plain notation. */
function signalByPlatform(text: string): Record<string, unknown> {
  const parsed: Record<string, unknown> = JSON.parse(text);
  const alert: Record<string, unknown> = Object.fromEntries(
    Object.entries(parsed).map(([key, value]) => [
      knownNames.get(key.toLowerCase().replaceAll(/[\s_-]/g, '')) ?? `unknown ${key}`,
      value,
    ]),
  );
  expect(Object.keys(alert).filter((key) => key.startsWith('unknown'))).toEqual([]);
  const optional = (name: string) => (alert[name] === undefined ? {} : { [name]: String(alert[name]) });
  const quantity = String(alert['quantity']);
  const time = Number(alert['time']);
  const comment = alert['comment'];
  return {
    ticker: 'BTCUSDT.P',
    market: 'BTC_PERP',
    timeMs: Math.floor(time < 1e11 ? time * 1000 : time),
    maxLagMs: 60_000,
    action: 'order',
    orderType: 'stop_limit',
    side: String(alert['action']).replaceAll(/[\s_-]/g, ''),
    size: quantity.trim().endsWith('%')
      ? { unit: 'percent', quantityPercent: quantity, of: 'balance' }
      : { unit: 'base', quantity },
    stopPrice: String(alert['stopPrice']),
    limitPrice: alert['limitPrice'] === undefined ? null : String(alert['limitPrice']),
    ...optional('stopLoss'),
    ...optional('takeProfit'),
    ...(comment === '' || comment === undefined ? {} : { comment: escapeText(String(comment)) }),
  };
}

describe('a valid order alert', () => {
  const alert = fc.record(orderValues, {
    requiredKeys: ['ticker', 'action', 'quantity', 'stopPrice', 'time'],
  });

  test('is parsed to what its JSON says', () => {
    fc.assert(
      fc.property(alert, (values) => {
        const text = JSON.stringify(values);

        expect(readOrRefuse(bytesOf(text))?.items).toEqual([
          { explicitId: null, signal: signalByPlatform(text) },
        ]);
      }),
      { seed, numRuns: runs(1_000) },
    );
  });

  test('with characters dropped, swapped and put in is refused, or still is parsed to what its JSON says', () => {
    let accepted = 0;
    const edited = fc
      .tuple(alert, fc.array(edit, { minLength: 1, maxLength: 2 }))
      .map(([values, edits]) => edits.reduce(applyEdit, JSON.stringify(values)));

    fc.assert(
      fc.property(edited, (text) => {
        const items = readOrRefuse(bytesOf(text))?.items;
        if (items === undefined) return;
        accepted += 1;
        expect(items.map(({ signal }) => plainSignal(signal))).toEqual([plainSignal(signalByPlatform(text))]);
      }),
      { seed, numRuns: runs(6_000) },
    );

    // Otherwise the comparison above would have had nothing to compare.
    expect(accepted).toBeGreaterThan(runs(200));
  });
});

/** Edits make numbers like `0.50` or `1e5`, as text or not, and comments with spelled-out characters. */
function plainSignal(signal: Signal | Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(signal), (key, value: unknown) => {
    if (typeof value !== 'string' || !numericFields.has(key)) return value;
    const text = value.trim();
    return text.endsWith('%') ? `${Number(text.slice(0, -1))}%` : Number(text);
  });
}

const numericFields = new Set([
  ...['quantity', 'quantityPercent', 'stopPrice', 'limitPrice', 'stopLoss', 'takeProfit'],
]);
