import { type Decimal, one, parseDecimal } from '../../lib/base/decimal.ts';
import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isMarkedReducing, isQuoteSized } from '../../lib/model/order.ts';
import { oppositePrices } from './book-prices.ts';
import { type History, isCreate, keyText, type WireSend } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { describeSent, listSentOrders, type SentOrder } from './sent-orders.ts';
import { settings } from './simulated-world.ts';

/** Finds orders that the owner does not allow, and orders that waited or failed needlessly. */
export function findUnlawfulOrders(facts: Facts): readonly Violation[] {
  const { history, entries } = facts;
  return [
    ...listSentOrders(facts).flatMap((sent) => findTooLarge(history, sent)),
    ...history.sends.filter(({ path }) => isCreate(path)).flatMap(findFarLimits),
    ...entries.flatMap((entry) => findNeedlessEnd(history, entry)),
    ...history.heldUp.map(({ key, waitedMs }) =>
      breakI15(`${keyText(key)} waited ${waitedMs} ms for the market list, although a copy was in memory`),
    ),
  ];
}

/** The start of the note of an entry whose order could not be prepared for lack of the market list. */
const withoutList = `nothing was sent: ${marketList.name}: `;

/**
 * Finds orders that were not sent although a copy of the market list was stored before they were executed.
 */
function findNeedlessEnd({ unsent, keptMarkets, failedLoads }: History, entry: Entry): readonly Violation[] {
  const key = keyText(entry);
  const end = unsent.get(key);
  const market = entry.signal?.market ?? '';
  if (end === undefined || !end.note.startsWith(withoutList) || failedLoads.has(end.process)) return [];
  const copy = keptMarkets.find(({ atMs, names }) => atMs < end.startedAtMs && names.includes(market));
  if (copy === undefined) return [];
  return [
    breakI15(`${key} is not_sent for lack of the market list, although a copy with ${market} was stored`),
  ];
}

function breakI15(text: string): Violation {
  return { invariant: 'I15', harm: 'other', text };
}

interface SentPrices {
  readonly side: 'buy' | 'sell';
  /** Absent for an order without a limit. */
  readonly price?: string;
  /** Absent for an order that does not wait for a price. */
  readonly activation_price?: string;
}

/** Finds limit prices too far beyond the stop price; an order without a stop price has no such limit. */
function findFarLimits({ body, key }: WireSend): readonly Violation[] {
  const rate = settings.accounts[key?.account ?? '']?.maxLimitDistanceRate ?? null;
  if (key === null || rate === null) return [];
  const { side, price, activation_price: stopPrice } = JSON.parse(body) as SentPrices;
  if (stopPrice === undefined || price === undefined) return [];
  const furthest = parseDecimal(stopPrice).times(side === 'buy' ? one.plus(rate) : one.minus(rate));
  const isBeyond = side === 'buy' ? parseDecimal(price).gt(furthest) : parseDecimal(price).lt(furthest);
  if (!isBeyond) return [];
  const text = `${keyText(key)} was sent as a ${side} with limit price ${price} and stop price ${stopPrice}, further apart than its account allows`;
  return [{ invariant: 'I8', harm: 'other', text }];
}

/** Finds orders above the largest amount or notional of their account, in whatever unit they were sized. */
function findTooLarge(history: History, sent: SentOrder): readonly Violation[] {
  const { limits, amount, price, stopPrice, entry, signal } = sent;
  // What only reduces a position, or protects, may be as large as what is held.
  const isHeld = limits.tradesOn !== 'spot' || entry.signal?.action === 'protect';
  if (isHeld && isMarkedReducing(signal)) return [];
  // Without a price of its own it costs the best opposite price; the lowest one that was read gives no false alarm.
  const unitPrices = price ?? stopPrice ?? oppositePrices(history, sent);
  const [unitPrice] = [unitPrices].flat().toSorted((a, b) => a.cmp(b));
  if (unitPrice === undefined) return [];
  const isQuote = isQuoteSized(sent);
  const base = isQuote ? amount.div(unitPrice) : amount;
  const notional = isQuote ? amount : amount.times(unitPrice);
  return [
    ...overLimit(sent, base, limits.maxAmount, 'the amount'),
    ...overLimit(sent, notional, limits.maxNotional, 'the notional'),
  ];
}

function overLimit(
  sent: SentOrder,
  value: Decimal,
  most: Decimal | null,
  what: string,
): readonly Violation[] {
  if (most === null || value.lte(most)) return [];
  const text = `${describeSent(sent)}: ${what} is ${value.toFixed()}, and its account allows ${most.toFixed()}`;
  return [{ invariant: 'I8', harm: 'other', text }];
}
