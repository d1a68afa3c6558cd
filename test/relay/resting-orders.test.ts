import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { reconcileSignals } from '../../lib/relay/reconcile-signals.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

/** More than the book offers up to 50,025, so that a part is left. */
const order = { id: 'buy-1', ticker: 'BTCUSDT', action: 'buy', quantity: '2' };
const immediateLimit = JSON.stringify({ ...order, orderType: 'limit', limitPrice: '50025', ioc: true });
const orders = () => relay.paper.control.state().orders;
const refuseIoc = () =>
  relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', probability: 1 });

describe('a limit order that is to fill at once or not at all', () => {
  test('leaves nothing in the book where the exchange refuses "immediate or cancel"', async () => {
    refuseIoc();

    const entry = await relay.send(immediateLimit);

    expect(orders()).toMatchObject([{ status: 'cancelled', filled: '1' }]);
    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
  });

  test('is cancelled by the reconciler when it rests and its response was lost', async () => {
    refuseIoc();
    await relay.send(immediateLimit, { fault: 'drop_after', endpoint: 'limit' });

    relay.clock.advance(minuteMs);
    await reconcileSignals(relay.services);

    expect(orders()).toMatchObject([{ status: 'cancelled', filled: '1' }]);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
  });
});
