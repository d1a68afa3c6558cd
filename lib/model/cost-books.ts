import { type Decimal, formatDecimal, minimum, parseDecimal, zero } from '../base/decimal.ts';
import { type BookedFill, bookFill, type CostBooks, type CostPosition } from './average-cost.ts';
import type { Fill } from './execution.ts';
import { type Currencies, currenciesInName } from './market.ts';
import { soldByOne } from './one-strategy.ts';
import type { PositionSide } from './order.ts';

/** What an account held when the relay first read it. What was dealt before is in it; every later deal counts. */
export interface FirstHoldings {
  readonly atMs: number;
  /** Of positions alone: what was paid for coins on spot is not known. */
  readonly books: CostBooks;
  /** The markets in which the relay had just traded: a list may not have shown it, and the fills tell what it held. */
  readonly except: ReadonlySet<string>;
}

/**
 * What an account held when it was first read, if every fill since then is kept. Where fills of that time may have expired, those
 * that are left do not tell what became of it: what it held then may be closed for long.
 *
 * @param keptFromMs fills from before may have expired; null: none expire
 */
export function firstIfKept(first: FirstHoldings | null, keptFromMs: number | null): FirstHoldings | null {
  return first === null || hasExpired(first, keptFromMs) ? null : first;
}

/** Whether fills that the relay has read of an account may have expired. */
export function hasExpired(first: FirstHoldings | null, keptFromMs: number | null): keptFromMs is number {
  return first !== null && keptFromMs !== null && first.atMs < keptFromMs;
}

/** Replaces what the fills before say of positions by what the account held. */
export function applyFirst(books: Map<string, CostPosition>, { books: held, except }: FirstHoldings): void {
  const isTold = (key: string) => !except.has(marketOfKey(key)) && strategyInKey(key) === null;
  for (const key of books.keys()) if (isTold(key)) books.delete(key);
  for (const [key, position] of held) if (isTold(key)) books.set(key, position);
}

/** @param tradesOnSpot whether a market trades on spot now, for a fill that does not say where it traded */
export function isFillOnSpot(
  { onSpot, market }: Pick<Fill, 'onSpot' | 'market'>,
  tradesOnSpot: (market: string) => boolean,
): boolean {
  return onSpot ?? tradesOnSpot(market);
}

/** The key of a position in the books. */
export function bookKeyOf(market: string, side: PositionSide | undefined): string {
  return side === undefined || side === 'BOTH' ? market : `${market} ${side}`;
}

/** The key of what a strategy has bought on spot; `undefined`: what no strategy has. */
export function spotKeyOf(market: string, strategy: string | undefined, isUnguarded = false): string {
  return `${market} ${JSON.stringify(strategy ?? null)}${isUnguarded ? unguardedEnd : ''}`;
}

/** Of the key of what was bought without a stop-loss. */
const unguardedEnd = ' unguarded';

/** The market of a key in the books. */
export function marketOfKey(key: string): string {
  return key.split(' ')[0] ?? key;
}

/** @returns null for the key of a position */
function strategyInKey(
  key: string,
): { readonly strategy: string | undefined; readonly isUnguarded: boolean } | null {
  const text = key.slice(marketOfKey(key).length + 1);
  const isUnguarded = text.endsWith(unguardedEnd);
  const name = isUnguarded ? text.slice(0, -unguardedEnd.length) : text;
  if (name !== 'null' && !name.startsWith('"')) return null;
  const strategy: string | null = JSON.parse(name);
  return { strategy: strategy ?? undefined, isUnguarded };
}

/**
 * The key of the position that a fill changed. The list of deals does not say the side of hedge mode: where its order does not,
 * either, a deal of no signal closes what is held, and else enlarges it.
 *
 * @param side of its signal
 */
