import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { locateDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { runCli, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;
let folder: string;

beforeEach(async () => {
  relay = await startRelay('live');
  folder = mkdtempSync(join(tmpdir(), 'relay-config-'));
  relay.world.setPrice('BTC_USDT', '50000');
});
afterEach(async () => {
  await relay.world.close();
  rmSync(folder, { recursive: true });
});

async function open(fields: object = {}): Promise<void> {
  const alert = {
    id: 'buy-1',
    ticker: 'BTCUSDT',
    action: 'buy',
    orderType: 'market',
    maxSlippage: '1%',
    quantity: '0.02',
  };
  await relay.world.post(JSON.stringify({ ...alert, ...fields }));
  await relay.world.settled('buy-1');
}

/** The ledger learns that the stop-loss of the entry is open. */
async function follow(filled: string): Promise<void> {
  const entry = await relay.world.settled('buy-1');
  const order = { endedAtMs: null, filledNotional: '1000', fees: {} } as const;
  await relay.world.executions.record(
    entry,
    {
      revision: 1,
      readAtMs: 1,
      isFollowed: true,
      orders: [
        { ...order, role: 'order', orderId: entry.orderId ?? 0, status: 'filled', filled },
        { ...order, role: 'stop_loss', orderId: 90, status: 'open', filled: '0', price: '49000' },
      ],
    },
    [],
  );
}

describe('positions', () => {
  test('shows nothing while nothing is open', async () => {
    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toMatch(/^No open positions of account main\.\n\nRead from the exchange just now, /);
  });

  test('names the account, and those that it leaves out unless one is named', async () => {
    await open();

    const first = await runCli(relay.here('positions'));
    const named = await runCli(relay.here('positions', 'main'));

    const others = `Account main. Not looked at: rehearsal; for that: npx relay positions rehearsal --data ${relay.target.data}`;
    expect(first.stdout.trimEnd().split('\n').at(-1)).toBe(others);
    expect(named.stdout.trimEnd().split('\n').at(-1)).toBe('Account main.');
  });

  test('shows each position with its profit, and that no stop is known', async () => {
    await open();
    relay.world.setPrice('BTC_USDT', '49500');

    const { stdout } = await runCli(relay.here('positions'), '', { width: 80 });
    const { stdout: narrow } = await runCli(relay.here('positions'), '', { width: 60 });
    const document = await runForJson(relay.here('positions', 'main'));

    expect(stdout).toMatch(/^BTC_USDT +long +0\.02 +50000 +49500 +-10 USDT +–$/m);
    expect(stdout).toMatch(/^ {4}none known +– +–$/m);
    expect(narrow).toMatch(/-10 USDT\n {4} +– {2}none known +– +–\n/);
    expect(stdout).toContain('Stop "none known": no stop-loss that this relay placed is known');
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(document).toMatchObject({
      account: 'main',
      failure: null,
      ageMs: expect.any(Number),
      positions: [{ market: 'BTC_USDT', amount: '0.02', floatingProfit: '-10', stops: [] }],
    });
  });

  test.each([
    ['0.02', '49000'],
    ['0.01', '49000 for 0.01'],
  ])('shows the stop of an entry of which %s was filled', async (filled, shown) => {
    await open();
    await follow(filled);

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toMatch(new RegExp(`^BTC_USDT .* ${shown} +– +–$`, 'm'));
    expect(stdout).not.toContain('none known');
  });

  /** Opens the position in parts, each with a stop-loss and a take-profit that the ledger knows to be open. */
  async function openProtected(parts: number, stops: 'apart' | 'at one price' = 'apart'): Promise<void> {
    for (let index = 0; index < parts; index += 1) {
      const id = `buy-${index + 1}`;
      await open({ id, quantity: '0.01', strategy: 'breakout', stopLoss: '49000', takeProfit: '52000' });
      const entry = await relay.world.settled(id);
      const order = { endedAtMs: null, filledNotional: '500', fees: {} } as const;
      const exit = { ...order, status: 'open', filled: '0' } as const;
      await relay.world.executions.record(
        entry,
        {
          revision: 1,
          readAtMs: 1,
          isFollowed: true,
          orders: [
            { ...order, role: 'order', orderId: entry.orderId ?? 0, status: 'filled', filled: '0.01' },
            {
              ...exit,
              role: 'stop_loss',
              orderId: 90 + index,
              price: `4900${stops === 'apart' ? index : 0}.1`,
            },
            { ...exit, role: 'take_profit', orderId: 95 + index, price: `5200${index}` },
          ],
        },
        [],
      );
    }
  }

  test('counts the stops of one price', async () => {
    await openProtected(3, 'at one price');

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toContain('3 at 49000.1 for 0.01 each');
  });

  test('shows two stops, two targets and the strategy of a position on two lines of 80 columns', async () => {
    await openProtected(2);

    const { stdout } = await runCli(relay.here('positions'), '', { width: 80 });
    const document = await runForJson(relay.here('positions'));

    const [, , , first = '', second = '', blank] = stdout.split('\n');
    expect(first).toMatch(/^BTC_USDT +long +0\.02 +50000 +50000 +0 USDT +–$/);
    expect(second).toMatch(
      /^ {4}49000\.1, 49001\.1 for 0\.01 each {2}52000, 52001 for 0\.01 each {2}breakout$/,
    );
    expect(second.length).toBeLessThanOrEqual(80);
    expect(blank).toBe('');
    expect(document).toMatchObject({
      positions: [
        {
          lastPrice: '50000',
          stops: [
            { signalId: 'buy-1', price: '49000.1' },
            { signalId: 'buy-2', price: '49001.1' },
          ],
          targets: [{ price: '52000' }, { price: '52001' }],
          strategies: ['breakout'],
          isStopAwaited: false,
        },
      ],
    });
  });

  test('cuts no price of three stops and three targets at 80 columns', async () => {
    await openProtected(3);

    const { stdout } = await runCli(relay.here('positions'), '', { width: 80 });

    const prices = ['49000.1', '49001.1', '49002.1', '52000', '52001', '52002'];
    expect(stdout.match(/\b(?:4900\d\.\d|5200\d)\b/g)?.toSorted()).toEqual(prices);
    expect(stdout).toContain('breakout');
    expect(stdout).not.toContain('…');
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('says just after a fill that the stop is being read', async () => {
    await open({ stopLoss: '49000' });

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toMatch(/^BTC_USDT .* being read +– +–$/m);
    expect(stdout).toContain(
      'Stop "being read": the position, or that part of it, was filled within the last minute',
    );
    expect(stdout).not.toContain('none known');
  });

  test('says that no stop is known when it was not found for a minute', async () => {
    await open({ stopLoss: '49000' });
    const entry = await relay.world.settled('buy-1');
    const longAgoMs = Date.now() - 120_000;
    const order = { endedAtMs: longAgoMs, filledNotional: '1000', fees: {} } as const;
    await relay.world.executions.record(
      entry,
      {
        revision: 1,
        readAtMs: longAgoMs,
        isFollowed: true,
        orders: [{ ...order, role: 'order', orderId: entry.orderId ?? 0, status: 'filled', filled: '0.02' }],
        unprotectedSinceMs: longAgoMs,
      },
      [],
    );

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toMatch(/^BTC_USDT .* none known +– +–$/m);
  });

  test('counts a stop order that only reduces as a stop, and not one on the other side of the price', async () => {
    await open();
    const stop = { ticker: 'BTCUSDT', action: 'sell', quantity: '0.01', reduceOnly: true };
    const below = { ...stop, id: 'stop-below', stopPrice: '49000', limitPrice: '48510' };
    const above = { ...stop, id: 'stop-above', stopPrice: '52000', limitPrice: '51990' };
    for (const alert of [below, above]) {
      await relay.world.post(JSON.stringify(alert));
      const entry = await relay.world.settled(alert.id);
      const order = {
        role: 'order',
        orderId: entry.orderId ?? 0,
        status: 'open',
        endedAtMs: null,
        filled: '0',
        filledNotional: '0',
        fees: {},
      } as const;
      await relay.world.executions.record(
        entry,
        { revision: 1, readAtMs: 1, isFollowed: true, orders: [order] },
        [],
      );
    }

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toMatch(/^BTC_USDT .* 49000 for 0\.01 +– +–$/m);
  });

  test('shows what was read last, with its age, while the exchange cannot be read', async () => {
    await open();
    const file = openSqlite(locateDataFolder(dirname(relay.world.secretsPath)).databasePath);
    const fact = {
      readAtMs: Date.now() - 7 * 60_000,
      positions: [
        {
          positionId: 1,
          market: 'BTC_USDT',
          amount: '-0.5',
          basePrice: '51000',
          liquidationState: 'margin_call',
        },
      ],
    };
    await createSqliteAccountFacts(file).write('main', 'positions', fact);
    file.close();
    relay.world.paper.control.addFault({ fault: 'refuse', endpoint: 'open-positions', probability: 1 });

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toMatch(/^BTC_USDT +short +0\.5 +51000 +– +– +– +none known +– +–$/m);
    expect(stdout).toContain('MARGIN CALL: add collateral or reduce the position');
    expect(stdout).toMatch(
      /OLD: the exchange cannot be read now \(.*\)\. This is what the relay read 7 min ago/,
    );
    expect(stdout).toContain('What the relay has sent after that reading may have changed them: buy-1.');
  });

  test('says in plain words that the exchange cannot be reached', async () => {
    const data = locateDataFolder(dirname(relay.world.secretsPath));
    const file = openSqlite(data.databasePath);
    await createSqliteAccountFacts(file).write('main', 'positions', { readAtMs: Date.now(), positions: [] });
    file.close();
    // Nobody listens on port 1.
    writeRun(data, { relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1', dialect: 'live' });

    const { stdout } = await runCli(relay.here('positions'));

    expect(stdout).toContain('cannot be read now (the exchange at http://127.0.0.1:1 is not running)');
  });
});

describe('limits', () => {
  function configure(limits: string, market = ''): string {
    const path = join(folder, 'limited.config.ts');
    writeFileSync(
      path,
      `export default {
        exchange: { address: 'global', dialect: 'live' }, tickers: {}, maxLagSeconds: 60,
        accounts: { main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'margin', ${market} } }, ${limits} } },
      };`,
    );
    return path;
  }

  test('says that an account sets none', async () => {
    const { stdout } = await runCli(relay.here('limits'));

    expect(stdout).toContain('Account main sets no limit of growing risk: maxPosition, maxOpenNotional');
    expect(stdout).toMatch(/^market +maxAmount +maxNotional$/m);
    expect(stdout).toMatch(/^BTC_USDT +0\.01 BTC +1000 USDT$/m);
    expect(stdout).toContain('Account main. Not looked at: rehearsal; for that: npx relay limits rehearsal');
  });

  test('says what a limit does not count', async () => {
    const path = configure(`maxOpenNotional: '500'`);
    writeFileSync(path, readFileSync(path, 'utf8').replace(`'margin'`, `'spot'`));

    const document = await runForJson(relay.here('limits', '--config', path));
    const { stdout } = await runCli(relay.here('limits', '--config', path));

    expect(document).toMatchObject({
      uncounted: [expect.stringContaining('what has filled on spot (BTC_USDT)')],
    });
    expect(stdout).toContain('Not counted: maxOpenNotional does not count what has filled on spot');
  });

  test('shows what is used, what is left, and why an order would be denied', async () => {
    const limits = `maxOpenNotional: '5000', maxDailyLoss: '10', coolDownAfterLoss: 30, tradingWindows: [{ from: '00:00', until: '24:00' }]`;
    const configPath = configure(limits, `maxPosition: '0.02'`);
    await open();
    relay.world.setPrice('BTC_USDT', '49500');

    const document = await runForJson(relay.here('limits', '--config', configPath));
    const { stdout } = await runCli(relay.here('limits', '--config', configPath), '', { width: 80 });

    expect(document).toMatchObject({
      account: 'main',
      unknown: [],
      largest: [{ market: 'BTC_USDT', maxAmount: null, maxNotional: null }],
      limits: [
        {
          name: 'maxPosition',
          of: 'BTC_USDT buy',
          limit: '0.02',
          used: '0.02',
          left: '0',
          unit: 'BTC',
          denies: expect.any(String),
        },
        { name: 'maxPosition', of: 'BTC_USDT sell', used: '0', left: '0.02', denies: null },
        { name: 'maxOpenNotional', limit: '5000', used: '990', left: '4010', unit: 'USDT', denies: null },
        {
          name: 'maxDailyLoss',
          limit: '10',
          used: '11',
          left: '0',
          denies: expect.stringContaining('has lost 11 USDT'),
        },
        { name: 'coolDownAfterLoss', limit: '30', left: '0', denies: null },
        { name: 'tradingWindows', used: 'open', denies: null },
      ],
    });
    expect(stdout).toMatch(/^maxOpenNotional +5000 USDT +990 +4010 +allows$/m);
    expect(stdout).toContain(
      'Orders that only reduce a position, and cancellations, pass all of these limits.',
    );
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});
