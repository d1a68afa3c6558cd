import { afterEach, describe, expect, test } from '@jest/globals';
import type { LogLevel } from '../../lib/base/errors.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import { createWebhook } from '../../lib/host/webhook.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions, proxyEvent } from '../support/functions.ts';
import type { LoggedLine } from '../support/listening-log.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type RaisedAlarm, recordAlarms } from '../support/record-alarms.ts';

const startMs = Date.parse('2026-11-20T10:00:00Z');
let functions: Functions;
afterEach(() => functions.close());

interface Webhook {
  readonly clock: ManualClock;
  readonly lines: readonly LoggedLine[];
  readonly raised: readonly RaisedAlarm[];
  /** The response to the sender, as status and code. */
  receive(body: string): Promise<string>;
  /** The ids under which refusals of that id are recorded, with their notes. */
  refusals(id: string): Promise<readonly string[]>;
  /** Everything that was logged, returned or stored, as text, but the messages. */
  written(): Promise<string>;
  /** The message of each entry, as far as it is kept. */
  messages(): Promise<readonly (string | undefined)[]>;
}

/** @param held secrets besides the token of the URL */
async function openWebhook(
  options: {
    readonly maxSignalsPerMinute?: number;
    readonly held?: readonly string[];
    readonly tradesOn?: 'spot';
  } = {},
): Promise<Webhook> {
  const clock = createManualClock(startMs);
  const lines: LoggedLine[] = [];
  const { alarms, raised } = recordAlarms();
  const responses: string[] = [];
  const writer = (level: LogLevel) => (message: string, facts: LogFacts) => {
    lines.push({ level, message, facts });
  };
  functions = await openFunctions(({ settings }) => {
    const main = settings.accounts['main'];
    if (main === undefined) throw new Error('there is no account main');
    const { BTC_USDT: limits } = main.markets;
    const markets =
      options.tradesOn === undefined || limits === undefined
        ? main.markets
        : { ...main.markets, BTC_USDT: { ...limits, tradesOn: options.tradesOn } };
    return {
      log: { info: writer('info'), warn: writer('warn'), error: writer('error') },
      alarms,
      heldSecrets: async () => options.held ?? [],
      settings: {
        ...settings,
        accounts: { main: { ...main, markets, maxSignalsPerMinute: options.maxSignalsPerMinute ?? null } },
      },
    };
  }, clock);
  const { ledger } = functions;
  return {
    clock,
    lines,
    raised,
    async receive(body) {
      const { statusCode, body: response } = await functions.receive(body);
      responses.push(response);
      const { error } = JSON.parse(response) as { error?: { code: string } };
      return `${statusCode} ${error?.code ?? ''}`.trim();
    },
    async refusals(id) {
      const entries = await readRefusals(ledger, 'main', id);
      return entries.map(({ signalId, steps }) => `${signalId}: ${steps[0]?.note}`);
    },
    written: async () =>
      JSON.stringify([lines, responses, (await ledger.list({ limit: 100 })).entries]).replaceAll(
        '\\\\',
        '\\',
      ),
    async messages() {
      const { entries } = await ledger.list({ limit: 100 });
      return await Promise.all(entries.map(async (entry) => (await ledger.readMessage(entry))?.text));
    },
  };
}

test('the reason of a refusal quotes no value behind the name of a secret', async () => {
  const webhook = await openWebhook();
  const cancel = { action: 'cancel', id: undefined, side: undefined, quantity: undefined };
  const secret = 'made-up-secret-of-a';

  for (const members of [
    { ticker: `token=${secret}` },
    { action: `secret=${secret}` },
    { quantity: `apiKey: ${secret}` },
    { id: `token=${secret}`, action: 'nothing known' },
    { ...cancel, orderId: `Bearer ${secret}` },
    { ...cancel, clientOrderId: `secret=${secret}` },
  ])
    expect(await webhook.receive(buyAlert(members))).toBe('400 invalid_signal');

  expect(await webhook.written()).not.toContain(secret.slice(0, 8));
  expect(await webhook.written()).toContain('token=(removed)');
});

