import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, type World } from '../support/world.ts';

describe("the owner's rules", () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld({ dialect: 'live' });
    world.setPrice('BTC_USDT', '50000');
  });
  afterEach(() => world.close());

  const orderCount = () => world.paper.control.state().orders.length;

  test('a paused account sends nothing, from the next signal on, until it is resumed', async () => {
    await world.ledger.writePause('main', { sinceMs: 1, reason: 'news', kind: 'everything' });
    await world.post(buyAlert());
    expect(await world.settled('buy-1')).toMatchObject({ status: 'denied' });
    expect(orderCount()).toBe(0);

    await world.ledger.writePause('main', null);
    await world.post(buyAlert({ id: 'buy-2' }));
    expect(await world.settled('buy-2')).toMatchObject({ status: 'placed' });
  });

  test.each([
    ['max_amount', { quantity: '2.5' }, { limit: '2', actual: '2.5' }],
    [
      'max_notional',
      {
        stopPrice: '150000',
        limitPrice: '150000',
        quantity: '1.5',
        stopLoss: '140000',
        takeProfit: '990000',
      },
      { limit: '200000', actual: '225000' },
    ],
    [
      'side_not_allowed',
      { ticker: 'ETHUSDT', action: 'sell', stopLoss: undefined, takeProfit: undefined },
      { limit: 'buy', actual: 'sell' },
    ],
    ['market_not_allowed', { ticker: 'SOLUSDT' }, { actual: 'SOL_USDT' }],
    ['exit_too_far', { stopLoss: '2', takeProfit: undefined }, { limit: '25050', actual: '2' }],
    ['max_limit_distance', { stopPrice: '60500', limitPrice: '99999' }, { limit: '62315', actual: '99999' }],
  ])('a breach of %s is denied with the rule and both values', async (rule, changes, values) => {
    await world.post(buyAlert(changes));

    const { status, steps } = await world.settled('buy-1');

    expect(status).toBe('denied');
    expect(steps.at(-1)?.evidence).toMatchObject({ rule, ...values });
    expect(orderCount()).toBe(0);
  });

  test.each([
    ['exactly at the allowed distance from its stop price', { stopPrice: '60500', limitPrice: '62315' }],
    ['on the side where the distance is not limited', { stopPrice: '60500', limitPrice: '50000' }],
    ["with a stop price far from today's price", { stopPrice: '95000', limitPrice: '95100' }],
  ])('an order with a limit price %s is placed', async (_, prices) => {
    await world.post(buyAlert({ stopLoss: undefined, takeProfit: undefined, ...prices }));

    expect(await world.settled('buy-1')).toMatchObject({ status: 'placed' });
    expect(orderCount()).toBe(1);
  });

  test('a dry run executes everything except sending, and shows the request', async () => {
    await world.post(buyAlert(), { account: 'rehearsal' });

    const { status, steps } = await world.settled('buy-1', 'rehearsal');

    expect(status).toBe('dry_run');
    expect(steps.at(-1)?.evidence).toMatchObject({
      requests: [
        {
          method: 'POST',
          path: '/api/v4/order/collateral/stop-limit',
          fields: {
            market: 'BTC_USDT',
            side: 'buy',
            amount: '0.01',
            price: '50200',
            activation_price: '50100',
          },
        },
      ],
    });
    expect(orderCount()).toBe(0);
  });

  test('the third order within a minute is denied where two are allowed', async () => {
    for (const id of ['one', 'two', 'three']) await world.post(buyAlert({ id }), { account: 'slow' });

    const [one, two, three] = await Promise.all(
      ['one', 'two', 'three'].map((id) => world.settled(id, 'slow')),
    );

    expect([one?.status, two?.status, three?.status]).toEqual(['placed', 'placed', 'denied']);
    expect(three?.steps.at(-1)?.evidence).toMatchObject({
      rule: 'max_orders_per_minute',
      limit: '2',
      actual: '3',
    });
  });

  test('a sender over its signal limit gets 503 and sends again, and the ledger keeps the refusal', async () => {
    for (const id of ['one', 'two', 'three', 'four']) await world.post(buyAlert({ id }), { account: 'slow' });

    const fifth = await world.post(buyAlert({ id: 'five' }), { account: 'slow' });

    expect(fifth.status).toBe(503);
    expect(fifth.body.error?.code).toBe('rate_limited');
    const [refusal, ...more] = await readRefusals(world.ledger, 'slow', 'five');
    expect(more).toEqual([]);
    expect(refusal).toMatchObject({
      status: 'invalid',
      steps: [
        {
          note: '4 signals in the last minute; the account accepts 4; the sender was asked to send it again',
          evidence: { code: 'rate_limited', ticker: 'BTCUSDT' },
        },
      ],
    });
    await Promise.all(['one', 'two', 'three', 'four'].map((id) => world.settled(id, 'slow')));
  });

  test('a sender over its signal limit gets a Retry-After header', async () => {
    for (const id of ['one', 'two', 'three', 'four']) await world.post(buyAlert({ id }), { account: 'slow' });
    const [token = ''] = await createFileSecrets(world.secretsPath).webhookTokens('slow');
    const url = world.webhookUrl.replace(/main\/[^/]+$/, `slow/${token}`);

    const { status, headers } = await fetch(url, { method: 'POST', body: buyAlert({ id: 'five' }) });

    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    await Promise.all(['one', 'two', 'three', 'four'].map((id) => world.settled(id, 'slow')));
  });

  test('an array counts as a whole: it is refused before its first signal is stored', async () => {
    const items = Array.from(
      { length: 5 },
      (_, index) => JSON.parse(buyAlert({ id: `item-${index}` })) as unknown,
    );

    const posted = await world.post(JSON.stringify(items), { account: 'slow' });

    expect(posted.status).toBe(429);
    expect(posted.body.error?.message).toBe('the alert holds 5 signals; the account accepts 4 in a minute');
    const { entries } = await world.ledger.list({ limit: 10 });
    expect(entries.map(({ status }) => status)).toEqual(Array(5).fill('invalid'));
    for (let index = 0; index < 5; index += 1)
      expect(await readRefusals(world.ledger, 'slow', `item-${index}`)).toHaveLength(1);
  });
});

describe('an alert that ages', () => {
  test('is refused by the webhook when it is too old; a resend of a known one is still recognised', async () => {
    let nowMs = Date.parse('2026-11-01T12:00:00Z');
    const clock = { nowMs: () => nowMs, sleep: async () => undefined };
    const world = await openWorld({ dialect: 'live', clock });
    world.setPrice('BTC_USDT', '50000');
    const aged = { id: undefined, time: '2026-11-01T12:00:00Z', maxLag: 30 };
    const alert = buyAlert(aged);

    const fresh = await world.post(alert);
    await world.settled(fresh.body.signalId ?? '');
    nowMs += 31_000;
    const resent = await world.post(alert);
    const late = await world.post(buyAlert({ ...aged, comment: 'another' }));

    expect([fresh.status, resent.status, late.status]).toEqual([202, 200, 400]);
    expect(late.body.error?.code).toBe('stale');
    await world.close();
  });
});