export function bookKeyOfFill(books: CostBooks, fill: Fill, side?: PositionSide | null): string {
  const { market, positionSide = side ?? undefined } = fill;
  if (fill.role !== 'other' || positionSide !== undefined || isHeld(books, market))
    return bookKeyOf(market, positionSide);
  const [closed, opened] = fill.side === 'sell' ? (['LONG', 'SHORT'] as const) : (['SHORT', 'LONG'] as const);
  if (isHeld(books, bookKeyOf(market, closed))) return bookKeyOf(market, closed);
  return bookKeyOf(market, isHeld(books, bookKeyOf(market, opened)) ? opened : undefined);
}

function isHeld(books: CostBooks, key: string): boolean {
  return books.get(key)?.amount.eq(zero) === false;
}

/** What is known of a fill besides what it says itself: where it traded, and what its signal says. */
export interface DealFacts {
  readonly isSpot: boolean;
  readonly strategy?: string | null | undefined;
  readonly positionSide?: PositionSide | null | undefined;
  /** Whether the signal could only reduce a position, as far as the ledger says. */
  readonly onlyReduces?: boolean | undefined;
}

/**
 * Books a fill where it belongs: the limits of loss and the report both book by this.
 *
 * @returns `key`: of the position, or of what its strategy has bought on spot
 */
export function bookDeal(
  books: Map<string, CostPosition>,
  fill: Fill,
  { isSpot, strategy, positionSide, onlyReduces = false }: DealFacts,
): BookedFill & { readonly key: string } {
  const currencies = currenciesInName(fill.market);
  if (isSpot) return bookOnSpot(books, fill, currencies, fill.strategy ?? strategy ?? undefined);
  const key = bookKeyOfFill(books, fill, positionSide);
  return { ...bookFill(books, fill, { key, currencies, isSpot, onlyReduces }), key };
}

/**
 * On spot each strategy has what it bought itself. A sale that names one sells its own first, then what may be its own, then what
 * others have bought without a stop-loss, the dearest first, so that a loss is rather counted too early than too late. The rest is
 * what the owner holds besides. Nobody knows which of both such a sale has sold: what the others lose later does not count again.
 */
function bookOnSpot(
  books: Map<string, CostPosition>,
  fill: Fill,
  currencies: Currencies,
  strategy: string | undefined,
): BookedFill & { readonly key: string } {
  const facts = { currencies, isSpot: true, onlyReduces: false };
  const own = spotKeyOf(fill.market, strategy, fill.isUnguarded);
  if (fill.side === 'buy') return { ...bookFill(books, fill, { ...facts, key: own }), key: own };
  const held = [...books].flatMap(([key, { amount, cost }]) => {
    const of = marketOfKey(key) === fill.market && amount.gt(zero) ? strategyInKey(key) : null;
    return of === null ? [] : [{ key, amount, price: cost.div(amount), ...of }];
  });
  // In whatever order they were bought: books that were stored and read again sell the same lots.
  held.sort((one, other) => (one.key < other.key ? -1 : 1));
  let rest = parseDecimal(fill.amount);
  let fee = fill.fee;
  const parts: BookedFill[] = [];
  const sell = (key: string, amount: Decimal) => {
    // The fee belongs to the sale as a whole: its first part has all of it.
    parts.push(bookFill(books, { ...fill, amount: formatDecimal(amount), fee }, { ...facts, key }));
    rest = rest.minus(amount);
    fee = '0';
  };
  for (const { key, amount } of soldByOne(held, strategy, (one, other) => other.price.cmp(one.price)))
    if (rest.gt(zero)) sell(key, minimum(rest, amount));
  if (rest.gt(zero) || parts.length === 0) sell(own, rest);
  const sold = parts.reduce((all, part) => ({
    position: part.position,
    amount: all.amount.plus(part.amount),
    closed: all.closed.plus(part.closed),
    unmatched: all.unmatched.plus(part.unmatched),
    gross: all.gross.plus(part.gross),
    realised: all.realised.plus(part.realised),
  }));
  return { ...sold, key: own };
}
