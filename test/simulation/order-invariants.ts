import { one, parseDecimal } from '../../lib/base/decimal.ts';
import { markets as marketList } from '../../lib/exchange/endpoints/markets.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { type History, isCreate, keyText, type WireSend } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { settings } from './simulated-world.ts';

/** Finds orders that the owner does not allow, and orders that waited or failed needlessly. */
export function findUnlawfulOrders({ history, entries }: Facts): readonly Violation[] {
  return [
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
