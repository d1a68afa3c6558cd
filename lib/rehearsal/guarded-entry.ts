import { attachedIds } from '../account/exits.ts';
import { openOrdersAnswer, type TrialAnswers } from '../account/rehearsed.ts';
import {
  ceilToStep,
  type Decimal,
  floorToStep,
  formatDecimal,
  one,
  parseDecimal,
  zero,
} from '../base/decimal.ts';
import { listConditionalOrders } from '../exchange/list-conditional-orders.ts';
import { legsOf } from '../exchange/list-groups.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { listPositionsIn } from '../exchange/list-positions.ts';
import type { OpenPosition } from '../model/holdings.ts';
import type { Order, Side } from '../model/order.ts';
import { cleanUp } from './clean-up.ts';
import { type ListedExits, listExits } from './clear-exits.ts';
import { stopAt } from './rehearsal-book.ts';
import { type AskedOrder, sendOrder } from './send-order.ts';
import {
  askUntilSeen,
  noPrices,
  type Prices,
  readPrices,
  type Stage,
  smallestAmount,
  type TrialStep,
} from './stage.ts';

/** How far the exits lie from the price: no trade of the next seconds should reach them. */
const exitRate = parseDecimal('0.05');

/** The smallest guarded entry on margin or futures, long and then short. */
export const guardedEntry: TrialStep = {
  name: '6',
  title: 'open the smallest position with a stop-loss and a take-profit and close it, long and then short',
  async run(stage) {
    const before = await findStrange(stage);
    if (before !== null) return stopAt(before);
    const long = await tryEntry(stage, 'buy');
    if ('reason' in long) return stopAt(long.reason);
    const left = await cleanUp(stage);
    if (left !== null) return stopAt(`${left} is left`);
    const short = await tryEntry(stage, 'sell');
    if ('reason' in short) return stopAt(short.reason);
    if (short.position.amount.gt(zero) && short.position.positionSide === 'BOTH')
      return stopAt(
        'the list of positions shows a short position with an amount above zero, like a long one',
      );
    return {
      passed: true,
      found: {
        ...long.found,
        shortSign: short.position.positionSide === 'BOTH' ? 'negative' : 'by its side',
      },
    };
  },
};

/** What stands in the market before, so that nobody could say whose a position or an exit is. */
async function findStrange({ client, clock, market, limits }: Stage): Promise<string | null> {
  const positions = await listPositionsIn(client, market.name, clock.nowMs(), limits);
  if (positions.length > 0)
    return `there is a position in ${market.name}: close it, or rehearse in another market`;
  const open = await listOpenOrders(client, market.name, limits);
  const paired = await listConditionalOrders(client, market.name, limits);
  const isClear = open.orders.length + paired.groups.length === 0 && open.isWhole && paired.isWhole;
  if (!isClear) return `orders are open in ${market.name}: cancel them, or rehearse in another market`;
  return null;
}

interface Entered {
  readonly found: TrialAnswers;
  readonly position: OpenPosition;
}

async function tryEntry(stage: Stage, side: Side): Promise<Entered | { readonly reason: string }> {
  const prices = await readPrices(stage);
  if (prices === null) return { reason: noPrices };
  const asked = entryAt(stage, prices, side);
  const sent = await sendOrder(stage, '6', asked);
  const name = side === 'buy' ? 'long' : 'short';
  if (sent.kind !== 'placed') return { reason: `the ${name} entry: ${sent.text}` };
  if (sent.order.filled.eq(zero)) return { reason: `the ${name} entry has filled nothing; try again` };
  const position = await askUntilSeen(stage, () => readPosition(stage));
  if (position === null) return { reason: `the list of positions does not show the ${name} position` };
  const { listed, shown, afterMs } = await waitForExits(stage);
  const strange = judgeExits(listed, shown);
  if (strange !== null) return { reason: strange };
  return {
    found: { positionAfterMs: position.afterMs, ...describeExits(listed, shown, afterMs) },
    position: position.value,
  };
}

