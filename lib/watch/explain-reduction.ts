import { isSmaller, positionIn } from '../account/position-change.ts';
import type { PositionsReading } from '../account/read-positions.ts';
import { formatDecimal, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { executedHistory } from '../exchange/endpoints/executed-history.ts';
import { ExchangeError, isHistoryNotFound } from '../exchange/errors.ts';
import { isWholePage, type ListPage } from '../exchange/listed.ts';
import { closingSideOf, type Deal } from '../model/holdings.ts';
import type { Reduction } from './watch-state.ts';

/**
 * Orders that the exchange itself placed, by the beginning of their client order id.
 *
 * @see https://docs.whitebit.com/concepts/auto-deleveraging (read 2026-11-22)
 * @see https://docs.whitebit.com/api-reference/spot-trading/query-delisting-orders (read 2026-11-22)
 */
const exchangeOrders: readonly (readonly [prefix: string, cause: ExchangeCause])[] = [
  ['adl_', 'auto_deleveraging'],
  ['liquidation_', 'liquidation'],
  ['delisting-', 'delisting'],
];
type ExchangeCause = 'auto_deleveraging' | 'liquidation' | 'delisting';

/**
 * Why a position became smaller, or was closed or turned: by the exchange, by orders of the account, exits among them, or
 * nobody knows yet; `unread`: because a fill cannot be read.
 */
export type Explanation = ExchangeCause | 'own_orders' | 'unexplained' | 'unread';

/** The positions that are smaller now, closed or turned. */
export function findReductions(before: PositionsReading, now: PositionsReading): readonly Reduction[] {
  return before.positions.flatMap((position) => {
    const to = positionIn(now.positions, position)?.amount ?? zero;
    if (!isSmaller(position.amount, to)) return [];
    const { market, positionSide, amount: from } = position;
    return [{ market, positionSide, from, to, sinceMs: before.wholeAtMs, seenAtMs: now.readAtMs }];
  });
}

/** The clocks of exchange and relay may differ, and a reading takes time. */
const marginMs = 60_000;
const mostDeals = 500;

/**
 * Compares a reduction with the account's fills since the position was last seen unreduced.
 *
 * @throws ExchangeError when the fills cannot be read
 */
export async function explainReduction(
  client: ExchangeClient,
  { market, from, to, sinceMs }: Reduction,
  options: SendOptions,
): Promise<Explanation> {
  const deals = await listDeals(client, market, options);
  const since = deals.records.filter(({ atMs }) => atMs >= sinceMs - marginMs);
  const cause = since.flatMap(({ clientOrderId = '' }) => {
    const found = exchangeOrders.find(([prefix]) => clientOrderId.startsWith(prefix));
    return found === undefined ? [] : [found[1]];
  })[0];
  if (cause !== undefined) return cause;
  const side = closingSideOf(from);
  const traded = since
    .filter((deal) => deal.side === side)
    .reduce((sum, { amount }) => sum.plus(amount), zero);
  if (traded.gte(from.minus(to).abs())) return 'own_orders';
  return isWholePage(deals) ? 'unexplained' : 'unread';
}

/** The exchange may report "no fill found" as a refusal. */
async function listDeals(
  client: ExchangeClient,
  market: string,
  options: SendOptions,
): Promise<ListPage<Deal>> {
  try {
    return await client.call(executedHistory, { market, limit: mostDeals }, options);
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryNotFound(error))
      return { records: [], count: 0, oddities: [] };
    throw error;
  }
}

/** `from 0.5 to 0.2` */
export function describeReduction({ from, to }: Reduction): string {
  return `from ${formatDecimal(from)} to ${formatDecimal(to)}`;
}
