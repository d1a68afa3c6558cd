import { hasPassed } from '../../base/clock.ts';
import { RelayError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { type Entry, type EntryKey, isSignal, type SignalEntry } from '../../ledger/entry.ts';
import type { DueKey } from '../../ledger/ledger.ts';
import { checkMarket, limitsOf } from '../../limits/check-order.ts';
import type { Account } from '../../model/account.ts';
import type { Denial, Status } from '../../model/outcome.ts';
import { findAccount } from '../../model/settings.ts';
import { isCancellation, isReduction } from '../../model/signal.ts';
import { triedAgain } from '../../model/step-facts.ts';
import { checkStaleness, lastFreshMs } from '../../signals/staleness.ts';
import { planCancel } from '../cancel/plan-cancel.ts';
import { planCancelAll } from '../cancel/plan-cancel-all.ts';
import { withdrawWaiting } from '../cancel/withdraw-waiting.ts';
import { ClearedEntries } from '../position/cleared-entries.ts';
import { planPosition } from '../position/plan-position.ts';
import { tellNotAllowed } from '../protect/failed-alarm.ts';
import { planProtect } from '../protect/plan-protect.ts';
import { planTurned } from '../protect/plan-turned.ts';
import { findNotedWish, planWish } from '../protect/plan-wish.ts';
import { arrivalOf, type ExecuteServices } from '../services.ts';
import {
  denialOutcome,
  lostResponseOutcome,
  raiseAlarms,
  settleEntry,
  staleAlarm,
  unlessMoved,
} from '../settle/settle-entry.ts';
import type { KnownPlan, Outcome, Plan } from './action.ts';
import { beginToCount } from './begin-to-count.ts';
import { type Begun, carryOut, settleUnsent } from './carry-out.ts';
import { executeEarlier, pageSize } from './earlier-signals.ts';
import { explainWait } from './explain-wait.ts';
import { followUp } from './follow-up.ts';
import { createKillSwitch, type PauseReading } from './kill-switch.ts';
import { withMarketOfReduction } from './market-of-reduction.ts';
import { withCounted } from './plan-order.ts';
import { planPresumedOrder } from './plan-presumed.ts';
import { mayPlanAgain } from './signal-time.ts';

/**
 * Executes one stored signal, at most once, and stores its outcome. Signals of the same market that were
 * stored before it and still wait are executed first.
 *
 * It may be called again for the same signal at any time: a signal past `accepted` is never sent again.
 *
 * @returns the status that the entry has now
 * @throws RelayError `store_unavailable` when the ledger cannot be read or written, `earlier_signals_wait`
 * when there are too many earlier signals for one delivery, `position_awaited` when the signal or an earlier one depends on
 * a position that is not known yet; in all cases the message must be delivered again
 */
export async function executeSignal(services: ExecuteServices, key: DueKey): Promise<Status> {
  const readAtMs = services.clock.nowMs();
  const { entry: found, earlier, pause } = await services.ledger.readDue(key, pageSize);
  const entry = requireSignal(found, key);
  if (earlier.length === 0 && !mayCancel(services, entry))
    return await executeAlone(services, entry, [], { pause, readAtMs });
  // Cancellations withdraw waiting orders before anything is sent, so that no cancelled order goes out.
  const withdrawn = new Map<string, readonly string[]>();
  let before: readonly Entry[] = [];
  for (const waiting of [...earlier, entry]) {
    if (mayCancel(services, waiting)) {
      const gone = await withdrawWaiting(services, waiting, before);
      withdrawn.set(waiting.signalId, gone);
      before = before.filter(({ signalId }) => !gone.includes(signalId));
    }
    before = [...before, waiting];
  }
  const withdrawnBy = ({ signalId }: EntryKey) => withdrawn.get(signalId) ?? [];
  await executeEarlier(services, earlier, async (other) =>
    executeAlone(services, requireSignal(await services.ledger.read(other), other), withdrawnBy(other)),
  );
  return await executeAlone(services, entry, withdrawnBy(entry));
}

function requireSignal(entry: Entry | null, key: EntryKey): SignalEntry {
  if (entry !== null && isSignal(entry)) return entry;
  throw new RelayError(
    'entry_conflict',
    `the ledger holds no signal "${key.signalId}" of account ${key.account}`,
  );
}

/** Whether the entry is a cancellation that no rule of the account denies. */
function mayCancel(services: ExecuteServices, entry: Entry): entry is SignalEntry {
  if (!isSignal(entry) || !isCancellation(entry.signal) || entry.status !== 'accepted') return false;
  const account = findAccount(services.settings, entry.account);
  const arrival = arrivalOf(services, entry.createdAtMs);
  return (
    account !== null &&
    checkStaleness(entry.signal, arrival, services.clock.nowMs()) === null &&
    checkMarket(entry.signal, account) === null
  );
}

/**
 * @param withdrawn ids of the signals that this cancellation has withdrawn; empty for an order
 * @param paused the pause of the account, if it was just read
 */
async function executeAlone(
  services: ExecuteServices,
  entry: SignalEntry,
  withdrawn: readonly string[],
  paused: PauseReading | null = null,
): Promise<Status> {
  if (entry.status === 'sending') return await settleEntry(services, entry, lostResponseOutcome(entry));
  if (entry.status !== 'accepted') return repeatUnknownAlarm(services, entry);
  if (mayHaveWaited(services, entry) && (await isWithdrawn(services, entry))) return 'cancelled';
  const configured = findAccount(services.settings, entry.account);
  if (configured === null)
    return await settleUnsent(services, entry, await tellDenied(services, entry, denyAccount(entry.account)));
  const account = await withMarketOfReduction(services, configured, entry);
  const startedAtMs = services.clock.nowMs();
  const mayRepeat = () => mayPlanAgain(startedAtMs, services.clock.nowMs(), services.exchangeTimeoutMs);
  const killSwitch = createKillSwitch(services, entry, paused);
  const cleared = new ClearedEntries(startedAtMs);
  const begun: Begun = { startedAtMs, killSwitch, cleared };
  let plans = 0;
  let wasReducing = false;
  // Planned anew as an order that only reduces, once, however much time is left: the exit must not be lost for that.
  const turnsToReduction = () => {
    const turns = begun.reduction !== undefined && !wasReducing;
    wasReducing ||= turns;
    return turns;
  };
  do {
    const plan = await planWhenKnown(services, entry, mayRepeat, async () =>
      planOrFindNoted(services, account, entry, await planSafely(services, account, entry, withdrawn, begun)),
    );
    if (plan === null) return 'cancelled';
    plans += 1;
    if (plan.verdict === 'denied') {
      const outcome = await tellDenied(services, entry, plan.denial, plan.evidence);
      return await settleUnsent(services, entry, cleared.tell(outcome));
    }
    if (plan.verdict === 'ended') {
      await plan.store?.();
      return await settleUnsent(services, entry, cleared.tell(plan.outcome));
    }
    const status = await carryOut(services, account, entry, plan.action, begun);
    if (status !== null) await followUp(services, account, entry, status);
    if (status !== null) return status;
  } while (turnsToReduction() || (plans < mostPlans && mayRepeat()));
  return await settleUnsent(services, entry, cleared.tell(outdatedOutcome(plans)));
}

/** A signal that waits comes again after this time at the earliest. */
const shortestWaitMs = 2_000;

function mayHaveWaited({ clock }: ExecuteServices, { createdAtMs }: SignalEntry): boolean {
  return hasPassed(createdAtMs, shortestWaitMs, clock.nowMs());
}

/** Whether a cancellation has withdrawn the signal while it waited. It is behind it in line, and must not be too late for it. */
async function isWithdrawn(services: ExecuteServices, entry: SignalEntry): Promise<boolean> {
  if (isCancellation(entry.signal)) return false;
  const waiting = await services.ledger.waiting(entry.account, entry.signal.market, pageSize);
  const place = waiting.findIndex(({ signalId }) => signalId === entry.signalId);
  for (const [index, later] of waiting.entries()) {
    if (place < 0 || index <= place || !mayCancel(services, later)) continue;
    const withdrawn = await withdrawWaiting(services, later, waiting.slice(0, index));
    // Nothing is left to do for one that names a signal; one that names all orders goes on in its turn.
    if (later.signal.action === 'cancel' && withdrawn.length > 0)
      await unlessMoved(() => executeAlone(services, later, withdrawn));
    if (withdrawn.includes(entry.signalId)) return true;
  }
  return false;
}

/** Between two readings of a position in a list that may lag. */
const rereadPauseMs = 500;

/**
 * Plans again while the position may be known in a moment.
 *
 * @returns null when a cancellation has withdrawn the signal meanwhile
 * @throws RelayError `position_awaited` when it is not known in time: the signal keeps its place, and the later ones of its
 * market wait behind it
 */
async function planWhenKnown(
  services: ExecuteServices,
  entry: SignalEntry,
  mayRepeat: () => boolean,
  planOnce: () => Promise<Plan>,
): Promise<KnownPlan | null> {
  const { clock, log } = services;
  const { account, signalId, signal, createdAtMs } = entry;
  for (let plans = 0; ; plans += 1) {
    const plan = await planOnce();
    if (plan.verdict !== 'waiting') return plan;
    if (plans === 0)
      log.info('signal waits for the position', {
        account,
        signalId,
        reason: plan.reason,
        untilMs: lastFreshMs(signal, arrivalOf(services, createdAtMs)),
      });
    const isLast = !plan.mayPassSoon || !mayRepeat();
    // What only keeps a protection must not hold up the line: following asks for it again.
    if (isLast && signal.action === 'protect') return untriedPlan(plan.reason);
    if (isLast && plan.orElse !== undefined) return { verdict: 'denied', denial: plan.orElse };
    if (isLast)
      throw new RelayError(
        'position_awaited',
        `signal "${signalId}" of account ${account} waits for the position: ${plan.reason}`,
      );
    await clock.sleep(rereadPauseMs);
    if (await isWithdrawn(services, entry)) return null;
  }
}

/** An order whose readings were too old before it could be sent is planned anew, as often as this in all. */
const mostPlans = 3;

function outdatedOutcome(plans: number): Outcome {
  return {
    status: 'not_sent',
    note: 'nothing was sent: the prices and balances that the order was sized on were older than 5 seconds each time before it could be sent',
    evidence: { plans },
  };
}

function untriedPlan(reason: string): KnownPlan {
  const note = `nothing was sent: ${reason}; the protection of the position is looked at again`;
  return { verdict: 'ended', outcome: { status: 'not_sent', note, evidence: null, facts: triedAgain } };
}

/** The machine of the worker that wrote `unknown` may have lost its log. */
function repeatUnknownAlarm(services: ExecuteServices, entry: Entry): Status {
  if (entry.status === 'unknown')
    raiseAlarms(services, entry, {
      status: 'unknown',
      note: 'delivered again; still unknown',
      evidence: null,
    });
  return entry.status;
}

/** What was noted of a signal by a worker that has ended since holds, and nothing else is its outcome. */
async function planOrFindNoted(
  services: ExecuteServices,
  account: Account,
  entry: SignalEntry,
  plan: Plan,
): Promise<Plan> {
  const { signal } = entry;
  const isUndone =
    plan.verdict === 'denied' ||
    (plan.verdict === 'ended' && (plan.outcome.status === 'not_sent' || plan.outcome.status === 'denied'));
  // Otherwise nobody would place its orders.
  const isKept = account.protection === 'keep' && limitsOf(account, signal.market)?.tradesOn !== 'spot';
  if (signal.action !== 'protect_position' || !isUndone || !isKept) return plan;
  return (await findNotedWish(services, { ...entry, signal })) ?? plan;
}

/** A signal whose request cannot be prepared was provably not sent. */
async function planSafely(
  services: ExecuteServices,
  account: Account,
  entry: SignalEntry,
  withdrawn: readonly string[],
  begun: Begun,
): Promise<Plan> {
  try {
    return await planSignal(services, account, entry, withdrawn, begun);
  } catch (error) {
    if (!(error instanceof RelayError) || !endsPlanning(error)) throw error;
    // What is to reduce a position is tried again until it is stale, unless its outcome has something to tell by now.
    const mayPass = error instanceof ExchangeError && error.failure.kind !== 'rejected';
    if (mayPass && isReduction(entry.signal) && begun.cleared.isEmpty)
      return { verdict: 'waiting', reason: error.message, mayPassSoon: true };
    const note = `nothing was sent: ${error.message}`;
    const evidence = { code: error.code, action: error.row.action };
    return { verdict: 'ended', outcome: { status: 'not_sent', note, evidence } };
  }
}

/** Whether another delivery would fail in the same way; after a failure of the store it may succeed. */
function endsPlanning(error: RelayError): boolean {
  return (
    error instanceof ExchangeError ||
    error.code === 'secrets_missing' ||
    // The damaged entry is the one whose order the cancellation names.
    error.code === 'entry_damaged' ||
    error.code === 'exchange_request_invalid'
  );
}

async function planSignal(
  services: ExecuteServices,
  account: Account,
  entry: SignalEntry,
  withdrawn: readonly string[],
  begun: Begun,
): Promise<Plan> {
  const { signal } = entry;
  const stale = checkStaleness(signal, arrivalOf(services, entry.createdAtMs), services.clock.nowMs());
  if (stale !== null) {
    const told = await explainWait(services, entry, stale);
    return { verdict: 'ended', outcome: { ...denialOutcome(told), ...staleAlarm(services, entry, told) } };
  }
  const denial =
    // Of what protects a position the pause is checked before sending: only then is it known that something is missing.
    (signal.action === 'protect' ? null : await begun.killSwitch.check()) ?? checkMarket(signal, account);
  if (denial !== null) return { verdict: 'denied', denial };
  const planning = planAction(services, account, entry, withdrawn, begun);
  if (isCancellation(signal)) return await planning;
  const [plan] = await Promise.all([planning, beginToCount(services, account, begun.startedAtMs)]);
  return plan;
}

async function planAction(
  services: ExecuteServices,
  account: Account,
  entry: SignalEntry,
  withdrawn: readonly string[],
  begun: Begun,
): Promise<Plan> {
  const { signal, clientOrderId } = entry;
  switch (signal.action) {
    case 'order':
      return withCounted(
        await planPresumedOrder(services, account, {
          signal: begun.reduction === undefined ? signal : { ...signal, reduceOnly: true },
          signalId: entry.signalId,
          clientOrderId: clientOrderId ?? '',
        }),
        begun.reduction?.counted ?? null,
      );
    case 'close':
    case 'reverse':
    case 'target':
      return await planPosition(services, account, { ...entry, signal }, begun.cleared);
    case 'protect_position':
      return await planWish(services, account, { ...entry, signal });
    case 'protect':
      return signal.turnedBy === undefined
        ? await planProtect(services, account, { ...entry, signal })
        : await planTurned(services, account, { ...entry, signal });
    case 'cancel':
      return await planCancel(services, account, signal, withdrawn);
    case 'cancel_all':
      return await planCancelAll(services, account, { ...entry, signal }, withdrawn);
  }
}

/** The account was removed from the configuration while its signal waited. */
function denyAccount(account: string): Denial {
  return {
    rule: 'unknown_account',
    limit: 'an account of relay.config.ts',
    actual: account,
    message: `account ${account} is no longer configured; nothing was sent: put it back into relay.config.ts, or look after its orders and positions on the website of the exchange`,
  };
}

/** What protects a position is asked for by the relay itself: the owner hears of a denial by an alarm alone. */
async function tellDenied(
  services: ExecuteServices,
  entry: SignalEntry,
  denial: Denial,
  evidence?: Json,
): Promise<Outcome> {
  const outcome = denialOutcome(denial, evidence);
  const { signal } = entry;
  if (signal.action !== 'protect') return outcome;
  await tellNotAllowed(services, { ...entry, signal }, denial);
  return { ...outcome, facts: triedAgain };
}
