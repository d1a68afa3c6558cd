import { readPosition } from '../../account/read-position.ts';
import { describeAmount, type SeenPosition } from '../../account/seen-position.ts';
import { hasPassed } from '../../base/clock.ts';
import { type Decimal, floorToStep, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { SignalEntry } from '../../ledger/entry.ts';
import { orderSignalFor } from '../../ledger/sent-order.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import type { Market } from '../../model/market.ts';
import { isFurtherTry, type PositionSignal, passesUnknown, wantsNoPosition } from '../../model/signal.ts';
import type { PositionOrder } from '../../model/step-facts.ts';
import type { Plan } from '../execute/action.ts';
import { planOrder } from '../execute/plan-order.ts';
import { longestReadingMs } from '../execute/read-market.ts';
import { signalTimeouts } from '../execute/signal-time.ts';
import type { ExecuteServices } from '../services.ts';
import { checkPositions } from './check-positions.ts';
import { claimMarket } from './claim-market.ts';
import { clearEntries, isCarriedOut } from './clear-entries.ts';
import type { ClearedEntries } from './cleared-entries.ts';
import { cancelExitsOfNothing, withExitsCancelled } from './close-exits.ts';
import { isTriedAgain } from './close-rest.ts';
import { withNote, withRestTold } from './compare-position.ts';
import {
  checkReduced,
  type LegPlan,
  planClose,
  planReverseClose,
  planReverseOpen,
  planTargetOpen,
  planTargetReduce,
} from './plan-leg.ts';
import { readWanted } from './read-wanted.ts';
import { type ReduceLeg, readReduceLeg } from './reduce-leg.ts';
import { withPosition } from './with-position.ts';

/** A stored position signal. */
export type PositionEntry = SignalEntry & { readonly signal: PositionSignal };

type DoneLeg = Extract<ReduceLeg, { readonly kind: 'done' }>;
/** A leg that needs no other one before it. */
const firstLeg: DoneLeg = {
  kind: 'done',
  hasReduced: false,
  hasRest: false,
  isRehearsed: false,
  before: null,
};

/**
 * Decides what a position signal sends, from the position as it is now: one order at most, none when the position already
 * is as wanted. While the position cannot be known the signal waits. Before all of a position is closed, the resting entries of
 * its market are cancelled.
 *
 * @param cleared the entries that this execution has cancelled
 * @throws ExchangeError when the exchange cannot be read
 */
export async function planPosition(
  services: ExecuteServices,
  account: Account,
  entry: PositionEntry,
  cleared: ClearedEntries,
): Promise<Plan> {
  const { signal, signalId } = entry;
  const ground = await checkPositions(services, account, signal);
  if (!ground.ok) return ground.plan;
  const { market, client } = ground;
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const before = opensAfter(signal) ? await readReduceLeg(services, account, signalId) : firstLeg;
  if (before.kind === 'waits') return { verdict: 'waiting', reason: before.reason, mayPassSoon: false };
  if (before.kind === 'denied') return { verdict: 'denied', denial: before.denial };
  const positionSide = signal.action === 'close' ? signal.positionSide : undefined;
  const closesAll = passesUnknown(signal);
  const query = {
    account: account.name,
    market: market.name,
    signalId,
    positionSide,
    closesAll,
    isOfAlert: true,
    isCancelled: (cancelledId: string) => cleared.has(cancelledId),
  };
  const reading = await readPosition(services, client, query, limits, cleared.moves);
  if (reading.kind === 'waits') return { ...reading, verdict: 'waiting' };
  if (reading.kind === 'denied') return { verdict: 'denied', denial: reading.denial };
  const { position, readAtMs, modifiedAtMs, openedAtMs, attached } = reading;
  if (isAnotherPosition(signal, openedAtMs))
    return satisfiedPlan(
      services,
      'what was left was closed, and another position was opened since',
      position,
      readAtMs,
    );
  const wanted = await readWanted(client, signal, market, limits);
  if (!wanted.ok) return { verdict: 'denied', denial: wanted.denial };
  const claim = await claimMarket(services, account, signal, { ...position, openedAtMs });
  if (!claim.ok) return { verdict: 'denied', denial: claim.denial };
  const leg = planLeg(signal, position, wanted.amount, before, market);
  if (leg.kind === 'denied') return { verdict: 'denied', denial: leg.denial };
  const isRehearsal = findRehearsalReason(account.mode, services.isPaperExchange) !== null;
  const endsFlat = !isRehearsal && leavesNothing(signal, leg, position);
  const clears = endsFlat && signal.keepEntries !== true;
  // What leaves something depends on an order of unknown outcome.
  if (reading.passed !== null && !clears && !isFurtherTry(signal) && !isRehearsal)
    return { ...reading.passed, verdict: 'waiting', mayPassSoon: false };
  if (clears) {
    const closing = { account: account.name, market: market.name, signalId, position };
    // What a cancellation finds filled is closed, too.
    if (await clearEntries(services, client, closing, cleared))
      return await planPosition(services, account, entry, cleared);
  }
  const satisfied = (note: string): Plan => satisfiedPlan(services, note, position, readAtMs);
  const closing = { account: account.name, market: market.name, position, modifiedAtMs, attached };
  if (leg.kind === 'satisfied') {
    const plan = satisfied(leg.note);
    if (!endsFlat || plan.verdict !== 'ended' || !position.amount.eq(zero)) return plan;
    if (await isCarriedOut(services, entry)) return plan;
    // No order is sent, so all the time of the signal is left for the exits.
    const endByMs = cleared.startedAtMs + signalTimeouts * services.exchangeTimeoutMs;
    const closed = { ...closing, amount: zero };
    const outcome = await cancelExitsOfNothing(services, client, closed, plan.outcome, { endByMs });
    // What it tells is told, however old the reading.
    if (outcome.alarm !== undefined || !isTooOld(services, readAtMs)) return { verdict: 'ended', outcome };
    const again = await readPosition(services, client, query, limits, cleared.moves);
    const isGone = again.kind === 'seen' && again.position.amount.eq(zero);
    return isGone && !isTooOld(services, again.readAtMs) ? { verdict: 'ended', outcome } : tooOld;
  }
  const plan = await planLegOrder(services, account, entry, leg.order, position);
  if (plan.verdict === 'denied' && signal.action === 'target' && belowMinimum.has(plan.denial.rule))
    return satisfied(`what is missing is too little for an order: ${plan.denial.message}`);
  const { reduceOnly, size } = leg.order;
  // What is left of one that was to close all is told by its own alarm.
  const told = signal.action === 'target' && reduceOnly && !endsFlat ? withRestTold(plan, 'target') : plan;
  const ready = claim.on(withPosition(told, { position, readAtMs, attached, order: leg.order }));
  if (!reduceOnly || size.unit !== 'base') return ready;
  // Rounded as the order is, so that a smaller order is one that the exchange has cut.
  const amount = floorToStep(parseDecimal(size.quantity), market.amountStep);
  const isOneOfTries = { isFurtherTry: isFurtherTry(signal), isTriedAgain: isTriedAgain(entry) };
  const dust = position.amount.abs().minus(amount);
  const compared = endsFlat && dust.gt(zero) ? { note: dustNote(position, dust), leavesRest: true } : null;
  const noted = withNote(services, ready, compared, { account: account.name, signalId });
  return withExitsCancelled(services, client, { ...closing, amount, ...isOneOfTries }, noted);
}

function dustNote({ amount }: SeenPosition, dust: Decimal): string {
  return `the position is ${describeAmount(amount)}, and ${formatDecimal(dust)} of it, less than any order could close, stays`;
}

/** Whether a further try of a close finds a position that was opened after its first order. */
function isAnotherPosition(signal: PositionSignal, openedAtMs: number | null): boolean {
  if (signal.action !== 'close' || signal.openedByMs === undefined || openedAtMs === null) return false;
  return openedAtMs > signal.openedByMs;
}

/** Whether the signal wants no position, and what it does about the one that was read leaves none. */
function leavesNothing(signal: PositionSignal, leg: LegPlan, { amount }: SeenPosition): boolean {
  if (leg.kind === 'order') {
    const { reduceOnly, size } = leg.order;
    return reduceOnly && size.unit === 'base' && parseDecimal(size.quantity).gte(amount.abs());
  }
  // Of a target, less than an order may have counts as flat.
  return (
    leg.kind === 'satisfied' && wantsNoPosition(signal) && (signal.action === 'target' || amount.eq(zero))
  );
}

/** Rules of the market about the smallest order. */
const belowMinimum: ReadonlySet<string> = new Set(['amount_rounds_to_zero', 'min_amount', 'min_total']);

function opensAfter(signal: PositionSignal): boolean {
  return signal.action !== 'close' && signal.leg === 'open';
}

function planLeg(
  signal: PositionSignal,
  position: SeenPosition,
  wanted: Decimal,
  before: DoneLeg,
  market: Market,
): LegPlan {
  switch (signal.action) {
    case 'close':
      return planClose(signal, position, market);
    case 'reverse': {
      if (signal.leg === 'reduce') return planReverseClose(position, market);
      const closed = before.before ?? zero;
      if (closed.eq(zero)) return planReverseClose({ ...position, amount: zero }, market);
      return planReverseOpen(signal, afterRehearsal(position, before), closed, market);
    }
    case 'target': {
      if (signal.leg === 'reduce') return planTargetReduce(wanted, position, market);
      const isTurned = position.amount.times(wanted).lt(zero);
      const seen = isTurned ? afterRehearsal(position, before) : position;
      const plan = planTargetOpen(wanted, seen, before.hasReduced, market);
      const isJudged = plan.kind === 'satisfied' && before.hasReduced && !before.isRehearsed;
      // How far it is of an amount alone can be told without the order: what it is worth moves with the price.
      const mayLack = signal.target.unit === 'base' || before.hasRest;
      const denial = isJudged && mayLack ? checkReduced(wanted, seen, market) : null;
      return denial === null ? plan : { kind: 'denied', denial };
    }
  }
}

/** A rehearsed close has closed nothing: what comes after it is rehearsed as if it had. */
function afterRehearsal(position: SeenPosition, { isRehearsed }: DoneLeg): SeenPosition {
  return isRehearsed ? { ...position, amount: zero } : position;
}

async function planLegOrder(
  services: ExecuteServices,
  account: Account,
  { signal, clientOrderId }: PositionEntry,
  order: PositionOrder,
  position: SeenPosition,
): Promise<Plan> {
  const asked = orderSignalFor(signal, order);
  if (order.reduceOnly) return await planOrder(services, account, asked, clientOrderId ?? '', 'reduces');
  return await planOrder(services, account, asked, clientOrderId ?? '', position);
}

/** The position may have changed since it was read, as after a minute in which the process stood still. */
function isTooOld({ clock }: ExecuteServices, readAtMs: number): boolean {
  return hasPassed(readAtMs, longestReadingMs, clock.nowMs());
}

const tooOld: Plan = {
  verdict: 'waiting',
  reason: 'the reading of the position is too old to decide on',
  mayPassSoon: true,
};

function satisfiedPlan(
  services: ExecuteServices,
  note: string,
  { amount }: SeenPosition,
  readAtMs: number,
): Plan {
  if (isTooOld(services, readAtMs)) return tooOld;
  const position = { amount: formatDecimal(amount) };
  return {
    verdict: 'ended',
    outcome: { status: 'satisfied', note, evidence: { position, readAtMs }, facts: { position } },
  };
}
