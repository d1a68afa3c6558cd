import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, type World } from '../support/world.ts';

const good = buyAlert();
const refused: readonly (readonly [string, string | Uint8Array])[] = [
  ['a trailing comma', good.replace('}', ',}')],
  ['a missing comma', good.replace(',"action"', ' "action"')],
  ['single quotes', good.replaceAll('"', "'")],
  ['a quote inside a value', good.replace('BTCUSDT', 'BTC"USDT')],
  ['= for :', good.replace('"action":', '"action"=')],
  ['a lone value', 'buy'],
  ['a number where a string should be', good.replace('"buy"', '1')],
  ['no braces', good.slice(1, -1)],
  ['doubled quotes from an e-mail bridge', good.replaceAll('"', '""').replaceAll(',', ',\r\n')],
  ['an empty body', ''],
  ['"None" for a price', good.replace('"50200"', '"None"')],
  ['"null" for a price', good.replace('"50200"', '"null"')],
  ['null for a price', good.replace('"50200"', 'null')],
  ['NaN for a price', good.replace('"50200"', 'NaN')],
  ['"NaN" for a price', good.replace('"50200"', '"NaN"')],
  ['an empty price', good.replace('"50200"', '""')],
  ['a raw newline inside a string', good.replace('BTCUSDT', 'BTC\nUSDT')],
  ['no-break spaces', good.replaceAll(',', ',\u00a0')],
  ['a literal placeholder', good.replace('"0.01"', '"{{strategy.order.contracts}}"')],
  ['a bare placeholder', good.replace('"0.01"', '{{strategy.order.contracts}}')],
  ['JSON that is a string', JSON.stringify(good)],
  ['JSON that is a number', '42'],
  ['JSON that is null', 'null'],
  ['an empty array', '[]'],
  ['eleven signals', `[${Array.from({ length: 11 }, (_, i) => buyAlert({ id: `n${i}` })).join(',')}]`],
  ['a key given twice', good.replace('{', '{"quantity":"0.01",')],
  ['a field given under two names', good.replace('{', '{"qty":"0.01",')],
  ['smart quotes', good.replaceAll('"', '\u201d')],
  ['"True" for a number', good.replace('"0.01"', '"True"')],
  ['a per cent for a price', buyAlert({ stopPrice: '5%' })],
  ['zero', good.replace('"0.01"', '"0"')],
  ['a negative size', good.replace('"0.01"', '"-0.01"')],
  ['a misspelt key', good.replace('stopLoss', 'stopLos')],
  ['another order type', buyAlert({ orderType: 'market' })],
  ['an age without a time', buyAlert({ id: undefined, maxLag: 10 })],
  ['a time from the future', buyAlert({ time: '2199-01-01T00:00:00Z' })],
  ['an old time', buyAlert({ time: '2020-01-01T00:00:00Z' })],
  ['bytes that are no UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
  ['sixteen thousand brackets', '['.repeat(16_000)],
  ['a key that would reach the prototype', good.replace('{', '{"__proto__":{"quantity":"9"},')],
];

const accepted: readonly (readonly [string, string, Record<string, string>])[] = [
  ['every number as a string', buyAlert({ id: 't1' }), { amount: '0.01', price: '50200' }],
  [
    'every number as a number',
    buyAlert({
      id: 't2',
      quantity: 0.01,
      stopPrice: 50100,
      limitPrice: 50200,
      stopLoss: 49000,
      takeProfit: 52000,
    }),
    { amount: '0.01', price: '50200' },
  ],
  ['1e-2', buyAlert({ id: 't3' }).replace('"0.01"', '1e-2'), { amount: '0.01' }],
  [
    'more digits than a price has',
    buyAlert({ id: 't4', limitPrice: '50194.6000000000001' }),
    { price: '50194.6' },
  ],
  ['a byte-order mark', `\ufeff${buyAlert({ id: 't5' })}`, { amount: '0.01' }],
  ['CRLF', buyAlert({ id: 't6' }).replaceAll(',', ',\r\n'), { amount: '0.01' }],
];

describe.each(dialects)('bodies of real senders, in the %s dialect', (dialect) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ dialect });
    world.setPrice('BTC_USDT', '50000');
  });
  afterAll(() => world.close());

  test.each(refused)('%s is refused with a reason and places nothing', async (_, body) => {
    const { status, body: response } = await world.post(body);

    expect(status).toBe(400);
    expect(response.error?.issues.length).toBeGreaterThan(0);
    expect(response.error?.issues.every(({ message, hint }) => message.length > 5 && hint.length > 5)).toBe(
      true,
    );
    expect(
      (await world.ledger.list({ limit: 100 })).entries.every(({ status }) => status === 'invalid'),
    ).toBe(true);
    expect(world.paper.control.state().orders).toEqual([]);
  });

  test('a valid body becomes exactly the order it asks for', async () => {
    for (const [name, body, expected] of accepted) {
      const posted = await world.post(body);
      expect([name, posted.status]).toEqual([name, 202]);
      const { clientOrderId, status } = await world.settled(posted.body.signalId ?? '');
      expect([name, status]).toEqual([name, 'placed']);
      expect(
        world.paper.control.state().orders.find((order) => order.clientOrderId === clientOrderId),
      ).toMatchObject(expected);
    }
  });
});
