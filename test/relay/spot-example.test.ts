import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { spotSettings } from '../support/spot-settings.ts';

let relay: Aftermath;
let count: number;

async function send(members: object): Promise<Entry> {
  count += 1;
  relay.clock.advance(1000);
  const alert = { ticker: 'BTCUSDT', id: `s${count}`, orderType: 'market', ...members };
  await relay.receiveAll(JSON.stringify(alert));
  await relay.runLine();
  return await relay.entry(`s${count}`);
}

async function goOn(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    relay.clock.advance(3000);
    await relay.follow();
    await relay.runLine();
  }
}

async function held(): Promise<string> {
  const { BTC } = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  return formatDecimal(BTC?.available.plus(BTC.freeze) ?? parseDecimal('0'));
}

const sell = { action: 'sell', strategy: 'A' };

/** The example of docs/after-the-order.md; of each buy, the fee of 0.1 % is taken. */
describe('With 0.3 bought by strategy A, 0.2 by strategy B, each with a stop-loss, and 0.2 besides', () => {
  beforeEach(async () => {
    count = 0;
    relay = await openAftermath('live', () => undefined, undefined, spotSettings);
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('0.2'));
    relay.paper.control.setFunds('main', 'spot', 'USDT', parseDecimal('1000000'));
    await send({ action: 'buy', quantity: '0.3', stopLoss: '48000', strategy: 'A' });
    await send({ action: 'buy', quantity: '0.2', stopLoss: '40000', strategy: 'B' });
    await goOn(12);
    expect(await held()).toBe('0.6995');
  });
  afterEach(() => relay.close());

  test('a sale of A may sell its own and what is besides, and no more', async () => {
    expect(await send({ ...sell, quantity: '0.6' })).toMatchObject({ status: 'denied' });
    expect(await held()).toBe('0.6995');
    expect(await send({ ...sell, quantity: '0.4997' })).toMatchObject({ status: 'placed' });
    expect(await held()).toBe('0.1998');
  });

  test('a sale that names no strategy may sell all of it', async () => {
    expect(await send({ action: 'sell', quantity: '0.6995' })).toMatchObject({ status: 'placed' });
    expect(await held()).toBe('0');
  });

  test.each([
    ['0.3', 'satisfied', '0.3998'],
    ['0.4', 'placed', '0.2995'],
  ])(
    'once the stop-loss of A has sold, a sale of A of %s is %s and leaves %s',
    async (quantity, status, left) => {
      relay.setPrice('47900');
      // Until then a balance may still show what that has sold, and the sale would wait.
      await goOn(15);
      expect(await held()).toBe('0.3998');

      expect(await send({ ...sell, quantity })).toMatchObject({ status });
      expect(await held()).toBe(left);
    },
  );
});
