import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { renderUnderWay } from '../../cli/commands/close-all.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeEach(async () => {
  relay = await startRelay('live');
  relay.world.setPrice('BTC_USDT', '50000');
});

afterEach(() => relay.world.close());

const closeAll = (...args: string[]) => relay.here('close-all', ...args, '--max-slippage', '0.5%');
const positions = () => relay.world.paper.control.state().accounts['main']?.positions;
const openOrders = () =>
  relay.world.paper.control.state().orders.flatMap(({ status, type }) => (status === 'open' ? [type] : []));
const byHand = (...args: string[]) => runForJson(relay.here('paper', 'order', ...args));

async function say(id: string, members: object): Promise<void> {
  await relay.world.post(JSON.stringify({ id, ...members }));
  await relay.world.settled(id);
}

describe('close-all', () => {
  test('closes every position with what protects it, and cancels entries that rest elsewhere', async () => {
    const exits = { stopLoss: '2%', takeProfits: [{ price: '3%', share: '50%' }], maxSlippage: '0.5%' };
    await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', ...exits });
    await byHand('BTC_PERP', 'sell', '0.01');
    await say('rest-1', { ticker: 'ETHUSDT', action: 'buy', quantity: '0.1', limitPrice: '2000' });

    const document = await runForJson(closeAll());

    expect(document).toMatchObject({
      target: relay.target,
      closes: [
        { account: 'main', market: 'BTC_USDT', action: 'close', status: 'placed' },
        { account: 'main', market: 'BTC_PERP', action: 'close', status: 'placed' },
        { account: 'main', market: 'ETH_USDT', action: 'cancel_all', status: 'cancelled' },
      ],
    });
    expect([positions(), openOrders()]).toEqual([{}, []]);
  });

  test('fails when an order filled only in part', async () => {
    relay.world.paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('100000000'));
    await byHand('BTC_USDT', 'buy', '30');

    const failure = await runForFailure(closeAll());

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
    expect(failure.message).toMatch(/BTC_USDT of main: placed: .*an order was to close all of a position/);
  });

  test('closes while entries are paused, of an account that is named', async () => {
    await byHand('BTC_USDT', 'buy', '0.01');
    await runCli(relay.here('pause'));

    const { stdout } = await runCli(closeAll('--account', 'main'), '', { width: 80 });

    expect(stdout).toMatch(/^main +BTC_USDT +close +placed +close-all-BTC_USDT-/m);
    expect(stdout).toContain('What is left of the positions: npx relay positions');
    expect(positions()).toEqual({});
  });

  test('names the side of a position in hedge mode', async () => {
    relay.world.paper.control.setHedgeMode('main', true);
    const order = { ticker: 'BTCUSDT.P', quantity: '0.01', maxSlippage: '0.5%' };
    await say('short-1', { ...order, action: 'sell', positionSide: 'SHORT' });

    expect(await runForJson(closeAll())).toMatchObject({
      closes: [{ market: 'BTC_PERP', positionSide: 'SHORT', status: 'placed' }],
    });
    expect(positions()).toEqual({});
  });

  test('sends nothing where nothing is open', async () => {
    const { stdout, exitCode } = await runCli(closeAll());

    expect(exitCode).toBe(0);
    expect(stdout).toContain('No position is open in the markets of relay.config.ts.');
    expect(relay.world.paper.control.state().orders).toEqual([]);
  });

  test('fails with what was not closed, and closes the rest', async () => {
    await byHand('BTC_USDT', 'buy', '0.01');
    await byHand('SOL_USDT', 'buy', '1');
    const folder = mkdtempSync(join(tmpdir(), 'relay-config-'));
    const config = join(folder, 'fewer.config.ts');
    writeFileSync(
      config,
      `export default {
        exchange: { address: 'global', dialect: 'live' }, tickers: { BTCUSDT: 'BTC_USDT' }, maxLagSeconds: 60,
        accounts: { main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'margin' } } } },
      };`,
    );

    const failure = await runForFailure(closeAll('--config', config));
    rmSync(folder, { recursive: true });

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
    expect(failure.message).toBe(
      'not everything was surely closed: SOL_USDT of main: it has no ticker in relay.config.ts, or is no market of this account there',
    );
    expect(positions()).toMatchObject({ SOL_USDT: { amount: '1' } });
    expect(positions()).not.toHaveProperty('BTC_USDT');
  });

  describe('with a market that trades on spot', () => {
    let folder: string;
    let config: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'relay-config-'));
      config = join(folder, 'spot.config.ts');
      writeFileSync(
        config,
        `export default {
          exchange: { address: 'global', dialect: 'live' }, tickers: { BTCUSDT: 'BTC_USDT' }, maxLagSeconds: 60,
          accounts: { main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'spot' } } } },
        };`,
      );
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    test('says which coins are held, and that they are not sold', async () => {
      relay.world.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.25'));

      const { stdout, exitCode } = await runCli(closeAll('--config', config), '', { width: 400 });

      expect(exitCode).toBe(0);
      expect(stdout).toContain('No position is open in the markets of relay.config.ts.');
      expect(stdout).toContain(
        'they are not sold, and orders for them stay. Held are 0.25 BTC of main (BTC_USDT).',
      );
      expect(await runForJson(closeAll('--config', config))).toMatchObject({
        closes: [],
        coins: [{ account: 'main', market: 'BTC_USDT', amount: '0.25' }],
      });
    });

    test('fails with the position that stands there from before, and says how it can be closed', async () => {
      await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '0.5%' });

      const failure = await runForFailure(closeAll('--config', config));

      expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
      expect(failure.message).toBe(
        'not everything was surely closed: BTC_USDT of main: its position is on margin, and the market trades on spot in relay.config.ts, where no alert closes a position: write tradesOn as it was until the position is closed',
      );
    });
  });

  describe('with an account that was changed to dry-run', () => {
    let folder: string;
    let config: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'relay-config-'));
      config = join(folder, 'dry.config.ts');
      writeFileSync(
        config,
        `export default {
          exchange: { address: 'global', dialect: 'live' }, tickers: { BTCUSDT: 'BTC_USDT', ETHUSDT: 'ETH_USDT' }, maxLagSeconds: 60,
          accounts: {
            main: { mode: 'dry-run', markets: { BTC_USDT: { tradesOn: 'margin' }, ETH_USDT: { tradesOn: 'margin' } } },
            keyless: { mode: 'dry-run', markets: { BTC_USDT: { tradesOn: 'margin' } } },
          },
        };`,
      );
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    test('fails with what it holds, and sends nothing', async () => {
      await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '0.5%' });
      await say('rest-1', { ticker: 'ETHUSDT', action: 'buy', quantity: '0.1', limitPrice: '2000' });

      const failure = await runForFailure(closeAll('--config', config));

      expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
      expect(failure.message).toBe(
        'not everything was surely closed: BTC_USDT of main: 0.01 is open, and the account is in dry-run, so nothing is sent for it: close it on the website of the exchange; ETH_USDT of main: an order may be open, and the account is in dry-run, so nothing is sent for it: close it on the website of the exchange',
      );
      expect(positions()).toMatchObject({ BTC_USDT: { amount: '0.01' } });
    });

    test('looks at it after the others: it may have the key of one that is closed', async () => {
      writeFileSync(
        config,
        `export default {
          exchange: { address: 'global', dialect: 'live' }, tickers: { BTCUSDT: 'BTC_USDT' }, maxLagSeconds: 60,
          accounts: {
            main: { mode: 'paper', markets: { BTC_USDT: { tradesOn: 'margin' } } },
            rehearsal: { mode: 'dry-run', markets: { BTC_USDT: { tradesOn: 'margin' } } },
          },
        };`,
      );
      const path = join(relay.target.data, 'secrets.json');
      const secrets = JSON.parse(readFileSync(path, 'utf8'));
      secrets.rehearsal.exchangeKeys = secrets.main.exchangeKeys;
      writeFileSync(path, JSON.stringify(secrets));
      await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '0.5%' });

      expect(await runForJson(closeAll('--config', config))).toMatchObject({
        closes: [{ account: 'main', market: 'BTC_USDT', status: 'placed' }],
      });
    });

    test('fails while the exchange cannot be read', async () => {
      relay.pointTo({ relayUrl: relay.relayUrl, exchangeUrl: 'http://127.0.0.1:1' });

      const failure = await runForFailure(closeAll('--config', config, '--account', 'main'));

      expect(failure.message).toContain('account main could not be read');
    });

    test('names one that has no key as not looked at', async () => {
      const { exitCode, stdout } = await runCli(closeAll('--config', config));

      expect(exitCode).toBe(0);
      expect(stdout).toContain('Not looked at: keyless, which is in dry-run and has no key');
    });
  });

  describe('while the list of positions lags behind', () => {
    const exit = { maxSlippage: '0.5%' };
    const lag = (...endpoints: string[]) => {
      for (const endpoint of endpoints)
        relay.world.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 4_000, probability: 1 });
    };

    test('closes what has just filled', async () => {
      lag('open-positions', 'open-order', 'ended-order', 'conditional-orders', 'executed-history');
      await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopLoss: '2%', ...exit });
      await say('entry-2', { ticker: 'BTCUSDT.P', action: 'sell', quantity: '0.01', ...exit });

      const document = await runForJson(closeAll());

      expect(document).toMatchObject({
        closes: [
          { market: 'BTC_USDT', action: 'close', status: 'placed' },
          { market: 'BTC_PERP', action: 'close', status: 'placed' },
        ],
      });
      expect(positions()).toEqual({});
    });

    test('names the side that has just been opened in hedge mode', async () => {
      relay.world.paper.control.setHedgeMode('main', true);
      lag('open-positions');
      const order = { ticker: 'BTCUSDT.P', quantity: '0.01', ...exit };
      await say('short-1', { ...order, action: 'sell', positionSide: 'SHORT' });

      expect(await runForJson(closeAll())).toMatchObject({
        closes: [{ market: 'BTC_PERP', positionSide: 'SHORT', status: 'placed' }],
      });
      expect(positions()).toEqual({});
    });

    test('closes what an order opened whose outcome is not known', async () => {
      relay.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });
      relay.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'market' });
      lag('open-positions');
      await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', ...exit });
      expect(await relay.world.ledger.read({ account: 'main', signalId: 'entry-1' })).toMatchObject({
        status: 'unknown',
      });

      expect(await runForJson(closeAll())).toMatchObject({
        closes: [{ market: 'BTC_USDT', action: 'close', status: 'placed' }],
      });
      expect(positions()).toEqual({});
    });

    test('closes what an order opened that had rested until just now', async () => {
      lag('open-positions');
      await say('rest-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', limitPrice: '49000' });
      relay.world.setPrice('BTC_USDT', '48900');
      expect(positions()).toMatchObject({ BTC_USDT: { amount: '0.01' } });

      expect(await runForJson(closeAll())).toMatchObject({
        closes: [
          { market: 'BTC_USDT', action: 'cancel_all', status: 'cancelled' },
          { market: 'BTC_USDT', action: 'close', status: 'placed' },
        ],
      });
      expect(positions()).toEqual({});
    });
  });

  describe('behind a reversal that waits for an order of unknown outcome', () => {
    beforeEach(async () => {
      const { control } = relay.world.paper;
      for (const endpoint of ['limit', 'market']) control.addFault({ fault: 'drop_after', endpoint });
      control.addFault({ fault: 'read_lag', delayMs: 600_000, probability: 1 });
      await say('entry-1', { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '0.5%' });
      const reversal = { id: 'turn-1', ticker: 'BTCUSDT', action: 'reverse', maxSlippage: '0.5%' };
      await relay.world.post(JSON.stringify(reversal));
    });

    test('fails with a close that was withdrawn', async () => {
      const failing = runForFailure(closeAll());
      const findClose = async () =>
        (await relay.world.ledger.findByPrefix('main', 'close-all-BTC_USDT-', 1))[0];
      let close = await findClose();
      for (; close === undefined; close = await findClose())
        await new Promise((resolve) => setTimeout(resolve, 10));
      const step = { status: 'cancelled', atMs: Date.now(), note: 'withdrawn by signal "cancel-1"' } as const;
      await relay.world.ledger.move(close, { from: 'accepted', step });

      const failure = await failing;

      expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
      expect(failure.message).toMatch(/BTC_USDT of main: cancelled: withdrawn by signal "cancel-1"/);
    });
  });

  test.each([
    ['reverse', { action: 'reverse' }],
    ['target', { target: '-0.01' }],
  ])('closes what the second leg of a %s opens after the first one has closed', async (_, alert) => {
    await byHand('BTC_USDT', 'buy', '0.01');
    relay.world.paper.control.addFault({ fault: 'delay', endpoint: 'limit', delayMs: 2_000 });
    relay.world.paper.control.addFault({ fault: 'delay', endpoint: 'market', delayMs: 2_000 });
    await relay.world.post(
      JSON.stringify({ id: 'turn-1', ticker: 'BTCUSDT', maxSlippage: '0.5%', ...alert }),
    );
    while (JSON.stringify(positions()) !== '{}') await new Promise((resolve) => setTimeout(resolve, 10));

    const document = await runForJson(closeAll());

    expect(document).toMatchObject({ closes: [{ market: 'BTC_USDT', action: 'close', status: 'placed' }] });
    expect(await relay.world.settled('turn-1')).toMatchObject({ status: 'placed' });
    expect(positions()).toEqual({});
  });

  test('fails while everything is paused, and says why', async () => {
    await byHand('BTC_USDT', 'buy', '0.01');
    await runCli(relay.here('pause', '--everything'));

    const failure = await runForFailure(closeAll());

    expect(failure.message).toMatch(/BTC_USDT of main: denied: the account is paused/);
    expect(positions()).toMatchObject({ BTC_USDT: { amount: '0.01' } });
  });
});

test('A close that is still under way is named as not surely closed', () => {
  const close = { account: 'main', market: 'BTC_USDT', signalId: 'close-1', status: 'accepted' } as const;
  const target = { kind: 'local', data: '.relay' } as const;

  expect(renderUnderWay(target, [close, { ...close, status: 'placed' }])).toEqual([
    'Still under way, so not surely closed: BTC_USDT of main (accepted). For the outcome: npx relay signal close-1',
  ]);
});
