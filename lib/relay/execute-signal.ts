import { RelayError } from '../base/errors.ts';
import { ExchangeError } from '../exchange/errors.ts';
import type { Entry, EntryKey, Step } from '../ledger/entry.ts';
import type { Account } from '../model/account.ts';
import { type Status, statusTransitions } from '../model/outcome.ts';
import { findAccount } from '../model/settings.ts';
import type { Signal } from '../model/signal.ts';
import { checkMarket, checkPause, denyOrderRate } from '../risk/check-order.ts';
import { checkStaleness, lastFreshMs } from '../signals/staleness.ts';
import type { Action, Ending, Plan } from './action.ts';
import { planCancel, planCancelAll } from './plan-cancel.ts';
import { planOrder } from './plan-order.ts';
import { arrivalOf, type ExecuteServices } from './services.ts';
import { denialEnding, isConflict, lostAnswerEnding, settleEntry, tellEnding } from './settle-entry.ts';

/**
 * Carries one stored signal out, at most once, and writes down how it ended.
 *
 * Safe to call again for the same signal at any time: a signal that is past `accepted` is never sent again.
 *
 * @returns the status the entry has now
 * @throws RelayError `store_unavailable` when the ledger cannot be read or written; the message should come again
 */
export async function executeSignal(services: ExecuteServices, key: EntryKey): Promise<Status> {
  const entry = await services.ledger.read(key);
  if (entry === null || entry.signal === null)
    throw new RelayError(
      'entry_conflict',
      `the ledger holds no signal "${key.signalId}" of account ${key.account}`,
    );
  if (entry.status === 'sending') return await settleEntry(services, entry, lostAnswerEnding(entry));
  if (entry.status !== 'accepted') return retell(services, entry);
  const account = findAccount(services.settings, entry.account);
  if (account === null) return await settleEntry(services, entry, unknownAccountEnding(entry.account));
  const plan = await planSafely(services, account, entry, entry.signal);
  if ('status' in plan) return await settleEntry(services, entry, plan);
  if (plan.verdict === 'denied') return await settleEntry(services, entry, denialEnding(plan.denial));
  return await carryOut(services, account, entry, entry.signal, plan.action);
}

/** The worker that wrote `unknown` may have died before it said so, and its alarm is owed. */
function retell(services: ExecuteServices, entry: Entry): Status {
  if (entry.status === 'unknown')
    tellEnding(services, entry, {
      status: 'unknown',
      note: 'delivered again; still unknown',
      evidence: null,
    });
  return entry.status;
}

/** What cannot be prepared was provably not sent. */
async function planSafely(
  services: ExecuteServices,
  account: Account,
  entry: Entry,
  signal: Signal,
): Promise<Plan | Ending> {
  try {
    return await planSignal(services, account, entry, signal);
  } catch (error) {
    if (!(error instanceof RelayError) || !endsPlanning(error)) throw error;
    return {
      status: 'not_sent',
      note: `nothing was sent: ${error.message}`,
      evidence: { code: error.code, action: error.row.action },
    };
  }
}

/** Whether preparing again would meet the same wall; a store out of order is worth another delivery. */
function endsPlanning(error: RelayError): boolean {
  return (
    error instanceof ExchangeError ||
    error.code === 'secrets_missing' ||
    error.code === 'exchange_request_invalid'
  );
}

async function planSignal(
  services: ExecuteServices,
  account: Account,
  entry: Entry,
  signal: Signal,
): Promise<Plan> {
  const denial =
    checkStaleness(signal, arrivalOf(services, entry.createdAtMs), services.clock.nowMs()) ??
    checkPause(await services.ledger.readPause(entry.account)) ??
    checkMarket(signal, account);
  if (denial !== null) return { verdict: 'denied', denial };
  return await planAction(services, account, signal, entry.clientOrderId ?? '');
}

function planAction(
  services: ExecuteServices,
  account: Account,
  signal: Signal,
  clientOrderId: string,
): Promise<Plan> {
  switch (signal.action) {
    case 'order':
      return planOrder(services, account, signal, clientOrderId);
    case 'cancel':
      return planCancel(services, account, signal);
    case 'cancel_all':
      return planCancelAll(services, account, signal);
  }
}

