import type { Clock } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Settings } from '../model/settings.ts';

export interface CloseServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly settings: Settings;
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/** Longer than any list of the exchange lags behind a placed order. */
export const longestLagMs = 10 * 60_000;
/** The most open orders read at once; the read takes milliseconds, however large the ledger is. */
export const mostBelieved = 1000;
/** The most entries one run closes, because its time is short; the next run closes the rest. */
const mostClosed = 200;

/** Whether an order was placed so long ago that a list of open orders must show it if it is open. */
export function wasPlacedLongAgo({ status, updatedAtMs }: Entry, nowMs: number): boolean {
  return status === 'placed' && updatedAtMs <= nowMs - longestLagMs;
}

/**
 * Closes entries whose orders have ended at the exchange. The relay is not told when an order fills. Without
 * this, the entry would count as open for ever, and every later `cancel_all` would try to cancel its order.
 *
 * Only the live dialect lists all open orders; in the other one nothing is closed. A market without an order
 * that has been open for long causes no request.
 *
 * @returns how many it closed
 * @throws RelayError `store_unavailable`
 */
export async function closeEnded(services: CloseServices, options: SendOptions): Promise<number> {
  let closed = 0;
  for (const { name, mode, markets } of Object.values(services.settings.accounts))
    if (mode === 'live')
      for (const market of Object.keys(markets))
        closed += await closeInMarket(services, name, market, options);
  return closed;
}

async function closeInMarket(
  services: CloseServices,
  account: string,
  market: string,
  options: SendOptions,
): Promise<number> {
  const believed = await services.ledger.openOrders(account, market, mostBelieved);
  if (!believed.some((entry) => wasPlacedLongAgo(entry, services.clock.nowMs()))) return 0;
  try {
    const client = await services.exchangeFor(account);
    if (client.dialect !== 'live') return 0;
    const { orders, isWhole } = await listOpenOrders(client, market, options);
    const open = new Set(orders.map(({ orderId }) => orderId));
    if (!isWhole) return 0;
    return await closeMissing(
      services,
      believed.filter(({ orderId }) => orderId !== null && !open.has(orderId)),
    );
  } catch (error) {
    if (error instanceof RelayError && error.code === 'store_unavailable') throw error;
    // A missing key or an unreadable list of one account must not stop the other accounts.
    services.log.warn('entries of ended orders could not be closed; the next run tries again', {
      account,
      market,
      reason: describeSafely(error),
    });
    return 0;
  }
}

/**
 * Closes the entries placed so long ago that the list of open orders must show them if they are open.
 *
 * @param missing entries that the list of open orders does not show
 * @returns how many it closed
 */
export async function closeMissing(
  { ledger, clock }: Pick<CloseServices, 'ledger' | 'clock'>,
  missing: readonly Entry[],
): Promise<number> {
  const ended = missing.filter((entry) => wasPlacedLongAgo(entry, clock.nowMs())).slice(0, mostClosed);
  await Promise.all(ended.map((entry) => ledger.closeOrder(entry)));
  return ended.length;
}
