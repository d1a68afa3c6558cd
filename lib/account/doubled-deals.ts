import { formatDecimal, zero } from '../base/decimal.ts';
import { describeSafely } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import { type AccountDeal, type OrderDeal, readListedOrder } from '../exchange/list-account.ts';
import { createTeller, type TellServices } from '../ledger/tell-once.ts';
import type { Fill } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import { bookDeals, type FollowedDeal } from './booked-deals.ts';

/** The fills of one order that belongs to no signal, as far as a reading shows them. */
export interface OrderFills {
  readonly market: string;
  readonly orderId: number;
  /** Those that were stored before. */
  readonly stored: readonly Fill[];
  readonly fresh: readonly Fill[];
}

/** Whether two of the fills are alike in everything but the id: two makers can give such, or one deal has two ids. */
export function hasTwins({ stored, fresh }: OrderFills): boolean {
  const all = [...stored, ...fresh];
  return new Set(all.map(describe)).size < all.length;
}

function describe({ atMs, side, price, amount, liquidity, fee }: Fill): string {
  return [atMs, side, price, amount, liquidity, fee].join(' ');
}

/**
 * Chooses which fills of an order with twins count: what it has filled decides, which the exchange is asked for. While no
 * list says that, a twin does not count: of a gain that would hide a loss. The owner is told of what does not count. An
 * order that cannot be read is as one that no list tells: the deals of others are stored in any case.
 *
 * @returns the ids of those that do not count, and whether that may change once the lists show the order
 * @throws RelayError `store_unavailable`
 */
export async function findDoubled(
  services: TellServices & { readonly log: Log },
  account: string,
  { market, orderId, stored, fresh }: OrderFills,
  listedDeals: readonly AccountDeal[],
  { client, options }: { readonly client: ExchangeClient; readonly options: SendOptions },
): Promise<{ readonly ids: ReadonlySet<number>; readonly mayChange: boolean }> {
  const listed = await readListedOrder(client, { market, orderId }, options).catch((error: unknown) => {
    if (!(error instanceof ExchangeError)) throw error;
    services.log.warn(
      'an order that belongs to no signal could not be read: deals of it that are alike in everything but the id are counted once; the next run tries again',
      { account, market, orderId, reason: describeSafely(error) },
    );
    return null;
  });
  const order = listed?.isWhole === true ? (listed.ended ?? listed.open) : null;
  const newestMs = Math.max(...fresh.map(({ atMs }) => atMs));
  const isOld = services.clock.nowMs() - newestMs > longestOrderLagMs;
  const deals = new Map<number, FollowedDeal>();
  for (const deal of [...listedDeals, ...(listed?.deals ?? [])]) deals.set(deal.id, withAsset(deal, market));
  const size = {
    amount: null,
    reported: order?.filled ?? zero,
    hasEnded: order === null ? isOld : listed?.ended === order,
  };
  const booked = bookDeals(size, deals.values(), new Set(stored.map(({ dealId }) => dealId)));
  const ids = new Set(booked.surplus.map(({ id }) => id));
  if (booked.isContradicted) {
    const known =
      order === null
        ? `deals of order ${orderId} are alike in everything but the id, and no list says how much it has filled: each is counted once`
        : `more fills are listed for order ${orderId} than it can have: a deal may be listed under two ids; what exceeds the order is not counted`;
    await createTeller(services).tell(account, {
      key: `fills ${market} ${orderId}`,
      alarm: {
        name: 'fills_contradicted',
        message: `${known}: compare \`npx relay report --deals\` with the history on the website of the exchange`,
      },
      facts: { market, orderId, counted: formatDecimal(booked.sum), notCounted: [...ids] },
      everyMs: null,
    });
  }
  return { ids, mayChange: ids.size > 0 && (listed === null || !isOld) };
}

/** Records of earlier years do not name the asset of a fee, which is the quote currency. */
export function withAsset(deal: OrderDeal, market: string): FollowedDeal {
  return { ...deal, feeAsset: deal.feeAsset ?? currenciesInName(market).quote };
}
