import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

const create = '/api/v4/order/collateral/limit';
const cancel = '/api/v4/order/cancel';
const book = '/api/v4/public/orderbook/BTC_USDT?limit=1';

let relay: Aftermath;
/** How long each request for the order book takes, the next one first; a request beyond the list takes no time. */
let bookDelaysMs: number[];

beforeEach(async () => {
  bookDelaysMs = [];
  relay = await openAftermath('live', (clock) => {
    if (relay?.asked.at(-1) === book) clock.advance(bookDelaysMs.shift() ?? 0);
  });
});
afterEach(() => relay.close());

const alert = (fields: object = {}) =>
  JSON.stringify({
    id: 'buy-1',
    ticker: 'BTCUSDT',
    action: 'buy',
    orderType: 'market',
    maxSlippage: '0.1%',
    quantity: '0.01',
    ...fields,
  });
const orders = () => relay.paper.control.state().orders;
const askedFor = (path: string) => relay.asked.filter((asked) => asked === path).length;
const lastNote = async () => (await relay.entry('buy-1')).steps.at(-1)?.note;

/** More than the book offers within the bound, so that a part is left. */
const more = { quantity: '2', maxSlippage: '0.05%' };

describe('a guarded market order', () => {
  test('takes what lies within its bound and leaves nothing in the book', async () => {
    const entry = await relay.send(alert(more));

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(askedFor(create)).toBe(1);
    expect(askedFor(cancel)).toBe(0);
    expect(orders()).toMatchObject([{ type: 'limit', price: '50025', status: 'cancelled', filled: '1' }]);
  });

  test.each([
    [
      'buy',
      '50010',
      'is not below the price of 50000 at which the buy is expected to fill: what it buys would be sold at once',
    ],
    [
      'sell',
      '49990',
      'is not above the price of 49999.99 at which the sell is expected to fill: what it sells would be bought back at once',
    ],
  ])('to %s whose stop-loss of %s the price has passed is denied', async (action, stopLoss, note) => {
    const entry = await relay.send(alert({ action, stopLoss, maxSlippage: '0.1%' }));

    expect(entry).toMatchObject({ status: 'denied', orderOpen: false });
    expect(entry.steps.at(-1)?.note).toContain(note);
    expect(entry.steps.at(-1)?.evidence).toMatchObject({ rule: 'stop_loss_side' });
    expect(askedFor(create)).toBe(0);
  });

  test('is never sent again after HTTP 429, because it may have filled before a list shows it', async () => {
    const entry = await relay.send(alert(), { fault: 'rate_429_after', endpoint: 'limit' });

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(askedFor(create)).toBe(1);
    expect(orders()).toHaveLength(1);
  });

  test.each(['drop_after', 'error_after'] as const)(
    'whose response was lost (%s) is found by its client order id',
    async (fault) => {
      const entry = await relay.send(alert(), { fault, endpoint: 'limit' });

      expect(entry).toMatchObject({ status: 'unknown', orderOpen: true });
      await relay.reconcileFor(2);
      expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
      expect(askedFor(create)).toBe(1);
    },
  );
});