describe('an alert that contains a secret of the process', () => {
  const own = 'a-token-of-this-test';
  const replaced = 'the-token-before-this';
  const others = 'the-token-of-another-account';
  const apiKey = 'f00dfacef00dfacef00dfacef00dface';
  const escapeFirst = (text: string) =>
    `\\u00${text.charCodeAt(0).toString(16).padStart(2, '0')}${text.slice(1)}`;

  test.each([
    ['the token of its URL', own],
    ['the token that is being replaced', replaced],
    ['the token of another account', others],
    ['a key of the exchange', apiKey],
  ])('is refused, escaped or not, and %s is stored nowhere', async (_, secret) => {
    const webhook = await openWebhook({ held: [replaced, others, apiKey] });
    const disguised = escapeFirst(secret);
    const at = (place: Record<string, unknown>) => buyAlert(place).replaceAll('SECRET', disguised);

    const responses = [];
    for (const body of [
      buyAlert({ comment: secret }),
      at({ comment: 'SECRET' }),
      at({ SECRET: 'x' }),
      at({ extras: { deep: [{ SECRET: 1 }, 'SECRET'] } }),
      at({ ticker: 'SECRET' }),
      at({ quantity: 'SECRET' }),
      at({ id: 'SECRET' }),
      `[${buyAlert({ id: 'first' })},${at({ comment: 'SECRET' })}]`,
      `${at({ comment: 'SECRET' })},`,
    ])
      responses.push(await webhook.receive(body));

    expect(responses).toEqual(Array(9).fill('400 invalid_signal'));
    expect(await webhook.refusals('first')).toEqual([
      expect.stringMatching(/^first@refused-[0-9a-f]{12}: the alert message contains a secret of the relay$/),
    ]);
    const written = await webhook.written();
    expect(written).not.toContain(secret);
    expect(written).not.toContain(disguised);
    // Nor the most of it.
    expect(written).not.toContain(secret.slice(0, 16));
    const messages = await webhook.messages();
    expect(messages).toEqual(messages.map(() => undefined));
  });

  test('gets the same response as any other alert for an account that does not exist', async () => {
    const webhook = await openWebhook({ held: [others] });
    const { services } = functions;
    const handler = createWebhook(services.log, (request) => receiveSignal(services, request));
    const post = async (comment: string) => {
      const event = proxyEvent(buyAlert({ comment }));
      return await handler({ ...event, pathParameters: { account: 'nobody', token: own } });
    };

    const [withSecret, without] = [await post(others), await post('nothing')];

    expect(withSecret).toEqual(without);
    expect(withSecret.statusCode).toBe(401);
    expect(await webhook.refusals('buy-1')).toEqual([]);
  });

  test('is not recognised by a secret as short as a word', async () => {
    const webhook = await openWebhook({ held: ['buy', 'BTCUSDT', ''] });
    expect(await webhook.receive(buyAlert())).toBe('202');
  });
});

test('an account that does not exist causes the same secret reads as a wrong token', async () => {
  const asked: string[] = [];
  functions = await openFunctions(() => ({
    async webhookTokens(_, age) {
      asked.push(age);
      return ['another-token-entirely'];
    },
  }));
  const { services } = functions;
  const handler = createWebhook(services.log, (request) => receiveSignal(services, request));
  const post = async (account: string) => {
    asked.length = 0;
    const pathParameters = { account, token: 'a-token-of-this-test' };
    const response = await handler({ ...proxyEvent(buyAlert()), pathParameters });
    return { ...response, asked: [...asked] };
  };

  const [wrongToken, unknownAccount] = [await post('main'), await post('nobody')];

  expect(unknownAccount).toEqual(wrongToken);
  expect(unknownAccount).toMatchObject({ statusCode: 401, asked: ['remembered', 'newest'] });
});

