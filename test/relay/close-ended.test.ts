import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type CloseServices, closeEnded } from '../../lib/relay/close-ended.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
  await relay.send(buyAlert());
});
afterEach(() => relay.close());

const longAgoMs = noonMs - 10 * minuteMs;

interface Placed {
  readonly account?: string;
  readonly atMs?: number;
  readonly status?: Status;
  readonly orderId?: number | null;
}

/** Stores an order that the ledger counts as open, but the exchange does not have. */
async function believe(signalId: string, placed: Placed = {}): Promise<void> {
  const { account = 'main', atMs = longAgoMs, status = 'placed', orderId = 5_000_000 } = placed;
  const { ledger } = relay.services;
  const { signal } = await relay.entry('buy-1');
  if (signal === null) throw new Error('there is no signal to copy');
  const key = { account, signalId };
  const rest = { signal, clientOrderId: `tr-${signalId}`, fingerprint: 'f', atMs };
  await ledger.accept([{ ...key, ...rest }], null);
  await ledger.start(key, { status: 'sending', atMs, note: '' }, null);
  const order = orderId === null ? {} : { orderId };
  await ledger.move(key, { from: 'sending', step: { status, atMs, note: '' }, ...order, orderOpen: true });
}

async function believedOpen(account = 'main'): Promise<readonly string[]> {
  const open = await relay.services.ledger.openOrders(account, 'BTC_USDT', 100);
  return open.map(({ signalId }) => signalId);
}

const close = (services: CloseServices = relay.services) => closeEnded(services, { timeoutMs: 2_000 });

describe('orders that ended', () => {
  test('are closed ten minutes after they were placed, and not a millisecond before', async () => {
    await believe('ended');
    await believe('young', { atMs: longAgoMs + 1 });

    expect(await close()).toBe(1);

    expect(await believedOpen()).toEqual(['buy-1', 'young']);
  });

  test('cause no request while no order has been open for long', async () => {
    await believe('young', { atMs: longAgoMs + 1 });
    relay.asked.length = 0;
    expect(await close()).toBe(0);
    expect(relay.asked).toEqual([]);
  });

  test('are not closed if their outcome or their order id is unknown', async () => {
    await believe('lost', { status: 'unknown' });
    await believe('nameless', { orderId: null });
    await believe('ended');

    expect(await close()).toBe(1);

    expect(await believedOpen()).toEqual(['buy-1', 'nameless', 'lost']);
  });

  test('of a dry-run account cause no request', async () => {
    await believe('rehearsed', { account: 'rehearsal' });
    const askedFor: string[] = [];
    const exchangeFor: CloseServices['exchangeFor'] = (account) => {
      askedFor.push(account);
      return relay.services.exchangeFor(account);
    };

    expect(await close({ ...relay.services, exchangeFor })).toBe(0);

    expect(askedFor).toEqual([]);
    expect(await believedOpen('rehearsal')).toEqual(['rehearsed']);
  });

  test('are closed for one account while another has no key', async () => {
    await believe('ended');
    await believe('ended', { account: 'slow' });
    const exchangeFor: CloseServices['exchangeFor'] = async (account) => {
      if (account === 'main') throw new RelayError('secrets_missing', 'account main has no key');
      return await relay.services.exchangeFor(account);
    };

    expect(await close({ ...relay.services, exchangeFor })).toBe(1);

    expect(await believedOpen('main')).toEqual(['buy-1', 'ended']);
    expect(await believedOpen('slow')).toEqual([]);
  });

  test('are not closed if the list has more pages than are read', async () => {
    await believe('ended');
    const client = await relay.services.exchangeFor('main');
    const pages: number[] = [];
    const endless = override(client, {
      call: (async (_endpoint: unknown, { offset }: { readonly offset: number }) => {
        pages.push(offset);
        return Array.from({ length: 100 }, (_, index) => ({ orderId: offset + index }));
      }) as typeof client.call,
    });

    expect(await close({ ...relay.services, exchangeFor: async () => endless })).toBe(0);

    expect(pages).toEqual(Array.from({ length: 20 }, (_, page) => page * 90));
    expect(await believedOpen()).toEqual(['buy-1', 'ended']);
  });

  test('are left to the next run when the store fails, and the failure is reported', async () => {
    await believe('ended');
    const ledger = override(relay.services.ledger, {
      closeOrder: async () => {
        throw new RelayError('store_unavailable', 'no disk');
      },
    });

    await expect(close({ ...relay.services, ledger })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await believedOpen()).toEqual(['buy-1', 'ended']);
  });
});
