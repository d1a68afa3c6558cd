import { hasPassed } from '../base/clock.ts';
import type { Decimal } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError, ifRead } from '../exchange/errors.ts';
import { longestLagMs, longestOrderLagMs } from '../exchange/lag.ts';
import { type EndedOrder, listNewestEnded, readListedOrder } from '../exchange/list-account.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { isBaseFee } from '../model/average-cost.ts';
import { type Fill, positionMarksOf } from '../model/execution.ts';
import { currenciesInName, isPerpetualName } from '../model/market.ts';
import { positionSides } from '../model/order.ts';

/** How the deals of an account are read. */
export interface DealSource {
  readonly client: ExchangeClient;
  readonly options: SendOptions;
  /** Present where no order waits for it: an order by hand that no list shows is asked for alone. */
  readonly asksAlone?: true;
}

/** An order as a list of orders shows it. */
export interface ListedFilled {
  readonly market: string;
  readonly orderId: number;
  /** In base units. */
  readonly filled: Decimal;
  /** Absent on the spot account. */
  readonly positionSide?: string | undefined;
  readonly onSpot?: true;
}

/** A deal, with what it changed. */
interface PlacedFill {
  readonly fill: Fill;
  readonly mayBeTold: boolean;
}

/** How many orders are asked for alone in one reading. */
const mostAsked = 5;

/**
 * Names what each deal changed, as its order says it: a side of hedge mode, or coins on the spot account. The list of deals
 * does not tell it, but for a fee in coins. A record of a list may be unreadable: an order that the lists must show by now,
 * and do not, may be asked for alone.
 *
 * @param nowMs before anything is asked
 * @returns `mayBeTold`: whether a list may still tell it; `isRead`: whether the lists could be read; `ended`: the orders that a
 *   list has shown meanwhile as ended
 */
export async function withPlaces(
  fills: readonly Fill[],
  { client, options, asksAlone, listed = [] }: DealSource & { readonly listed?: readonly ListedFilled[] },
  nowMs: number,
): Promise<{
  readonly placed: readonly PlacedFill[];
  readonly isRead: boolean;
  readonly ended: readonly EndedOrder[];
}> {
  const orders = [...listed];
  const inMarket = (fill: Fill) => orders.filter(({ market }) => market === fill.market);
  const listedOf = (fill: Fill) => inMarket(fill).find(({ orderId }) => orderId === fill.orderId);
  const isPlaced = (fill: Fill) => listedOf(fill) !== undefined || isBuyOnSpot(fill);
  const isSettled = (fill: Fill) =>
    isPlaced(fill) ||
    (isPerpetualName(fill.market) && inMarket(fill).some(({ positionSide }) => positionSide === 'BOTH'));
  const isHedged = (fill: Fill) =>
    inMarket(fill).some(({ positionSide }) => positionSide === 'LONG' || positionSide === 'SHORT');
  const lacksPlace = (fill: Fill) => !isPlaced(fill) && (isHedged(fill) || !isPerpetualName(fill.market));
  const isLate = (fill: Fill) => lacksPlace(fill) && hasPassed(fill.atMs, longestOrderLagMs, nowMs);
  const answered = new Set<string>();
  let ended: readonly EndedOrder[] = [];
  let isRead = true;
  try {
    const oldestMs = Math.min(...fills.map(({ atMs }) => atMs));
    if (!fills.every(isSettled)) ended = await listNewestEnded(client, oldestMs, options);
    orders.push(...ended);
    if (!fills.every(isSettled)) orders.push(...(await listOpenOrders(client, null, options)).orders);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    isRead = false;
  }
  if (isRead && asksAlone === true) {
    const names = new Map(fills.filter(isLate).map((fill) => [nameOf(fill), fill]));
    for (const [name, fill] of [...names].slice(0, mostAsked)) {
      // One order must not hold back the others.
      const answer = await ifRead(readListedOrder(client, fill, options));
      orders.push(...[answer?.ended, answer?.open].filter((order) => order != null));
      if (answer?.isWhole === true) answered.add(name);
    }
  }
  const placed = fills.map((fill): PlacedFill => {
    const order = listedOf(fill);
    const side = positionSides.find((one) => one === order?.positionSide);
    const isOver = answered.has(nameOf(fill)) || hasPassed(fill.atMs, longestLagMs, nowMs);
    return {
      fill: {
        ...fill,
        ...positionMarksOf({ positionSide: side }),
        ...groundOf(order, fill),
      },
      mayBeTold: lacksPlace(fill) && !(isRead && isOver),
    };
  });
  return { placed, isRead, ended };
}

/** An order that names neither tells nothing. */
function groundOf(order: ListedFilled | undefined, fill: Fill): Pick<Fill, 'onSpot'> {
  if (order?.onSpot === true || isBuyOnSpot(fill)) return { onSpot: true };
  return order?.positionSide === undefined ? {} : { onSpot: false };
}

function isBuyOnSpot({ market, feeAsset }: Fill): boolean {
  return isBaseFee(feeAsset, currenciesInName(market));
}

function nameOf({ market, orderId }: Pick<Fill, 'market' | 'orderId'>): string {
  return `${market} ${orderId}`;
}
