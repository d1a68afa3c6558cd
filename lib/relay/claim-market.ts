import type { Decimal } from '../base/decimal.ts';
import { type Account, findRehearsalReason } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal, PositionSignal } from '../model/signal.ts';
import { checkOwner, claimsMarket, type MarketOwner, readOwner } from '../positions/one-strategy.ts';
import type { ExecuteServices } from './services.ts';

/**
 * The strategy that trades a market, as far as it is stored; null also when nobody could own it.
 *
 * @see DECISIONS 153
 */
export async function readMarketOwner(
  { facts }: ExecuteServices,
  account: Account,
  { strategy, market }: OrderSignal | PositionSignal,
): Promise<MarketOwner | null> {
  if (strategy === undefined || account.oneStrategyPerMarket === false) return null;
  return readOwner(await facts.read(account.name, `strategy of ${market}`));
}

/**
 * Takes the market for the strategy of the signal, before anything is sent for it. A rehearsal takes nothing.
 *
 * @param amount of the position, signed
 * @returns the denial while another strategy holds the position
 * @throws RelayError `store_unavailable`
 */
export async function claimMarket(
  services: ExecuteServices,
  account: Account,
  signal: OrderSignal | PositionSignal,
  amount: Decimal,
): Promise<Denial | null> {
  const owner = await readMarketOwner(services, account, signal);
  const { strategy, market } = signal;
  if (strategy === undefined || !claimsMarket(signal, account, owner)) return null;
  const denial = checkOwner(signal, owner, amount);
  const isRehearsal = findRehearsalReason(account.mode, services.isPaperExchange) !== null;
  if (denial !== null || owner?.strategy === strategy || isRehearsal) return denial;
  const fact = { strategy, sinceMs: services.clock.nowMs() };
  await services.facts.write(account.name, `strategy of ${market}`, fact);
  return null;
}