describe('an alert over the limit of signals per minute', () => {
  const maxSlippage = '0.5%';

  test('gets a 503 with Retry-After, is found by its id, and is accepted when it comes again', async () => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 2 });
    for (const id of ['a', 'b']) await webhook.receive(buyAlert({ id }));

    const refused = await functions.receive(buyAlert({ id: 'c' }));
    const noted = await webhook.refusals('c');
    webhook.clock.advance(60_000);
    const resent = await webhook.receive(buyAlert({ id: 'c' }));

    expect(refused).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } });
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'rate_limited' } });
    expect(noted).toEqual([
      expect.stringMatching(
        /^c@refused-[0-9a-f]{12}: 2 signals in the last minute; the account accepts 2; the sender was asked to send it again$/,
      ),
    ]);
    expect(resent).toBe('202');
    expect(await functions.ledger.read({ account: 'main', signalId: 'c' })).toMatchObject({
      status: 'accepted',
    });
  });

  test('gets a 429 once as many were refused in that minute, and is still recorded', async () => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 2 });

    const responses = [];
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) responses.push(await webhook.receive(buyAlert({ id })));
    webhook.clock.advance(60_000);
    const later = [];
    for (const id of ['g', 'h', 'i']) later.push(await webhook.receive(buyAlert({ id })));

    expect(responses).toEqual([
      '202',
      '202',
      '503 rate_limited',
      '503 rate_limited',
      '429 flooded',
      '429 flooded',
    ]);
    expect(await webhook.refusals('e')).toEqual([
      expect.stringMatching(
        /^e@refused-[0-9a-f]{12}: 2 signals in the last minute; the account accepts 2, and 2 were refused in that minute already$/,
      ),
    ]);
    expect(later).toEqual(['202', '202', '503 rate_limited']);
  });

  test('gets a 429 at once when it holds more signals than the account accepts in a minute', async () => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 1 });
    expect(await webhook.receive(`[${buyAlert({ id: 'a' })},${buyAlert({ id: 'b' })}]`)).toBe('429 flooded');
    expect(await webhook.refusals('b')).toEqual([
      expect.stringContaining('the alert holds 2 signals; the account accepts 1 in a minute'),
    ]);
  });

  test('locks nobody into a position: what only reduces, cancels or protects has a bound of its own', async () => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 4 });
    const flood = [];
    for (let count = 0; count < 9; count += 1)
      flood.push(await webhook.receive(buyAlert({ id: `f${count}` })));
    const way = (id: string, changes: Record<string, unknown>) =>
      JSON.stringify({ id, ticker: 'BTCUSDT', ...changes });

    const closing = [];
    for (const body of [
      way('close', { action: 'close', maxSlippage }),
      way('exit', { action: 'exit_long', maxSlippage }),
      way('all', { action: 'cancel_all' }),
      `[${way('flat', { action: 'target', target: 'flat', maxSlippage })}]`,
    ])
      closing.push(await webhook.receive(body));
    const further = [];
    for (const id of ['g', 'h', 'i', 'j', 'k'])
      further.push(await webhook.receive(way(id, { action: 'protect', stopLoss: '49000' })));

    expect(flood).toEqual([
      ...Array<string>(4).fill('202'),
      ...Array<string>(4).fill('503 rate_limited'),
      '429 flooded',
    ]);
    expect(closing).toEqual(Array(4).fill('202'));
    expect(further).toEqual([...Array<string>(4).fill('503 rate_limited'), '429 flooded']);
    expect(await webhook.refusals('g')).toEqual([
      expect.stringContaining(
        '4 signals that only reduce, cancel or protect in the last minute; the account accepts 4',
      ),
    ]);
    expect(webhook.raised).toEqual([
      { name: 'signals_over_limit', account: 'main', maxSignalsPerMinute: 4, refused: 'openings' },
      { name: 'signals_over_limit', account: 'main', maxSignalsPerMinute: 4, refused: 'reductions' },
    ]);
  });

  test.each([
    ['a reversal', { action: 'reverse', maxSlippage }],
    ['a target that is not flat', { action: 'target', target: '0.01', maxSlippage }],
    [
      'a sell that may open a short position',
      { action: 'sell', orderType: 'market', quantity: '0.01', maxSlippage },
    ],
  ])('takes no more of %s than of what opens', async (_, changes) => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 2 });
    for (const id of ['a', 'b']) await webhook.receive(buyAlert({ id }));
    const alert = JSON.stringify({ id: 'c', ticker: 'BTCUSDT', ...changes });
    expect(await webhook.receive(alert)).toBe('503 rate_limited');
  });

  test('an alert that both closes and opens counts as one that opens', async () => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 2 });
    for (const id of ['a', 'b']) await webhook.receive(buyAlert({ id }));
    const close = JSON.stringify({ id: 'close', ticker: 'BTCUSDT', action: 'close', maxSlippage });
    expect(await webhook.receive(`[${close},${buyAlert({ id: 'c' })}]`)).toBe('503 rate_limited');
    expect(await webhook.receive(close)).toBe('202');
  });

  test('raises one alarm for several refusals', async () => {
    const webhook = await openWebhook({ maxSignalsPerMinute: 1 });
    for (const id of ['a', 'b', 'c', 'd']) await webhook.receive(buyAlert({ id }));
    const first = webhook.raised.length;
    webhook.clock.advance(299_999);
    for (const id of ['e', 'f']) await webhook.receive(buyAlert({ id }));
    const second = webhook.raised.length;
    webhook.clock.advance(1);
    await webhook.receive(buyAlert({ id: 'g' }));

    expect([first, second, webhook.raised.length]).toEqual([1, 1, 2]);
    expect(webhook.raised[0]).toEqual({
      name: 'signals_over_limit',
      account: 'main',
      maxSignalsPerMinute: 1,
      refused: 'openings',
    });
  });
});

