import { afterEach, expect, test } from '@jest/globals';
import { resolveSignal } from '../../lib/relay/settle/resolve-signal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** An order of unknown outcome that had filled in part when the operator cancelled it. */
let relay: KeptRelay;
afterEach(() => relay.close());

const buy = {
  action: 'buy',
  orderType: 'limit',
  price: '49900',
  quantity: '0.1',
  stopLoss: '48000',
  takeProfit: '55000',
};

test('What an order had filled before the operator cancelled it is followed, and has its stop-loss', async () => {
  relay = await openKeptRelay();
  relay.paper.control.setExits({ afterPartial: false });
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', count: 1 });
  const { signalId, status } = await relay.say(buy);
  expect(status).toBe('unknown');
  relay.fill('49900', '0.04');

  const { result, entry } = await resolveSignal(
    relay.services,
    { account: 'main', signalId },
    { kind: 'cancel' },
    'alice',
    { timeoutMs: 2_000 },
  );
  await relay.goOn(60);

  expect(result).toBe('settled');
  expect(entry).toMatchObject({ status: 'placed', orderOpen: false, orderId: 10_000_000_001 });
  expect(entry.steps.at(-1)?.note).toBe(
    'order 10000000001 existed and is cancelled; 0.04 of 0.1 were filled before, and are followed',
  );
  expect([await relay.held(), await relay.open()]).toEqual([
    '0.04',
    ['sell 0.04 at 55000, reduces', 'sell 0.04 stop 48000, reduces'],
  ]);
});
