import * as z from 'zod/mini';
import { describeAmount } from '../../account/seen-position.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { Json } from '../../base/json.ts';
import type { Account } from '../../model/account.ts';
import type { Denial } from '../../model/outcome.ts';
import type { OrderSignal, PositionSignal } from '../../model/signal.ts';

/** The strategy that may trade a market while its position is open. */
export interface MarketOwner {
  readonly strategy: string;
  readonly sinceMs: number;
}

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

/** Denies a second strategy while the position that the first one opened is not flat. */
export function checkOwner(
  { strategy = '', market }: OrderSignal | PositionSignal,
  owner: MarketOwner | null,
  amount: Decimal,
): Denial | null {
  if (owner === null || owner.strategy === strategy || amount.eq(zero)) return null;
  return {
    rule: 'one_strategy_per_market',
    limit: owner.strategy,
    actual: strategy,
    message: `strategy "${owner.strategy}" holds the position of ${market} (${describeAmount(amount)}), and the alert is of strategy "${strategy}"; give each strategy an account (sub-account) of its own, or set oneStrategyPerMarket: false for the account in relay.config.ts`,
  };
}