describe('a refused alert', () => {
  test.each([
    ['an unknown key', buyAlert({ stoplos: '1' }), /is not a field/],
    ['an old time', buyAlert({ time: '2020-01-01T00:00:00Z' }), /too late/],
    ['JSON that breaks off behind its id', buyAlert().slice(0, -3), /not valid JSON/],
    ['nothing but an id', '{"id":"buy-1"}', /\(and 3 more\)|\(and \d more\)/],
  ])('with %s is found by its own id', async (_, body, reason) => {
    const webhook = await openWebhook();
    await webhook.receive(body);
    expect(await webhook.refusals('buy-1')).toEqual([expect.stringMatching(reason)]);
  });

  test('with the id of another signal is found next to that signal', async () => {
    const webhook = await openWebhook();
    await webhook.receive(buyAlert());
    expect(await webhook.receive(buyAlert({ quantity: '0.5' }))).toBe('400 invalid_signal');
    expect(await webhook.refusals('buy-1')).toEqual([expect.stringMatching(/was used before/)]);
    expect(await functions.ledger.read({ account: 'main', signalId: 'buy-1' })).toMatchObject({
      status: 'accepted',
    });
  });

  test('of several signals is found by each of their ids, ten at most', async () => {
    const webhook = await openWebhook();
    const items = Array.from({ length: 12 }, (_, index) => buyAlert({ id: `n${index}` }));
    await webhook.receive(`[${items.join(',')}]`);

    const { entries } = await functions.ledger.list({ limit: 100 });
    expect(entries.map(({ signalId }) => signalId.split('@')[0]).sort()).toEqual(
      Array.from({ length: 10 }, (_, index) => `n${index}`),
    );
  });

  test('without a readable id is found by its bytes, with its ticker', async () => {
    const webhook = await openWebhook();
    await webhook.receive(buyAlert({ id: 'no good id' }));

    const { entries } = await functions.ledger.list({ limit: 100 });
    expect(entries).toMatchObject([
      {
        signalId: expect.stringMatching(/^refused-[0-9a-f]{32}$/),
        steps: [{ evidence: { code: 'invalid_signal' }, facts: { ticker: 'BTCUSDT' } }],
      },
    ]);
  });
});

test('A text with a word that means nothing is answered with what is understood, stays refused, and nothing else of it is written', async () => {
  const { receive, written } = await openWebhook();

  expect(await receive('buy BTCUSDT 0.001 hunter2Secret')).toBe('400 invalid_json');
  const [refused] = (await functions.ledger.list({ limit: 100 })).entries;
  expect(refused).toMatchObject({
    status: 'invalid',
    steps: [
      {
        evidence: {
          issues: [
            {
              hint: 'text is never an order; understood: "ticker": "BTCUSDT", "action": "buy", "quantity": "0.001"; missing: 1 of its 4 words or values mean nothing to the relay, and could change the order',
            },
          ],
        },
      },
    ],
  });
  expect(await written()).not.toContain('hunter2');
});

describe('Of a market that trades on spot', () => {
  const close = { ticker: 'BTCUSDT', action: 'close', maxSlippage: '0.5%' };

  test.each([
    ['a close', close],
    ['a flat target', { ...close, action: 'target', target: 'flat' }],
    ['a reversal', { ...close, action: 'reverse', quantity: '1' }],
  ])('%s is refused, and an alarm says so: a position may stand there from before', async (_, alert) => {
    const { receive, raised } = await openWebhook({ tradesOn: 'spot' });

    expect(await receive(JSON.stringify(alert))).toBe('400 invalid_signal');
    expect(raised).toEqual([{ name: 'signal_not_executed', account: 'main', market: 'BTC_USDT' }]);
  });

  test.each([
    ['a sale that cannot be read', { ticker: 'BTCUSDT', action: 'sell' }],
    ['a close that is refused for another reason', { ...close, stopLoss: '1' }],
    ['a close in a market on margin', { ...close, ticker: 'ETHUSDT', stopLoss: '1' }],
  ])('%s is refused without an alarm', async (_, alert) => {
    const { receive, raised } = await openWebhook({ tradesOn: 'spot' });

    expect(await receive(JSON.stringify(alert))).toBe('400 invalid_signal');
    expect(raised).toEqual([]);
  });
});
