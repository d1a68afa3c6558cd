import { readPosition } from '../../account/read-position.ts';
import { describeAmount, type SeenPosition, stateOfAmount } from '../../account/seen-position.ts';
import type { Account } from '../../model/account.ts';
import type { Denial } from '../../model/outcome.ts';
import type { OrderSignal, PositionState } from '../../model/signal.ts';
import { isMarketOrder } from '../../orders/order-kinds.ts';
import { saysItReduces } from '../../signals/may-open.ts';
import { checkPositions } from '../position/check-positions.ts';
import { claimMarket, passesClaim, readMarketOwner } from '../position/claim-market.ts';
import { comparePosition, withNote, withRestTold } from '../position/compare-position.ts';
import { readReduceLeg } from '../position/reduce-leg.ts';
import { withPosition } from '../position/with-position.ts';
import type { ExecuteServices } from '../services.ts';
import { deny, type Plan } from './action.ts';
import { planOrder } from './plan-order.ts';

/** An order signal, and what its order is called. */
export interface NamedOrder {
  readonly signalId: string;
  readonly clientOrderId: string;
  readonly signal: OrderSignal;
}

/**
 * Plans the order of an alert. The position is read first when the alert presumes one, or when another strategy may hold
 * the market.
 */
export async function planPresumedOrder(
  services: ExecuteServices,
  account: Account,
  named: NamedOrder,
): Promise<Plan> {
  const { signal } = named;
  const plan = await planNamed(services, account, named);
  const tradesOn = account.markets[signal.market]?.tradesOn;
  if (!saysItReduces(signal, tradesOn) || !isMarketOrder(signal.orderType)) return plan;
  return withRestTold(plan, tradesOn === 'spot' ? 'sale' : 'order');
}

async function planNamed(
  services: ExecuteServices,
  account: Account,
  { signal, signalId, clientOrderId }: NamedOrder,
): Promise<Plan> {
  const { requirePosition } = signal;
  if (requirePosition === undefined && !(await mayBelongToAnother(services, account, signal)))
    return await planTold(services, account, { signal, signalId, clientOrderId });
  const ground = await checkPositions(services, account, signal);
  if (!ground.ok) return ground.plan;
  const query = {
    account: account.name,
    market: signal.market,
    signalId,
    positionSide: signal.positionSide,
    isOfAlert: true,
  };
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const reading = await readPosition(services, ground.client, query, limits);
  if (reading.kind === 'waits') return { ...reading, verdict: 'waiting' };
  if (reading.kind === 'denied') return { verdict: 'denied', denial: reading.denial };
  const { position, readAtMs, openedAtMs } = reading;
  const mismatch =
    requirePosition === undefined
      ? null
      : await checkPresumed(services, account, { signal, signalId, clientOrderId }, position);
  if (mismatch !== null) return mismatch;
  const claim = await claimMarket(services, account, signal, { ...position, openedAtMs });
  if (!claim.ok) return { verdict: 'denied', denial: claim.denial };
  const plan = await planOrder(services, account, signal, clientOrderId, position);
  return claim.on(withPosition(plan, { position, readAtMs }));
}

/** The position is read beside the planning, so that telling it delays nothing. */
async function planTold(
  services: ExecuteServices,
  account: Account,
  { signal, signalId, clientOrderId }: NamedOrder,
): Promise<Plan> {
  if (signal.told === undefined) return await planOrder(services, account, signal, clientOrderId);
  const [plan, compared] = await Promise.all([
    planOrder(services, account, signal, clientOrderId),
    comparePosition(services, account, signalId, signal),
  ]);
  return withNote(services, plan, compared, { account: account.name, signalId });
}

/** A spot market and the documented dialect show no positions, so there no market is claimed. */
async function mayBelongToAnother(
  services: ExecuteServices,
  account: Account,
  signal: OrderSignal,
): Promise<boolean> {
  const { strategy, market } = signal;
  if (strategy === undefined || account.oneStrategyPerMarket === false || passesClaim(signal)) return false;
  if ((account.markets[market]?.tradesOn ?? 'spot') === 'spot') return false;
  if ((await services.exchangeFor(account.name)).dialect !== 'live') return false;
  const owner = await readMarketOwner(services, account, signal);
  if (owner === null) return account.oneStrategyPerMarket === true;
  return owner.strategy !== strategy;
}

/** @returns null when the position is as the alert presumes */
async function checkPresumed(
  services: ExecuteServices,
  account: Account,
  { signal, signalId }: NamedOrder,
  position: SeenPosition,
): Promise<Plan | null> {
  const { requirePosition = 'flat', onMismatch, market } = signal;
  const hasLeg = onMismatch === 'flatten' || (onMismatch === 'resync' && requirePosition === 'flat');
  const leg = hasLeg ? await readReduceLeg(services, account, signalId) : null;
  if (leg?.kind === 'waits') return { verdict: 'waiting', reason: leg.reason, mayPassSoon: false };
  const hasReduced = leg?.kind === 'done' && leg.hasReduced;
  if (onMismatch === 'flatten' && hasReduced)
    return deny(
      rule,
      requirePosition,
      describeAmount(leg.before ?? position.amount),
      `the alert presumes that the position of ${market} is ${requirePosition}, and it was ${describeAmount(leg.before ?? position.amount)}: it was closed, and the order of the alert is not sent (onMismatch: 'flatten')`,
    );
  const isRehearsed = leg?.kind === 'done' && leg.isRehearsed;
  if (stateOfAmount(position.amount) === requirePosition || isRehearsed) return null;
  const reason = leg?.kind === 'denied' ? `; ${leg.denial.message}` : reasonOf(onMismatch, requirePosition);
  return { verdict: 'denied', denial: denyMismatch(requirePosition, position, market, reason) };
}

const rule = 'position_mismatch';

function denyMismatch(
  required: PositionState,
  { amount }: SeenPosition,
  market: string,
  reason: string,
): Denial {
  const actual = describeAmount(amount);
  return {
    rule,
    limit: required,
    actual,
    message: `the alert presumes that the position of ${market} is ${required}, and it is ${actual}; nothing was sent${reason}`,
  };
}

function reasonOf(onMismatch: OrderSignal['onMismatch'], required: PositionState): string {
  if (onMismatch !== 'resync' || required === 'flat') return '';
  return `; onMismatch: 'resync' can only bring about a flat position, because nothing says how large a ${required} one should be`;
}
