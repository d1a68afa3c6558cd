import { type Decimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import type { Facts } from './invariants.ts';

/** What cannot be sold at a stop-loss, because it is worth too little, in base units. */
export const leastSale = parseDecimal('0.06');

export type EntryOf = (order: Pick<PaperOrder, 'account' | 'clientOrderId'>) => Entry | undefined;

/** The entries by the orders that they placed. */
export function entriesOf({ entries }: Pick<Facts, 'entries'>): EntryOf {
  const byName = new Map(entries.map((entry) => [`${entry.account} ${entry.clientOrderId}`, entry]));
  return ({ account, clientOrderId }) =>
    clientOrderId === '' ? undefined : byName.get(`${account} ${clientOrderId}`);
}

/** What is left of a buy by an alert, in base units. */
export interface Lot {
  readonly left: Decimal;
  readonly strategy: string | undefined;
  /** Whether it asked for a stop-loss. */
  readonly isGuarded: boolean;
}

type Fill = Pick<PaperDeal, 'account' | 'clientOrderId' | 'side' | 'amount' | 'fee'>;

/**
 * What is left of the buys of a market, by the ids of their signals, as the deals of the exchange tell. A sale reduces the buys
 * of its own strategy, then those without a name, of each those with a stop-loss first. Of another one it reduces those without
 * a stop-loss alone, and last: they count as what the owner holds.
 *
 * @param deals of the market, oldest first
 */
export function replayLots(deals: readonly Fill[], entryOf: EntryOf): ReadonlyMap<string, Lot> {
  const lots = new Map<string, Lot>();
  const add = (name: string, amount: Decimal) => {
    const lot = lots.get(name);
    if (lot !== undefined) lots.set(name, { ...lot, left: lot.left.plus(amount) });
  };
  const sell = (amount: Decimal, from: readonly string[]) => {
    let rest = amount;
    for (const name of from) {
      const left = lots.get(name)?.left ?? zero;
      const sold = left.gt(zero) ? minimum(left, rest) : zero;
      add(name, sold.neg());
      rest = rest.minus(sold);
    }
  };
  for (const deal of deals) {
    const entry = entryOf(deal);
    const signal = entry?.signal;
    if (signal?.action === 'protect') {
      // A sale may have sold its part since it was placed: then it sells what that sale would have sold next.
      const { strategy } = lots.get(signal.of) ?? {};
      sell(deal.amount, [signal.of, ...inOrderOfSale(lots, strategy)]);
    }
    if (entry === undefined || signal?.action !== 'order') continue;
    const { strategy } = signal;
    if (deal.side === 'sell') {
      sell(deal.amount, inOrderOfSale(lots, strategy));
      continue;
    }
    if (!lots.has(entry.signalId))
      lots.set(entry.signalId, { left: zero, strategy, isGuarded: signal.stopLoss !== undefined });
    add(entry.signalId, deal.amount.minus(deal.fee));
  }
  return lots;
}

function inOrderOfSale(lots: ReadonlyMap<string, Lot>, strategy: string | undefined): readonly string[] {
  const rank = (lot: Lot) =>
    Number(lot.strategy !== strategy) + 2 * Number(!lot.isGuarded) + 4 * Number(!isOwn(lot, strategy));
  return [...lots]
    .filter(([, lot]) => isOwn(lot, strategy) || !lot.isGuarded)
    .toSorted(([, one], [, other]) => rank(one) - rank(other))
    .map(([name]) => name);
}

/** Whether a sale may be of what this has bought: who names no strategy may be any. */
export function isOwn(lot: Pick<Lot, 'strategy'>, strategy: string | undefined): boolean {
  return strategy === undefined || lot.strategy === undefined || lot.strategy === strategy;
}

export function sum(amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((total, amount) => total.plus(amount), zero);
}