/** Preparing took its time: check age and kill switch once more, write `sending`, send, write the outcome. */
async function carryOut(
  services: ExecuteServices,
  account: Account,
  entry: Entry,
  signal: Signal,
  action: Action,
): Promise<Status> {
  const pause = await services.ledger.readPause(account.name);
  const atMs = services.clock.nowMs();
  const arrival = arrivalOf(services, entry.createdAtMs);
  const denial = checkStaleness(signal, arrival, atMs) ?? checkPause(pause);
  if (denial !== null) return await settleEntry(services, entry, denialEnding(denial));
  if (account.mode === 'dry-run') return await settleEntry(services, entry, dryRunEnding(action));

  const maxPerMinute = action.isOrder ? account.maxOrdersPerMinute : null;
  const { evidence } = action;
  const note = 'on its way to the exchange';
  const step: Step = { status: 'sending', atMs, note, ...(evidence === undefined ? {} : { evidence }) };
  const started = await services.ledger.start(entry, step, maxPerMinute === null ? null : { maxPerMinute });
  if (started.result === 'conflict') return started.entry.status;
  if (started.result === 'over_limit')
    return await settleEntry(
      services,
      entry,
      denialEnding(denyOrderRate(started.count + 1, maxPerMinute ?? 0)),
    );
  // A retry must not send what grew stale meanwhile. One more millisecond: the check lets the last fresh one pass,
  // sending stops short of its limit. Nor may a worker that was frozen send what others have looked for since.
  const notAfterMs = Math.min(lastFreshMs(signal, arrival) + 1, atMs + sendWindowMs);
  const ending = await action.send({ timeoutMs: services.exchangeTimeoutMs, notAfterMs });
  return await settleSent(services, { ...entry, status: 'sending' }, ending);
}

/** Nothing goes on the wire later than this after `sending`; whoever looks for an order begins well after it. */
export const sendWindowMs = 30_000;

/** Long enough for a neighbour's lock or a throttled table; after that, the next delivery finds `sending`. */
const settlePausesMs = [100, 300, 1000];

/** What is known of a sent order must not be forgotten because the ledger is busy for a moment. */
async function settleSent(services: ExecuteServices, sent: Entry, ending: Ending): Promise<Status> {
  for (const pauseMs of settlePausesMs) {
    try {
      return await settleOver(services, sent, ending);
    } catch (error) {
      if (!(error instanceof RelayError) || !error.row.retryMayHelp) throw error;
      const { account, signalId } = sent;
      const { status, note } = ending;
      services.log.error('an outcome could not be written; trying again', {
        account,
        signalId,
        status,
        note,
      });
      await services.clock.sleep(pauseMs);
    }
  }
  return await settleOver(services, sent, ending);
}

/** Another worker may have taken this one for dead and written `unknown`; it lived, and knows better. */
async function settleOver(services: ExecuteServices, sent: Entry, ending: Ending): Promise<Status> {
  try {
    return await settleEntry(services, sent, ending);
  } catch (error) {
    const found = isConflict(error) ? await services.ledger.read(sent) : null;
    if (found === null) throw error;
    // Our own write, whose answer was lost: it stands, and only its telling is left to do.
    if (found.status === ending.status) return tellEnding(services, found, ending);
    if (statusTransitions[found.status].includes(ending.status))
      return await settleEntry(services, found, ending);
    tellContradiction(services, found, ending);
    throw error;
  }
}

/** Somebody gave this worker up and settled the signal otherwise: what it knows must not be lost with it. */
function tellContradiction({ log }: ExecuteServices, found: Entry, { status, note, orderId }: Ending): void {
  log.error('an outcome came after the signal was settled otherwise: compare with the exchange', {
    account: found.account,
    signalId: found.signalId,
    settledAs: found.status,
    status,
    note,
    orderId: orderId ?? null,
    alarm: true,
  });
}

/** The account was taken out of the configuration while its signal waited. */
function unknownAccountEnding(account: string): Ending {
  return denialEnding({
    rule: 'unknown_account',
    limit: 'an account of relay.config.ts',
    actual: account,
    message: `account ${account} is no longer configured; nothing was sent`,
  });
}

function dryRunEnding(action: Action): Ending {
  return {
    status: 'dry_run',
    note: 'the account is in dry-run mode; these requests would have gone',
    evidence: { requests: action.requests },
  };
}
