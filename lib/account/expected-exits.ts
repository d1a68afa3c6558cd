import { type Decimal, maximum, zero } from '../base/decimal.ts';
import type { EndedOrder } from '../exchange/list-account.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import { mostBelieved } from '../ledger/ledger.ts';
import { listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { closingSideOf } from '../model/holdings.ts';
import { isMarkedReducing, type Order, type Side } from '../model/order.ts';
import type { StepFacts } from '../model/step-facts.ts';
import { type Claim, type Closed, claimOf, endedExitsIn, type ReducedPosition } from './exit-claims.ts';
import { type ExitCandidate, isForAll, mayBeExit } from './exits.ts';
import type { AccountServices } from './read-exposure.ts';
import { listRecent } from './read-position.ts';
import { readExitsListedAfter } from './rehearsed.ts';
import type { SeenPosition } from './seen-position.ts';

/** What finding the exits of entries needs. */
export interface ExitServices extends AccountServices {
  readonly facts: Pick<AccountFacts, 'read'>;
}

/**
 * Finds the entries of a market that may have exits.
 *
 * @param outcome of the order that closed the position; without a report when it was flat already
 * @throws RelayError `store_unavailable`
 */
export async function expectExits(
  services: ExitServices,
  position: ReducedPosition,
  { facts }: { readonly facts?: StepFacts },
): Promise<ExpectedExits> {
  const { account, market } = position;
  const nowMs = services.clock.nowMs();
  const order = facts?.report;
  const closed: Closed = {
    ...position,
    closingSide: sideThatCloses(position.position),
    orderId: order?.orderId ?? null,
    atMs: order?.createdAtMs ?? nowMs,
  };
  const own = await services.ledger.openOrders(account, market, mostBelieved);
  const recent = await listRecent(services, account, market);
  const entries = [...recent.entries, ...own].filter(({ signal }) => signal?.market === market);
  const single = [...new Map(entries.map((entry) => [entry.signalId, entry])).values()];
  // The close itself is still being sent.
  const placed = own.filter(({ status }) => status === 'placed');
  // Without a closing order, nothing tells the exits of an entry that fills just now from those of a position that is gone.
  const resting = new Set(closed.position.amount.eq(zero) ? placed.map(({ signalId }) => signalId) : []);
  const records = listRecords(single);
  // A close that is settled late may find entries that were sent after it.
  const ended = records.filter(
    ({ signalId, orderId }) => !resting.has(signalId) && !isLater(orderId, closed),
  );
  const asksForExits = ended.some(({ exits }) => exits.length > 0);
  const findings = {
    endedBefore: new Set(single.flatMap(endedExitsIn)),
    nowMs,
    exitsListedAfterMs: asksForExits ? await readExitsListedAfter(services.facts, account, market) : 0,
    keptSinceMs: keptSince(records),
  };
  const claims = ended.flatMap((record) => claimOf(record, closed, findings) ?? []);
  // One of unknown outcome may stand. The close itself is no exit.
  const sent = own.filter(
    ({ status, signal }) => status === 'placed' || (status === 'unknown' && signal?.action === 'protect'),
  );
  const names = new Set(sent.flatMap(({ clientOrderId }) => clientOrderId ?? []));
  return new ExpectedExits(closed, claims, names, recent.isWhole);
}

/** When the relay has first placed what an order had asked the exchange for, by the signal of that order. */
function keptSince(records: readonly OrderRecord[]): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  for (const { protects, status, sentAtMs } of records) {
    // One of several take-profits is never made by the exchange.
    if (protects === null || protects.part !== undefined || status !== 'placed' || sentAtMs === null)
      continue;
    since.set(protects.of, Math.min(since.get(protects.of) ?? sentAtMs, sentAtMs));
  }
  return since;
}

function sideThatCloses({ amount, side }: SeenPosition): Side | null {
  if (amount.eq(zero)) return side === null ? null : side === 'LONG' ? 'sell' : 'buy';
  return closingSideOf(amount);
}

/** Whether an order was placed after the one that closed the position. */
function isLater(orderId: number | null, { orderId: closing }: Pick<Closed, 'orderId'>): boolean {
  return orderId !== null && closing !== null && orderId > closing;
}

/** An unnamed order that may be an exit. */
interface Listed {
  readonly order: ExitCandidate;
  readonly isOpen: boolean;
}

