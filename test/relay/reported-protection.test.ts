import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import type { Order } from '../../lib/model/order.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

/** Sends the alert to an exchange whose responses report other stop-losses and take-profits. */
async function sendAnswered(oto: Order['oto']) {
  const client = await relay.services.exchangeFor('main');
  const prepare: ExchangeClient['prepare'] = (endpoint, params) => {
    const request = client.prepare(endpoint, params);
    const send: typeof request.send = async (options) => {
      const order = await request.send(options);
      return Object.assign(order as Order, { oto }) as typeof order;
    };
    return override(request, { send });
  };
  const { signalId } = await relay.receive(buyAlert());
  await relay.executeWith(
    { ...relay.services, exchangeFor: async () => override(client, { prepare }) },
    signalId,
  );
  return await relay.entry(signalId);
}

describe('the response to an order with a stop-loss and a take-profit', () => {
  const asked = { otoId: 1, stopLoss: parseDecimal('49000.0'), takeProfit: parseDecimal('52000') };

  test('that reports both raises no alarm', async () => {
    expect(await sendAnswered(asked)).toMatchObject({ status: 'placed' });
    expect(relay.alarms).toEqual([]);
  });

  test.each<[string, Order['oto'], string]>([
    ['without either', undefined, 'stop loss none instead of 49000, take profit none instead of 52000'],
    ['without the stop-loss', { ...asked, stopLoss: undefined }, 'stop loss none instead of 49000'],
    [
      'with another take-profit',
      { ...asked, takeProfit: parseDecimal('5200') },
      'take profit 5200 instead of 52000',
    ],
  ])('%s raises an alarm: the position may be left without its protection', async (_, oto, difference) => {
    const entry = await sendAnswered(oto);

    const message = `the response to order ${entry.orderId} reports another protection (${difference}): check the order and its position at once`;
    expect(entry).toMatchObject({ status: 'placed', orderOpen: true });
    expect(relay.alarms).toMatchObject([{ name: 'order_contradicted' }]);
    expect(entry.steps.at(-1)?.note).toContain(message);
  });
});
