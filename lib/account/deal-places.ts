import { hasPassed } from '../base/clock.ts';
import type { Decimal } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { longestLagMs, longestOrderLagMs } from '../exchange/lag.ts';
import { listNewestEnded, readListedOrder } from '../exchange/list-account.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { type Fill, positionMarksOf } from '../model/execution.ts';
import { isPerpetualName } from '../model/market.ts';
import { positionSides } from '../model/order.ts';

/** How the deals of an account are read. */
export interface DealSource {
  readonly client: ExchangeClient;
  readonly options: SendOptions;
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
const mostAsked = 10;

/**
 * Names what each deal changed, as its order says it: a side of hedge mode, or coins on the spot account. The list of deals
 * does not tell it. An order that the lists must show by now and do not is asked for alone, because a record of them may have been
 * unreadable.
 *
 * @param nowMs before anything is asked
 * @returns `mayBeTold`: whether a list may still tell it; `isRead`: whether the lists could be read
 */
export async function withPlaces(
  fills: readonly Fill[],
  { client, options, listed = [] }: DealSource & { readonly listed?: readonly ListedFilled[] },
  nowMs: number,
): Promise<{ readonly placed: readonly PlacedFill[]; readonly isRead: boolean }> {
  const orders = [...listed];
  const inMarket = (fill: Fill) => orders.filter(({ market }) => market === fill.market);
  const listedOf = (fill: Fill) => inMarket(fill).find(({ orderId }) => orderId === fill.orderId);
  const isSettled = (fill: Fill) =>
    listedOf(fill) !== undefined ||
    (isPerpetualName(fill.market) && inMarket(fill).some(({ positionSide }) => positionSide === 'BOTH'));
  const isHedged = (fill: Fill) =>
    inMarket(fill).some(({ positionSide }) => positionSide === 'LONG' || positionSide === 'SHORT');
  const lacksPlace = (fill: Fill) =>
    listedOf(fill) === undefined && (isHedged(fill) || !isPerpetualName(fill.market));
  const inNoList = new Set<string>();
  let isRead = true;
  try {
    const oldestMs = Math.min(...fills.map(({ atMs }) => atMs));
    if (!fills.every(isSettled)) orders.push(...(await listNewestEnded(client, oldestMs, options)));
    if (!fills.every(isSettled)) orders.push(...(await listOpenOrders(client, null, options)).orders);
    const late = fills.filter((fill) => lacksPlace(fill) && hasPassed(fill.atMs, longestOrderLagMs, nowMs));
    const names = new Map(late.map((fill) => [nameOf(fill), fill]));
    for (const [name, fill] of [...names].slice(0, mostAsked)) {
      const { ended, open, isWhole } = await readListedOrder(client, fill, options);
      orders.push(...[ended, open].filter((order) => order !== null));
      if (isWhole) inNoList.add(name);
    }
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    isRead = false;
  }
  const placed = fills.map((fill): PlacedFill => {
    const order = listedOf(fill);
    const side = positionSides.find((one) => one === order?.positionSide);
    const isOver = inNoList.has(nameOf(fill)) || hasPassed(fill.atMs, longestLagMs, nowMs);
    return {
      fill: {
        ...fill,
        ...positionMarksOf({ positionSide: side }),
        ...(order?.onSpot === true ? { onSpot: true } : {}),
      },
      mayBeTold: lacksPlace(fill) && !(isRead && isOver),
    };
  });
  return { placed, isRead };
}

function nameOf({ market, orderId }: Pick<Fill, 'market' | 'orderId'>): string {
  return `${market} ${orderId}`;
}
