import type { Alarm } from '../../base/alarms.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { legsOf, listGroups, nameGroup } from '../../exchange/list-groups.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { OcoOrder, Order } from '../../model/order.ts';
import { askToCancel, groupToCancel, orderToCancel } from './ask-to-cancel.ts';
import { cancelGroup } from './cancel-group.ts';

/** Which orders of a market are exits. */
export interface ExitScope {
  readonly market: string;
  isExit(order: Order): boolean;
  /** Called with every open order that is read. */
  see?(order: Order): void;
  /** Exits that are cancelled by their ids where no list shows them; absent: none. */
  readonly unlistedIds?: readonly number[];
}

/** One exit: a pair, or a single order. */
export interface Exit {
  /** `OCO 117703764513` or `order 3686033640`. */
  readonly name: string;
  readonly orderIds: readonly number[];
}

/** What became of an exit that was to be cancelled. */
export interface ExitOutcome extends Exit {
  /** `gone`: it had ended before. `unknown`: a response was lost. `failed`: it may still be open. */
  readonly result: 'cancelled' | 'gone' | 'unknown' | 'failed';
  /** One sentence. */
  readonly note: string;
  /** Present for one that no list of orders showed. */
  readonly isUnlisted?: true;
  /** Of a single order that was cancelled: as the response shows it. */
  readonly order?: Order;
  /** The response reported another order. */
  readonly alarm?: Alarm;
}

export interface CancelledExits {
  /** In the order in which they were cancelled. */
  readonly exits: readonly ExitOutcome[];
  /** What is still open afterwards; null when the lists could not be read whole. */
  readonly left: readonly Exit[] | null;
}

/**
 * Cancels the open exits of a market, and a pair of a stop-loss and a take-profit by the id of the pair. What is left is
 * read back. Cancelling twice does no harm.
 *
 * Only the live dialect lists these orders. The lists may lag behind a create by seconds.
 *
 * @param options `timeoutMs` is for each request, `endByMs` for all of them
 * @throws ExchangeError when the exits cannot be listed; nothing was cancelled then
 */
export async function cancelExits(
  client: ExchangeClient,
  scope: ExitScope,
  options: SendOptions,
): Promise<CancelledExits> {
  const found = await findExits(client, scope, options);
  const exits: ExitOutcome[] = [];
  for (const pair of found.pairs) exits.push(...(await cancelPair(client, scope.market, pair, options)));
  for (const order of found.orders) exits.push(await cancelSingle(client, order, options));
  const { market, unlistedIds = [] } = scope;
  for (const orderId of unlistedIds)
    if (!found.listedIds.has(orderId))
      exits.push({ ...(await cancelSingle(client, { market, orderId }, options)), isUnlisted: true });
  if (exits.length === 0) return { exits, left: found.isWhole ? [] : null };
  return { exits, left: await readLeft(client, scope, exits, options) };
}

/**
 * The open exits of a market; nothing is cancelled.
 *
 * @returns null when there are more orders than were read
 * @throws ExchangeError when they cannot be listed
 */
export async function listOpenExits(
  client: ExchangeClient,
  scope: ExitScope,
  options: SendOptions,
): Promise<readonly Exit[] | null> {
  const { isWhole, pairs, orders } = await findExits(client, scope, options);
  return isWhole ? namesOf({ pairs, orders }) : null;
}

function namesOf({ pairs, orders }: Pick<FoundExits, 'pairs' | 'orders'>): readonly Exit[] {
  return [...pairs.map(exitOfPair), ...orders.map(({ orderId }) => exitOfOrder(orderId))];
}

interface FoundExits {
  /** False when there are more orders than were read: nobody knows what is left then. */
  readonly isWhole: boolean;
  readonly pairs: readonly OcoOrder[];
  readonly orders: readonly Order[];
  /** Of every order that a list shows, whether it is an exit or not. */
  readonly listedIds: ReadonlySet<number>;
}

