import { toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { findOrder, type ListedOrder, type OrderPlace } from '../../exchange/find-order.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import { readListedOrder } from '../../exchange/list-account.ts';
import { legsOf, listGroups } from '../../exchange/list-groups.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { leavesProtection, placedByIn } from '../../ledger/order-facts.ts';
import { isFinal } from '../../model/outcome.ts';
import type { CancelAllSignal, CancelSignal } from '../../model/signal.ts';
import { cancelledOf, type StepFacts } from '../../model/step-facts.ts';
import { sentAtMs } from '../cancel/cancel-target.ts';
import type { Outcome } from '../execute/action.ts';
import { type LookupResult, type LookupServices, notListed } from './lookup-result.ts';

/**
 * The present state of an order that was to be cancelled. `gone`: it has ended, but no list shows how. `filled`: only
 * fills of it are listed, and a list of open orders may lag behind them.
 */
type TargetState = 'cancelled' | 'executed' | 'gone' | 'filled' | 'open' | 'not_found' | 'not_listed';

/** The states that prove that an order is no longer open. */
const endStates: ReadonlySet<TargetState> = new Set(['cancelled', 'executed', 'gone']);

interface LookedUpTarget {
  readonly name: string;
  readonly state: TargetState;
  readonly order: ListedOrder | null;
}

/** An order to cancel, and the entry that placed it, if one did. */
interface NamedTarget {
  readonly clientOrderId: string;
  readonly placedBy: Entry | null;
}

/**
 * Closes the ledger entry of an order that has ended, so that later lookups need not ask for it. One whose outcome is not known
 * yet is left to its own lookup: what depends on the position waits for that.
 */
async function lookUpTarget(
  { ledger, clock }: LookupServices,
  client: ExchangeClient,
  market: string,
  { clientOrderId, placedBy }: NamedTarget,
  options: SendOptions,
): Promise<LookedUpTarget> {
  const place = await findOrder(client, { market, clientOrderId }, options);
  const state = stateOf(place, placedBy, clock.nowMs());
  if (endStates.has(state) && placedBy !== null && isFinal(placedBy.status))
    await ledger.closeOrder(placedBy);
  return { name: clientOrderId, state, order: place.kind === 'found' ? place.order : null };
}

/**
 * The same of an order that the ledger does not know, by the exchange's id: one by hand, or one that the exchange made. That no
 * list shows it proves nothing: it may be the leg of a pair, or a partner's cancelled order.
 *
 * @returns null where no list takes that id
 */
async function lookUpUnnamed(
  client: ExchangeClient,
  { market, target }: CancelSignal,
  options: SendOptions,
): Promise<LookedUpTarget | null> {
  if (target.by !== 'orderId' || client.dialect !== 'live') return null;
  const { orderId } = target;
  const { open, ended } = await readListedOrder(client, { market, orderId }, options);
  const name = `order ${orderId}`;
  if (ended !== null)
    return { name, state: ended.status === 'cancelled' ? 'cancelled' : 'executed', order: ended };
  return { name, state: open === null ? 'not_listed' : 'open', order: open };
}

function stateOf(place: OrderPlace, placedBy: Entry | null, nowMs: number): TargetState {
  if (place.kind === 'found')
    return place.isOpen ? 'open' : place.order.status === 'cancelled' ? 'cancelled' : 'executed';
  // The service may not list orders that were cancelled before any fill, and it drops old orders after
  // months. So an order that was placed long ago and is in no list is no longer open.
  const wasThere =
    placedBy !== null && placedBy.orderId !== null && placedBy.updatedAtMs <= nowMs - longestLagMs;
  return place.kind !== 'not_listed' && wasThere ? 'gone' : place.kind;
}

/**
 * Looks up what became of the order that a cancellation names, and closes its ledger entry once it has ended.
 *
 * @throws ExchangeError when the lists cannot be read; RelayError `store_unavailable`
 * @see DECISIONS 66
 */
export async function lookUpCancel(
  services: LookupServices,
  client: ExchangeClient,
  entry: Entry,
  signal: CancelSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const named = await nameTarget(services.ledger, entry, signal);
  const target =
    named === null
      ? await lookUpUnnamed(client, signal, options)
      : await lookUpTarget(services, client, signal.market, named, options);
  if (target === null)
    return {
      kind: 'inconclusive',
      finding: 'the ledger does not know the order to cancel; check it on the exchange itself',
    };
  const evidence = toJson({ target });
  const facts = factsOfTargets([target]);
  const gone: Outcome = {
    status: 'cancelled',
    note: 'the order is no longer open; no list shows how it ended',
    evidence,
    facts,
  };
  switch (target.state) {
    case 'cancelled':
      return {
        kind: 'found',
        outcome: { status: 'cancelled', note: 'the order is cancelled', evidence, facts },
      };
    case 'gone':
      return { kind: 'found', outcome: gone };
    case 'filled':
      return {
        kind: 'not_found',
        finding: 'fills of the order are listed, and it is in no list',
        outcome: gone,
      };
    case 'executed':
      return {
        kind: 'found',
        outcome: {
          ...refused('the order was filled before it could be cancelled'),
          facts: { ...facts, wasGone: true },
        },
      };
    case 'open':
      return missing('the order is still open', 'the order is still open: it was not cancelled');
    case 'not_found':
      return missing(
        'the order is in no list',
        'the order is neither open nor in the history: nothing proves that it was cancelled',
      );
    case 'not_listed':
      return { kind: 'inconclusive', finding: notListed };
  }

  function refused(note: string): Outcome {
    return { status: 'rejected', note, evidence, facts };
  }

  function missing(finding: string, note: string): LookupResult {
    return { kind: 'not_found', finding, outcome: refused(note) };
  }
}

/** The client order id of the order to cancel; null when neither the signal nor the ledger holds it. */
async function nameTarget(
  ledger: Ledger,
  { account, steps }: Entry,
  { market, target }: CancelSignal,
): Promise<NamedTarget | null> {
  if (target.by === 'clientOrderId') return { clientOrderId: target.clientOrderId, placedBy: null };
  // For an order named by the exchange's id, the `sending` step holds the id of the signal that placed it.
  const signalId = target.by === 'signalId' ? target.signalId : (placedByIn({ steps })[0] ?? null);
  let placedBy: Entry | null = null;
  if (signalId !== null) placedBy = await ledger.read({ account, signalId });
  else if (target.by === 'orderId') placedBy = await ledger.findOrder(account, market, target.orderId);
  if (placedBy === null || placedBy.clientOrderId === null) return null;
  return { clientOrderId: placedBy.clientOrderId, placedBy };
}

/**
 * The most orders one lookup asks for, because a function's time is limited. Orders found ended are closed in
 * the ledger, so the next lookup has fewer.
 */
const mostTargets = 25;
/** The most orders that are read from the ledger for one lookup, to know how many are left. */
const mostRead = 1000;

/**
 * Looks up what became of a `cancel_all`. It has succeeded when none of the orders is open that the ledger counted as
 * open when it was sent, and with the scope `market` no other order of the market from before it either.
 *
 * @throws as `lookUpCancel` does
 */
export async function lookUpCancelAll(
  services: LookupServices,
  client: ExchangeClient,
  entry: Entry,
  { market, scope = 'own' }: CancelAllSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const isCutDown = leavesProtection(entry);
  const foreign =
    scope !== 'own' && !isCutDown ? await lookUpForeign(services, client, market, entry, options) : null;
  if (foreign !== null) return foreign;
  const open = await services.ledger.openOrders(entry.account, market, mostRead);
  const named = new Set(placedByIn(entry));
  // Times alone do not decide it: the clock may have been set back in between. What protects a position is not cancelled by it.
  const isAbout = (order: Entry) =>
    named.has(order.signalId) ||
    (!isCutDown &&
      sentAtMs(order) <= sentAtMs(entry) &&
      (scope !== 'own' || order.signal?.action !== 'protect'));
  const believed = open.flatMap((placedBy) =>
    isAbout(placedBy) && placedBy.clientOrderId !== null
      ? [{ clientOrderId: placedBy.clientOrderId, placedBy }]
      : [],
  );
  const targets: LookedUpTarget[] = [];
  for (const target of believed.slice(0, mostTargets))
    targets.push(await lookUpTarget(services, client, market, target, options));
  return judgeTargets(targets, believed.length - targets.length);
}

/** The exchange refuses requests of a clock that is further away from its own than this. */
const mostSkewMs = 5_000;

/**
 * Null when none of the orders that were open in the market before the cancellation is still open. The exchange's clock
 * tells when an order was placed and the relay's when the cancellation was sent, and they differ.
 */
async function lookUpForeign(
  { ledger }: LookupServices,
  client: ExchangeClient,
  market: string,
  entry: Entry,
  options: SendOptions,
): Promise<LookupResult | null> {
  if (client.dialect !== 'live') return { kind: 'inconclusive', finding: notListed };
  const { groups, isWhole } = await listGroups(client, market, options);
  const open = await listOpenOrders(client, market, options);
  if (!isWhole || !open.isWhole) return { kind: 'inconclusive', finding: notListed };
  const own = await ledger.openOrders(entry.account, market, mostRead);
  const later = own.filter((order) => sentAtMs(order) > sentAtMs(entry));
  const laterIds = new Set(later.map(({ clientOrderId }) => clientOrderId));
  const earlier = [...open.orders, ...groups.flatMap(legsOf)]
    .filter(({ createdAtMs }) => createdAtMs <= sentAtMs(entry) + mostSkewMs)
    .filter(({ clientOrderId }) => !laterIds.has(clientOrderId))
    .map(({ orderId }) => orderId);
  const left = [...new Set(earlier)];
  if (left.length === 0) return null;
  return {
    kind: 'not_found',
    finding: `${left.length} orders of the market are still open`,
    outcome: {
      status: 'rejected',
      note: `${left.length} orders of the market are still open: send another cancellation`,
      evidence: toJson({ left }),
    },
  };
}

/** What the lists say of the targets that have ended. */
function factsOfTargets(targets: readonly LookedUpTarget[]): StepFacts {
  const cancelled = targets.flatMap(({ state, order }) =>
    order !== null && endStates.has(state) ? [cancelledOf(order)] : [],
  );
  return cancelled.length === 0 ? {} : { cancelled };
}

/** @param unchecked how many orders were not looked up yet */
function judgeTargets(targets: readonly LookedUpTarget[], unchecked: number): LookupResult {
  const left = targets.filter(({ state }) => !endStates.has(state));
  const open = left.filter(({ state }) => state === 'open').length;
  const evidence = toJson({ targets });
  const facts = factsOfTargets(targets);
  const done: Outcome = { status: 'cancelled', note: 'none of its orders is still open', evidence, facts };
  if (left.some(({ state }) => state === 'not_listed')) return { kind: 'inconclusive', finding: notListed };
  if (open === 0 && unchecked > 0)
    return {
      kind: 'inconclusive',
      finding: `none of ${targets.length} orders is open; ${unchecked} more are still to be looked up`,
    };
  if (left.length === 0) return { kind: 'found', outcome: done };
  return {
    kind: 'not_found',
    finding: `${left.length} of its orders are not known to have ended; ${open} of them are open`,
    outcome:
      open === 0
        ? done
        : {
            status: 'rejected',
            note: `${open} of its orders are still open: send another cancellation`,
            evidence,
            facts,
          },
  };
}
