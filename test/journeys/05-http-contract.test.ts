import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, type World } from '../support/world.ts';

describe('POST /signals/{account}/{token}', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ dialect: 'live' });
    world.setPrice('BTC_USDT', '50000');
  });
  afterAll(() => world.close());

  const origin = () => new URL(world.webhookUrl).origin;
  const token = () => world.webhookUrl.split('/').at(-1) ?? '';
  const post = (url: string, body = buyAlert()) => fetch(url, { method: 'POST', body });

  test('a wrong token and an unknown account get the same 401, whatever the body', async () => {
    const responses = await Promise.all([
      post(`${origin()}/signals/main/wrong`),
      post(`${origin()}/signals/nobody/${token()}`),
      post(`${origin()}/signals/nobody/wrong`, 'no json'),
      post(`${origin()}/signals/__proto__/${token()}`),
      post(`${origin()}/signals/rehearsal/${token()}`),
    ]);

    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('"code":"unauthorized"');
  });

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('%s gets 405 with the allowed methods', async (method) => {
    const response = await fetch(world.webhookUrl, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test.each(['/', '/signals', '/signals/main', '/signals/main/x/y', '/health'])('%s is 404', async (path) => {
    expect((await post(`${origin()}${path}`)).status).toBe(404);
  });

  test('16 KiB are accepted, one byte more is 413 and stored as a refusal', async () => {
    const alert = buyAlert({ id: 'padded' });
    const atLimit = await world.post(alert + ' '.repeat(16_384 - alert.length));
    const beyond = await world.post(alert + ' '.repeat(16_385 - alert.length));

    expect([atLimit.status, beyond.status, beyond.body.error?.code]).toEqual([202, 413, 'body_too_large']);
    await world.settled('padded');
    const { entries } = await world.ledger.list({ status: 'invalid', limit: 10 });
    expect(entries.map(({ steps }) => steps[0]?.note)).toEqual([
      'the alert has 16385 bytes; at most 16384 are taken',
    ]);
  });

  test('a body of megabytes is 413 and stored as a refusal, without what was too much', async () => {
    expect((await post(world.webhookUrl, 'x'.repeat(3 * 1024 * 1024))).status).toBe(413);

    const { entries } = await world.ledger.list({ status: 'invalid', limit: 10 });
    const large = entries.filter(({ steps }) => steps[0]?.note.includes('3145728'));
    expect(large.map(({ steps }) => steps[0]?.note)).toEqual([
      'the alert has 3145728 bytes; at most 16384 are taken',
    ]);
    expect(JSON.stringify(large).length).toBeLessThan(2_000);
  });

  test('a body of megabytes from a stranger is 401 and leaves nothing', async () => {
    const url = `${origin()}/signals/main/${'x'.repeat(32)}`;
    const before = (await world.ledger.list({ limit: 10 })).entries.length;

    expect((await post(url, 'x'.repeat(4 * 1024 * 1024))).status).toBe(401);

    expect((await world.ledger.list({ limit: 10 })).entries).toHaveLength(before);
  });

  test.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
  ])('content type %s is accepted', async (contentType) => {
    const id = `type-${contentType.length}`;
    expect(await world.post(buyAlert({ id }), { contentType })).toMatchObject({ status: 202 });
    await world.settled(id);
  });

  test('a sender that disconnects in the middle of its body does no harm', async () => {
    await new Promise<void>((resolve) => {
      const cut = request(world.webhookUrl, { method: 'POST', headers: { 'content-length': '500' } });
      cut.on('error', () => resolve());
      cut.write('{"id":"cut"');
      cut.once('socket', (socket) => socket.once('connect', () => cut.destroy()));
    });

    expect(await world.post(buyAlert({ id: 'after-cut' }))).toMatchObject({ status: 202 });
    expect(await world.ledger.read({ account: 'main', signalId: 'cut' })).toBeNull();
    await world.settled('after-cut');
  });

  test('a refusal names every validation issue with path, message and hint', async () => {
    const { status, body } = await world.post(
      JSON.stringify({
        id: 'bad-1',
        ticker: 'XRPUSDT',
        action: 'buy',
        quantity: '5 BTC',
        stopPrice: '50100',
        stopLos: '1',
      }),
    );

    expect(status).toBe(400);
    expect(body.error?.code).toBe('invalid_signal');
    expect(body.error?.issues.map(({ path }) => path).sort()).toEqual(['quantity', 'stopLos', 'ticker']);
    expect(body.error?.issues.every(({ message, hint }) => message !== '' && hint !== '')).toBe(true);
  });

  test('an alert that contains the token is refused and the token is stored nowhere', async () => {
    const { status, body } = await world.post(buyAlert({ id: 'leak', comment: `see ${token()}` }));

    expect(status).toBe(400);
    expect(JSON.stringify(body)).not.toContain(token());
  });

  test('no log line and no ledger entry shows a token, a key, a secret or a signature', async () => {
    const { entries } = await world.ledger.list({ limit: 100 });
    const written = JSON.stringify([world.logged, entries]);

    expect(entries.length).toBeGreaterThan(5);
    for (const secret of [token(), 'paper-key', 'paper-secret', 'X-TXC'])
      expect(written).not.toContain(secret);
  });
});

describe('two tokens', () => {
  test('are both valid at the same time, so that one can be replaced without a gap', async () => {
    const world = await openWorld({ dialect: 'live' });
    const path = world.secretsPath;
    const secrets = JSON.parse(readFileSync(path, 'utf8')) as { main: { webhookTokens: string[] } };
    secrets.main.webhookTokens.push('a-second-token-for-main');
    writeFileSync(path, JSON.stringify(secrets));

    const byOld = await fetch(world.webhookUrl, { method: 'POST', body: buyAlert() });
    const byNew = await fetch(world.webhookUrl.replace(/[^/]+$/, 'a-second-token-for-main'), {
      method: 'POST',
      body: buyAlert(),
    });

    expect([byOld.status, byNew.status]).toEqual([202, 200]);
    await world.settled('buy-1');
    await world.close();
  });
});
