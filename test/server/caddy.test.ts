import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { locateDataFolder, readRun } from '../../lib/host/data-folder.ts';
import { type LivePlace, openLivePlace, type StartedRelay } from '../support/live-place.ts';
import { type CaddyProcess, findFreePorts, startCaddy } from './caddy-process.ts';

const [allowed, stranger] = ['127.0.0.2', '127.0.0.3'];
const buy = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01' };

describe('a live relay behind Caddy', () => {
  let place: LivePlace;
  let relay: StartedRelay;
  let caddy: CaddyProcess;
  let httpsPort = 0;
  let httpPort = 0;
  const args = ['--live', '--reverse-proxy', '127.0.0.1', '--allow-from', allowed];

  beforeAll(async () => {
    place = await openLivePlace();
    await (await place.start()).exitCode;
    place.storeKeys();
    [httpPort = 0, httpsPort = 0] = await findFreePorts(2);
    relay = await place.start(args);
    caddy = await start();
  });
  afterAll(async () => {
    await caddy.stop();
    await place.close();
  });

  const start = () => {
    const { relayUrl } = runOf();
    return startCaddy(place.folder, {
      RELAY_DOMAIN: 'localhost',
      RELAY_TLS: `${place.certificatePath} ${place.keyPath}`,
      RELAY_UPSTREAM: new URL(relayUrl).host,
      RELAY_HTTP_PORT: String(httpPort),
      RELAY_HTTPS_PORT: String(httpsPort),
    });
  };

  function runOf() {
    const run = readRun(locateDataFolder(place.data));
    if (run === null) throw new Error('the relay has not recorded its addresses');
    return run;
  }

  /** Asks over TLS with the certificate of the test, from an address of this machine. */
  function ask(
    from: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: httpsPort,
          servername: 'localhost',
          ca: readFileSync(place.certificatePath),
          localAddress: from,
          agent: false,
          path,
          method: body === undefined ? 'GET' : 'POST',
          headers: { host: 'localhost', ...headers },
        },
        async (response) => resolve({ status: response.statusCode ?? 0, body: await text(response) }),
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  const alert = (id: string) => JSON.stringify({ id, ...buy });

  function refusals(): readonly string[] {
    const lines = readFileSync(join(place.data, 'relay.log'), 'utf8').trimEnd().split('\n');
    return lines
      .map((line) => JSON.parse(line))
      .flatMap(({ code, reason }) => (code === 'sender_refused' ? [reason] : []));
  }

  test('takes an alert over TLS from an allowed address, and places its order at the exchange', async () => {
    const response = await ask(allowed, await place.readWebhookPath(), alert('behind-1'));
    await relay.saw('signal placed');

    expect([response.status, JSON.parse(response.body)]).toEqual([
      202,
      expect.objectContaining({ signalId: 'behind-1', status: 'accepted' }),
    ]);
    expect(place.paper.control.state().orders).toMatchObject([{ market: 'BTC_USDT', side: 'buy' }]);
  });

  test('refuses another address with one line in the log, whatever it says of itself', async () => {
    const forged = { 'x-forwarded-for': '52.89.214.238' };
    const response = await ask(stranger, await place.readWebhookPath(), alert('behind-2'), forged);

    expect(response.status).toBe(403);
    expect(refusals()).toEqual([`the request came from ${stranger}, and was not read`]);
    expect(place.paper.control.state().orders).toHaveLength(1);
  });

  test('shows its health to monitors, and nothing else to anybody', async () => {
    const health = await ask(stranger, '/health');

    expect([health.status, JSON.parse(health.body)]).toMatchObject([200, { status: 'ok', trades: 'live' }]);
    expect((await ask(stranger, '/ready')).status).toBe(200);
    for (const path of ['/', '/control/state', '/healthy', '/signals'])
      expect((await ask(stranger, path)).status).toBe(404);
  });

  test('takes alerts again when the proxy was stopped and started', async () => {
    await caddy.stop();
    await expect(ask(allowed, await place.readWebhookPath(), alert('behind-3'))).rejects.toThrow(
      'ECONNREFUSED',
    );
    caddy = await start();

    expect((await ask(allowed, await place.readWebhookPath(), alert('behind-3'))).status).toBe(202);
  });

  test('has the proxy answer 502 while it is stopped, so that TradingView sends again, and no log names the token', async () => {
    const path = await place.readWebhookPath();
    const { port } = new URL(runOf().relayUrl);
    expect(await relay.stop()).toBe(0);
    const refused = await ask(allowed, path, alert('behind-4'));
    relay = await place.start([...args, '--port', port]);
    const again = await ask(allowed, path, alert('behind-4'));

    expect([refused.status, again.status]).toEqual([502, 202]);
    expect(caddy.logged.join('\n')).toContain('connection refused');
    expect(caddy.logged.join('\n')).not.toContain(path.split('/').at(-1));
  });
});
