import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { testConfig } from '../support/world.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeEach(async () => {
  relay = await startRelay('live');
  relay.world.setPrice('BTC_USDT', '50000');
});

afterEach(() => relay.world.close());

const closing = (...args: string[]) => relay.here('close', ...args, '--max-slippage', '0.5%');
const close = (...args: string[]) => runForJson(closing(...args));
const positions = () => relay.world.paper.control.state().accounts['main']?.positions;
const openOrders = () =>
  relay.world.paper.control.state().orders.flatMap(({ status, type }) => (status === 'open' ? [type] : []));

async function enter(side: 'buy' | 'sell', amount: string, ...more: string[]): Promise<void> {
  await runForJson(relay.here('paper', 'order', 'BTC_USDT', side, amount, ...more));
}

describe('close', () => {
  test('closes a long position with an order that only reduces, and says what was sent', async () => {
    await enter('buy', '0.01');

    const document = await close('BTC_USDT');

    expect(document).toMatchObject({
      target: relay.target,
      account: 'main',
      market: 'BTC_USDT',
      status: 'placed',
      note: expect.stringContaining('sell 0.01 BTC_USDT at market'),
    });
    expect(positions()).toEqual({});
    expect(await relay.world.ledger.read(entryOf(document))).toMatchObject({
      signal: { action: 'close', comment: 'relay close' },
    });
  });

  test('fails when the order filled only in part', async () => {
    relay.world.paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('100000000'));
    await enter('buy', '30');

    const failure = await runForFailure(closing('BTC_USDT'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
    expect(failure.message).toMatch(
      /was not surely closed: placed: .*an order was to close all of a position/,
    );
  });

  test('cancels the stop-loss and take-profit of an entry of the relay', async () => {
    const alert = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopLoss: '2%', takeProfit: '4%' };
    await relay.world.post(JSON.stringify({ ...alert, id: 'entry', maxSlippage: '0.5%' }));
    await relay.world.settled('entry');
    expect(openOrders()).toHaveLength(2);

    await close('BTC_USDT');

    expect(openOrders()).toEqual([]);
    expect(positions()).toEqual({});
  });

  test.each([
    ['cancels the entries that rest', [], []],
    ['leaves the entries that rest with --keep-entries', ['--keep-entries'], ['limit']],
  ])('%s', async (_, options, left) => {
    const rest = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', limitPrice: '40000', id: 'rest' };
    await relay.world.post(JSON.stringify(rest));
    await relay.world.settled('rest');
    await enter('buy', '0.01');

    expect(await close('BTC_USDT', ...options)).toMatchObject({ status: 'placed' });
    expect(openOrders()).toEqual(left);
  });

  test('closes a part of a short position of a market that is named by its ticker', async () => {
    await enter('sell', '0.02');

    expect(await close('btcusdt', '--part', '50%')).toMatchObject({ market: 'BTC_USDT', status: 'placed' });
    expect(positions()).toMatchObject({ BTC_USDT: { amount: '-0.01' } });
  });

  test('closes while the account is paused', async () => {
    await enter('buy', '0.01');
    await runCli(relay.here('pause'));

    expect(await close('BTC_USDT')).toMatchObject({ status: 'placed' });
    expect(positions()).toEqual({});
  });

  test('sends nothing where no position is open', async () => {
    const { stdout, exitCode } = await runCli(closing('BTC_USDT'));

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^account +main$/m);
    expect(stdout).toMatch(/^status +satisfied$/m);
    expect(stdout).toContain('Nothing is left: account main has no such position.');
    expect(stdout).toContain('Not looked at: rehearsal. Add --account NAME to close there.');
    expect(relay.world.paper.control.state().orders).toEqual([]);
  });

  test('fails when the close was denied, and says why', async () => {
    await enter('buy', '0.01');
    await runCli(relay.here('pause', '--everything'));

    const failure = await runForFailure(closing('BTC_USDT'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_closed' });
    expect(failure.message).toContain('denied: ');
    expect(failure.message).toContain('the position in BTC_USDT of account main was not surely closed');
    expect(failure.message).toContain('paused');
    expect(positions()).toMatchObject({ BTC_USDT: { amount: '0.01' } });
  });

  test('fails with the words of the relay when the alert is refused', async () => {
    const failure = await runForFailure(closing('BTC_USDT', '--part', '150%'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'invalid_signal' });
    expect(failure.issues).toMatchObject([{ path: 'quantityPercent' }]);
    expect(failure.action).toContain('Correct the option that each issue is about: `npx relay help close`');
  });

  test('names what to send instead for a market on spot, which has no position', async () => {
    const failure = await runForFailure(relay.here('close', 'DBTC_DUSDT'));

    expect(failure).toMatchObject({
      exitCode: 2,
      message: 'DBTC_DUSDT trades on spot, where there are no positions',
      action: expect.stringMatching(/"action": "sell", "quantityPercent": "100%".*`npx relay send FILE`\.$/),
    });
  });

  test('names the markets that can be closed for one without a ticker', async () => {
    const failure = await runForFailure(relay.here('close', 'DOGE_USDT'));

    expect(failure).toMatchObject({ exitCode: 2 });
    expect(failure.message).toBe('"DOGE_USDT" is no market of account main with a ticker');
    expect(failure.action).toBe(
      'Name one of: BTC_USDT, BTC_PERP, ETH_USDT, SOL_USDT. The tickers stand in relay.config.ts. What is open in a market without one, close on the website of the exchange.',
    );
  });
});

describe('in a market that was taken out of the markets of the account', () => {
  let settings: Settings;

  beforeEach(async () => {
    await relay.world.close();
    ({ settings } = parseConfig(testConfig));
    relay = await startRelay('live', settings);
    relay.world.setPrice('BTC_USDT', '50000');
  });

  async function removeMarket(): Promise<readonly string[]> {
    const alert = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', stopLoss: '2%', id: 'entry' };
    await relay.world.post(JSON.stringify({ ...alert, maxSlippage: '0.5%' }));
    await relay.world.settled('entry');
    const tickers = { BTCUSDT: 'BTC_USDT', ETHUSDT: 'ETH_USDT' };
    const markets = { ETH_USDT: { tradesOn: 'spot' } };
    const config = { ...testConfig, tickers, accounts: { main: { ...testConfig.accounts.main, markets } } };
    const path = join(dirname(relay.world.secretsPath), 'fewer.config.ts');
    writeFileSync(path, `export default ${JSON.stringify(config)};`);
    // As after a restart with that configuration.
    Object.assign(settings.accounts['main'] ?? {}, {
      markets: parseConfig(config).settings.accounts['main']?.markets,
    });
    return ['--config', path];
  }

  test('close closes the position', async () => {
    const config = await removeMarket();

    expect(await close('BTC_USDT', ...config)).toMatchObject({ status: 'placed' });
    expect([positions(), openOrders()]).toEqual([{}, []]);
  });

  test('close-all closes it, too', async () => {
    const config = await removeMarket();

    const document = await runForJson(relay.here('close-all', '--max-slippage', '0.5%', ...config));

    expect(document).toMatchObject({ closes: [{ market: 'BTC_USDT', action: 'close', status: 'placed' }] });
    expect([positions(), openOrders()]).toEqual([{}, []]);
  });

  test('close says that no market is left that it could name', async () => {
    const path = join(dirname(relay.world.secretsPath), 'none.config.ts');
    const accounts = { main: { ...testConfig.accounts.main, markets: { ETH_USDT: { tradesOn: 'spot' } } } };
    writeFileSync(path, `export default ${JSON.stringify({ ...testConfig, accounts })};`);

    const failure = await runForFailure(closing('DOGE_USDT', '--config', path));

    expect(failure.action).toMatch(
      /^Account main has no such market\. The tickers stand in relay\.config\.ts\./,
    );
  });

  test('close says what to do for a market without a ticker', async () => {
    const config = await removeMarket();

    const failure = await runForFailure(closing('BTC_PERP', ...config));

    expect(failure.action).toContain('close on the website of the exchange');
  });
});

function entryOf(document: unknown): { readonly account: string; readonly signalId: string } {
  return document as { account: string; signalId: string };
}
