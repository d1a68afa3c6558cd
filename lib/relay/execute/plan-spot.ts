import { findUnsettled } from '../../account/read-position.ts';
import { hasPassed } from '../../base/clock.ts';
import { floorToStep, formatDecimal, maximum, sumOf, zero } from '../../base/decimal.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { type OrderRecord, sentOrCreatedAtMs } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { mayStillBeOpen } from '../../model/execution.ts';
import type { Market } from '../../model/market.ts';
import { mayBeOneStrategy } from '../../model/one-strategy.ts';
import type { Denial } from '../../model/outcome.ts';
import type { OrderSignal } from '../../model/signal.ts';
import type { SaleShares } from '../../protection/spot-claims.ts';
import type { StoppedSale } from '../../protection/stop-sales.ts';
import { besideOthers } from '../../signals/size-from-account.ts';
import type { Readings, Sized } from '../../signals/sizing.ts';
import { settleFound } from '../position/clear-entries.ts';
import { noteAnswered, type SaleName } from '../protect/answered-stops.ts';
import type { ExecuteServices } from '../services.ts';
import type { Plan } from './action.ts';

/**
 * The stop-loss of a spot buy is sized on the balance, which an order of unknown outcome may change: it would be placed minutes
 * after the buy.
 *
 * @see DECISIONS 167
 */
export async function checkStopPlaceable(
  services: ExecuteServices,
  { name }: Account,
  { market, side, stopLoss }: OrderSignal,
): Promise<Denial | null> {
  if (side !== 'buy' || stopLoss === undefined) return null;
  const awaited = await findUnsettled(services, { account: name, market, signalId: '' }, null);
  if (awaited === undefined) return null;
  const { signalId, status } = awaited;
  return {
    rule: 'stop_loss_waits',
    limit: 'no order of unknown outcome in the market',
    actual: `"${signalId}" (${status})`,
    message: `its stop-loss could not be placed when it fills: the outcome of signal "${signalId}" is not known yet (${status}), and it may change the balance; nothing was bought. Settle that one with npx relay resolve, or wait until it was looked up, and send the alert again`,
  };
}

/** A sale of what a stop-loss has sold sells nothing: it would sell the next buy. */
export function soldAlready(
  { facts }: Pick<ExecuteServices, 'facts'>,
  name: SaleName,
  { note, parts }: StoppedSale,
  records: readonly OrderRecord[],
): Plan {
  return {
    verdict: 'ended',
    outcome: {
      status: 'satisfied',
      note: `nothing was sent: ${note}; a sale of what is left is the next one`,
      evidence: null,
    },
    store: () => noteAnswered(facts, name, parts, records),
  };
}

/** It may have sold what the sale is for, which would then sell the next buy. */
export function waitForStop(doubt: string): Plan {
  return {
    verdict: 'waiting',
    reason: doubt,
    mayPassSoon: true,
    orElse: {
      rule: 'stop_not_known',
      limit: 'stop-losses of which it is known what they have sold',
      actual: 'one that may have sold',
      message: `${doubt}: it may have sold the same already, so nothing was sold; send the sale again, or sell by hand`,
    },
  };
}

/**
 * Looks up a stop-loss of unknown outcome before a sale of its strategy: it may hold what is to be sold, or have sold it. What no
 * list shows ten seconds after it was sent is taken not to stand.
 *
 * @param records of the market, of a sale on spot
 * @returns `settled`: the sale must be planned anew; null: nothing is to be waited for
 * @throws RelayError `store_unavailable`
 */
export async function settleStop(
  services: ExecuteServices,
  client: ExchangeClient,
  { strategy }: OrderSignal,
  records: readonly OrderRecord[],
): Promise<Plan | 'settled' | null> {
  const { ledger, clock, exchangeTimeoutMs } = services;
  const stop = records.find(
    ({ status, protects, strategy: other }) =>
      status === 'unknown' && protects !== null && mayBeOneStrategy(other, strategy),
  );
  if (stop === undefined || hasPassed(sentOrCreatedAtMs(stop), longestPositionLagMs, clock.nowMs()))
    return null;
  const entry = await ledger.read(stop);
  const limits = { timeoutMs: exchangeTimeoutMs / 2 };
  if (entry?.status !== 'unknown' || (await settleFound(services, client, entry, limits))) return 'settled';
  const reason = `the outcome of the stop-loss "${stop.signalId}" is not known yet, and it may hold a part of what is to be sold`;
  return { verdict: 'waiting', reason, mayPassSoon: true };
}

/** A sale, and what it may sell. */
interface SharedSale {
  readonly signal: OrderSignal;
  readonly market: Market;
  readonly shares: SaleShares;
  /** Of the market. */
  readonly records: readonly OrderRecord[];
}