describe('where the exchange refuses "immediate or cancel" on collateral', () => {
  const refuseIoc: FaultRequest = { fault: 'refuse_ioc', endpoint: 'limit', probability: 1 };

  test('a plain limit order is sent, its rest is cancelled at once, and the ledger says so', async () => {
    const entry = await relay.send(alert(more), refuseIoc);

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(askedFor(create)).toBe(2);
    expect(askedFor(cancel)).toBe(1);
    expect(await lastNote()).toMatch(
      /^the exchange refuses "immediate or cancel" here, so a plain limit order was sent: .*; what did not fill at once was cancelled \(.* filled\)$/,
    );
    expect(orders()).toMatchObject([{ status: 'cancelled', ioc: false }]);
  });

  test('the ledger does not say that a plain limit order was sent when its time was up', async () => {
    relay.paper.control.addFault(refuseIoc);
    await relay.receive(alert());
    const client = await relay.services.exchangeFor('main');
    let creates = 0;
    const prepare: typeof client.prepare = (endpoint, params) => {
      const prepared = client.prepare(endpoint, params);
      if (endpoint.name === 'limit') creates += 1;
      return creates < 2
        ? prepared
        : { ...prepared, send: (late) => prepared.send({ ...late, notAfterMs: 0 }) };
    };

    await relay.executeWith(
      { ...relay.services, exchangeFor: async () => override(client, { prepare }) },
      'buy-1',
    );

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'not_sent' });
    expect(await lastNote()).toMatch(
      /^the exchange refuses "immediate or cancel" here, and a plain limit order could not be sent: /,
    );
  });

  test('an order that fills at once needs no cancellation', async () => {
    const entry = await relay.send(alert(), refuseIoc);

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(askedFor(cancel)).toBe(0);
    expect(orders()).toMatchObject([{ status: 'filled' }]);
  });

  test('a rest that cannot be cancelled is unknown until the reconciler has cancelled it', async () => {
    relay.paper.control.addFault(refuseIoc);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'cancel-order', probability: 1 });

    const entry = await relay.send(alert(more));

    expect(entry).toMatchObject({ status: 'unknown', orderOpen: true });
    expect(orders()).toMatchObject([{ status: 'partially_filled' }]);
    expect(relay.alarms.map(({ name }) => name)).toContain('outcome_unknown');

    relay.paper.control.clearFaults();
    relay.clock.advance(minuteMs);
    await reconcileSignals(relay.services);

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
    expect(orders()).toMatchObject([{ status: 'cancelled' }]);
  });

  test('a rest that a lookup finds gone may have filled whole', async () => {
    relay.paper.control.addFault(refuseIoc);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'cancel-order', probability: 1 });
    await relay.send(alert(more));
    relay.paper.control.clearFaults();
    const client = await relay.services.exchangeFor('main');
    const open = await client.call(openOrder, { market: 'BTC_USDT' });
    // The lists lag behind.
    const lists = new Map<string, unknown>([
      ['open-order', open],
      ['ended-order', { records: [], count: 0, oddities: [] }],
    ]);
    const call = (async (endpoint: { readonly name: string }, ...rest: unknown[]) =>
      lists.get(endpoint.name) ??
      (await (client.call as (...all: unknown[]) => unknown)(endpoint, ...rest))) as typeof client.call;
    relay.setPrice('50000');
    relay.clock.advance(minuteMs);

    await reconcileSignals({ ...relay.services, exchangeFor: async () => override(client, { call }) });

    expect(orders()).toMatchObject([{ status: 'filled' }]);
    const entry = await relay.entry('buy-1');
    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(entry.steps.at(-1)?.facts).toMatchObject({ report: { status: 'partially_filled' }, ended: null });
  });

  test('a worker that dies after sending the plain order leaves nothing resting either', async () => {
    relay.paper.control.addFault(refuseIoc);
    const died = relay.services.exchangeFor;
    const dying = {
      ...relay.services,
      exchangeFor: async (account: string) => {
        const client = await died(account);
        return {
          ...client,
          call: (async (endpoint: { readonly name: string }, ...rest: unknown[]) => {
            if (endpoint.name === 'cancel-order') return await new Promise(() => undefined);
            return await (client.call as (...all: unknown[]) => unknown)(endpoint, ...rest);
          }) as typeof client.call,
        };
      },
    };
    await relay.receive(alert(more));
    void relay.executeWith(dying, 'buy-1');
    while (orders().length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'sending' });

    relay.paper.control.clearFaults();
    relay.clock.advance(2 * minuteMs);
    await reconcileSignals(relay.services);
    relay.clock.advance(minuteMs);
    await reconcileSignals(relay.services);

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
    expect(orders()).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('an order book that was read more than 5 seconds before the order could be sent', () => {
  /** Where a reading may take as long as on AWS. */
  async function sendPatiently(): Promise<Entry> {
    await relay.receive(alert());
    await relay.executeWith({ ...relay.services, exchangeTimeoutMs: 10_000 }, 'buy-1');
    return await relay.entry('buy-1');
  }

  test('is read anew', async () => {
    bookDelaysMs = [5000];

    const entry = await sendPatiently();

    expect(entry).toMatchObject({ status: 'placed' });
    expect(askedFor(book)).toBe(2);
    const { evidence } = entry.steps.find(({ status }) => status === 'sending') ?? {};
    expect(evidence).toMatchObject({ sizedOn: { readAtMs: 1_790_000_005_000, ageMs: 0 } });
  });

  test('each time ends the signal: nothing is sent', async () => {
    bookDelaysMs = [5000, 5000, 5000];

    const entry = await sendPatiently();

    expect(entry).toMatchObject({ status: 'not_sent' });
    expect(askedFor(book)).toBe(3);
    expect(askedFor(create)).toBe(0);
  });

  test('a little later than that is used', async () => {
    bookDelaysMs = [4999];

    expect(await sendPatiently()).toMatchObject({ status: 'placed' });
    expect(askedFor(book)).toBe(1);
  });
});

test('an order book that cannot be read ends the signal: nothing is sent', async () => {
  const entry = await relay.send(alert(), { fault: 'refuse', endpoint: 'order-book', probability: 1 });

  expect(entry).toMatchObject({ status: 'not_sent' });
  expect(askedFor(create)).toBe(0);
});

test('fills of an order that no list holds prove that it was there', async () => {
  const entry = await relay.send(alert(), { fault: 'drop_after', endpoint: 'limit' });
  const [placed] = orders();
  // A partner's account: the history does not hold its order.
  const partner = {
    ...relay.services,
    exchangeFor: async (account: string) => {
      const client = await relay.services.exchangeFor(account);
      return {
        ...client,
        call: (async (endpoint: { readonly name: string }, ...rest: unknown[]) =>
          endpoint.name === 'ended-order'
            ? { records: [], count: 0, oddities: [] }
            : await (client.call as (...all: unknown[]) => unknown)(endpoint, ...rest)) as typeof client.call,
      };
    },
  };
  expect(entry.status).toBe('unknown');

  relay.clock.advance(minuteMs);
  // The relay asks for its cancellation, too, because a list of open orders may lag behind the fills.
  await reconcileSignals(partner);

  expect(await relay.entry('buy-1')).toMatchObject({
    status: 'placed',
    orderOpen: false,
    orderId: placed?.orderId,
  });
  expect(await lastNote()).toBe(
    `found at the exchange as order ${placed?.orderId}, which is not open; 0.01 of it filled`,
  );
});
