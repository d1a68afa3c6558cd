import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { locateDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { openLock } from '../../lib/host/hold-lock.ts';
import { runCli } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;
let data: string;
beforeEach(async () => {
  relay = await startRelay('live');
  data = relay.target.data;
});
afterEach(() => relay.world.close());

const order = { id: 'left-1', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopPrice: '61000' };

/** As if the exchange of this run were one for real money. */
function tradeLive(): void {
  const urls = { relayUrl: relay.relayUrl, exchangeUrl: relay.world.paper.url };
  writeRun(locateDataFolder(data), { ...urls, dialect: 'live', trades: 'live' });
}

async function leaveOpen(): Promise<void> {
  await relay.world.post(JSON.stringify(order));
  await relay.world.settled('left-1');
}

describe('relay uninstall', () => {
  test('names what is open at the exchange first, then every file with its command, and deletes nothing', async () => {
    await leaveOpen();
    tradeLive();
    const before = readdirSync(data).sort();

    const { exitCode, stdout } = await runCli(relay.here('uninstall'));

    expect(exitCode).toBe(0);
    const [at, files] = [stdout.indexOf('OPEN AT THE EXCHANGE'), stdout.indexOf('relay.db')];
    expect([at > 0, at < files]).toEqual([true, true]);
    expect(stdout).toContain('main: buy in BTC_USDT, order ');
    expect(stdout).toContain('close-all');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`rm ${data}/secrets.json`);
    expect(stdout).toContain('WEBHOOK TOKENS AND EXCHANGE KEYS');
    expect(stdout).toContain('TradingView');
    expect(stdout).toContain('Nothing was deleted.');
    expect(readdirSync(data).sort()).toEqual(before);
  });

  test('says the same as JSON', async () => {
    await leaveOpen();

    const { stdout } = await runCli(relay.here('uninstall', '--json'));

    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ target: relay.target, deleted: [] });
    expect(document.open[0]).toEqual({
      account: 'main',
      orders: [expect.stringMatching(/^buy in BTC_USDT, order \d+$/)],
      positions: [],
      reason: null,
    });
    expect(document.parts).toContainEqual({
      what: 'WEBHOOK TOKENS AND EXCHANGE KEYS',
      where: join(data, 'secrets.json'),
      goesWithStack: false,
      remove: `rm ${join(data, 'secrets.json')}`,
    });
  });

  test('does not say that nothing is open when the exchange cannot be read', async () => {
    relay.pointTo({ relayUrl: relay.relayUrl, exchangeUrl: 'http://127.0.0.1:1' });

    const { stdout } = await runCli(relay.here('uninstall'));

    expect(stdout).toContain('main: COULD NOT BE READ:');
    expect(stdout).not.toContain('Nothing is open');
  });
});

describe('relay uninstall --delete', () => {
  test('deletes what the relay made once it is confirmed, and leaves what it did not make', async () => {
    writeFileSync(join(data, 'notes.txt'), 'mine');

    const { exitCode, stdout, stderr } = await runCli(relay.here('uninstall', '--delete'), 'y\n');

    expect(exitCode).toBe(0);
    expect(stderr).toContain('The ledger cannot be made again.');
    expect(stdout).toContain(join(data, 'relay.db'));
    expect(readdirSync(data)).toEqual(['notes.txt']);
  });

  test.each(['n\n', ''])('deletes nothing without a yes: %j', async (answer) => {
    const before = readdirSync(data).sort();

    const { stdout } = await runCli(relay.here('uninstall', '--delete'), answer);

    expect(stdout).toContain('Nothing was deleted.');
    expect(
      readdirSync(data)
        .filter((name) => before.includes(name))
        .sort(),
    ).toEqual(before);
  });

  test('asks for --yes where it cannot ask', async () => {
    const { exitCode, stderr } = await runCli(relay.here('uninstall', '--delete', '--json'));

    expect(exitCode).toBe(2);
    expect(stderr).toContain('Add --yes');
    expect(existsSync(join(data, 'relay.db'))).toBe(true);
  });

  test('refuses while the relay runs', async () => {
    using _ = openLock(join(data, 'lock.db'), 0);

    const { exitCode, stderr } = await runCli(relay.here('uninstall', '--delete', '--yes'));

    expect(exitCode).toBe(1);
    expect(stderr).toContain('stop it first; nothing was deleted');
    expect(existsSync(join(data, 'relay.db'))).toBe(true);
  });

  test('refuses on a live relay with open orders, and on one that cannot be read', async () => {
    await leaveOpen();
    tradeLive();
    const open = await runCli(relay.here('uninstall', '--delete', '--yes'));
    const urls = { relayUrl: relay.relayUrl, exchangeUrl: 'http://127.0.0.1:1' };
    writeRun(locateDataFolder(data), { ...urls, dialect: 'live', trades: 'live' });
    const unread = await runCli(relay.here('uninstall', '--delete', '--yes'));

    expect([open.exitCode, unread.exitCode]).toEqual([1, 1]);
    expect(open.stderr).toContain('orders or positions are open');
    expect(existsSync(join(data, 'relay.db'))).toBe(true);
  });
});
