import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

test('a worker that wakes without a response contradicts nobody who found its order meanwhile', async () => {
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
  const { signalId } = await relay.receive(buyAlert());
  const client = await relay.services.exchangeFor('main');
  async function freeze() {
    for (let minute = 0; minute < 2; minute += 1) {
      relay.clock.advance(minuteMs);
      await reconcileSignals(relay.services);
    }
  }
  const prepare: ExchangeClient['prepare'] = (endpoint, params) => {
    const request = client.prepare(endpoint, params);
    return {
      ...request,
      async send(options) {
        try {
          return await request.send(options);
        } finally {
          await freeze();
        }
      },
    };
  };

  await relay.executeWith(
    { ...relay.services, exchangeFor: async () => override(client, { prepare }) },
    signalId,
  );

  expect(await relay.entry(signalId)).toMatchObject({ status: 'placed', orderOpen: true });
  // The alarms of the reconciler, and of the worker, which raises its own before it knows of the other.
  expect(relay.alarms.map(({ name }) => name)).toEqual(['outcome_unknown', 'outcome_unknown']);
});
