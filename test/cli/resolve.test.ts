import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import type { FaultKind } from '../../lib/paper/faults/fault-rows.ts';
import { acceptOne } from '../support/accept-one.ts';
import { buyAlert } from '../support/alerts.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;
afterEach(() => relay.world.close());

/** A relay with one signal whose response was lost. */
async function loseResponse(fault: FaultKind, dialect: Dialect = 'live', alert = buyAlert()): Promise<void> {
  relay = await startRelay(dialect);
  relay.world.setPrice('BTC_USDT', '50000');
  relay.world.paper.control.addFault({ fault, endpoint: 'stop-limit' });
  await relay.world.post(alert);
  await relay.world.settled('buy-1');
}

const plainAlert = buyAlert({ stopLoss: undefined, takeProfit: undefined });
const resolve = (...args: string[]) => runForJson(relay.here('resolve', 'buy-1', '--by', 'alice', ...args));
const entry = () => relay.world.settled('buy-1');
const orders = () => relay.world.paper.control.state().orders;

describe('relay resolve', () => {
  test('looks up the order, and settles what the lists prove', async () => {
    await loseResponse('drop_after');

    const response = await resolve();

    expect(response).toMatchObject({
      result: 'settled',
      entry: { status: 'placed', orderId: 10_000_000_001, orderOpen: true },
    });
    const { steps } = await entry();
    expect(steps.map(({ status, by }) => [status, by])).toEqual([
      ['accepted', undefined],
      ['sending', undefined],
      ['unknown', undefined],
      ['placed', 'alice'],
    ]);
    expect(steps.at(-1)?.evidence).toMatchObject({ order: { orderId: 10_000_000_001, status: 'open' } });
    expect(orders()).toHaveLength(1);
  });

  test('records and cancels under a whole id only: the beginning of one may be that of another signal', async () => {
    await loseResponse('drop_after');

    const saw = ['--saw', 'not_placed', '--note', 'seen'];
    for (const options of [saw, ['--cancel']])
      expect(await runForFailure(relay.here('resolve', 'buy-', ...options))).toMatchObject({
        code: 'ambiguous_signal',
        message: expect.stringContaining('only the beginning of the id'),
      });

    expect((await entry()).status).toBe('unknown');
    expect(await runForJson(relay.here('resolve', 'buy-'))).toMatchObject({ result: 'settled' });
  });

  test('leaves open what one lookup does not prove, and says what the operator can do', async () => {
    await loseResponse('drop_before');

    const { exitCode, stdout } = await runCli(relay.here('resolve', 'buy-1'));

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^buy-1 is still unknown: the order is neither open nor in the history$/m);
    expect(stdout).toContain('--saw STATUS --note');
    expect((await entry()).status).toBe('unknown');
    expect(orders()).toEqual([]);
  });

  test('cancels by the client order id, which proves what was there', async () => {
    await loseResponse('drop_after', 'documented', plainAlert);

    const response = await resolve('--cancel');

    expect(response).toMatchObject({ result: 'settled', entry: { status: 'cancelled', orderOpen: false } });
    const last = (await entry()).steps.at(-1);
    expect(last).toMatchObject({
      by: 'alice',
      note: 'order 10000000001 existed and is cancelled; 0 of 0.01 were filled before',
    });
    expect(orders().map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('finds out that the order was executed when there is nothing left to cancel', async () => {
    await loseResponse('drop_after');
    relay.world.setPrice('BTC_USDT', '50150');

    const response = await resolve('--cancel');

    expect(response).toMatchObject({ result: 'settled', entry: { status: 'placed', orderOpen: false } });
  });

  test('settles nothing when there is nothing to cancel and no list to search', async () => {
    await loseResponse('drop_before', 'documented', plainAlert);

    const response = await resolve('--cancel');

    expect(response).toMatchObject({ result: 'open_question', entry: { status: 'unknown' } });
    expect(response).toHaveProperty(
      'finding',
      expect.stringMatching(/^its order is not open, so nothing was cancelled; the order is not/),
    );
  });

  test('records what the operator saw', async () => {
    await loseResponse('drop_before', 'documented', plainAlert);

    const response = await resolve('--saw', 'not_placed', '--note', 'order history, 14:05');

    expect(response).toMatchObject({ result: 'settled', entry: { status: 'not_placed', orderOpen: false } });
    expect((await entry()).steps.at(-1)).toMatchObject({
      by: 'alice',
      note: 'seen by the operator: order history, 14:05',
      evidence: { seen: 'not_placed', orderId: null },
    });
  });

  test('records an order with its id, and leaves it open for a later cancel', async () => {
    await loseResponse('drop_after', 'documented', plainAlert);

    await resolve('--saw', 'placed', '--order-id', '10000000001', '--note', 'open orders');

    expect(await entry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: true });
  });

  test('never changes a settled signal', async () => {
    await loseResponse('drop_after');
    await resolve();

    const again = await resolve('--saw', 'not_placed', '--note', 'a mistake');

    expect(again).toMatchObject({ result: 'was_settled', entry: { status: 'placed' } });
    expect((await entry()).steps).toHaveLength(4);
    const said = async (...options: string[]) =>
      (await runCli(relay.here('resolve', 'buy-1', ...options))).stdout;
    expect(await said('--saw', 'not_placed', '--note', 'a mistake')).toContain('Nothing was recorded');
    expect(await said('--cancel')).toContain(
      'Nothing was cancelled. To cancel its order: npx relay cancel BTC_USDT',
    );
  });

  test('leaves a signal alone while it is being sent', async () => {
    await loseResponse('drop_after');
    const key = { account: 'main', signalId: 'fresh' };
    const { signal } = await entry();
    if (signal === null) throw new Error('the signal is gone');
    const atMs = Date.now();
    await acceptOne(
      relay.world.ledger,
      { ...key, signal, clientOrderId: 'tr-1', fingerprint: 'f', atMs },
      null,
    );
    await relay.world.ledger.start(key, { status: 'sending', atMs, note: 'on its way' }, null);

    const failure = await runForFailure(relay.here('resolve', 'fresh', '--saw', 'placed', '--note', 'seen'));

    expect(failure).toMatchObject({ code: 'signal_under_way' });
    expect((await relay.world.ledger.read(key))?.status).toBe('sending');
  });

  test('reports a second order with the same client order id, and records it with the step', async () => {
    await loseResponse('drop_after');
    const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
    const address = relay.world.paper.url;
    const client = createExchangeClient({ address, dialect: 'live', credentials });
    const { clientOrderId } = await entry();
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId: 10_000_000_001 });
    const { stopLoss: _, takeProfit: __, ...terms } = JSON.parse(plainAlert);
    await client.call(stopLimit, {
      market: 'BTC_USDT',
      side: 'buy',
      amount: parseDecimal(terms.quantity),
      price: parseDecimal(terms.limitPrice),
      activationPrice: parseDecimal(terms.stopPrice),
      clientOrderId: clientOrderId ?? '',
    });

    client.close();
    const { stdout } = await runCli(relay.here('resolve', 'buy-1'));

    expect(stdout).toMatch(
      /^the exchange lists 2 orders with client order id "tr-[0-9a-f]+": check them at once$/m,
    );
    expect((await entry()).steps.at(-1)).toMatchObject({ status: 'placed', evidence: { others: 1 } });
  });

  test.each([
    ['--saw without --note', ['--saw', 'placed']],
    ['--note without --saw', ['--note', 'seen']],
    ['an empty note', ['--saw', 'placed', '--note', ' ']],
    ['--saw and --cancel', ['--saw', 'placed', '--note', 'seen', '--cancel']],
    ['a status that cannot be observed', ['--saw', 'denied', '--note', 'seen']],
    ['the id of an order that was not placed', ['--saw', 'not_placed', '--note', 'seen', '--order-id', '1']],
  ])('refuses %s', async (_, args) => {
    await loseResponse('drop_after');
    const { exitCode } = await runCli(relay.here('resolve', 'buy-1', ...args));
    expect(exitCode).toBe(2);
    expect((await entry()).status).toBe('unknown');
  });
});