/** @throws ExchangeError when a list cannot be read */
async function findExits(
  client: ExchangeClient,
  scope: ExitScope,
  options: SendOptions,
): Promise<FoundExits> {
  const { groups, isWhole } = await listGroups(client, scope.market, options);
  const open = await listOpenOrders(client, scope.market, options);
  const legs = groups.flatMap(legsOf);
  for (const order of [...legs, ...open.orders]) scope.see?.(order);
  const pairs = groups
    .filter((group) => group.kind === 'oco')
    .filter((group) => legsOf(group).some(scope.isExit));
  const grouped = new Set(legs.map(({ orderId }) => orderId));
  return {
    isWhole: isWhole && open.isWhole,
    pairs,
    orders: open.orders.filter((order) => !grouped.has(order.orderId) && scope.isExit(order)),
    listedIds: new Set([...grouped, ...open.orders.map(({ orderId }) => orderId)]),
  };
}

/**
 * A pair has ended once one of its orders fills, also in part: what is left of that one rests alone, and is cancelled by its
 * id. So is each order of a pair of which nobody knows whether it is cancelled.
 */
async function cancelPair(
  client: ExchangeClient,
  market: string,
  pair: OcoOrder,
  options: SendOptions,
): Promise<readonly ExitOutcome[]> {
  const { status, wasGone, note } = await cancelGroup(groupToCancel(client, market, pair), options);
  if (!wasGone && status !== 'unknown')
    return [{ ...exitOfPair(pair), result: status === 'cancelled' ? status : 'failed', note }];
  const legs: ExitOutcome[] = [];
  for (const leg of legsOf(pair)) legs.push(await cancelSingle(client, leg, options));
  return legs;
}

function exitOfPair(pair: OcoOrder): Exit {
  return { name: nameGroup(pair), orderIds: legsOf(pair).map(({ orderId }) => orderId) };
}

/** Cancels one exit by its id, whether or not a list shows it. Failures of the exchange are results, too. */
async function cancelSingle(
  client: ExchangeClient,
  { market, orderId }: Pick<Order, 'market' | 'orderId'>,
  options: SendOptions,
): Promise<ExitOutcome> {
  const exit = exitOfOrder(orderId);
  const answer = await askToCancel(orderToCancel(client, { market, orderId, clientOrderId: null }), options);
  switch (answer.kind) {
    case 'cancelled':
      return { ...exit, result: 'cancelled', note: `${exit.name} is cancelled`, order: answer.order };
    case 'contradicted':
      return { ...exit, result: 'unknown', note: answer.alarm.message, alarm: answer.alarm };
    case 'failed': {
      const { error, isGone, isLost } = answer;
      if (isGone && !isLost)
        return { ...exit, result: 'gone', note: `${exit.name} is not open: it ended before` };
      return { ...exit, result: isLost ? 'unknown' : 'failed', note: `${exit.name}: ${error.message}` };
    }
  }
}

function exitOfOrder(orderId: number): Exit {
  return { name: `order ${orderId}`, orderIds: [orderId] };
}

/** What is still open. The lists may lag behind a cancellation that the exchange has confirmed, and behind a create. */
async function readLeft(
  client: ExchangeClient,
  scope: ExitScope,
  exits: readonly ExitOutcome[],
  options: SendOptions,
): Promise<readonly Exit[] | null> {
  const ended = new Set(
    exits.flatMap(({ result, orderIds }) => (result === 'cancelled' || result === 'gone' ? orderIds : [])),
  );
  try {
    const open = await listOpenExits(client, scope, options);
    if (open === null) return null;
    const left = open.filter(({ orderIds }) => !orderIds.every((orderId) => ended.has(orderId)));
    // A list that lags does not show a young order: what was not cancelled is still open in any case.
    const listed = new Set(left.flatMap(({ orderIds }) => orderIds));
    const unlisted = exits.filter(
      ({ result, orderIds }) =>
        (result === 'failed' || result === 'unknown') && !orderIds.some((orderId) => listed.has(orderId)),
    );
    return [...left, ...unlisted.map(({ name, orderIds }) => ({ name, orderIds }))];
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}
