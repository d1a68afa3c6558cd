import { afterEach, describe, expect, test } from '@jest/globals';
import type { Alarm } from '../../lib/base/alarms.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { ticker } from '../../lib/exchange/endpoints/ticker.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Order } from '../../lib/model/order.ts';
import { lookUp } from '../../lib/relay/settle/look-up.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';

/** The last price of BTC_USDT is 50000. */
const above = { stopPrice: '50100', limitPrice: '50200' };
const below = { stopPrice: '49100', limitPrice: '49200', stopLoss: '48000' };
const sell = { action: 'sell', stopLoss: undefined, takeProfit: undefined };
const sellAbove = { ...sell, stopPrice: '50100', limitPrice: '50000' };
const sellBelow = { ...sell, stopPrice: '49100', limitPrice: '49000' };

/** An exchange whose responses leave out which way an order wakes. */
function withoutCondition(client: ExchangeClient): ExchangeClient {
  const prepare: ExchangeClient['prepare'] = (endpoint, params) => {
    const request = client.prepare(endpoint, params);
    const send: typeof request.send = async (options) => {
      const { activationCondition: _, ...order } = (await request.send(options)) as Order;
      return order as Awaited<ReturnType<typeof request.send>>;
    };
    return { ...request, send };
  };
  return override(client, { prepare });
}

