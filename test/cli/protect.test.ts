import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import shipped from '../../relay.config.example.ts';
import { createPost } from '../paper/paper-client.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeEach(async () => {
  relay = await startRelay('live');
  relay.world.setPrice('BTC_USDT', '50000');
});

afterEach(() => relay.world.close());

const protect = (...args: string[]) => runForJson(relay.here('protect', 'BTC_USDT', ...args));
const openOrders = () =>
  relay.world.paper.control
    .state()
    .orders.filter(({ status }) => status === 'open')
    .map(({ side, amount, price, activationPrice }) => `${side} ${amount} ${activationPrice ?? price}`)
    .sort();

/** The open orders, once so many stand: what the relay places beside them follows in the line of the market. */
async function openOnce(count: number): Promise<readonly string[]> {
  const giveUpAtMs = Date.now() + 20_000;
  while (openOrders().length < count && Date.now() < giveUpAtMs) await setImmediate();
  return openOrders();
}

/** As the owner does at the exchange. */
async function cancelByHand(price: string): Promise<void> {
  const found = relay.world.paper.control
    .state()
    .orders.find((order) => order.status === 'open' && order.price === price);
  await runForJson(relay.here('cancel', 'BTC_USDT', '--order-id', String(found?.orderId)));
}

/** An entry of 0.01 with a stop-loss and a take-profit, which the relay has read. */
async function enter(
  members: object = { stopLoss: '48000', takeProfit: '52000' },
  id = 'entry-1',
): Promise<void> {
  const alert = { id, ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', orderType: 'market' };
  await relay.world.post(JSON.stringify({ ...alert, maxSlippage: '0.5%', ...members }));
  await relay.world.settled(id);
  await relay.world.follow();
}

/** Waits for what the relay places beside the entry, and reads it. */
async function settleExits(): Promise<void> {
  for (const { signalId } of await relay.world.ledger.findByPrefix('main', 'entry-1:', 10))
    await relay.world.settled(signalId);
  await relay.world.follow();
}

/** Waits for what the relay places of its own accord to keep what was asked for. */
async function settleProtects(): Promise<void> {
  for (const { signalId } of await relay.world.ledger.findByPrefix('main', 'protect-', 10))
    await relay.world.settled(signalId);
}

describe('protect', () => {
  test('replaces what it names, and says what was placed', async () => {
    await enter();

    const document = await protect('--stop-loss', '49000', '--take-profit', '53000', '--account', 'main');

    expect(document).toMatchObject({
      target: relay.target,
      account: 'main',
      market: 'BTC_USDT',
      signalId: expect.stringMatching(/^protect-BTC_USDT-[0-9a-z]+$/),
      status: 'satisfied',
      note: expect.stringContaining('stop-loss at 49000, take-profit at 53000 for 100%'),
      orders: [
        { role: 'stop_loss', status: 'placed', note: expect.stringContaining('sell 0.01 BTC_USDT') },
        { role: 'take_profit', part: 1, status: 'placed' },
      ],
    });
    expect(await openOnce(2)).toEqual(['sell 0.01 49000', 'sell 0.01 53000']);
  });

  test('takes several take-profits with their shares, by a ticker', async () => {
    await enter();

    await runForJson(
      relay.here('protect', 'btcusdt', '--take-profit', '51000=50%', '--take-profit', '4%=50%'),
    );

    expect(await openOnce(3)).toEqual(['sell 0.005 51000', 'sell 0.005 52000', 'sell 0.01 48000']);
  });

  test('moves the stop-loss to the entry price, in words', async () => {
    await enter();
    relay.world.setPrice('BTC_USDT', '51000');

    const { stdout } = await runCli(relay.here('protect', 'BTC_USDT', '--stop-loss', 'entry'), '', {
      width: 80,
    });

    expect(stdout).toMatch(/^status +satisfied$/m);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('is noted; its orders follow as signals of their own');
    expect(stdout).not.toContain('nothing was sent');
    expect(stdout).toMatch(/stop-loss +placed +protect-BTC_USDT-[0-9a-z]+:stop-[0-9a-z]+/);
    expect(stdout).toContain('What should stand, beside what does: npx relay positions');
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(await openOnce(2)).toEqual(['sell 0.01 50000', 'sell 0.01 52000']);
  });

  test('trails, also while entries are paused', async () => {
    await enter();
    await runCli(relay.here('pause'));

    await protect('--trailing', '1%');

    expect(await openOnce(2)).toEqual(['sell 0.01 49500', 'sell 0.01 52000']);
    const { stdout } = await runCli(relay.here('positions'));
    expect(stdout).toMatch(/ 49500 \(trails 1%\) +52000 /);
  });

  test('fails under a pause of everything, and places it after the pause', async () => {
    await enter();
    await runCli(relay.here('pause', '--everything'));

    const failure = await runForFailure(relay.here('protect', 'BTC_USDT', '--stop-loss', '49000'));

    expect(failure).toMatchObject({
      exitCode: 1,
      code: 'not_protected',
      message:
        'not placed: stop-loss of BTC_USDT: account main is paused with --everything; what stood before still stands',
      action: expect.stringContaining('It is placed after: npx relay resume main'),
    });
    expect(openOrders()).toEqual(['sell 0.01 48000', 'sell 0.01 52000']);

    await runCli(relay.here('resume', 'main'));
    await relay.world.follow();
    await settleProtects();
    expect(openOrders()).toContain('sell 0.01 49000');
  });

  test('fails when it was denied, and says why', async () => {
    const failure = await runForFailure(relay.here('protect', 'BTC_USDT', '--stop-loss', '49000'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_protected' });
    expect(failure.message).toContain('denied: there is no open position in BTC_USDT to protect');
  });

  test('fails with the words of the relay when the alert is refused', async () => {
    const failure = await runForFailure(relay.here('protect', 'BTC_USDT', '--trailing', '1'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'invalid_signal', issues: [{ path: 'trailing' }] });
  });

  test.each([
    [['BTC_USDT'], 'nothing says what protects the position'],
    [
      ['BTC_USDT', '--take-profit', '51000', '--take-profit', '52000=50%'],
      '"51000" does not say which share of the position it is for',
    ],
    [['DBTC_DUSDT', '--stop-loss', '2%'], 'DBTC_DUSDT trades on spot, where there are no positions'],
  ])('is not understood as %j', async (args, message) => {
    expect(await runForFailure(relay.here('protect', ...args))).toMatchObject({ exitCode: 2, message });
  });
});

describe('signal', () => {
  test('of a spot buy shows the stop-loss that the relay has placed, and nothing closed', async () => {
    await relay.world.close();
    const { mode, markets, maxSlippage } = shipped.accounts.main;
    const accounts = { main: { mode, markets, maxSlippage } };
    relay = await startRelay('live', parseConfig({ ...shipped, accounts }).settings);
    relay.world.setPrice('DBTC_DUSDT', '50000');
    await enter({ ticker: 'DBTCDUSDT', quantity: '0.005', stopLoss: '48000' });
    await openOnce(1);
    await relay.world.follow();

    const { stdout } = await runCli(relay.here('signal', 'entry-1'));

    expect(stdout).toMatch(/^stop-loss +order \d+ of the relay itself, below: open$/m);
    expect(stdout).toMatch(/^result +open, as far as the relay knows$/m);
  });

  test('shows what the relay did to keep the protection of an entry', async () => {
    await enter();
    await protect('--stop-loss', '49000');
    // What takes the place of the rest of the pair follows in the line of the market.
    for (const { signalId } of await relay.world.ledger.findByPrefix('main', 'entry-1:', 10))
      await relay.world.settled(signalId);

    const { stdout } = await runCli(relay.here('signal', 'entry-1'), '', { width: 80 });
    const document = await runForJson(relay.here('signal', 'entry-1'));

    expect(stdout).toContain('What the relay did to keep its protection:');
    expect(stdout).toMatch(/take-profit +placed +entry-1:target-[0-9a-z]+/);
    expect(stdout).toContain('sell 0.01 BTC_USDT at limit 52000, reduce-only');
    expect(document).toMatchObject({
      signalId: 'entry-1',
      protects: [{ status: 'placed', signal: { action: 'protect', role: 'take_profit', of: 'entry-1' } }],
    });
  });

  test('shows each of several take-profits of an entry', async () => {
    await enter({
      stopLoss: '48000',
      takeProfits: [
        { price: '51000', share: '50%' },
        { price: '52000', share: '50%' },
      ],
    });
    for (const order of await ordersOf('entry-1')) await relay.world.settled(order);

    const { stdout } = await runCli(relay.here('signal', 'entry-1'));

    expect(stdout).toMatch(/take-profit 1 +placed +entry-1:target1-/);
    expect(stdout).toMatch(/take-profit 2 +placed +entry-1:target2-/);
  });

  async function ordersOf(signalId: string): Promise<readonly string[]> {
    const entries = await relay.world.ledger.findByPrefix('main', `${signalId}:`, 10);
    return entries.map((entry) => entry.signalId);
  }
});

describe('positions', () => {
  const positions = (width = 80) => runCli(relay.here('positions'), '', { width });
  const lineOf = ({ stdout }: { readonly stdout: string }) => stdout.split('\n')[4]?.trim();

  test('shows what should protect a position beside what does', async () => {
    await enter();
    await protect('--stop-loss', '49000', '--take-profit', '51000=50%', '--take-profit', '52000=50%');
    await relay.world.follow();

    const run = await positions();
    expect(lineOf(run)).toBe('49000  51000, 52000 for 0.005 each  –');
    expect(await runForJson(relay.here('positions'))).toMatchObject({
      positions: [
        {
          stops: [{ price: '49000', amount: '0.01' }],
          targets: [
            { price: '51000', amount: '0.005' },
            { price: '52000', amount: '0.005' },
          ],
          protection: {
            byHand: '0',
            guards: [
              {
                role: 'stop_loss',
                price: '49000',
                amount: '0.01',
                state: 'standing',
                standing: [{ price: '49000', amount: '0.01' }],
              },
              { role: 'take_profit', part: 1, price: '51000', amount: '0.005', state: 'standing' },
              { role: 'take_profit', part: 2, price: '52000', amount: '0.005', state: 'standing' },
            ],
          },
        },
      ],
    });
  });

  test('says what changes, and what the owner has ended', async () => {
    await enter({
      stopLoss: '48000',
      takeProfits: [
        { price: '51000', share: '50%' },
        { price: '52000', share: '50%' },
      ],
    });
    await settleExits();
    await cancelByHand('51000');
    await relay.world.follow();
    await runForJson(relay.here('paper', 'order', 'BTC_USDT', 'sell', '0.002'));

    const { stdout } = await positions(200);
    expect(stdout).toMatch(
      /48000 changing {2}51000 for 0\.004 ended by hand, 52000 for 0\.004 changing {2}–$/m,
    );
  });

  test('says what is being cancelled, because nothing is left for it', async () => {
    await enter({ stopLoss: '48000' });
    await enter({ stopLoss: '47000' }, 'entry-2');
    await runForJson(relay.here('paper', 'order', 'BTC_USDT', 'sell', '0.01'));

    const { stdout } = await positions(200);
    expect(stdout).toMatch(/47000, 48000 being cancelled {2}–/);
  });

  test('says what is missing, and what becomes of it', async () => {
    await enter();
    relay.world.paper.control.addFault({ fault: 'refuse', endpoint: 'limit', probability: 1 });
    await protect('--take-profit', '51000=50%');

    const { stdout } = await positions();
    expect(stdout).toContain('48000  51000 for 0.005 MISSING  –');
    expect(stdout).toContain('"MISSING" should stand and does not: the relay places it as it follows');
  });

  test('counts stops by hand', async () => {
    await runForJson(relay.here('paper', 'order', 'BTC_USDT', 'buy', '0.01'));
    await runForJson(
      relay.here('paper', 'order', 'BTC_USDT', 'sell', '0.004', '--stop', '49000', '--reduce-only'),
    );

    expect(lineOf(await positions())).toBe('0.004 by hand  –       –');
  });

  test('calls no stop one by hand that may be of an entry whose outcome is unknown', async () => {
    relay.world.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });
    const alert = { id: 'entry-1', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', limitPrice: '50100' };
    await relay.world.post(JSON.stringify({ ...alert, stopLoss: '48000' }));
    await relay.world.settled('entry-1');
    await relay.world.follow();

    const { stdout } = await positions(200);

    expect(stdout).toMatch(/ 0\.01 of unknown outcome {2}–/);
    expect(stdout).not.toContain('by hand');
    expect(stdout).toContain('the outcome of signal entry-1 is not known yet');
  });

  test('counts a stop that only the list of positions shows, for the whole position', async () => {
    relay.world.paper.control.setExits({ showsAttached: true, listsExits: false });
    const order = { market: 'BTC_USDT', side: 'buy', amount: '0.01', stopLoss: '49000' };
    await createPost(relay.world.paper.url)('/api/v4/order/collateral/market', order);

    expect(lineOf(await positions())).toBe('0.01 by hand  –       –');
  });

  test('shows the prices and amounts of what stands, and not those before the exchange has rounded them', async () => {
    relay.world.setPrice('BTC_PERP', '50003.1');
    await enter({
      ticker: 'BTCUSDT.P',
      quantity: '0.005',
      stopLoss: '1.23%',
      takeProfits: [
        { price: '1.11%', share: '30%' },
        { price: '2.22%', share: '30%' },
      ],
    });
    await settleExits();
    const standing = await openOnce(3);

    const { stdout } = await positions(200);
    const document = await runForJson(relay.here('positions'));

    expect(standing).toEqual(['sell 0.001 50558.2', 'sell 0.001 51113.2', 'sell 0.005 49388.1']);
    expect(stdout).toMatch(/49388\.1 {2}50558\.2, 51113\.2 for 0\.001 each {2}–$/m);
    expect(document).toMatchObject({
      positions: [
        {
          protection: {
            guards: [
              { state: 'standing', standing: [{ price: '49388.1' }] },
              { state: 'standing', amount: '0.0015', standing: [{ price: '50558.2', amount: '0.001' }] },
              { state: 'standing', standing: [{ price: '51113.2', amount: '0.001' }] },
            ],
          },
        },
      ],
    });
  });

  test('shows a wanted price that does not come out even with eight places', async () => {
    relay.world.setPrice('BTC_USDT', '50000.01');
    await enter({ takeProfits: [{ price: '1.2345678%', share: '33.333333%' }] });
    await settleExits();
    await cancelByHand('50617.3');
    await relay.world.follow();

    const { stdout } = await positions(200);

    expect(stdout).toMatch(/ 50617\.29402345 for 0\.00333333 ended by hand {2}–$/m);
  });

  test.each([
    ['with a stop-loss of its own', { stopLoss: '48000' }],
    ['that is not followed any more', {}],
  ])('of an entry %s shows what the owner has ended by hand of a protect', async (_, members) => {
    await enter(members);
    relay.world.setPrice('BTC_USDT', '51000');
    await protect('--stop-loss', 'entry', '--take-profit', '53000=50%');
    await openOnce(2);
    await relay.world.follow();
    await cancelByHand('49500');
    await cancelByHand('53000');
    await relay.world.follow();

    expect(lineOf(await positions())).toBe('50000 ended by hand  53000 for 0.005 ended by hand  –');
    expect(openOrders()).toEqual([]);
  });

  test('says that the stop-loss of a part is awaited', async () => {
    relay.world.paper.control.setExits({ madeAt: 'never' });
    await enter({ stopLoss: '49000' });
    await runForJson(
      relay.here('paper', 'order', 'BTC_USDT', 'sell', '0.01', '--stop', '49000', '--reduce-only'),
    );
    await enter({ stopLoss: '48000' }, 'entry-2');

    const { stdout } = await positions(200);

    expect(stdout).toMatch(/ 48000 for 0\.01 being read, 49000 for 0\.01 {2}–/);
  });

  test('names the strategies alone of whose entries something is left', async () => {
    await enter({ strategy: 'BE', stopLoss: '48000' });
    await runForJson(relay.here('close', 'BTC_USDT', '--max-slippage', '0.5%'));
    // The relay has not read what became of the first one since.
    const alert = { id: 'entry-2', ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', orderType: 'market' };
    await relay.world.post(JSON.stringify({ ...alert, maxSlippage: '0.5%', strategy: 'T1' }));
    await relay.world.settled('entry-2');

    const { stdout } = await positions(200);

    expect(stdout).toMatch(/^BTC_USDT +long +0\.01 .* T1$/m);
    expect(stdout).not.toContain('BE');
  });
});
