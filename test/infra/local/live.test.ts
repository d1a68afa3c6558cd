import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { describeExchange } from '../../../cli/session/session.ts';
import { locateDataFolder, readRun } from '../../../lib/host/data-folder.ts';
import { runCli } from '../../cli/run-cli.ts';
import { type LivePlace, openLivePlace } from '../../support/live-place.ts';

const buy = { id: 'live-1', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', orderType: 'market' };

describe('npm start -- --live', () => {
  let place: LivePlace;
  beforeEach(async () => {
    place = await openLivePlace();
  });
  afterEach(() => place.close());

  const cli = (...args: string[]) => runCli([...args, '--data', place.data, '--config', place.configPath]);

  /** The first start is refused, and makes the folder in which `keys set` stores the key. */
  async function startWithKeys(args?: readonly string[]) {
    await (await place.start()).exitCode;
    place.storeKeys();
    return await place.start(args);
  }

  async function post(alert: object): Promise<number> {
    const { relayUrl = '' } = readRun(locateDataFolder(place.data)) ?? {};
    const url = `${relayUrl}${await place.readWebhookPath()}`;
    return (await fetch(url, { method: 'POST', body: JSON.stringify(alert) })).status;
  }

  test('is refused until the account that trades has a key, and says how to store it', async () => {
    const refused = await place.start();

    expect([await refused.exitCode, refused.isReady]).toEqual([78, false]);
    expect(await refused.complaint).toBe(
      `main: mode 'live' and no exchange key; store it with \`npx relay keys set main --data ${place.data}\`; nothing was started\nCorrect what the message names, then start again. Without \`--live\` the relay trades on paper.\n`,
    );
    const stored = await runCli(
      ['keys', 'set', 'main', '--data', place.data, '--config', place.configPath],
      'paper-key\npaper-secret\n',
    );
    expect(stored.stderr).toContain(
      describeExchange({ kind: 'own', url: place.exchangeUrl, dialect: 'live' }),
    );
    expect([stored.exitCode, statSync(join(place.data, 'secrets.json')).mode & 0o777]).toEqual([0, 0o600]);
    expect((await place.start()).isReady).toBe(true);
  });

  test('trades on the exchange of the configuration, and every page and line says that it is live', async () => {
    const relay = await startWithKeys();
    const greeting = relay.lines.join('\n');
    const [token = ''] = (await place.readWebhookPath()).split('/').slice(-1);

    expect(greeting).toContain(`  REAL exchange   ${place.exchangeUrl}  (live dialect)`);
    expect(greeting).toContain('  LIVE            main: orders trade real money.');
    expect(greeting).toContain('  NOTHING SENT    rehearsal: mode "dry-run".');
    // Its output is no terminal, and may be kept by a service manager.
    expect(greeting).not.toContain(token);
    expect(greeting).toContain(`npx relay webhook --data ${place.data}`);

    expect(await post(buy)).toBe(202);
    await relay.saw('signal placed');
    const { orders } = place.paper.control.state();
    expect(orders).toMatchObject([
      { market: 'BTC_USDT', side: 'buy', clientOrderId: expect.stringMatching(/^tr-/) },
    ]);

    const head = `LIVE relay in ${place.data}\n`;
    for (const command of [['signals'], ['signal', 'live-1'], ['report'], ['pause']])
      expect((await cli(...command)).stdout.slice(0, head.length)).toBe(head);
    expect((await cli('webhook')).stdout).toContain('main (live)');
    expect((await cli('resume', '--json')).stdout).toContain('"trades":"live"');
    expect((await cli('doctor')).stdout).toContain('LIVE, listens at');
    expect((await cli('paper', 'state')).stderr).toContain('is LIVE and has no paper exchange');
    const { relayUrl = '' } = readRun(locateDataFolder(place.data)) ?? {};
    expect(await (await fetch(`${relayUrl}/health`)).json()).toMatchObject({ trades: 'live' });
    const lines = readFileSync(join(place.data, 'relay.log'), 'utf8').trimEnd().split('\n');
    expect(new Set(lines.map((line) => JSON.parse(line).service))).toEqual(new Set(['relay-live']));
    expect(await relay.stop()).toBe(0);
  });

  test('and a run on paper never share a folder, in whichever order', async () => {
    await (await startWithKeys()).stop();
    const paper = await place.start(['--paper-port', '0']);

    expect(await paper.exitCode).toBe(1);
    expect(await paper.complaint).toContain(`the data folder "${place.data}" is LIVE`);

    const other = { RELAY_DATA: join(place.folder, 'other') };
    await (await place.start(['--paper-port', '0'], other)).stop();
    const live = await place.start(['--live'], other);
    expect(await live.exitCode).toBe(1);
    expect(await live.complaint).toContain(`the data folder "${other.RELAY_DATA}" is of paper`);
  });

  test('takes no option of the paper exchange', async () => {
    const refused = await place.start(['--live', '--frozen', '--paper-port', '0']);

    expect(await refused.exitCode).toBe(78);
    expect(await refused.complaint).toContain('--paper-port, --frozen set the paper exchange');
  });

  test('takes alerts from TradingView, the allowed senders and this machine alone', async () => {
    const relay = await startWithKeys([
      '--live',
      '--reverse-proxy',
      '127.0.0.1',
      '--allow-from',
      '203.0.113.9',
    ]);
    const { relayUrl = '' } = readRun(locateDataFolder(place.data)) ?? {};
    const url = `${relayUrl}${await place.readWebhookPath()}`;
    const postFrom = async (address: string, id: string) => {
      const headers = { 'x-forwarded-for': address };
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ ...buy, id }) })).status;
    };

    expect(relay.isReady).toBe(true);
    expect(await postFrom('52.89.214.238', 'a')).toBe(202);
    expect(await postFrom('203.0.113.9', 'b')).toBe(202);
    expect(await postFrom('203.0.113.10', 'c')).toBe(403);
    expect(await post({ ...buy, id: 'd' })).toBe(202);
    await relay.stop();
    const log = readFileSync(join(place.data, 'relay.log'), 'utf8').trimEnd().split('\n');
    const refusals = log.map((line) => JSON.parse(line)).filter(({ code }) => code === 'sender_refused');
    expect(refusals.map(({ reason }) => reason)).toEqual([
      'the request came from 203.0.113.10, and was not read',
    ]);
  });
});
