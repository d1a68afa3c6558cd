import { type Alarm, joinAlarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import { toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { type FoundOrder, findOrder, type ListedOrder, type OrderPlace } from '../exchange/find-order.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CancelAllSignal, CancelSignal, OrderSignal } from '../model/signal.ts';
import type { Outcome } from './action.ts';
import { allPlacedByOf, placedByOf, sentAtMs } from './cancel-target.ts';
import { longestLagMs } from './close-ended.ts';
import { endResting, mustNotRest } from './end-resting.ts';
import { judgeTrigger } from './judge-trigger.ts';

/** The result of looking up an entry whose response was lost. */
export type LookupResult =
  /** The outcome is proven. */
  | { readonly kind: 'found'; readonly outcome: Outcome }
  /** No list shows the effect. Lists lag; `outcome` holds once enough lookups have given this result. */
  | { readonly kind: 'not_found'; readonly finding: string; readonly outcome: Outcome }
  /** The lists cannot prove anything about this entry. */
  | { readonly kind: 'inconclusive'; readonly finding: string };

export interface LookupServices {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/**
 * Looks up the outcome of an entry with requests that only read.
 *
 * @throws ExchangeError when the exchange's lists cannot be read; RelayError `secrets_missing`,
 * `store_unavailable`
 */
export async function lookUp(
  services: LookupServices,
  entry: Entry,
  options: SendOptions,
): Promise<LookupResult> {
  const { signal, clientOrderId } = entry;
  const client = await services.exchangeFor(entry.account);
  if (signal?.action === 'cancel') return await lookUpCancel(services, client, entry, signal, options);
  if (signal?.action === 'cancel_all') return await lookUpCancelAll(services, client, entry, signal, options);
  if (signal === null || clientOrderId === null)
    return { kind: 'inconclusive', finding: 'the ledger entry names no order' };
  const place = await findOrder(client, { market: signal.market, clientOrderId }, options);
  switch (place.kind) {
    case 'found':
      return place.isOpen && mustNotRest(signal)
        ? await lookUpRest(client, place, signal, options)
        : { kind: 'found', outcome: foundOutcome(place, signal) };
    case 'not_found':
      return { kind: 'not_found', finding: 'the order is neither open nor in the history', outcome: noOrder };
    case 'not_listed':
      return { kind: 'inconclusive', finding: notListed };
  }
}

/** Cancels what rests of an order that must not rest, and looks it up again. */
async function lookUpRest(
  client: ExchangeClient,
  { order: { orderId, clientOrderId } }: FoundOrder,
  signal: OrderSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const { market } = signal;
  const ended = await endResting(client, { market, orderId }, options);
  if (!ended.isEnded)
    return { kind: 'inconclusive', finding: `order ${orderId} must not rest and could not be cancelled: ${ended.reason}` };
  const place = await findOrder(client, { market, clientOrderId }, options);
  return place.kind === 'found' && !place.isOpen
    ? { kind: 'found', outcome: foundOutcome(place, signal) }
    : { kind: 'inconclusive', finding: `order ${orderId} was cancelled, and no list shows its end yet` };
}

const notListed =
  'the order is not listed, but the lists do not hold every order; check it on the exchange itself';

const noOrder: Outcome = {
  status: 'not_placed',
  note: 'the order was never placed: repeated lookups found it neither open nor in the history',
  evidence: null,
  orderOpen: false,
};

/** @param signal that asked for the order */
export function foundOutcome({ order, isOpen, others }: FoundOrder, signal: OrderSignal): Outcome {
  const found = `found at the exchange as order ${order.orderId}, ${describeState(order)}`;
  const trigger = judgeTrigger(signal, order);
  const double: Alarm | undefined =
    others === 0
      ? undefined
      : {
          name: 'order_contradicted',
          message: `the exchange lists ${others + 1} orders with client order id "${order.clientOrderId}": check them at once`,
        };
  const alarm = joinAlarms([double, trigger.alarm]);
  return {
    status: 'placed',
    note: [found, double?.message, trigger.note].filter((text) => typeof text === 'string').join('; '),
    evidence: toJson({ order, others }),
    orderId: order.orderId,
    orderOpen: isOpen,
    ...(alarm === undefined ? {} : { alarm }),
  };
}

function describeState({ status, endReason, filled, amount }: ListedOrder): string {
  const state = endReason ?? status.replace('_', ' ');
  return `${state} (${filled.toFixed()} of ${amount.toFixed()} filled)`;
}

/** The present state of an order that was to be cancelled; `gone`: it has ended, but no list shows how. */
type TargetState = 'cancelled' | 'executed' | 'gone' | 'open' | 'not_found' | 'not_listed';

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

/** Closes the ledger entry of an order that has ended, so that later lookups need not ask for it. */
async function lookUpTarget(
  { ledger, clock }: LookupServices,
  client: ExchangeClient,
  market: string,
  { clientOrderId, placedBy }: NamedTarget,
  options: SendOptions,
): Promise<LookedUpTarget> {
  const place = await findOrder(client, { market, clientOrderId }, options);
  const state = stateOf(place, placedBy, clock.nowMs());
  if (endStates.has(state) && placedBy !== null) await ledger.closeOrder(placedBy);
  return { name: clientOrderId, state, order: place.kind === 'found' ? place.order : null };
}

function stateOf(place: OrderPlace, placedBy: Entry | null, nowMs: number): TargetState {
  if (place.kind === 'found')
    return place.isOpen ? 'open' : place.order.status === 'cancelled' ? 'cancelled' : 'executed';
  // The service may not list orders that were cancelled before any fill, and it drops old orders after
  // months. So an order that was placed long ago and is in no list is no longer open.
  const wasThere =
    placedBy !== null && placedBy.orderId !== null && placedBy.updatedAtMs <= nowMs - longestLagMs;
  return place.kind === 'not_found' && wasThere ? 'gone' : place.kind;
}

async function lookUpCancel(
  services: LookupServices,
  client: ExchangeClient,
  entry: Entry,
  signal: CancelSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const named = await nameTarget(services.ledger, entry, signal);
  if (named === null)
    return {
      kind: 'inconclusive',
      finding: 'the ledger does not know the order to cancel; check it on the exchange itself',
    };
  const target = await lookUpTarget(services, client, signal.market, named, options);
  const evidence = toJson({ target });
  switch (target.state) {
    case 'cancelled':
      return { kind: 'found', outcome: { status: 'cancelled', note: 'the order is cancelled', evidence } };
    case 'gone':
      return {
        kind: 'found',
        outcome: {
          status: 'cancelled',
          note: 'the order is no longer open; no list shows how it ended',
          evidence,
        },
      };
    case 'executed':
      return { kind: 'found', outcome: refused('the order was filled before it could be cancelled') };
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
    return { status: 'rejected', note, evidence };
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
  const signalId = target.by === 'signalId' ? target.signalId : placedByOf(steps);
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
const mostBelieved = 200;

/** It has succeeded when none of the orders is open that the ledger counted as open when it was sent. */
async function lookUpCancelAll(
  services: LookupServices,
  client: ExchangeClient,
  entry: Entry,
  { market }: CancelAllSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const open = await services.ledger.openOrders(entry.account, market, mostBelieved);
  const named = allPlacedByOf(entry.steps);
  // Times alone do not decide it: the clock may have been set back in between.
  const isAbout = (order: Entry) => named.has(order.signalId) || sentAtMs(order) <= sentAtMs(entry);
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

/** @param unchecked how many orders were not looked up yet */
function judgeTargets(targets: readonly LookedUpTarget[], unchecked: number): LookupResult {
  const left = targets.filter(({ state }) => !endStates.has(state));
  const open = left.filter(({ state }) => state === 'open').length;
  const evidence = toJson({ targets });
  const done: Outcome = { status: 'cancelled', note: 'none of its orders is still open', evidence };
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
          },
  };
}