/** Exits that the relay would not know: it would place its own beside them. */
function judgeExits(listed: ListedExits, position: OpenPosition | null): string | null {
  const exits = ordersOf(listed);
  const named = exits.find(({ clientOrderId }) => clientOrderId !== '');
  if (named !== undefined)
    return `the exits of an entry carry the client order id "${named.clientOrderId}", and the relay knows exits by having none`;
  const known = new Set([...listed.open.map(({ orderId }) => orderId), ...attachedIds(position?.tpsl)]);
  if (exits.length < 2 && !listed.isWhole)
    return 'the lists of orders have a record that cannot be read, which may be an exit';
  const hidden = exits.find((order) => isStop(order) && !known.has(order.orderId));
  return hidden === undefined
    ? null
    : `only conditional-orders lists the stop-loss of an entry (order ${hidden.orderId}), and the relay looks for it among the open orders and beside the position`;
}

async function readPosition({ client, clock, market, limits }: Stage): Promise<OpenPosition | null> {
  return (await listPositionsIn(client, market.name, clock.nowMs(), limits))[0] ?? null;
}

/**
 * The exits that are listed and the position as it is then, and when the last list showed them: one may lag behind another.
 * Fewer than two, or some that the relay would not know: the time was up.
 */
async function waitForExits(stage: Stage) {
  const read = async () => ({
    listed: await listExits(stage, stage.book.notes.sent),
    shown: await readPosition(stage),
  });
  const all = await askUntilSeen(stage, async () => {
    const { listed, shown } = await read();
    return ordersOf(listed).length > 1 && judgeExits(listed, shown) === null ? { listed, shown } : null;
  });
  return { ...(all?.value ?? (await read())), afterMs: all?.afterMs ?? 0 };
}

/** Each once. */
function ordersOf({ open, pairs }: ListedExits): readonly Order[] {
  return [...new Map([...pairs.flatMap(legsOf), ...open].map((order) => [order.orderId, order])).values()];
}

function isStop({ activationPrice }: Order): boolean {
  return activationPrice !== undefined;
}

/** As the relay sends a market order with a bound, unless the exchange refuses "immediate or cancel". */
function entryAt({ market, book, slippageRate }: Stage, { ask, bid }: Prices, side: Side): AskedOrder {
  const { priceStep } = market;
  const isBuy = side === 'buy';
  const at = (rate: Decimal) => floorToStep((isBuy ? ask : bid).times(rate), priceStep);
  const [below, above] = [at(one.minus(exitRate)), at(one.plus(exitRate))];
  const shared = {
    side,
    amount: smallestAmount(below, market),
    stopLoss: isBuy ? below : above,
    takeProfit: isBuy ? above : below,
  };
  if (book.notes.rehearsed['3']?.found['ioc'] === 'refused') return { type: 'market', ...shared };
  const price = isBuy
    ? at(one.plus(slippageRate))
    : ceilToStep(bid.times(one.minus(slippageRate)), priceStep);
  return { type: 'limit', ...shared, price, ioc: true };
}

function describeExits(listed: ListedExits, position: OpenPosition | null, afterMs: number): TrialAnswers {
  const exits = ordersOf(listed);
  const stop = exits.find(isStop);
  const target = exits.find((order) => !isStop(order));
  const attached = attachedIds(position?.tpsl).length > 0;
  const listedIn = [
    ...(listed.open.length > 0 ? [openOrdersAnswer] : []),
    ...(listed.pairs.length > 0 ? ['conditional-orders'] : []),
  ];
  return {
    exits:
      stop !== undefined && target !== undefined
        ? 'made'
        : exits.length > 0 || attached
          ? 'incomplete'
          : 'none',
    ...(exits.length === 0
      ? {}
      : { exitsAfterMs: afterMs, exitOrders: exits.length, exitsListedIn: listedIn.join(', ') }),
    ...(stop === undefined ? {} : describeExit('stop', stop)),
    ...(target === undefined ? {} : describeExit('target', target)),
    attachedToPosition: attached,
  };
}

function describeExit(name: 'stop' | 'target', { orderId, type, amount, reduceOnly }: Order): TrialAnswers {
  return {
    [`${name}Id`]: orderId,
    [`${name}Type`]: type,
    [`${name}Amount`]: formatDecimal(amount),
    [`${name}ReduceOnly`]: reduceOnly ?? 'not told',
  };
}
