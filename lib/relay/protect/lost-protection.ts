import type { Clock } from '../../base/clock.ts';
import { type Decimal, formatDecimal, one, rateOfPercent, zero } from '../../base/decimal.ts';
import type { EndedOrder } from '../../exchange/list-account.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { Executions } from '../../ledger/executions.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { PositionPlace } from '../../model/holdings.ts';
import { isMarkedReducing, isOrderEnd, type Order, type Side, usualTriggerSides } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import type { ExitRole, PercentText } from '../../model/signal.ts';
import {
  type ProtectiveOrder,
  type ProtectivePrices,
  reportOf,
  type SpotFact,
} from '../../model/step-facts.ts';
import { isStopLimit } from '../../orders/order-kinds.ts';
import type { Guard } from '../../protection/guards.ts';
import { describeGuard, namesOf, namesOfWish } from '../../protection/wanted.ts';
import { describeSight, parseSight, parseWishes, sightFactOf, wishFactOf } from '../../protection/wishes.ts';
import { clientOrderIdOf, isClientOrderId } from '../../signals/identity.ts';
import { needOf, needOfWish, type ProtectionNeed, protectEntryOf, protectIdOf } from './ask-protection.ts';

/** What a signal that the ledger knows asked for, and may have got from the lost relay. */
interface Wanted extends ProtectionNeed {
  /** When the signal was stored. */
  readonly atMs: number;
  /** Of the entry. */
  readonly side: Side;
  readonly trailing: PercentText | undefined;
  /** Of an entry on spot; null for any other one. */
  readonly spot: SpotFact | null;
}

/** Where an order is: open, or ended with what it filled. */
type Listed = Order | EndedOrder;

/** An order that the lost relay has placed since the backup. */
interface LostOrder {
  readonly order: Listed;
  /** What it is for; null when no signal of the ledger asked for it. */
  readonly of: { readonly wanted: Wanted; readonly idMs: number } | null;
}

