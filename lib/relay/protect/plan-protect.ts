import { describeAmount, describeSeen } from '../../account/seen-position.ts';
import { type Decimal, floorToStep, formatDecimal, zero } from '../../base/decimal.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import { protectiveSignal } from '../../ledger/protective-signal.ts';
import type { Account } from '../../model/account.ts';
import type { Market } from '../../model/market.ts';
import { hasOtherTrigger } from '../../model/order.ts';
import type { ProtectSignal } from '../../model/signal.ts';
import { type ProtectiveOrder, triedAgain } from '../../model/step-facts.ts';
import { isMarketOrder } from '../../orders/order-kinds.ts';
import type { Guard } from '../../protection/guards.ts';
import {
  type GuardVerdict,
  judgeGuard,
  largerThanRest,
  takesNeededStop,
} from '../../protection/judge-guard.ts';
import { areSoldOut } from '../../protection/left-of.ts';
import { marketOrder, protectiveOrder } from '../../protection/protective-order.ts';
import type { GuardedPosition } from '../../protection/shares.ts';
import { parseSight, parseWishes, sightFactOf, wishFactOf } from '../../protection/wishes.ts';
import type { Outcome, Plan, PreparedAction } from '../execute/action.ts';
import { isTriggerPassed } from '../execute/judge-trigger.ts';
import { planOrder } from '../execute/plan-order.ts';
import { checkPositions } from '../position/check-positions.ts';
import { judgeEnded } from '../position/judge-closing.ts';
import type { ExecuteServices } from '../services.ts';
import { denialOutcome } from '../settle/settle-entry.ts';
import { isOverActRate, tooManyActs } from './act-rate.ts';
import { nameOf, tellFailed, tellHeldBack, tellRest, tellUnsettled } from './failed-alarm.ts';
import { guardRehearsed } from './guard-rehearsed.ts';
import { readGround } from './read-ground.ts';
import { cancelReplaced, type Replaced, withReplaced, withReplacedOnSpot } from './replace-exits.ts';
import { lookUpTaken, noteTaken } from './taken-stops.ts';

/** A stored signal that keeps the protection of a position. */
export type ProtectEntry = SignalEntry & { readonly signal: ProtectSignal };

/** What one act of protection is decided by. */
interface Act {
  readonly services: ExecuteServices;
  readonly account: Account;
  readonly entry: ProtectEntry;
  readonly market: Market;
  readonly client: ExchangeClient;
  readonly guard: Guard;
  readonly position: GuardedPosition;
  readonly readAtMs: number;
}