/**
 * A sale of more than its strategy has bought, and the owner holds besides, would sell what another strategy has bought with a
 * stop-loss. The balance may not show yet what an order has just bought, or cannot be read: then it is read again. While it may
 * still show what an order has sold, nothing beside what the strategy has bought is sold.
 *
 * @returns null for a sale that leaves that
 */
export function leaveToOthers(
  { signal: { strategy = '' }, market, shares, records }: SharedSale,
  { holding }: Pick<Readings, 'holding'>,
  sized: Sized,
  { clock }: Pick<ExecuteServices, 'clock'>,
): Plan | null {
  const { own, others, untold } = shares;
  if (others.size === 0) return null;
  const isRead = holding?.of === 'spot';
  const left = floorToStep(maximum(isRead ? besideOthers(holding) : zero, own), market.amountStep);
  const isLeft = sized.ok ? sized.baseAmount.lte(left) : left.gte(market.minAmount);
  const isBeyondOwn = sized.ok && sized.baseAmount.gt(own);
  if (isLeft && isBeyondOwn && hasSoldLately(records, clock.nowMs()))
    return {
      verdict: 'waiting',
      reason: `the spot balance may still show what was just sold in ${market.name}`,
      mayPassSoon: true,
    };
  if (isLeft) return null;
  const names = [...others.keys()].map((name) => `"${name}"`).join(' and ');
  const bought = `${formatDecimal(sumOf(others.values()))} ${market.base} of strategy ${names}, bought with a stop-loss${describeUntold(untold)}`;
  const most = `${formatDecimal(left)} ${market.base}`;
  const denial: Denial = {
    rule: 'bought_by_other_strategy',
    limit: most,
    actual: sized.ok ? formatDecimal(sized.baseAmount) : 'a share of that',
    message: `strategy "${strategy}" has ${left.eq(zero) ? 'nothing' : `no more than ${most}`} to sell beside the ${bought}${isRead ? '' : ' (the spot balance could not be read)'}; nothing was sold. To sell those, too, send the sale with the "strategy" that bought them, or without one`,
  };
  if (isRead && !mayShowLate(records, strategy, clock.nowMs()))
    return {
      verdict: 'denied',
      denial: left.lt(market.minAmount) ? { ...denial, nothingHeld: true } : denial,
    };
  const reason = isRead
    ? `the spot balance may not show yet what strategy "${strategy}" has bought`
    : 'the spot balance could not be read, and another strategy has bought in the market';
  return { verdict: 'waiting', reason, mayPassSoon: true, orElse: denial };
}

/**
 * Whether the balance, with what open orders hold of it, has nothing that the market would take. False where it was not read,
 * and where it need not show yet what an order has bought.
 */
export function findNothingHeld(
  { signal: { side, strategy = '' }, market, records }: Omit<SharedSale, 'shares'>,
  { holding }: Pick<Readings, 'holding'>,
  { clock }: Pick<ExecuteServices, 'clock'>,
): Pick<Denial, 'nothingHeld'> {
  if (side !== 'sell' || holding?.of !== 'spot') return {};
  const { available, frozen = zero, ofStops = zero } = holding;
  // What the stop-losses hold is counted as available.
  const held = available.plus(frozen).minus(ofStops);
  // A sale can only make a balance that lags too large.
  const bought = records.filter(({ asked }) => asked?.side !== 'sell');
  const isEmpty = held.lt(market.minAmount) && !mayShowLate(bought, strategy, clock.nowMs());
  return isEmpty ? { nothingHeld: true } : {};
}

function describeUntold(untold: SaleShares['untold']): string {
  const names = untold.map((signalId) => `"${signalId}"`).join(' and ');
  return names === '' ? '' : `, of which what ${names} has bought is not known yet`;
}

/** Whether the balance may still show what an order of the market has sold. */
function hasSoldLately(records: readonly OrderRecord[], nowMs: number): boolean {
  return records.some(
    ({ asked, sightings }) =>
      asked?.side === 'sell' &&
      sightings.some(
        ({ filled, atMs, exchangeMs }) =>
          filled?.eq(zero) !== true && nowMs - (exchangeMs ?? atMs) <= longestPositionLagMs,
      ),
  );
}

/** Whether a list may not show yet what the last order of the market did, or a buy of the strategy that rests. */
function mayShowLate(records: readonly OrderRecord[], strategy: string, nowMs: number): boolean {
  return records.some((record) => {
    const { sentAtMs, answeredAtMs, status, state, asked } = record;
    const rests = asked?.side === 'buy' && status === 'placed' && mayStillBeOpen(state);
    if (rests && mayBeOneStrategy(record.strategy, strategy)) return true;
    return sentAtMs !== null && nowMs - answeredAtMs <= longestPositionLagMs;
  });
}
