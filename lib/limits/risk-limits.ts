import type { Account } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import { coolDownAfterLoss } from './cool-down-after-loss.ts';
import type { CheckedOrder } from './counted-holdings.ts';
import { maxDailyLoss } from './max-daily-loss.ts';
import { maxOpenNotional } from './max-open-notional.ts';
import { maxPosition } from './max-position.ts';
import type { LimitUse, RiskFacts, RiskLimit, RiskLimitName, RiskNeeds } from './risk-limit.ts';
import { tradingWindows } from './trading-windows.ts';

/** All limits of growing risk, in the order in which they judge; one that is missing here is a type error. */
const limits: { readonly [Name in RiskLimitName]: RiskLimit } = {
  maxPosition,
  maxOpenNotional,
  maxDailyLoss,
  coolDownAfterLoss,
  tradingWindows,
};
const all: readonly RiskLimit[] = Object.values(limits);
export const riskLimitNames = Object.keys(limits) as readonly RiskLimitName[];

/**
 * What all limits of the account together need.
 *
 * @param market null: any market
 * @returns null when the account has none there
 */
export function riskNeedsOf(account: Account, market: string | null): RiskNeeds | null {
  const needs = all.flatMap((limit) => limit.needs(account, market) ?? []);
  if (needs.length === 0) return null;
  return {
    holdings: needs.some(({ holdings }) => holdings),
    allMarkets: needs.some(({ allMarkets }) => allMarkets),
    deals: needs.some(({ deals }) => deals),
  };
}

/** The denial of the first limit that an order would pass; null: none denies it. */
export function checkRisk(checked: CheckedOrder, facts: RiskFacts, account: Account): Denial | null {
  return firstDenial(all, checked, facts, account);
}

/** The same, of the limits that judge once more before the order is sent. */
export function checkRiskAgain(
  reason: 'time' | 'others',
  checked: CheckedOrder,
  facts: RiskFacts,
  account: Account,
): Denial | null {
  return firstDenial(limitsAgain(reason, account, checked), checked, facts, account);
}

/** Whether the account has a limit in this market that judges once more for that reason. */
export function judgesAgain(reason: 'time' | 'others', account: Account, checked: CheckedOrder): boolean {
  return limitsAgain(reason, account, checked).length > 0;
}

function limitsAgain(
  reason: 'time' | 'others',
  account: Account,
  { sized }: CheckedOrder,
): readonly RiskLimit[] {
  return all.filter(({ again, needs }) => again === reason && needs(account, sized.order.market) !== null);
}

/** How much of each limit of the account is used. */
export function listRiskUse(facts: RiskFacts, account: Account): readonly LimitUse[] {
  return all.flatMap((limit) => limit.use(facts, account));
}

function firstDenial(
  among: readonly RiskLimit[],
  checked: CheckedOrder,
  facts: RiskFacts,
  account: Account,
): Denial | null {
  for (const limit of among) {
    const denial = limit.check(checked, facts, account);
    if (denial !== null) return denial;
  }
  return null;
}
