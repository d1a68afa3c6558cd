import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { findOrder } from '../../lib/exchange/find-order.ts';
import { kindOfType, type OrderRequest, orderTypes } from '../../lib/model/order.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paper-kinds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const clock = createManualClock(1_790_000_000_000);

async function open() {
  const journalPath = join(folder, 'paper.sqlite');
  const paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false, journalPath });
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  const client = createExchangeClient({ address: paper.url, dialect: 'live', credentials, clock });
  const close = async () => {
    client.close();
    await paper.close();
  };
  return { paper, client, close };
}

const order = { market: 'BTC_USDT', side: 'buy', clientOrderId: 'a' } as const;
const one = parseDecimal('1');
const price = parseDecimal('61500');
const activationPrice = parseDecimal('61000');
const money = parseDecimal('1000');

/** For each order type that waits or rests, a buy order that is not filled at 60000. It is filled at 61200. */
const waiting: readonly OrderRequest[] = [
  { ...order, type: 'stop_limit', amount: one, price, activationPrice },
  { ...order, type: 'stop_market', amount: one, activationPrice },
  { ...order, type: 'limit', side: 'sell', amount: one, price: activationPrice },
  { ...order, type: 'spot_stop_limit', amount: one, price, activationPrice },
  { ...order, type: 'spot_stop_market', amount: money, activationPrice },
  { ...order, type: 'spot_limit', side: 'sell', amount: one, price: activationPrice },
];

const instant: readonly OrderRequest[] = [
  { ...order, type: 'market', amount: one },
  { ...order, type: 'spot_market', amount: money },
  { ...order, type: 'spot_stock_market', amount: one },
];

describe('an order of every type', () => {
  test('is in one of the two lists', () => {
    expect([...waiting, ...instant].map(({ type }) => type).sort()).toEqual([...orderTypes].sort());
  });

  test.each(waiting.map((sample) => [sample.type, sample] as const))(
    '%s is accepted, kept across a restart, listed, and filled when the price reaches it',
    async (_, sample) => {
      const first = await open();
      const response = await prepareOrder(first.client, sample).send();
      await first.close();

      const second = await open();
      const before = await findOrder(second.client, sample, {});
      second.paper.control.setPrice('BTC_USDT', parseDecimal('61200'));
      const after = await findOrder(second.client, sample, {});
      await second.close();

      expect(response).toMatchObject({ status: 'open', type: kindOfType[sample.type], clientOrderId: 'a' });
      expect(before).toMatchObject({ kind: 'found', isOpen: true, others: 0 });
      expect(after).toMatchObject({ kind: 'found', isOpen: false, order: { status: 'filled' } });
    },
  );

  test.each(instant.map((sample) => [sample.type, sample] as const))(
    '%s is filled at once, and in the history after a restart',
    async (_, sample) => {
      const first = await open();
      const response = await prepareOrder(first.client, sample).send();
      await first.close();

      const second = await open();
      const found = await findOrder(second.client, sample, {});
      await second.close();

      expect(response).toMatchObject({ status: 'filled', type: 'market', clientOrderId: 'a' });
      expect(found).toMatchObject({ kind: 'found', isOpen: false, order: { status: 'filled' } });
    },
  );
});
