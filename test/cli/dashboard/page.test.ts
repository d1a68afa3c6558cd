import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  AgainOffer,
  Attention,
  BalancesShown,
  MessageCheck,
  PriceDocument,
  SignalList,
} from '../../../dashboard/documents.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import { buyAlert } from '../../support/alerts.ts';
import { testConfig } from '../../support/world.ts';
import { askPage, enterPage, openPageWorld, type PageWorld } from './open-page.ts';

const market = {
  id: 'buy-1',
  ticker: 'BTCUSDT',
  action: 'buy',
  orderType: 'market',
  quantity: '0.01',
  maxSlippage: '1%',
};

let page: PageWorld;
beforeEach(async () => {
  page = await openPageWorld();
  page.world.setPrice('BTC_USDT', '50000');
});
afterEach(() => page.close());

async function place(changes: object = {}): Promise<void> {
  await page.world.post(JSON.stringify({ ...market, ...changes }));
  await page.world.settled('buy-1');
}

const accepted = () => page.world.paper.control.state().acceptedCreates;

describe('the server of the page', () => {
  test('gives its token for a cookie, in the body alone', async () => {
    const { url } = page.page;
    const token = page.page.entryUrl.split('token=')[1];

    const asked = await askPage(`${url}/api/enter?token=${token}`, { headers: { origin: url } });
    const wrong = await askPage(`${url}/api/enter`, {
      method: 'POST',
      headers: { origin: url },
      body: '{"token":"x"}',
    });

    expect([asked.status, asked.headers['set-cookie']]).toEqual([401, undefined]);
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
    expect(await enterPage(page.page)).toMatch(/^relay-page-\d+=.{43}$/);
  });

  test('allows nothing but its own files, on every answer', async () => {
    const { url } = page.page;
    for (const path of ['/', '/nothing.js', '/api/about', '/api/nothing']) {
      const { headers } = await askPage(`${url}${path}`);

      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });

  test('changes nothing for a foreign host, a foreign origin, without its cookie, and by GET', async () => {
    const { url } = page.page;
    const cookie = await enterPage(page.page);
    const pause = { method: 'POST', body: '{}' };

    const answers = await Promise.all([
      askPage(`${url}/api/pause`, {
        ...pause,
        headers: { cookie, host: 'evil.example', origin: 'http://evil.example' },
      }),
      askPage(`${url}/api/pause`, { ...pause, headers: { cookie, origin: 'https://evil.example' } }),
      askPage(`${url}/api/pause`, { ...pause, headers: { cookie } }),
      askPage(`${url}/api/pause`, { ...pause, headers: { origin: url } }),
      askPage(`${url}/api/pause`, { headers: { cookie } }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([421, 403, 403, 401, 404]);
    expect(await page.world.ledger.readPause('main')).toBeNull();
  });

  test('says what is wrong with a call, and goes on', async () => {
    expect(await page.post('/api/close', { account: 'main' })).toMatchObject({
      status: 400,
      body: { error: { code: 'usage', message: expect.stringContaining('market') } },
    });
    expect(await page.post('/api/close', { account: 'main', market: '--account=slow' })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('"--account=slow" is no market') } },
    });
    expect(await page.get('/api/signals?limit=0')).toMatchObject({ status: 400 });
    expect(await page.get('/api/signal?id=nothing&account=main')).toMatchObject({ status: 404 });
    expect(await page.get('/api/about')).toMatchObject({ status: 200 });
  });

  test('takes a slash too many for one, and for no name of a machine', async () => {
    const { url } = page.page;

    expect((await askPage(`${url}//`)).status).toBe(200);
    expect((await askPage(`${url}//elsewhere.example/page.js`)).status).toBe(404);
  });

  test('shows no secret of the relay', async () => {
    await place();
    const paths = [
      'about',
      'signals',
      'signal?id=buy-1',
      'orders',
      'positions',
      'limits',
      'report',
      'health',
    ];
    const answers = await Promise.all(paths.map((path) => page.get(`/api/${path}`)));
    const shown = answers.map(({ text }) => text).join('\n');
    const webhook = await page.post<{ url: string }>('/api/webhook', { account: 'main' });

    expect(webhook.body.url).toBe(page.world.webhookUrl);
    expect(shown).not.toContain(page.world.webhookUrl.split('/').at(-1));
    expect(shown).not.toContain('paper-secret');
  });

  test('serves the page, its script and its style, and one document for every view', async () => {
    const { url } = page.page;
    const shell = await askPage(url);
    const script = await askPage(`${url}/page.js`);
    const style = await askPage(`${url}/style.css`);
    const view = await askPage(`${url}/signals/main/buy-1`);

    expect([shell.status, script.status, style.status, view.status]).toEqual([200, 200, 200, 200]);
    expect(shell.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(view.text).toBe(shell.text);
    // Anything else would need an exception in the policy.
    expect(shell.text).not.toMatch(/<style|style=|<script>|onload/);
  });
});

describe('what the page reads', () => {
  test('lists signals with their outcome, what was filled and how long it took, and filters them', async () => {
    await place();
    await page.world.follow();
    await page.world.post(JSON.stringify({ ...market, id: 'too-big', quantity: '9' }));
    await page.world.settled('too-big');

    const { body } = await page.get<SignalList>('/api/signals?limit=10');
    const denied = await page.get<SignalList>('/api/signals?status=denied&market=BTCUSDT&text=TOO');

    expect(
      body.rows.map(({ signalId, status, side, what, filled }) => [signalId, status, side, what, filled]),
    ).toEqual([
      ['too-big', 'denied', 'buy', 'buy 9 at market', null],
      ['buy-1', 'placed', 'buy', 'buy 0.01 at market', '0.01 at 50000'],
    ]);
    expect(body.rows[1]?.tookMs).toBeGreaterThanOrEqual(0);
    expect(body.rows[0]?.reason).toContain('may be 2 at most');
    expect(denied.body.rows.map(({ signalId }) => signalId)).toEqual(['too-big']);
    // Everything would look as if it had this outcome.
    expect(await page.get('/api/signals?status=refused')).toMatchObject({ status: 400 });
  });

  test('reads on where a page of the list ended', async () => {
    for (const id of ['a1', 'a2', 'a3'])
      await page.world.post(JSON.stringify({ ...market, id, quantity: '9' }));
    await page.world.settledBelow('a', 3);

    const first = await page.get<SignalList>('/api/signals?limit=2');
    const second = await page.get<SignalList>(
      `/api/signals?limit=2&before=${encodeURIComponent(first.body.next ?? '')}`,
    );

    expect([...first.body.rows, ...second.body.rows].map(({ signalId }) => signalId)).toEqual([
      'a3',
      'a2',
      'a1',
    ]);
    expect(second.body.next).toBeNull();
    expect(await page.get('/api/signals?before=nonsense')).toMatchObject({ status: 400 });
  });

  test('shows a signal with each step, the advice, its orders and each fill', async () => {
    await place({ stopLoss: '2%' });
    await page.world.follow();

    const { body } = await page.get('/api/signal?id=buy-1&account=main');

    expect(body).toMatchObject({
      status: 'placed',
      says: expect.stringContaining('buy 0.01 of BTC_USDT'),
      steps: [{ status: 'accepted' }, { status: 'sending' }, { status: 'placed' }],
      execution: {
        orders: [
          { role: 'order', filled: '0.01' },
          { role: 'stop_loss', price: '49000' },
        ],
      },
      fills: [{ amount: '0.01', price: '50000', role: 'order', signalId: 'buy-1' }],
    });
  });

  test('shows candles, what stands and what happened in a market', async () => {
    await place({ stopLoss: '2%', takeProfit: '4%' });
    await page.world.follow();
    // Neither of them protects the position, though one has a trigger, too.
    const entry = { stopLoss: undefined, takeProfit: undefined, quantity: '0.01' };
    await page.world.post(buyAlert({ ...entry, id: 'stop', stopPrice: '51000', limitPrice: '51100' }));
    const limit = { orderType: 'limit', stopPrice: undefined, limitPrice: '48000' };
    await page.world.post(buyAlert({ ...entry, ...limit, id: 'limit' }));
    for (const id of ['stop', 'limit'])
      expect(await page.world.settled(id)).toMatchObject({ status: 'placed' });

    const { body } = await page.get<PriceDocument>('/api/price?market=BTC_USDT&interval=1m');

    expect(body.candles.at(-1)).toMatchObject({ close: '50000' });
    expect(body.levels.map(({ kind, price, text }) => [kind, price, text]).sort()).toEqual([
      ['order', '48000', 'order buy 0.01'],
      ['order', '51000', 'order buy 0.01'],
      ['position', '50000', 'position 0.01'],
      ['stop', '49000', 'stop-loss sell 0.01'],
      ['target', '52000', 'take-profit sell 0.01'],
    ]);
    expect(body.marks.map(({ kind, side, price }) => [kind, side, price])).toEqual(
      expect.arrayContaining([
        ['signal', 'buy', null],
        ['fill', 'buy', '50000'],
      ]),
    );
    expect(body.missing).toEqual([]);
  });

  test('marks on what is held the fills of its time, the latest last', async () => {
    await page.close();
    const { snapshots } = parseConfig({ ...testConfig, snapshots: { balances: 'cron(* * * * ? *)' } });
    page = await openPageWorld({ snapshots });
    page.world.setPrice('BTC_USDT', '50000');
    await place();
    await page.world.post(
      JSON.stringify({ ...market, id: 'half', action: 'close', quantity: undefined, quantityPercent: '50%' }),
    );
    await page.world.settled('half');
    await page.world.follow();

    const { body } = await page.get<BalancesShown>('/api/balances?account=main&collateral=true');
    const past = await page.get<BalancesShown>('/api/balances?account=main&from=2026-01-01&to=2026-01-02');

    expect(body.fills.map(({ side, text, signalId }) => [side, text, signalId])).toEqual([
      ['buy', 'buy 0.01 BTC_USDT at 50000', 'buy-1'],
      ['sell', 'sell 0.005 BTC_USDT at 49999.99', 'half'],
    ]);
    expect(past.body.fills).toEqual([]);
  });

  test('names what cannot be read, and shows the rest', async () => {
    await place();
    page.world.paper.control.addFault({ fault: 'refuse', endpoint: 'candles', probability: 1 });

    const { body } = await page.get<PriceDocument>('/api/price?market=BTC_USDT&interval=1m');

    expect(body.candles).toEqual([]);
    expect(body.missing).toEqual([expect.stringMatching(/^candles: /)]);
    expect(body.marks).toHaveLength(1);
  });
});

describe('what the page does', () => {
  test('settles an unknown outcome as `relay resolve` does', async () => {
    page.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
    await page.world.post(buyAlert());
    await page.world.settled('buy-1');
    const { body } = await page.get<Attention>('/api/attention');

    const settled = await page.post('/api/resolve', { account: 'main', id: 'buy-1', how: 'look' });

    expect(body.unknown.map(({ signalId }) => signalId)).toEqual(['buy-1']);
    expect(settled.body).toMatchObject({ result: 'settled', entry: { status: 'placed' } });
    expect(accepted()).toBe(1);
  });

  test('closes a position, changes its protection and cancels an order', async () => {
    await place({ stopLoss: '2%' });
    await page.world.follow();
    await page.world.post(
      buyAlert({
        id: 'rests',
        stopPrice: '60000',
        limitPrice: '60100',
        stopLoss: undefined,
        takeProfit: undefined,
      }),
    );
    const { orderId } = await page.world.settled('rests');

    const guarded = await page.post('/api/protect', {
      account: 'main',
      market: 'BTC_USDT',
      stopLoss: '48000',
    });
    const cancelled = await page.post('/api/cancel', { account: 'main', market: 'BTC_USDT', orderId });
    const closed = await page.post('/api/close', { account: 'main', market: 'BTC_USDT', maxSlippage: '1%' });

    expect(guarded.body).toMatchObject({ status: 'satisfied' });
    expect(cancelled.body).toMatchObject({ order: { orderId } });
    expect(closed.body).toMatchObject({ status: 'placed' });
    expect((await page.get('/api/positions?account=main')).body).toMatchObject({ positions: [] });
  });

  test('pauses first and closes then with the red button', async () => {
    await place();

    const { body } = await page.post('/api/stop', { maxSlippage: '1%' });

    expect(body).toMatchObject({
      closes: [{ market: 'BTC_USDT', status: 'placed' }],
      coins: expect.any(Array),
    });
    expect(await page.world.ledger.readPause('main')).toMatchObject({ kind: 'entries' });
    expect(await page.world.ledger.readPause('slow')).not.toBeNull();
    await page.post('/api/resume', { account: 'main' });
    expect(await page.world.ledger.readPause('main')).toBeNull();
  });

  test('changes nothing when it only shows, and still checks messages', async () => {
    await page.close();
    page = await openPageWorld({ isReadOnly: true });
    const calls: readonly (readonly [string, object])[] = [
      ['pause', {}],
      ['resume', {}],
      ['stop', {}],
      ['close', { account: 'main', market: 'BTC_USDT' }],
      ['protect', { account: 'main', market: 'BTC_USDT', stopLoss: '2%' }],
      ['cancel', { account: 'main', market: 'BTC_USDT', orderId: 1 }],
      ['resolve', { account: 'main', id: 'x', how: 'look' }],
      ['again', { account: 'main', id: 'x' }],
      ['redrive', {}],
      ['try', { account: 'main', message: '{}' }],
      ['webhook', { account: 'main' }],
    ];

    for (const [path, body] of calls)
      expect(await page.post(`/api/${path}`, body)).toMatchObject({
        status: 403,
        body: { error: { code: 'read_only' } },
      });
    expect(await page.post('/api/check', { account: 'main', message: '{}' })).toMatchObject({ status: 200 });
    expect(await page.get('/api/about')).toMatchObject({ body: { isReadOnly: true } });
  });
});

describe('sending again', () => {
  const offer = () => page.get<AgainOffer>('/api/again?account=main&id=buy-1');
  const again = () =>
    page.post<{ signals: { signalId: string }[] }>('/api/again', { account: 'main', id: 'buy-1' });

  test('places once what never became an order, however often it is pressed, as a signal that names the old one', async () => {
    await page.world.ledger.writePause('main', { sinceMs: 0, reason: 'test', kind: 'everything' });
    await place({ stopLoss: '2%', strategy: 'breakout' });
    await page.world.ledger.writePause('main', null);

    const { body } = await offer();
    const pressed = await Promise.all([again(), again(), again()]);
    const entry = await page.world.settled(body.newId ?? '');
    const later = await offer();

    expect(body).toMatchObject({ refusal: null, check: { issues: [], previews: [{ verdict: 'ready' }] } });
    expect(pressed.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(entry).toMatchObject({
      status: 'placed',
      signal: { side: 'buy', stopLoss: '2%', strategy: 'breakout', comment: 'sent again in place of buy-1' },
    });
    expect(accepted()).toBe(1);
    expect(later.body.refusal).toContain('sent again already');
    expect(await again()).toMatchObject({ status: 422, body: { error: { code: 'not_sent_again' } } });
  });

  test('asks for the same order, whatever its kind', async () => {
    await page.world.ledger.writePause('main', { sinceMs: 0, reason: 'test', kind: 'everything' });
    const alerts = [
      buyAlert({ id: 'stop-limit', positionSide: 'LONG', expectTrigger: 'breakout' }),
      buyAlert({
        id: 'limit',
        orderType: 'limit',
        limitPrice: '49000',
        stopPrice: undefined,
        stopLoss: '2%',
        postOnly: true,
      }),
      JSON.stringify({
        ...market,
        id: 'quote',
        quantity: undefined,
        quoteQuantity: '100',
        referencePrice: '50000',
      }),
      JSON.stringify({
        ...market,
        id: 'share',
        quantity: undefined,
        quantityPercent: '10%',
        trailing: '1.5%',
      }),
      JSON.stringify({
        ticker: 'BTCUSDT',
        action: 'close',
        id: 'close',
        quantityPercent: '50%',
        maxSlippage: '1%',
      }),
    ];
    for (const alert of alerts) await page.world.post(alert);
    for (const id of ['stop-limit', 'limit', 'quote', 'share', 'close'])
      expect([id, (await page.world.settled(id)).status]).toEqual([id, 'denied']);

    for (const id of ['stop-limit', 'limit', 'quote', 'share', 'close']) {
      const { body } = await page.get<AgainOffer>(`/api/again?account=main&id=${id}`);
      expect([id, body.refusal]).toEqual([id, null]);
    }
    expect(accepted()).toBe(0);
  });

  test('refuses what may have become an order, and what the ledger does not have', async () => {
    page.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
    await page.world.post(buyAlert());
    await page.world.settled('buy-1');
    expect((await offer()).body.refusal).toContain('it is unknown');
    expect(await again()).toMatchObject({ status: 422 });

    await page.post('/api/resolve', { account: 'main', id: 'buy-1', how: 'look' });
    expect((await offer()).body.refusal).toContain('it is placed');

    await page.world.post(JSON.stringify({ ...market, id: 'bad', stoplos: '2%' }));
    const { body } = await page.get<SignalList>('/api/signals?status=invalid');
    const id = body.rows[0]?.signalId ?? '';
    const refused = await page.get<AgainOffer>(`/api/again?account=main&id=${encodeURIComponent(id)}`);
    expect(refused.body.refusal).toContain('its message would be refused again');
    expect(accepted()).toBe(1);
  });

  test('takes a person’s word that there is no order for no proof', async () => {
    page.world.paper.control.addFault({ fault: 'drop_before', endpoint: 'stop-limit' });
    await page.world.post(buyAlert());
    await page.world.settled('buy-1');
    const note = 'nothing in the order history';
    await page.post('/api/resolve', { account: 'main', id: 'buy-1', how: 'not_placed', note });

    expect((await offer()).body.refusal).toContain('only a lookup of the relay proves it');
  });
});

describe('the alert builder', () => {
  const check = (message: string, more = {}) =>
    page.post<MessageCheck>('/api/check', { account: 'main', message, ...more });

  test('shows the order that a message becomes, with sample values, and sends nothing', async () => {
    const message = JSON.stringify({
      ticker: '{{ticker}}',
      action: '{{strategy.order.action}}',
      orderType: 'limit',
      quantity: '{{strategy.order.contracts}}',
      limitPrice: '{{close}}',
      time: '{{timenow}}',
    });

    const { body } = await check(message);

    expect(body.issues).toEqual([]);
    expect(body.previews).toMatchObject([
      {
        verdict: 'ready',
        market: 'BTC_USDT',
        requests: [{ fields: { market: 'BTC_USDT', side: 'buy', amount: '0.001', price: '50000' } }],
      },
    ]);
    expect(accepted()).toBe(0);
  });

  test('names what the relay would refuse, with what to write', async () => {
    const { body } = await check(
      '{"ticker":"BTCUSDT","action":"buy","quantity":"0.001","stoplos":"2%","maxSlippage":"1%","time":"{{timenow}}"}',
    );

    expect(body.previews).toEqual([]);
    expect(body.issues).toEqual([
      expect.objectContaining({ path: 'stoplos', hint: expect.stringContaining('stopLoss') }),
    ]);
  });

  test('shows what a rule of the account denies, and the legs of a target', async () => {
    const big = await check(JSON.stringify({ ...market, quantity: '9' }));
    const target = await check(
      JSON.stringify({ ticker: 'BTCUSDT', action: 'target', target: '-0.01', id: 't', maxSlippage: '1%' }),
    );

    expect(big.body.previews).toMatchObject([
      { verdict: 'denied', note: expect.stringContaining('may be 2 at most') },
    ]);
    expect(target.body.previews.map(({ verdict }) => verdict)).toEqual(['later', 'later']);
    // The page ends each note with a full stop.
    expect(target.body.previews.filter(({ note }) => note.endsWith('.'))).toEqual([]);
  });

  const stop = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', orderType: 'stop_limit' };
  const limit = { ...stop, orderType: 'limit', limitPrice: '49000' };
  test.each([
    [
      'a stop-loss above the limit of a buy',
      { ...limit, stopLoss: '49500' },
      'the stop-loss of 49500 does not lie below the price of the order, 49000',
    ],
    [
      'a take-profit below the limit of a buy',
      { ...limit, takeProfit: '48000' },
      'the take-profit of 48000 does not lie above the price of the order, 49000',
    ],
    [
      'a take-profit nearer than the most slippage',
      { ...market, takeProfit: '0.5%' },
      'the take-profit of 50250 does not lie above the price of the order, 50500',
    ],
    [
      'a stop at the last price',
      { ...stop, stopPrice: '50000', limitPrice: '50100' },
      'its stop price of 50000 is the last price',
    ],
  ])('says that the exchange refuses %s, as it does', async (_case, alert, reason) => {
    const { body } = await check(JSON.stringify({ ...alert, id: 'buy-1' }));

    expect(body.previews).toMatchObject([{ verdict: 'refused', note: expect.stringContaining(reason) }]);
    await page.world.post(JSON.stringify({ ...alert, id: 'buy-1' }));
    expect(await page.world.settled('buy-1')).toMatchObject({ status: 'rejected' });
  });

  test.each([
    [
      'closes at once what it opens',
      { ...market, stopLoss: '50200' },
      'denied',
      'the stop-loss of 50200 USDT is not below the price of 50000 at which the buy is expected to fill: what it buys would be sold at once',
    ],
    [
      'has its stop-loss on the wrong side of its limit price',
      { ...limit, action: 'sell', limitPrice: '51000', stopLoss: '50500' },
      'denied',
      'the stop-loss of 50500 USDT is not above the price of 51000',
    ],
    [
      'wakes on the other side than usual',
      { ...stop, stopPrice: '49000', limitPrice: '49100' },
      'ready',
      'its stop price of 49000 is below the last price, so it wakes when the price falls to it; a buy usually waits for a price that rises',
    ],
    [
      'would trigger at once, and says where its stop is expected',
      { ...stop, stopPrice: '49000', limitPrice: '49100', expectTrigger: 'above' },
      'denied',
      'the alert expects a trigger price above the last price',
    ],
    [
      'lies on the right side',
      { ...market, stopLoss: '2%', takeProfit: '4%' },
      'ready',
      'This would be sent',
    ],
  ])('says of an order that it %s', async (_case, alert, verdict, reason) => {
    const { body } = await check(JSON.stringify(alert));

    expect(body.previews).toMatchObject([{ verdict, note: expect.stringContaining(reason) }]);
  });

  test('tries a message on paper, as TradingView would send it', async () => {
    const message =
      '{"ticker":"{{ticker}}","action":"buy","quantity":"0.01","maxSlippage":"1%","time":"{{timenow}}"}';

    const { body } = await page.post<{ signals: { signalId: string }[] }>('/api/try', {
      account: 'main',
      message,
    });

    expect(await page.world.settled(body.signals[0]?.signalId ?? '')).toMatchObject({ status: 'placed' });
  });

  test('reads the message of another relay, word by word', async () => {
    const theirs = '{"ticker":"BTCUSDT","action":"buy","quantity":0.001,"price":{{close}}}';

    const { status, body } = await page.post('/api/translate', { account: 'main', message: theirs });

    expect(status).toBe(200);
    expect(body).toMatchObject({ product: expect.any(String), words: expect.any(Array) });
    const nothing = await page.post('/api/translate', { account: 'main', message: '[]' });
    expect(nothing.body).toMatchObject({ product: 'an empty list', missing: [expect.any(String)] });
  });
});
