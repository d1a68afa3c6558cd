import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dialects } from '../../lib/exchange/dialect.ts';
import { buyAlert } from '../support/alerts.ts';
import { openFunctions } from '../support/functions.ts';
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

describe('10,000 generated bodies', () => {
  /** A valid alert: its text and its content. */
  const alert = fc
    .record({
      hundredths: fc.integer({ min: 1, max: 100 }),
      stop: fc.integer({ min: 40_000, max: 60_000 }).filter((price) => price !== 50_000),
      offset: fc.integer({ min: -500, max: 500 }),
      side: fc.constantFrom('buy', 'sell'),
      asNumber: fc.boolean(),
      alias: fc.constantFrom('quantity', 'amount', 'contracts', 'qty'),
    })
    .map(({ hundredths, stop, offset, side, asNumber, alias }) => ({
      ticker: 'BTCUSDT',
      action: side,
      [alias]: asNumber ? hundredths / 10_000 : String(hundredths / 10_000),
      stopPrice: asNumber ? stop : String(stop),
      limitPrice: String(stop + offset),
    }));
  /** One edit anywhere in the text, with characters of JSON, of alerts, or others. */
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.integer({ min: 0, max: 3 }),
    insert: fc.oneof(
      fc.constantFrom(
        '',
        ',',
        '"',
        "'",
        '{',
        '}',
        ':',
        '[',
        ']',
        '0',
        '-',
        '.',
        'e9',
        '%',
        '{{close}}',
        'null',
        '\n',
        '\u00a0',
        '\\u0000',
      ),
      fc.string({ maxLength: 4 }),
    ),
  });
  const bodies = fc.oneof(
    {
      weight: 3,
      arbitrary: alert.map((value) => ({
        value,
        edits: [] as { at: number; remove: number; insert: string }[],
      })),
    },
    {
      weight: 6,
      arbitrary: fc.record({ value: alert, edits: fc.array(edit, { minLength: 1, maxLength: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ value: fc.anything(), edits: fc.constant([]) }) },
  );

  test('each gets 4xx with a reason, or becomes exactly the order its JSON asks for', async () => {
    const samples = fc.sample(bodies, { numRuns: 10_000, seed: 20_261_101 });
    const { receive, execute, paper, ledger, close } = await openFunctions();
    const asked = new Map<string, Record<string, unknown>>();
    let refusals = 0;

    for (const [index, { value, edits }] of samples.entries()) {
      const text = withId(applyEdits(JSON.stringify(value) ?? '', edits), `g-${index}`);
      const { statusCode, body } = await receive(text);
      if (statusCode === 202)
        asked.set(
          (JSON.parse(body) as { signalId: string }).signalId,
          JSON.parse(text) as Record<string, unknown>,
        );
      else {
        expect([text, statusCode]).toEqual([text, 400]);
        expect((JSON.parse(body) as { error: { issues: unknown[] } }).error.issues.length).toBeGreaterThan(0);
        refusals += 1;
      }
    }
    for (const signalId of asked.keys()) await execute(signalId);

    const orders = new Map(paper.control.state().orders.map((order) => [order.clientOrderId, order]));
    let placed = 0;
    for (const [signalId, written] of asked) {
      const alert = withPlainNames(written);
      const entry = await ledger.read({ account: 'main', signalId });
      const order = orders.get(entry?.clientOrderId ?? '');
      expect([signalId, order !== undefined]).toEqual([signalId, entry?.status === 'placed']);
      if (order === undefined) continue;
      placed += 1;
      const size = alert['quantity'] ?? alert['amount'] ?? alert['contracts'] ?? alert['qty'];
      const side = plainWord(String(alert['action'] ?? alert['side']));
      expect([signalId, order.market, order.side]).toEqual([signalId, 'BTC_USDT', side]);
      // Rounded down to the market's steps, and never more than the alert asks for.
      expect([signalId, isCut(Number(size), Number(order.amount), 1e-6)]).toEqual([signalId, true]);
      const [asked, got] = [Number(alert['stopprice']), Number(order.activationPrice)];
      const isPriceCut = side === 'buy' ? isCut(asked, got, 0.01) : isCut(got, asked, 0.01);
      expect([signalId, isPriceCut]).toEqual([signalId, true]);
    }
    expect(orders.size).toBe(placed);
    expect(refusals).toBeGreaterThan(4_000);
    expect(placed).toBeGreaterThan(1_500);
    await close();
    // Ten thousand durable writes, one after another, even on a slow machine.
  }, 600_000);
});

/** Case, spaces, dashes and underscores do not matter, neither in names nor in words. */
function plainWord(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, '');
}

function withPlainNames(alert: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(alert).map(([name, value]) => [plainWord(name), value]));
}

/** Whether the second number is the first rounded down to a step. The tolerance is for binary fractions. */
function isCut(full: number, cut: number, step: number): boolean {
  const rest = full - cut;
  return rest > -1e-9 && rest < step;
}

function applyEdits(text: string, edits: readonly { at: number; remove: number; insert: string }[]): string {
  return edits.reduce((edited, { at, remove, insert }) => {
    const place = at % (edited.length + 1);
    return edited.slice(0, place) + insert + edited.slice(place + remove);
  }, text);
}

/** Gives each body its own id after the edits, so that none counts as a resend. */
function withId(text: string, id: string): string {
  return text.startsWith('{') && text.length > 2 ? `{"id":"${id}",${text.slice(1)}` : text;
}