/** Recognises the orders that only protected a closed position, and knows which of them no list has shown. */
export class ExpectedExits {
  /** Whether every entry was read that may have exits. */
  readonly isWhole: boolean;
  readonly #closed: Closed;
  readonly #claims: readonly Claim[];
  readonly #names: ReadonlySet<string>;
  /** By order id. */
  readonly #listed = new Map<number, Listed>();
  readonly #open = new Set<number>();
  /** Ids of orders that a list showed without a fill. It may lag, but then it shows no newer exits either. */
  readonly #unfilled = new Set<number>();
  /** By id of an order that a list showed: its fill, in base units. */
  readonly #fills = new Map<number, Decimal>();
  #hasHidden = false;

  constructor(closed: Closed, claims: readonly Claim[], names: ReadonlySet<string>, isWhole: boolean) {
    this.#closed = closed;
    this.#claims = claims;
    this.#names = names;
    this.isWhole = isWhole;
  }

  /** The ids of those that the list of positions showed beside the position: perhaps no other list shows them. */
  get attached(): readonly number[] {
    return this.#closed.attached;
  }

  /** False when nothing can be an exit, whatever a list shows. */
  get mayExist(): boolean {
    return (
      !this.isWhole ||
      this.#names.size > 0 ||
      this.#closed.attached.length > 0 ||
      this.#claims.some(({ hasEnded, ids }) => !hasEnded || ids.length > 0)
    );
  }

