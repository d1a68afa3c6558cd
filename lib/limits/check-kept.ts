import type { Dialect } from '../exchange/dialect.ts';
import type { Account } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal } from '../model/signal.ts';

/**
 * Denies an order with what the relay itself would have to place and move later, where it cannot: the position would stand
 * without it. The webhook refuses such alerts, so a setting occurs only when the account was changed since.
 */
export function checkKept(
  { takeProfits, trailing }: Pick<OrderSignal, 'takeProfits' | 'trailing'>,
  account: Account,
  dialect: Dialect,
): Denial | null {
  if (takeProfits === undefined && trailing === undefined) return null;
  if (account.protection !== 'keep') return denyUnkept(account);
  if (dialect === 'live') return null;
  const what = takeProfits === undefined ? '"trailing"' : '"takeProfits"';
  return {
    rule: 'protection_not_in_dialect',
    limit: 'the dialect "live"',
    actual: dialect,
    message: `in the dialect "${dialect}" the exchange does not show positions, so the relay cannot keep ${what}; nothing was sent. Write one "stopLoss" and one "takeProfit", or set the exchange's dialect in relay.config.ts to "live" if that is what it speaks`,
  };
}

/** The denial of what the relay would have to keep for an account that only wants alarms. */
export function denyUnkept({ name, protection }: Pick<Account, 'name' | 'protection'>): Denial {
  return {
    rule: 'protection_not_kept',
    limit: "protection: 'keep'",
    actual: protection ?? 'alarm',
    message: `account ${name} does not keep the protection of its positions, so the relay places no stop-loss by itself; write protection: 'keep' in relay.config.ts`,
  };
}
