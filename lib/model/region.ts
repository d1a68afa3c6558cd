import type { OrderType } from './order.ts';

/** The regions in which the exchange takes fewer orders than elsewhere. */
export const regions = ['eu'] as const;
export type Region = (typeof regions)[number];

/**
 * The order types that this relay can place for an account in the region.
 *
 * In the EU the exchange has no margin and no futures. On spot it takes `market`, `stop-market` and one form of limit
 * order, which has no price of its own and which this relay does not send: `ioc` at the best opposite price. It lists
 * both endpoints of spot market orders under `market`. It refuses everything else with HTTP 453 and code 30. Nothing
 * of this was tried against the service.
 *
 * @see https://docs.whitebit.com/concepts/order-types#regional-restrictions (read 2026-11-22)
 */
export const regionOrderTypes: Readonly<Record<Region, readonly OrderType[]>> = {
  eu: ['spot_market', 'spot_stock_market', 'spot_stop_market'],
};

/** What is left in the region, in one clause. */
const regionRules: Readonly<Record<Region, string>> = {
  eu: 'in the EU the exchange offers spot trading only, and there only market and stop-market orders, which fill at any price; the relay denies limit and stop-limit orders, and market orders with a maxSlippage',
};

/** One sentence for every region that restricts some of the accounts, by name. */
export function describeRegions(
  accounts: Readonly<Record<string, { readonly name: string; readonly region: Region | null }>>,
): readonly string[] {
  return regions.flatMap((region) => {
    const names = Object.values(accounts).filter((account) => account.region === region);
    if (names.length === 0) return [];
    return [`${names.map(({ name }) => name).join(', ')}: ${regionRules[region]}`];
  });
}