/**
 * Decides what makes a stop-loss or take-profit fit what it protects, from the position, the open orders and the ledger as
 * they are now: one order at most, which only reduces; cancellations; or nothing.
 *
 * @see DECISIONS 166
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function planProtect(
  services: ExecuteServices,
  account: Account,
  entry: ProtectEntry,
): Promise<Plan> {
  const { signal, signalId } = entry;
  const ground = await checkPositions(services, account, signal);
  if (!ground.ok) return ground.plan;
  const { market, client } = ground;
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const { positionSide } = signal;
  const isSpot = account.markets[market.name]?.tradesOn === 'spot';
  const query = {
    account: account.name,
    market: market.name,
    signalId,
    positionSide,
    isSpot,
    guard: signal,
    isSoldOut: (entries: readonly Entry[]) => areSoldOut(entries, market.name, signal.of),
  };
  const reading = await readGround(services, client, market, query, limits);
  if (reading.kind === 'waits') {
    const { unknownSinceMs, ...waits } = reading;
    if (unknownSinceMs !== undefined) await tellUnsettled(services, entry, unknownSinceMs, waits.reason);
    return { ...waits, verdict: 'waiting' };
  }
  if (reading.kind === 'denied') return { verdict: 'denied', denial: reading.denial };
  const { position, entries, open, taken } = reading;
  const lost = await services.lostProtection?.takeIn(account.name, entries, open);
  if (lost === null)
    return {
      verdict: 'waiting',
      reason: 'what the lost relay had placed is taken in first',
      mayPassSoon: true,
    };
  const [wishes, sight] = await Promise.all([
    services.facts.read(account.name, wishFactOf(position)).then(parseWishes),
    services.facts.read(account.name, sightFactOf(position)).then(parseSight),
  ]);
  // On margin a stop-loss waits for nothing: it only reduces.
  const maySellAgain = isSpot || signal.role === 'take_profit';
  const sold = maySellAgain ? await lookUpTaken(client, reading, signal, limits) : new Map<number, Decimal>();
  if (sold === null)
    return {
      verdict: 'waiting',
      reason: 'how an order whose place it takes has ended is not known yet, and that may have sold the same',
      mayPassSoon: true,
    };
  const { stopKind } = account;
  const view = { entries, open, nowMs: services.clock.nowMs(), wishes, sight, taken, sold, stopKind };
  const { guards } = await guardRehearsed(services.facts, account.name, position, view);
  const guard = guards.find(
    ({ of, role, part }) => of === signal.of && role === signal.role && part === signal.part,
  );
  const isGone = guard === undefined || (await mayStillCount(services, entry, guard, entries));
  if (isGone) return satisfied(`signal "${signal.of}" has no ${nameOf(signal)} any more`);
  const verdict = judgeGuard(guard, market);
  const isFirst = verdict.kind === 'place' && verdict.cancels.length === 0;
  const denial = isFirst ? (lost?.denyBeside(guard) ?? null) : null;
  if (denial !== null) return await failedPlan({ services, entry, position }, { verdict: 'denied', denial });
  if (!isFree(reading.free, guard, verdict))
    return { verdict: 'waiting', reason: 'other orders hold what it protects', mayPassSoon: true };
  if (takesNeededStop(guard, guards, market))
    return {
      verdict: 'waiting',
      reason: 'the stop-loss that goes with it is replaced first',
      mayPassSoon: false,
    };
  const { readAtMs } = reading;
  if (verdict.kind === 'place' && (await isOverActRate(services, account.name, market.name, entries))) {
    await tellHeldBack(services, entry, tooManyActs);
    return { verdict: 'waiting', reason: tooManyActs, mayPassSoon: false };
  }
  return await planVerdict({ services, account, entry, market, client, guard, position, readAtMs }, verdict);
}

/** Whether an order that no reading shows may be followed all the same: there are more followed ones than are read at once. */
async function mayStillCount(
  { ledger }: Pick<ExecuteServices, 'ledger'>,
  { account, signal: { of } }: ProtectEntry,
  { record, amount }: Guard,
  entries: readonly Entry[],
): Promise<boolean> {
  if (record !== null || !amount.eq(zero) || entries.some(({ signalId }) => signalId === of)) return false;
  const entry = await ledger.read({ account, signalId: of });
  return entry?.status === 'placed' && entry.execution?.isFollowed !== false;
}

/** Whether the balance that no other order holds is enough for an order on spot. */
function isFree(free: Decimal | null, { standing }: Guard, verdict: GuardVerdict): boolean {
  if (free === null || verdict.kind !== 'place') return true;
  const given = standing.filter(({ orderId }) => verdict.cancels.includes(orderId));
  return verdict.amount.lte(given.reduce((sum, { remaining }) => sum.plus(remaining ?? zero), free));
}

function satisfied(note: string): Plan {
  return { verdict: 'ended', outcome: { status: 'satisfied', note, evidence: null } };
}

async function planVerdict(act: Act, verdict: GuardVerdict): Promise<Plan> {
  const { account, entry, guard } = act;
  const { signal } = entry;
  switch (verdict.kind) {
    case 'fits':
      return satisfied(`the ${nameOf(signal)} of "${signal.of}": ${verdict.why}`);
    case 'cancel':
      return planCancels(act, verdict.cancels);
    case 'stuck':
      return await planAtMarket(act, verdict);
    case 'place': {
      const { positionSide } = signal;
      const { amount, price, cancels } = verdict;
      const wanted = { role: guard.role, side: guard.side, amount, price, positionSide };
      const isWhole = amount.eq(floorToStep(guard.amount, act.market.amountStep));
      const exact = isWhole ? { exact: formatDecimal(guard.amount) } : {};
      const ofShare = guard.ofShare === undefined ? {} : { ofShare: formatDecimal(guard.ofShare) };
      const order = { ...protectiveOrder(wanted, account), ...exact, ...ofShare };
      const plan = await planProtective(act, order, cancels);
      const tooLarge = isTooSmall(plan) ? largerThanRest(guard, act.market.amountStep) : [];
      if (tooLarge.length > 0) {
        await failedPlan(act, plan);
        return planCancels(act, tooLarge);
      }
      // The price has passed the stop-loss already: what waits for it now would wait for the other direction.
      return plan.verdict === 'denied' && isTriggerPassed(plan.denial)
        ? await planAtMarket(act, verdict)
        : await failedPlan(act, plan);
    }
  }
}

