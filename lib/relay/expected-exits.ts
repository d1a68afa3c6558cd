import * as z from 'zod/mini';
import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, numberIn, textIn } from '../base/json.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import type { EndedOrder } from '../exchange/list-account.ts';
import { type CancelReports, cancelReportsIn, findCancelledFill } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { exitPricesIn, finalReportIn, reportedOrderIn } from '../ledger/reported-order.ts';
import { isStillOpen, orderOf } from '../model/execution.ts';
import { isMarkedReducing, isOrderEnd, type Order, orderStatuses, type Side } from '../model/order.ts';
import { orderSignalOf } from '../positions/sent-order.ts';
import type { Outcome } from './action.ts';
import { mostBelieved } from './close-ended.ts';
import type { ClosedPosition } from './closes-whole.ts';
import { listRecent } from './read-position.ts';
import type { ExecuteServices } from './services.ts';

/** The exits of an entry: what the exchange placed, or may have placed, when it filled. */
interface Claim {
  readonly signalId: string;
  /** Null while no response has told it. */
  readonly entryOrderId: number | null;
  /** Of the exits that were followed. */
  readonly exitIds: readonly number[];
  /** The planned prices of the others. */
  readonly prices: readonly Decimal[];
  /** Whether nothing more of the entry can fill. */
  readonly isFilled: boolean;
  /** Until then, lists need not show them; null: they must, or there are none. */
  readonly awaitedUntilMs: number | null;
}

/** A position, and what closed it. */
interface Closed extends ClosedPosition {
  readonly closingSide: Side;
  /** The order that closed it; null when nothing was left to close. */
  readonly orderId: number | null;
  /** When that was placed, on the exchange's clock as far as it said. Compared with the times of fills. */
  readonly atMs: number;
}

/**
 * Finds the entries of a market that may have exits.
 *
 * @param outcome of the order that closed the position
 * @throws RelayError `store_unavailable`
 */
export async function expectExits(
  services: ExecuteServices,
  position: ClosedPosition,
  { evidence }: Outcome,
): Promise<ExpectedExits> {
  const { account, market } = position;
  const nowMs = services.clock.nowMs();
  const order = fieldsOf(reportedOrderIn(evidence));
  const closed: Closed = {
    ...position,
    closingSide: position.position.amount.gt(zero) ? 'sell' : 'buy',
    orderId: numberIn(order['orderId']),
    atMs: numberIn(order['createdAtMs']) ?? nowMs,
  };
  const own = await services.ledger.openOrders(account, market, mostBelieved);
  const recent = await listRecent(services, account, market);
  const entries = [...own, ...recent.entries].filter(({ signal }) => signal?.market === market);
  const single = [...new Map(entries.map((entry) => [entry.signalId, entry])).values()];
  const reports = cancelReportsIn(single);
  const endedBefore = new Set(single.flatMap(endedExitsIn));
  const claims = single
    .flatMap((entry) => claimOf(entry, closed, reports, nowMs) ?? [])
    .map((claim) =>
      endedBefore.has(claim.signalId) ? { ...claim, prices: [], awaitedUntilMs: null } : claim,
    );
  const names = new Set(own.flatMap(({ clientOrderId }) => clientOrderId ?? []));
  return new ExpectedExits(closed, claims, names, recent.isWhole);
}

/** Recognises the orders that only protected a closed position, and knows which of them no list has shown. */
export class ExpectedExits {
  /** Whether every entry was read that may have exits. */
  readonly isWhole: boolean;
  readonly #closed: Closed;
  /**
   * First those whose exits must be listed by now, or are gone, and last those that seem to have none: a listed order that
   * may belong to several belongs to the first.
   */
  readonly #claims: readonly Claim[];
  readonly #names: ReadonlySet<string>;
  /** Unnamed orders that may be exits, open or ended, by id: their prices. */
  readonly #listed = new Map<number, Decimal>();
  readonly #open = new Set<number>();
  /** An entry that is listed without a fill has no exits. */
  readonly #unfilled = new Set<number>();

  constructor(closed: Closed, claims: readonly Claim[], names: ReadonlySet<string>, isWhole: boolean) {
    this.#closed = closed;
    const placeOf = ({ awaitedUntilMs, isFilled }: Claim) =>
      awaitedUntilMs ?? (isFilled ? 0 : Number.MAX_SAFE_INTEGER);
    this.#claims = claims.toSorted((one, other) => placeOf(one) - placeOf(other));
    this.#names = names;
    this.isWhole = isWhole;
  }

  /**
   * This relay's orders that only reduce, and the stop-loss and take-profit that the exchange made from this relay's entries.
   * What others placed stays, and what was placed after the close, because it protects another position.
   */
  isExit(order: Order): boolean {
    if (!this.#isOfClosed(order)) return false;
    if (order.clientOrderId !== '') return isMarkedReducing(order) && this.#names.has(order.clientOrderId);
    const price = order.activationPrice ?? order.price;
    return this.#filled().some(
      ({ exitIds, prices }) => exitIds.includes(order.orderId) || prices.some((planned) => planned.eq(price)),
    );
  }

