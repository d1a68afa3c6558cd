import { formatDecimal } from '../base/decimal.ts';
import { cancelConditional } from '../exchange/endpoints/cancel-conditional.ts';
import { ExchangeError, isGroupNotOpen } from '../exchange/errors.ts';
import { listConditionalOrders } from '../exchange/list-conditional-orders.ts';
import { legsOf } from '../exchange/list-groups.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { exitPriceOf, type OcoOrder, type Order } from '../model/order.ts';
import { cancelNamed } from './end-sent.ts';
import type { SentOrder } from './rehearsal-book.ts';
import type { Stage } from './stage.ts';

/** The exchange may make exits a little after the fill, and one that can open a position must not stay. */
const quietMs = 3_000;
const pauseMs = 1_000;

/** The exits that the exchange made of the rehearsal's orders, by the list that has them. */
export interface ListedExits {
  readonly open: readonly Order[];
  readonly pairs: readonly OcoOrder[];
  /** False when one of the lists has a record that cannot be read. */
  readonly isWhole: boolean;
}

/**
 * Reads both lists: nothing says that the legs of a pair are among the open orders.
 *
 * @throws ExchangeError when the exchange cannot be asked, or refuses one of the lists: then nobody knows of exits
 */
export async function listExits(
  { client, market, limits }: Stage,
  sent: readonly SentOrder[],
): Promise<ListedExits> {
  const { groups, isWhole } = await listConditionalOrders(client, market.name, limits);
  const open = await listOpenOrders(client, market.name, limits);
  const isExit = (order: Order) => isExitOf(order, sent);
  return {
    open: open.orders.filter(isExit),
    pairs: groups.filter((group) => group.kind === 'oco').filter((pair) => legsOf(pair).some(isExit)),
    isWhole: isWhole && open.isWhole,
  };
}

/**
 * Cancels the exits that the exchange made of the rehearsal's orders, until none has shown for a while.
 *
 * @throws ExchangeError when the exchange cannot be asked
 */
export async function clearExits(stage: Stage, sent: readonly SentOrder[]): Promise<void> {
  const { clock, market } = stage;
  if (!sent.some(({ stopLoss, takeProfit }) => stopLoss !== null || takeProfit !== null)) return;
  let quietSinceMs = clock.nowMs();
  while (clock.nowMs() - quietSinceMs < quietMs) {
    const { open, pairs } = await listExits(stage, sent);
    const paired = new Set(pairs.flatMap(legsOf).map(({ orderId }) => orderId));
    const single = open.filter(({ orderId }) => !paired.has(orderId));
    for (const pair of pairs) if (await cancelPair(stage, pair)) quietSinceMs = clock.nowMs();
    for (const { orderId } of single) {
      const cancelled = await cancelNamed(stage, { market: market.name, orderId });
      // A list that lags behind shows it all the same.
      if (cancelled !== null) quietSinceMs = clock.nowMs();
    }
    await clock.sleep(pauseMs);
  }
}

/** @returns whether the exchange had such a pair */
async function cancelPair({ client, market, limits }: Stage, { id }: OcoOrder): Promise<boolean> {
  try {
    await client.call(cancelConditional, { market: market.name, id }, limits);
    return true;
  } catch (error) {
    if (error instanceof ExchangeError && isGroupNotOpen(error)) return false;
    throw error;
  }
}

/** No document links exits to their order. They close what it opened, and their prices are those that were asked for. */
function isExitOf(order: Order, sent: readonly SentOrder[]): boolean {
  const price = formatDecimal(exitPriceOf(order));
  return sent.some(
    ({ side, stopLoss, takeProfit }) => side !== order.side && (price === stopLoss || price === takeProfit),
  );
}
