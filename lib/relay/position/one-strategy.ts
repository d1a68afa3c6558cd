import * as z from 'zod/mini';
import { describeAmount } from '../../account/seen-position.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { Json } from '../../base/json.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { Account } from '../../model/account.ts';
import { placeOf } from '../../model/holdings.ts';
import { isMarkedReducing } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import {
  isProtecting,
  type OrderSignal,
  type PositionSignal,
  type ProtectPositionSignal,
  placesOrder,
} from '../../model/signal.ts';

/** The strategy that may trade a market while its position is open. */
export interface MarketOwner {
  readonly strategy: string;
  readonly sinceMs: number;
}

/** A signal that may need a market, or a side of one in hedge mode, for its strategy. */
export type Claimant = OrderSignal | PositionSignal | ProtectPositionSignal;

/** The rule that denies a second strategy. */
export const anotherHasMarket = 'one_strategy_per_market';

const StoredOwner = z.object({ strategy: z.string(), sinceMs: z.number() });

/** @returns null when nobody owns the market */
export function readOwner(fact: Json): MarketOwner | null {
  const owner = z.safeParse(StoredOwner, fact);
  return owner.success ? owner.data : null;
}

/**
 * Whether the signal needs the market for its strategy: when the account says so, and without a word of the account from
 * the first target on. An alert without a strategy's name claims nothing.
 */
export function claimsMarket(
  { strategy, action }: OrderSignal | PositionSignal,
  { oneStrategyPerMarket }: Pick<Account, 'oneStrategyPerMarket'>,
  owner: MarketOwner | null,
): boolean {
  if (strategy === undefined || oneStrategyPerMarket === false) return false;
  return oneStrategyPerMarket === true || action === 'target' || owner !== null;
}

/** Whether the market belongs to another strategy, if that one has something in it. */
export function isOfAnother({ strategy = '' }: Claimant, owner: MarketOwner | null): owner is MarketOwner {
  return owner !== null && owner.strategy !== strategy;
}

/** Whether it is an order of the strategy that may open or enlarge the position which the signal is about. */
export function mayOpenFor({ signal }: Pick<Entry, 'signal'>, owner: MarketOwner, about: Claimant): boolean {
  if (signal === null || signal.action === 'close' || isProtecting(signal)) return false;
  if (!placesOrder(signal) || signal.strategy !== owner.strategy) return false;
  return (
    !(signal.action === 'order' && isMarkedReducing(signal)) && placeOf(signal).side === placeOf(about).side
  );
}

/**
 * Denies a second strategy while the market of the first one is not flat, or an order of that one may open a position.
 *
 * @param entry an open order of the first strategy; null: none
 */
export function denyAnother(
  { strategy = '', market }: Claimant,
  owner: MarketOwner,
  amount: Decimal,
  entry: Entry | null,
): Denial | null {
  const has = !amount.eq(zero)
    ? `has taken ${market}, and its position is not flat (${describeAmount(amount)})`
    : entry === null
      ? null
      : `has an open order in ${market} ("${entry.signalId}")`;
  if (has === null) return null;
  return {
    rule: anotherHasMarket,
    limit: owner.strategy,
    actual: strategy,
    message: `strategy "${owner.strategy}" ${has}, and the alert is of strategy "${strategy}"; give each strategy an account (sub-account) of its own, or set oneStrategyPerMarket: false for the account in relay.config.ts`,
  };
}
