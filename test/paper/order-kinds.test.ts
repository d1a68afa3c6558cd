import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { findOrder } from '../../lib/exchange/find-order.ts';
import type { OrderKindName, RequestOf } from '../../lib/model/order.ts';
import { kindNamed, orderKinds } from '../../lib/orders/order-kinds.ts';
import { startPaperExchange } from '../../lib/paper/server.ts';
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

const order = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal('1'), clientOrderId: 'a' } as const;

/** For each order kind, a buy order that is not filled at 60000, and a price at which it is filled. */
const samples: { readonly [Kind in OrderKindName]: { order: RequestOf<Kind>; fillsAt: string } } = {
  stop_limit: {
    order: {
      kind: 'stop_limit',
      ...order,
      price: parseDecimal('61500'),
      activationPrice: parseDecimal('61000'),
    },
    fillsAt: '61200',
  },
  limit: { order: { kind: 'limit', ...order, price: parseDecimal('59000') }, fillsAt: '58000' },
};

describe('an order of every kind', () => {
  test.each(orderKinds.map(({ name }) => name))(
    '%s is accepted, kept across a restart, listed, and filled when the price reaches it',
    async (name) => {
      const { order, fillsAt } = samples[name];
      const first = await open();
      const response = await kindNamed(name).prepare(first.client, order).send();
      await first.close();

      const second = await open();
      const before = await findOrder(second.client, order, {});
      second.paper.control.setPrice('BTC_USDT', parseDecimal(fillsAt));
      const after = await findOrder(second.client, order, {});
      await second.close();

      expect(response).toMatchObject({ status: 'open', type: name, clientOrderId: 'a' });
      expect(before).toMatchObject({ kind: 'found', isOpen: true, others: 0 });
      expect(after).toMatchObject({ kind: 'found', isOpen: false, order: { status: 'filled' } });
    },
  );
});
