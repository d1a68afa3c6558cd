import type * as z from 'zod';
import { formatPercent } from '../base/decimal.ts';
import { baseUrlOf } from '../exchange/dialect.ts';
import type { Region } from '../model/region.ts';
import type { ConfiguredAccount } from './account-config.ts';

/** The region that restricts an account. The EU address serves accounts of the EU alone. */
export function regionOf({ region }: Pick<ConfiguredAccount, 'region'>, address: string): Region | null {
  return baseUrlOf(address) === baseUrlOf('eu') ? 'eu' : region;
}

/**
 * Refuses what the exchange refuses from an account in the EU: markets that trade on margin or futures, and the price
 * bound of market orders. Every order without the bound fills at any price, so the owner must allow that. An account
 * without markets may be set as it likes.
 *
 * @see https://docs.whitebit.com/concepts/order-types#regional-restrictions (read 2026-11-22)
 */
export function checkRegions(
  { exchange, accounts }: ConfiguredRegions,
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  for (const [name, account] of Object.entries(accounts)) {
    if (regionOf(account, exchange.address) === null) continue;
    const cause =
      account.region === null ? 'exchange.address is the EU address' : "the account's region is 'eu'";
    for (const { path, message } of listEuRefusals(account, cause))
      context.addIssue({ code: 'custom', path: ['accounts', name, ...path], message });
  }
}

/** The part of the configuration that regions concern. */
interface ConfiguredRegions {
  readonly exchange: { readonly address: string };
  readonly accounts: Readonly<Record<string, ConfiguredAccount>>;
}

interface Refusal {
  readonly path: readonly string[];
  readonly message: string;
}

function listEuRefusals(
  { markets, maxSlippageRate, allowUnguardedMarket }: ConfiguredAccount,
  cause: string,
): readonly Refusal[] {
  const grounds = Object.entries(markets).flatMap(([market, { tradesOn }]) => {
    if (tradesOn === 'spot') return [];
    const advice =
      tradesOn === 'margin' ? "write tradesOn: 'spot', or remove the market" : 'remove the market';
    return [
      {
        path: ['markets', market, 'tradesOn'],
        message: `is '${tradesOn}', and the exchange has no margin and no futures here, because ${cause}: ${advice}`,
      },
    ];
  });
  if (Object.keys(markets).length === 0) return [];
  const bound =
    maxSlippageRate === null
      ? []
      : [
          {
            path: ['maxSlippage'],
            message: `is ${formatPercent(maxSlippageRate)}, and the exchange takes no market order with a price bound here, because ${cause}: write maxSlippage: null`,
          },
        ];
  const consent = allowUnguardedMarket
    ? []
    : [
        {
          path: ['allowUnguardedMarket'],
          message: `must be true, because ${cause}: the exchange takes only market and stop-market orders here, and they fill at any price; write allowUnguardedMarket: true if you accept that`,
        },
      ];
  return [...grounds, ...bound, ...consent];
}