/** Whether the exchange takes no order for so little money. */
function isTooSmall(plan: Plan): boolean {
  return plan.verdict === 'denied' && plan.denial.rule === 'min_total';
}

/** The exchange cancels both exits of a pair. The other one is not what the owner has ended by hand. */
async function noteGoing({ services, entry, market, guard }: Act, cancels: readonly number[]): Promise<void> {
  const pairs = guard.standing.flatMap(({ orderId, pair = [] }) => (cancels.includes(orderId) ? pair : []));
  await noteTaken(services.facts, entry.account, market.name, [...cancels, ...pairs]);
}

function hiddenIn({ standing }: Guard): readonly number[] {
  return standing.flatMap(({ orderId, isHidden }) => (isHidden === true ? orderId : []));
}

/** Orders that are too much are cancelled; nothing is placed. */
function planCancels(act: Act, cancels: readonly number[]): Plan {
  const { entry, client, market, services, position, readAtMs, guard } = act;
  const action: PreparedAction = {
    isOrder: false,
    requests: cancels.map((orderId) => ({ cancel: orderId })),
    facts: { position: describeSeen(position) },
    readAtMs,
    // A pause of entries must not keep an order open that could open a position.
    limits: { reduces: true, checkTime: () => null, checkOthers: async () => null },
    async send(options) {
      await noteGoing(act, cancels);
      const hidden = hiddenIn(guard);
      const done = await cancelReplaced(services, client, { market: market.name, cancels, hidden }, options);
      const left = `the position is ${describeAmount(position.amount)}`;
      const outcome: Outcome = {
        status: 'cancelled',
        note: `the ${nameOf(entry.signal)} of "${entry.signal.of}" is more than is left to protect: ${left}`,
        evidence: null,
        orderOpen: false,
      };
      return ended(act, outcome, done);
    },
  };
  return { verdict: 'ready', action };
}

/** A stop-loss whose price has been passed: what it should have sold is sold now, where the account allows that. */
async function planAtMarket(
  act: Act,
  { amount, cancels }: Extract<GuardVerdict, { readonly kind: 'stuck' | 'place' }>,
): Promise<Plan> {
  const { account, guard } = act;
  const isAllowed = account.allowUnguardedMarket || account.maxSlippageRate !== null;
  if (!isAllowed)
    return await failedPlan(act, {
      verdict: 'denied',
      denial: {
        rule: 'stop_passed',
        limit: 'a maxSlippage, or allowUnguardedMarket',
        actual: 'neither',
        message: `the price has passed the stop-loss of "${guard.of}", ${formatDecimal(amount)} of the position is left, and account ${account.name} allows no order at market: close it, or give the account a maxSlippage in relay.config.ts`,
      },
    });
  const { side } = guard;
  const order = marketOrder({ side, amount, positionSide: act.entry.signal.positionSide });
  return await failedPlan(act, await planProtective(act, order, cancels));
}