/** The lists of an account as following has read them. */
interface LostReading {
  /** The followed ones. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  readonly ended: readonly EndedOrder[];
}

/** What the lost relay placed for signals that nobody knows. */
interface Strangers {
  /** Why a take-profit may not be placed: one of them stands already. A stop-loss of theirs counts as placed by hand. */
  denyBeside(guard: Pick<Guard, 'role' | 'side'>): Denial | null;
}

/** What a relay placed to protect positions after its folder was backed up, and what the restored ledger does not have. */
export interface LostProtection {
  /**
   * Takes into the ledger those whose signal it knows: from then on they are followed, replaced and cancelled like its own,
   * and what they sold counts. It sends nothing. For the follower.
   *
   * @returns how many it took
   * @throws RelayError `store_unavailable`
   */
  adopt(account: string, reading: LostReading): Promise<number>;
  /**
   * The same before anything is placed in a market, where nothing is followed; otherwise the follower does it.
   *
   * @param entries with those that may have asked for it
   * @returns null while something may have to be taken in
   * @throws RelayError `store_unavailable`
   */
  takeIn(account: string, entries: readonly Entry[], open: readonly Order[]): Promise<Strangers | null>;
}

interface LostServices {
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'accept' | 'start' | 'move' | 'findOrder'>;
  readonly executions: Pick<Executions, 'followed'>;
  readonly facts: AccountFacts;
}

/** The clock of the exchange and that of the machine on which the folder was restored normally differ by less. */
const clockToleranceMs = 60_000;
/** The id of a signal is made of the second for which it was asked, and then it may have waited. */
const longestWaitMs = 15 * 60_000;
/** That second may lie ahead by as many as were taken; and clocks differ. */
const farthestAheadMs = 90_000;

/**
 * The id that an order of the relay carries is made of the signal that it protects, its role and the second in which it was
 * asked for. So the order itself tells whose it is, as soon as the ledger knows that signal.
 *
 * @param restoredAtMs of each account that was restored
 * @returns undefined where nothing was restored
 */
export function createLostProtection(
  services: LostServices,
  restoredAtMs: ReadonlyMap<string, number>,
): LostProtection | undefined {
  if (restoredAtMs.size === 0) return undefined;
  const { ledger, clock, executions } = services;
  const found = new Map<string, LostOrder['of']>();
  const tried = new Set<string>();
  const looked = new Set<string>();
  const endedBefore = new Map<string, readonly EndedOrder[]>();

  async function find(account: string, entries: readonly Entry[], orders: readonly Listed[]) {
    const sinceMs = restoredAtMs.get(account);
    if (sinceMs === undefined) return [];
    const known = new Set(entries.map(({ clientOrderId }) => clientOrderId));
    const unknown: Listed[] = [];
    for (const order of orders) {
      if (!isClientOrderId(order.clientOrderId) || known.has(order.clientOrderId)) continue;
      if (order.createdAtMs > sinceMs + clockToleranceMs) continue;
      if ((await ledger.findOrder(account, order.market, order.orderId)) === null) unknown.push(order);
    }
    if (unknown.length === 0) return [];
    const markets = new Set(unknown.map(({ market }) => market));
    const wanted = await listWanted(services.facts, account, entries, markets);
    return unknown.map((order): LostOrder => ({ order, of: recognise(order, wanted) }));
  }

  /** Each pair is compared once: an order of a signal that nobody knows would be compared every few seconds. */
  function recognise(order: Listed, wanted: readonly Wanted[]): LostOrder['of'] {
    const { clientOrderId } = order;
    for (const one of wanted) {
      const pair = `${clientOrderId} ${describeGuard(one)}`;
      if (found.has(clientOrderId)) break;
      if (!mayBeFor(order, one) || tried.has(pair)) continue;
      tried.add(pair);
      const idMs = findIdMs(order, one);
      if (idMs !== null) found.set(clientOrderId, { wanted: one, idMs });
    }
    return found.get(clientOrderId) ?? null;
  }

  async function adopt(account: string, { entries, open, ended }: LostReading): Promise<number> {
    let adopted = 0;
    // They are listed once, and the signal of one may become known later.
    const before = endedBefore.get(account) ?? [];
    const filled = [...before, ...ended.filter((order) => order.filled.gt(zero))];
    const orders = new Map<number, Listed>([...open, ...filled].map((order) => [order.orderId, order]));
    const lost = await find(account, entries, [...orders.values()]);
    for (const { order, of } of lost) {
      if (of === null) continue;
      // First: a stop-loss that follows the price would move back to where it stood at the time of the backup.
      await noteBest(services.facts, of.wanted, order);
      if (await store(ledger, clock.nowMs(), order, of)) adopted += 1;
    }
    const left = new Set<Listed>(lost.flatMap(({ order, of }) => (of === null ? order : [])));
    endedBefore.set(
      account,
      filled.filter((order) => left.has(order)),
    );
    looked.add(account);
    return adopted;
  }

  return {
    adopt,
    async takeIn(account, entries, open) {
      const lost = await find(account, entries, open);
      if (looked.has(account) && lost.every(({ of }) => of === null))
        return { denyBeside: (guard) => denyBeside(account, guard, lost) };
      if ((await executions.followed(account, 1)).length === 0)
        await adopt(account, { entries, open, ended: [] });
      return null;
    },
  };
}

function denyBeside(
  account: string,
  { role, side }: Pick<Guard, 'role' | 'side'>,
  lost: readonly LostOrder[],
): Denial | null {
  if (role === 'stop_loss') return null;
  const beside = lost
    .map(({ order }) => order)
    .filter((order) => order.side === side && order.activationPrice === undefined && isMarkedReducing(order));
  if (beside.length === 0) return null;
  const ids = beside.map(({ orderId }) => orderId).join(', ');
  const commands = beside.map(
    ({ market, orderId }) => `\`npx relay cancel ${market} --order-id ${orderId} --account ${account}\``,
  );
  return {
    rule: 'placed_before_restore',
    limit: 'none of the lost relay',
    actual: ids,
    message: `one that the relay placed before this folder was restored stands already, and the ledger does not know for which signal (order ${ids}); leave it, or cancel it (${commands.join('; ')}): then the relay places its own`,
  };
}

/** What the signals of these markets asked for. */
async function listWanted(
  facts: AccountFacts,
  account: string,
  entries: readonly Entry[],
  markets: ReadonlySet<string>,
): Promise<readonly Wanted[]> {
  const records = listRecords(entries).filter(
    ({ market, protects }) => protects === null && markets.has(market),
  );
  const ofOrders = records.flatMap((record) => {
    const { asked, spot, createdAtMs: atMs } = record;
    if (asked === null) return [];
    const { side, trailing } = asked;
    return namesOf(record).map((name): Wanted => ({ ...needOf(record, name), atMs, side, trailing, spot }));
  });
  const places = [...markets].flatMap((market) =>
    [null, 'LONG' as const, 'SHORT' as const].map((side): PositionPlace => ({ market, side })),
  );
  const stored = await Promise.all(places.map((place) => facts.read(account, wishFactOf(place))));
  const ofWishes = stored.flatMap(parseWishes).flatMap((wish) => {
    const side = wish.amount.startsWith('-') ? 'sell' : 'buy';
    const { atMs, trailing } = wish;
    return namesOfWish(wish).map((name): Wanted => {
      return { ...needOfWish(account, wish, name), atMs, side, trailing, spot: null };
    });
  });
  return [...ofOrders, ...ofWishes];
}

function mayBeFor({ market, side, activationPrice, createdAtMs }: Listed, wanted: Wanted): boolean {
  if (market !== wanted.market || side === wanted.side) return false;
  // A stop-loss may have been sent at market.
  if (activationPrice !== undefined && wanted.role !== 'stop_loss') return false;
  return wanted.atMs <= createdAtMs + farthestAheadMs;
}

/** Of when the id of an order is made, if it is for this; null if it is not. */
function findIdMs({ clientOrderId, createdAtMs }: Listed, wanted: Wanted): number | null {
  const latestMs = createdAtMs + farthestAheadMs;
  for (let idMs = latestMs; idMs >= createdAtMs - longestWaitMs; idMs -= 1000)
    if (clientOrderIdOf(wanted.account, protectIdOf(wanted, idMs)) === clientOrderId) return idMs;
  return null;
}

/** As if this ledger had it placed. A crash in between leaves what is looked up, or what is found here again. */
async function store(
  ledger: LostServices['ledger'],
  atMs: number,
  order: Listed,
  { wanted, idMs }: NonNullable<LostOrder['of']>,
): Promise<boolean> {
  const entry = protectEntryOf(wanted, atMs, idMs);
  await ledger.accept([entry], null);
  const { spot } = wanted;
  const started = await ledger.start(
    entry,
    {
      status: 'sending',
      atMs,
      note: 'sent by the relay whose backup this folder was restored from',
      facts: { protective: protectiveOf(order, wanted), ...(spot === null ? {} : { spot }) },
    },
    null,
  );
  if (started.result !== 'started') return false;
  const note = `found at the exchange as order ${order.orderId}, which the lost relay had placed`;
  const step = { status: 'placed', atMs, note, facts: { report: reportOf(order) } } as const;
  await ledger.move(entry, {
    from: 'sending',
    step,
    orderId: order.orderId,
    orderOpen: !isOrderEnd(order.status),
  });
  return true;
}

function protectiveOf(order: Listed, { role, positionSide }: Wanted): ProtectiveOrder {
  const { side, amount } = order;
  return {
    side,
    amount: formatDecimal(amount),
    ...(positionSide === undefined ? {} : { positionSide }),
    ...pricesOf(order, role),
  };
}

/** A stop-loss whose price had been passed was sent at market. */
function pricesOf({ side, type, price, activationPrice }: Listed, role: ExitRole): ProtectivePrices {
  const limitPrice = formatDecimal(price);
  if (activationPrice === undefined)
    return role === 'stop_loss' ? { orderType: 'market' } : { orderType: 'limit', limitPrice };
  const trigger = { stopPrice: formatDecimal(activationPrice), expectTrigger: usualTriggerSides[side] };
  return isStopLimit(type)
    ? { orderType: 'stop_limit', limitPrice, ...trigger }
    : { orderType: 'stop_market', ...trigger };
}

/** The best price that a stop-loss which follows the price has seen, as far as its own price tells it. */
async function noteBest(
  facts: AccountFacts,
  { account, market, of, role, positionSide, side, trailing }: Wanted,
  order: Listed,
): Promise<void> {
  if (role !== 'stop_loss' || trailing === undefined || order.activationPrice === undefined) return;
  const place = { market, side: positionSide === 'LONG' || positionSide === 'SHORT' ? positionSide : null };
  const sight = parseSight(await facts.read(account, sightFactOf(place)));
  const best = bestOf(order.activationPrice, side, rateOfPercent(trailing));
  const before = sight.best.get(of);
  if (best === null || (before !== undefined && before.gte(best) === (side === 'buy'))) return;
  const moved = { ...sight, best: new Map([...sight.best, [of, best]]) };
  await facts.write(account, sightFactOf(place), describeSight(moved));
}

function bestOf(stopPrice: Decimal, side: Side, rate: Decimal): Decimal | null {
  const ratio = side === 'buy' ? one.minus(rate) : one.plus(rate);
  return ratio.gt(zero) ? stopPrice.div(ratio) : null;
}