  /**
   * What the list of positions showed beside the position, this relay's orders that only reduce, and the stop-loss and
   * take-profit that the exchange made from this relay's entries. Orders that others have named stay, and those placed after the order that closed the position: they protect another one.
   */
  isExit(order: Order): boolean {
    if (isLater(order.orderId, this.#closed)) return false;
    const isKnown = this.#filled().some(({ ids }) => ids.includes(order.orderId));
    // Of the other side, only what is known for certain is an exit.
    if (!this.#isOfSide(order)) return isKnown;
    if (order.clientOrderId !== '') return isMarkedReducing(order) && this.#names.has(order.clientOrderId);
    if (isKnown || this.#closed.attached.includes(order.orderId)) return true;
    return this.#filled().some(
      (claim) => !claim.hasEnded && claim.awaited.some((wanted) => mayBeExit(claim, wanted, order)),
    );
  }

  /** Takes note of an open order that was read after the close. */
  see(order: Order): void {
    this.#open.add(order.orderId);
    this.#fills.set(order.orderId, order.filled);
    if (order.filled.eq(zero)) this.#unfilled.add(order.orderId);
    if (order.clientOrderId === '' && this.#isOfSide(order))
      this.#listed.set(order.orderId, { order, isOpen: true });
  }

  /** Takes note of an order that has ended. */
  seeEnded(order: EndedOrder): void {
    const { orderId, clientOrderId, market, side, filled } = order;
    if (market !== this.#closed.market || this.#open.has(orderId)) return;
    this.#fills.set(orderId, filled);
    if (filled.eq(zero)) this.#unfilled.add(orderId);
    if (clientOrderId === '' && this.#isClosingSide(side))
      this.#listed.set(orderId, { order, isOpen: false });
  }

  /** Whether an order that has ended was one of these exits, or one that only reduced, as far as its side and its name tell. */
  mayHaveBeenExit({ market, side, orderId, clientOrderId }: EndedOrder): boolean {
    if (market !== this.#closed.market || !this.#isClosingSide(side) || isLater(orderId, this.#closed))
      return false;
    return clientOrderId === '' || this.#names.has(clientOrderId);
  }

  /** Whether a list may still show exits that none has shown. */
  isAwaited(nowMs: number): boolean {
    return this.#unseen().some((claim) => !claim.isMissing && isBefore(nowMs, claim.awaitedUntilMs));
  }

  /** Whether a close waits for a list to show them, where following cancels what comes later. */
  isSought(nowMs: number): boolean {
    return this.#unseen().some((claim) => isBefore(nowMs, claim.soughtUntilMs));
  }

  /** Takes note of an exit that was open beside the position, that no list of orders has shown, and that is cancelled. */
  seeHidden(order: Order): void {
    this.#hasHidden = true;
    this.#listed.set(order.orderId, { order, isOpen: false });
  }

  /** Whether exits may be open that a list of orders may still show. */
  isDoubted(nowMs: number): boolean {
    return this.#unseen().some((claim) => isBefore(nowMs, claim.doubtedUntilMs));
  }

  /**
   * Whether exits may be open that no list of orders shows: the list of positions shows those of one entry alone, and one of these
   * was shown nowhere else.
   */
  get mayBeHidden(): boolean {
    return (
      this.#hasHidden &&
      this.#unseen().some(({ isMissing, awaitedUntilMs }) => !isMissing && awaitedUntilMs !== null)
    );
  }

  /**
   * The signals whose exits have ended with the position, if none is left. Those that a list may still show are followed, and so
   * are those that protect what an entry has filled after the close.
   */
  endedFor(nowMs: number): readonly string[] {
    const seen = this.#seen();
    return this.#ended()
      .filter((claim) => !claim.hasEnded)
      .filter((claim) => {
        const exits = seen.get(claim);
        if (exits === undefined) return claim.isFilled && !isBefore(nowMs, claim.awaitedUntilMs);
        return !exits.some(({ order, isOpen }) => isOpen && isLater(order.orderId, this.#closed));
      })
      .map(({ signalId }) => signalId);
  }

  #unseen(): readonly Claim[] {
    const seen = this.#seen();
    return this.#ended().filter((claim) => !seen.has(claim));
  }

  #isOfSide({ side, positionSide = 'BOTH' }: Order): boolean {
    const { position } = this.#closed;
    // In hedge mode every order is of one side.
    const isOfPosition = position.side === null || positionSide === 'BOTH' || positionSide === position.side;
    return this.#isClosingSide(side) && isOfPosition;
  }

  #isClosingSide(side: Side): boolean {
    const { closingSide } = this.#closed;
    return closingSide === null || side === closingSide;
  }

  #filled(): readonly Claim[] {
    return this.#claims.filter(({ entryOrderId }) => !this.#unfilled.has(entryOrderId ?? Number.NaN));
  }

  /** What may have filled of the order of an entry beyond what the ledger knows, in base units. */
  #newFillOf({ entryOrderId, filled, isFilled, asked }: Claim): Decimal {
    const most = isFilled ? filled : (asked ?? filled);
    return maximum(zero, (this.#fills.get(entryOrderId ?? Number.NaN) ?? most).minus(filled));
  }

  /** The exchange places the exits when the order of the entry ends. */
  #ended(): readonly Claim[] {
    return this.#filled().filter(({ entryOrderId }) => !this.#open.has(entryOrderId ?? Number.NaN));
  }

  /**
   * The claims whose exits were listed, for all that filled, and these exits. Two entries may have exits at one price, and each
   * listed order counts for one of them: first for one whose exits must be listed by now, or are gone.
   */
  #seen(): ReadonlyMap<Claim, readonly Listed[]> {
    const taken = new Set(this.#claims.flatMap(({ ids }) => ids));
    const listed = [...this.#listed].sort(([one], [other]) => one - other);
    const seen = new Map<Claim, readonly Listed[]>();
    for (const claim of this.#claims) {
      const exits = claim.ids.flatMap((id) => this.#listed.get(id) ?? []);
      if (claim.awaited.length === 0 && exits.length > 0) seen.set(claim, exits);
    }
    for (const claim of this.#ended().toSorted((one, other) => placeOf(one) - placeOf(other))) {
      const found = claim.awaited.flatMap((wanted) => {
        const matching = listed.filter(
          ([orderId, { order }]) =>
            !taken.has(orderId) &&
            mayBeExit(claim, wanted, order) &&
            !(claim.isFilled && isLater(orderId, this.#closed)),
        );
        const covering = takeCovering(matching, wanted.rest.plus(this.#newFillOf(claim)));
        for (const [orderId] of covering) taken.add(orderId);
        return covering.length === 0 ? [] : [covering.map(([, exit]) => exit)];
      });
      // Both are placed at once, and a single one may be an order by hand.
      const isWhole = found.length > 0 && found.length === claim.awaited.length;
      const exits = found.flat();
      if (isWhole || exits.some(({ isOpen }) => !isOpen)) seen.set(claim, exits);
    }
    return seen;
  }
}

/**
 * What of these orders is the exit of all that has none yet: one for all, or one of each fill.
 *
 * @param rest what has none yet, in base units
 * @returns empty while they are too little: the exchange may hide the others
 */
function takeCovering(
  orders: readonly (readonly [number, Listed])[],
  rest: Decimal,
): readonly (readonly [number, Listed])[] {
  const whole = orders.find(([, { order }]) => isForAll(order, rest));
  if (whole !== undefined) return [whole];
  let left = rest;
  const end = orders.findIndex(([, { order }]) => {
    left = left.minus(order.amount);
    return !left.gt(zero);
  });
  return orders.slice(0, end + 1);
}

function isBefore(nowMs: number, untilMs: number | null): boolean {
  return untilMs !== null && nowMs <= untilMs;
}

/** Last are those that seem to have no exits. */
function placeOf({ awaitedUntilMs, isFilled, hasEnded }: Claim): number {
  return awaitedUntilMs ?? (isFilled || hasEnded ? 0 : Number.MAX_SAFE_INTEGER);
}