describe('the trigger of an order', () => {
  let functions: Functions;
  let alarms: string[];
  afterEach(() => functions.close());

  async function open(replace: Parameters<typeof openFunctions>[0] = () => ({})): Promise<void> {
    alarms = [];
    const raise = ({ name }: Alarm, facts: LogFacts) => void alarms.push(`${name} ${facts['signalId']}`);
    functions = await openFunctions((services) => ({ alarms: { raise }, ...replace(services) }));
  }

  async function carryOut(changes: Record<string, unknown>): Promise<Entry> {
    const { statusCode, body } = await functions.receive(buyAlert(changes));
    if (statusCode !== 202) throw new Error(body);
    await functions.execute('buy-1');
    const entry = await functions.ledger.read({ account: 'main', signalId: 'buy-1' });
    if (entry === null) throw new Error('the signal was not stored');
    return entry;
  }

  const orderCount = () => functions.paper.control.state().orders.length;

  test.each([
    ['a buy above the price', above],
    ['a sell below the price', sellBelow],
    ['a buy above the price that is expected there', { ...above, expectTrigger: 'above' }],
    ['a buy that is expected to break out', { ...above, expectTrigger: 'breakout' }],
    ['a sell that is expected to break out', { ...sellBelow, expectTrigger: 'breakout' }],
  ])('is not worth a word for %s', async (_, changes) => {
    await open();

    const { status, steps } = await carryOut(changes);

    expect(status).toBe('placed');
    expect(steps.at(-1)?.note).toMatch(/held by the exchange as order \d+$/);
    expect(alarms).toEqual([]);
  });

  test.each([
    [
      'a buy below the price',
      below,
      'its stop price 49100 is below the last price, so it wakes when the price falls to it; a buy usually waits for a price that rises',
    ],
    [
      'a sell above the price',
      sellAbove,
      'its stop price 50100 is above the last price, so it wakes when the price rises to it; a sell usually waits for a price that falls',
    ],
  ])('is told in the ledger, without an alarm, for %s', async (_, changes, words) => {
    await open();

    const { status, steps } = await carryOut(changes);

    expect(status).toBe('placed');
    expect(steps.at(-1)?.note).toMatch(new RegExp(`held by the exchange as order \\d+; ${words}$`));
    expect(alarms).toEqual([]);
  });

  test('is not worth a word where the other side is expected, as for a buy on a fall', async () => {
    await open();

    const { steps } = await carryOut({ ...below, expectTrigger: 'below' });

    expect(steps.at(-1)?.note).toContain('so it wakes when the price falls to it');
    expect(alarms).toEqual([]);
  });

  /** Opens an exchange whose price moves from there to 50000 between the check and the order. */
  async function openMoving(from: string): Promise<void> {
    const setPrice = (price: string) => functions.paper.control.setPrice('BTC_USDT', parseDecimal(price));
    await open(({ exchangeFor }) => ({
      exchangeFor: async (account) => {
        const client = await exchangeFor(account);
        const call: ExchangeClient['call'] = async (endpoint, params, options) => {
          const result = await client.call(endpoint, params, options);
          if (endpoint.name === ticker.name) setPrice('50000');
          return result;
        };
        return override(client, { call });
      },
    }));
    setPrice(from);
  }

  const unexpected: readonly (readonly [
    changes: { readonly stopPrice: string; readonly expectTrigger: string },
    expected: string,
    found: string,
    move: string,
    from: string,
  ])[] = [
    [{ ...below, expectTrigger: 'above' }, 'above', 'below', 'falls', '49000'],
    [{ ...below, expectTrigger: 'breakout' }, 'above', 'below', 'falls', '49000'],
    [{ ...above, expectTrigger: 'below' }, 'below', 'above', 'rises', '51000'],
    [{ ...sellAbove, expectTrigger: 'breakout' }, 'below', 'above', 'rises', '51000'],
  ];

  test.each(unexpected)(
    'that is not as expected is denied before anything is sent: %j',
    async (changes, expected) => {
      await open();

      const { status, steps } = await carryOut(changes);

      expect(status).toBe('denied');
      expect(steps.at(-1)).toMatchObject({
        note: `the alert expects a trigger price ${expected} the last price, but it is ${changes.stopPrice}, and the last price is 50000; nothing was sent. Correct stopPrice, or remove expectTrigger`,
        evidence: { rule: 'expect_trigger' },
      });
      expect(orderCount()).toBe(0);
    },
  );

  test.each(['refuse', 'garbage'] as const)(
    'is denied while the last price cannot be read (%s)',
    async (fault) => {
      await open();
      functions.paper.control.addFault({ fault, endpoint: 'ticker', probability: 1 });

      const { status, steps } = await carryOut({ ...above, expectTrigger: 'above' });

      expect(status).toBe('denied');
      expect(steps.at(-1)?.note).toContain('the exchange reports no last price of BTC_USDT');
      expect(orderCount()).toBe(0);
    },
  );

  test('costs no request where nothing is expected of it', async () => {
    await open();
    functions.paper.control.addFault({ fault: 'refuse', endpoint: 'ticker', probability: 1 });

    expect((await carryOut(above)).status).toBe('placed');
  });

  test.each(unexpected)(
    'that the price has passed meanwhile is an alarm: %j',
    async (changes, expected, found, move, from) => {
      await openMoving(from);

      const { status, steps } = await carryOut(changes);

      expect(status).toBe('placed');
      const words = `is not what its alert expects (a stop price ${expected} the last price): its stop price ${changes.stopPrice} is ${found} the last price, so it wakes when the price ${move} to it; cancel it at once if it must not wake`;
      expect(steps.at(-1)?.note).toContain(words);
      expect(steps.at(-1)?.evidence).toMatchObject({ alarm: expect.stringContaining(words) });
      expect(alarms).toEqual(['trigger_unexpected buy-1']);
    },
  );

  test('is looked up as well where the response was lost', async () => {
    await openMoving('49000');
    functions.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
    const entry = await carryOut({ ...below, expectTrigger: 'above' });
    expect(entry.status).toBe('unknown');

    const result = await lookUp(functions.services, entry, { timeoutMs: 2_000 });

    expect(result).toMatchObject({
      kind: 'found',
      outcome: {
        status: 'placed',
        alarm: {
          name: 'trigger_unexpected',
          message: expect.stringContaining('is not what its alert expects'),
        },
      },
    });
  });

  test('that the exchange does not tell is an alarm where something is expected of it', async () => {
    await open(({ exchangeFor }) => ({
      exchangeFor: async (account) => withoutCondition(await exchangeFor(account)),
    }));

    const { status, steps } = await carryOut({ ...above, expectTrigger: 'above' });

    expect(status).toBe('placed');
    expect(steps.at(-1)?.note).toContain('the exchange does not report where it lies: check the order');
    expect(alarms).toEqual(['trigger_unexpected buy-1']);
  });

  test('is denied where no response of the dialect would tell it', async () => {
    await open(({ exchangeFor }) => ({
      exchangeFor: async (account) => override(await exchangeFor(account), { dialect: 'documented' }),
    }));

    const { status, steps } = await carryOut({ ...above, expectTrigger: 'above' });

    expect(status).toBe('denied');
    expect(steps.at(-1)).toMatchObject({
      note: expect.stringMatching(/^expectTrigger cannot be checked: .* nothing was sent/),
      evidence: { rule: 'expect_trigger' },
    });
    expect(orderCount()).toBe(0);
  });
});
