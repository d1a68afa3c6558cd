import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RelayError } from '../../lib/base/errors.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { otherNames } from '../../lib/signals/fields.ts';
import { checkedNames, plainNames } from '../../lib/signals/informing-fields.ts';
import { parseAlert } from '../../lib/signals/parse-alert.ts';
import { secretNames } from '../../lib/signals/remove-secrets.ts';
import { runs } from '../support/runs.ts';
import { accountOn, bytesOf, context, readAlert, readSignal, refusalOf } from './reading.ts';

const seed = 20_261_123;
const account = { ...accountOn('ETH_USDT', 'margin'), allowUnguardedMarket: true };
const time = '2026-01-31T12:00:00Z';

/** One alert of every action and kind. */
const alerts: readonly Readonly<Record<string, unknown>>[] = [
  { action: 'buy', quantity: 1 },
  { action: 'sell', quantity: 1, sentiment: 'flat' },
  {
    action: 'buy',
    quoteQuantity: 100,
    orderType: 'limit',
    limitPrice: 3000,
    stopLoss: '2%',
    takeProfit: '4%',
  },
  { action: 'buy', quantity: 1, stopPrice: 3100 },
  { action: 'sell', quantity: 1, orderType: 'stop_market', stopPrice: 3000, reduceOnly: true },
  { action: 'close' },
  { action: 'exit_long' },
  { action: 'reverse' },
  { marketPosition: 'long', marketPositionSize: 2 },
  { action: 'cancel', signalId: 'a' },
  { action: 'cancel_all' },
].map((alert) => ({ ticker: 'ETHUSDT', time, ...alert }));

const informing = [...plainNames, ...secretNames, 'plot0', 'plot_19'];
const values = fc.oneof(
  fc.constantFrom('', '{{close}}', 'buy', 'sell', 'short', 'flat', 'true', '0', '-1', '5%', 'NaN'),
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const spelling = fc
  .tuple(fc.constantFrom('', '_', '-', ' '), fc.nat(), fc.boolean())
  .map(([separator, at, isUpper]) => (name: string) => {
    const place = at % name.length;
    const spelled = name.slice(0, place) + separator + name.slice(place);
    return isUpper ? spelled.toUpperCase() : spelled;
  });

function read(members: object): Signal {
  return readSignal(JSON.stringify(members), { account });
}

function isRefused(members: object): boolean {
  try {
    parseAlert(bytesOf(JSON.stringify(members)), { ...context, account });
    return false;
  } catch (error) {
    if (error instanceof RelayError && error.code === 'invalid_signal') return true;
    throw error;
  }
}

describe('what only informs is taken and recorded; what carries risk is understood, or the alert is refused:', () => {
  test('a field that informs changes nothing about the signal, in any spelling and with any value', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...alerts),
        fc.constantFrom(...informing),
        spelling,
        values,
        (alert, name, spell, value) => {
          const key = spell(name);
          const { info, ...signal } = read({ ...alert, [key]: value });

          expect(signal).toEqual(read(alert));
          expect(Object.keys(info ?? {})).toEqual([key]);
          expect(info?.[key]?.length).toBeLessThanOrEqual(6 * 257);
        },
      ),
      { seed, numRuns: runs(4_000) },
    );
  });

  test('a secret is not kept, whatever it is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...secretNames), spelling, fc.jsonValue(), (name, spell, value) => {
        expect(read({ ...alerts[0], [spell(name)]: value }).info).toEqual({ [spell(name)]: '(removed)' });
      }),
      { seed, numRuns: runs(1_000) },
    );
  });

  test('a list or an object under such a name is refused: it may say more', () => {
    for (const name of plainNames)
      for (const value of [{}, ['buy'], { action: 'sell' }])
        expect(isRefused({ ...alerts[0], [name]: value })).toBe(true);
  });

  test.each([
    ['open', 'long'],
    ['open', true],
    ['close', true],
    ['close', 'all'],
    ['close', 'position'],
    ['volume', '0.5 lots'],
    ['triggerPrice', 3000],
    ['disclosedQuantity', 1],
    ['product', 'futures'],
    ['cancel', true],
    ['cancel', 'previous'],
    ['delay', 60],
  ])('%s: %s could be a command, and is refused', (name, value) => {
    expect(refusalOf(JSON.stringify({ ...alerts[0], [name]: value }), { account }).paths).toEqual([name]);
  });

  test.each([
    ['open', '3000.5'],
    ['close', 3001],
    ['volume', '{{volume}}'],
    ['volume', 1200.5],
    ['trigger_price', '0'],
    ['disclosed_quantity', 0],
    ['product', 'MIS'],
    ['cancel', false],
    ['cancel', 'False'],
    ['delay', 0],
  ])('%s: %s informs', (name, value) => {
    expect(read({ ...alerts[0], [name]: value }).info).toEqual({ [name]: String(value) });
  });

  test.each([
    { action: 'close' },
    { action: 'reverse' },
    { action: 'exit_long' },
    { action: 'sell', sentiment: 'flat' },
  ])('volume could be the size of what closes a position: %j', (members) => {
    expect(isRefused({ ticker: 'ETHUSDT', time, ...members })).toBe(false);
    expect(isRefused({ ticker: 'ETHUSDT', time, ...members, volume: 1 })).toBe(true);
  });

  test('volume informs beside a wanted position', () => {
    const alert = { ticker: 'ETHUSDT', time, marketPosition: 'long', marketPositionSize: 2 };

    expect(readAlert(JSON.stringify({ ...alert, volume: 1 }), { account }).items[0]?.signal.info).toEqual({
      volume: '1',
    });
  });

  test.each(alerts)('the position before is recorded with every action: %j', (alert) => {
    expect(read({ ...alert, prev_market_position: 'flat' }).info).toEqual({ prev_market_position: 'flat' });
  });

  test('a misspelt name of a field that decides is refused, unless it is a name of another field', () => {
    const deciding = Object.entries(otherNames)
      .flat(2)
      .map((name) => name.toLowerCase().replaceAll('_', ''));
    const known = new Set([...deciding, ...plainNames, ...checkedNames.keys(), ...secretNames]);
    const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz', '');
    const misspelt = fc
      .tuple(fc.constantFrom(...deciding), fc.nat(), letter, fc.nat({ max: 1 }))
      .map(([name, at, put, dropped]) => {
        const place = at % name.length;
        return name.slice(0, place) + put + name.slice(place + dropped);
      })
      .filter((name) => !known.has(name));

    fc.assert(
      fc.property(misspelt, fc.constantFrom(...alerts), (key, alert) => {
        for (const value of ['1', 3000, 'long', true])
          expect(isRefused({ ...alert, [key]: value })).toBe(true);
      }),
      { seed, numRuns: runs(2_000) },
    );
  });

  test('no name that informs is one typing error away from one that decides', () => {
    const deciding = Object.entries(otherNames)
      .flat(2)
      .map((name) => name.toLowerCase().replaceAll('_', ''))
      .filter((name) => name.length > 3);
    const near = [...plainNames, ...checkedNames.keys()].flatMap((informs) =>
      deciding.flatMap((decides) => (isTypo(informs, decides) ? [`${informs} ${decides}`] : [])),
    );

    expect(near).toEqual([]);
  });
});

/** One letter more, less or other. */
function isTypo(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let front = 0;
  while (front < shorter && one[front] === other[front]) front += 1;
  let back = 0;
  while (back < shorter - front && one.at(-1 - back) === other.at(-1 - back)) back += 1;
  return Math.max(one.length, other.length) - front - back <= 1;
}
