import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openFunctions } from '../support/functions.ts';

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