  /** Takes note of an open order that was read after the close. */
  see(order: Order): void {
    this.#open.add(order.orderId);
    if (order.filled.eq(zero)) this.#unfilled.add(order.orderId);
    if (order.clientOrderId === '' && this.#isOfClosed(order))
      this.#listed.set(order.orderId, order.activationPrice ?? order.price);
  }

  /** Takes note of an order that has ended. */
  seeEnded({ orderId, clientOrderId, market, side, filled, activationPrice, price }: EndedOrder): void {
    if (market !== this.#closed.market) return;
    if (filled.eq(zero)) this.#unfilled.add(orderId);
    if (clientOrderId === '' && side === this.#closed.closingSide)
      this.#listed.set(orderId, activationPrice ?? price);
  }

  /** Whether exits may be open that no list has shown. */
  isAwaited(nowMs: number): boolean {
    const seen = this.#seen();
    return this.#filled().some(
      (claim) => claim.awaitedUntilMs !== null && nowMs <= claim.awaitedUntilMs && !seen.has(claim),
    );
  }

  /** The signals whose exits have ended with the position, if none is awaited or left. */
  endedFor(): readonly string[] {
    const seen = this.#seen();
    return this.#filled()
      .filter((claim) => claim.prices.length > 0 && (claim.isFilled || seen.has(claim)))
      .filter(({ entryOrderId }) => entryOrderId === null || !this.#open.has(entryOrderId))
      .map(({ signalId }) => signalId);
  }

  #isOfClosed({ side, positionSide, orderId }: Order): boolean {
    const { closingSide, position, orderId: closeId } = this.#closed;
    if (side !== closingSide || (closeId !== null && orderId > closeId)) return false;
    return position.side === null || positionSide === position.side;
  }

  #filled(): readonly Claim[] {
    return this.#claims.filter(({ entryOrderId }) => !this.#unfilled.has(entryOrderId ?? Number.NaN));
  }

  /** The claims of which an exit was listed. Each order counts for one of them; both exits of an entry are placed at once. */
  #seen(): ReadonlySet<Claim> {
    const free = new Map(this.#listed);
    for (const { exitIds } of this.#claims) for (const id of exitIds) free.delete(id);
    const seen = new Set<Claim>();
    for (const claim of this.#filled()) {
      const taken = claim.prices.flatMap((planned) => {
        // An exit is placed after its entry, and ids grow.
        const found = [...free].find(([id, price]) => price.eq(planned) && id > (claim.entryOrderId ?? 0));
        if (found !== undefined) free.delete(found[0]);
        return found ?? [];
      });
      if (taken.length > 0 || claim.exitIds.some((id) => this.#listed.has(id))) seen.add(claim);
    }
    return seen;
  }
}

const Ended = z.object({ exitsEndedFor: z.array(z.string()) });

/** The signals whose exits an earlier close has ended. */
function endedExitsIn({ steps }: Entry): readonly string[] {
  const read = z.safeParse(Ended, steps.at(-1)?.evidence);
  return read.success ? read.data.exitsEndedFor : [];
}

/** Null when the entry has no exits, or those of another position. */
function claimOf(entry: Entry, closed: Closed, reports: CancelReports, nowMs: number): Claim | null {
  const { signalId, orderId: entryOrderId, steps, execution, status } = entry;
  const exitIds = (execution?.orders ?? []).flatMap(({ role, orderId }) =>
    role === 'order' ? [] : [orderId],
  );
  const report = steps.findLast(({ evidence }) => reportedOrderIn(evidence) !== null);
  // An order that its fills alone have proved was never reported.
  const placed =
    report ?? (status === 'placed' ? steps.findLast((step) => step.status === 'placed') : undefined);
  const order = report === undefined ? fieldsOf(placed?.evidence) : finalReportIn(report.evidence);
  const asked = orderSignalOf(entry);
  const side = textIn(order['side']) ?? asked?.side;
  const positionSide = asked?.positionSide ?? 'BOTH';
  const { position, closingSide, modifiedAtMs, atMs } = closed;
  if (placed === undefined || side === closingSide) return null;
  if (position.side !== null && positionSide !== position.side) return null;
  const planned = exitPricesIn(steps);
  // What is followed is known by its id, and by nothing else; after the end of following, all of it has ended.
  const isFollowed = execution?.isFollowed ?? true;
  const prices = [
    ...(orderOf(execution, 'stop_loss') === null && isFollowed ? [planned.stopLoss] : []),
    ...(orderOf(execution, 'take_profit') === null && isFollowed ? [planned.takeProfit] : []),
  ].flatMap((price) => (price === null ? [] : [parseDecimal(price)]));
  if (exitIds.length + prices.length === 0) return null;
  const own = orderOf(execution, 'order');
  const reported = orderStatuses.find((one) => one === order['status']);
  const filledAtOnce =
    decimalIn(order['filled'])?.gt(zero) === true && (reported === undefined || isOrderEnd(reported));
  const filledAtMs = filledAtOnce
    ? (numberIn(order['endedAtMs']) ?? numberIn(order['createdAtMs']))
    : (own?.endedAtMs ?? null);
  const changedAtMs = filledAtMs ?? modifiedAtMs ?? atMs;
  const isAwaited = exitIds.length === 0 && (filledAtOnce || mayHaveFilled(entry, reports));
  return {
    signalId,
    entryOrderId,
    exitIds,
    prices,
    isFilled: filledAtOnce || own?.status === 'filled',
    awaitedUntilMs: isAwaited ? nowMs + longestOrderLagMs - Math.max(0, atMs - changedAtMs) : null,
  };
}

/** Whether an order that rested may have filled; then the position, which changed with every fill, tells when at the latest. */
function mayHaveFilled(entry: Entry, reports: CancelReports): boolean {
  const own = orderOf(entry.execution, 'order');
  if (own !== null && !isStillOpen(own.status)) return parseDecimal(own.filled).gt(zero);
  const cancelled = findCancelledFill(entry, reports);
  return entry.orderOpen || (cancelled !== null && cancelled.filled?.eq(zero) !== true);
}