/** Places an order that only reduces, and cancels those whose place it takes. */
async function planProtective(act: Act, order: ProtectiveOrder, cancels: readonly number[]): Promise<Plan> {
  const { services, account, entry, client, market, position, guard, readAtMs } = act;
  const asked = protectiveSignal(entry.signal, order);
  const plan = await planOrder(services, account, asked, entry.clientOrderId ?? '', 'reduces');
  if (plan.verdict !== 'ready') return plan;
  const { action } = plan;
  const facts = {
    ...action.facts,
    position: describeSeen(position),
    protective: order,
  };
  const scope = { market: market.name, cancels, hidden: hiddenIn(guard) };
  // A stop-loss is replaced without a gap. Any other order could fill beside the one whose place it takes. On spot the one
  // that stands holds the balance, so it must go first.
  const isStop = 'stopPrice' in order && position.isSpot !== true;
  return {
    verdict: 'ready',
    action: {
      ...action,
      // Nothing may lock the owner out of a stop-loss.
      isOrder: false,
      facts,
      readAtMs: Math.min(readAtMs, action.readAtMs ?? readAtMs),
      async send(options) {
        if (cancels.length === 0) return await told(act, order, await action.send(options));
        if (isStop) {
          const outcome = await told(act, order, await action.send(options));
          if (outcome.status !== 'placed' || isPassed(outcome)) return outcome;
          await noteGoing(act, cancels);
          return withReplaced(outcome, await cancelReplaced(services, client, scope, options));
        }
        await noteGoing(act, cancels);
        const done = await cancelReplaced(services, client, scope, options);
        if (!done.areCancelled) return ended(act, endedMeanwhile, done);
        // An order of the planned size would sell the same again: on margin out of what other entries, or the owner, hold.
        if (hasSoldSince(guard, done)) return ended(act, soldMeanwhile, done);
        return ended(act, await told(act, order, await action.send(options)), done);
      },
    },
  };
}

/** Whether the price had passed a stop-loss by the time it reached the exchange: it protects nothing. */
function isPassed({ facts }: Outcome): boolean {
  return facts?.report !== undefined && hasOtherTrigger(facts.report);
}

const passedNote =
  'the price passed it before the exchange had it, so it takes the place of none, and the protection of the position is looked at again';

const endedMeanwhile: Outcome = {
  status: 'not_sent',
  note: 'nothing was placed: an order whose place it was to take had ended meanwhile, or may still be open; the protection of the position is looked at again',
  evidence: null,
};

const soldMeanwhile: Outcome = {
  status: 'not_sent',
  note: 'nothing was placed: an order whose place it was to take has sold a part meanwhile; the protection of what is left is looked at again',
  evidence: null,
};

/** Whether one of them sold something after they were read, and before they were cancelled. */
function hasSoldSince({ standing }: Guard, { exits }: Replaced): boolean {
  return exits.some(({ order }) => {
    const read = standing.find(({ orderId }) => orderId === order?.orderId);
    return order !== undefined && read?.remaining?.gt(order.remaining) === true;
  });
}

/** On spot, what those that were cancelled have sold is told at once: the list that showed it does not show them any more. */
function ended({ position }: Act, outcome: Outcome, done: Replaced): Outcome {
  return position.isSpot === true ? withReplacedOnSpot(outcome, done) : withReplaced(outcome, done);
}

/**
 * An order that the exchange did not take leaves the position without what should protect it. So does one at market that has
 * filled in part: its rest is ended, and no stop-loss stands for it.
 */
async function told(
  { services, entry, position }: Act,
  { orderType }: ProtectiveOrder,
  outcome: Outcome,
): Promise<Outcome> {
  const ended = isMarketOrder(orderType) ? judgeEnded(outcome) : null;
  if (ended?.rest.gt(zero) === true) await tellRest(services, entry, ended);
  if (outcome.status === 'placed' && isPassed(outcome)) {
    // The next look at the protection replaces it, or sells at market: nobody has to cancel it, as its alarm would say.
    const { alarm, ...placed } = outcome;
    const kept = alarm === undefined || alarm.name === 'trigger_unexpected' ? {} : { alarm };
    return { ...placed, ...kept, note: `${outcome.note}; ${passedNote}` };
  }
  if (outcome.status === 'placed' || outcome.status === 'unknown') return outcome;
  await tellFailed(services, entry, position, outcome.note);
  return { ...outcome, facts: { ...outcome.facts, ...triedAgain } };
}

async function failedPlan(
  { services, entry, position }: Pick<Act, 'services' | 'entry' | 'position'>,
  plan: Plan,
): Promise<Plan> {
  if (plan.verdict !== 'denied') return plan;
  await tellFailed(services, entry, position, plan.denial.message);
  return { verdict: 'ended', outcome: { ...denialOutcome(plan.denial, plan.evidence), facts: triedAgain } };
}
