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
import { judgeTrigger } from './judge-trigger.ts';

/** What looking tells of an entry whose response was lost. */
export type LookupResult =
  /** It is proven how it ended. */
  | { readonly kind: 'found'; readonly outcome: Outcome }
  /** Nothing shows, yet: lists lag. If it stays so, that is how it ended. */
  | { readonly kind: 'not_found'; readonly finding: string; readonly outcome: Outcome }
  /** Looking proves nothing here. */
  | { readonly kind: 'inconclusive'; readonly finding: string };

export interface LookupServices {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/**
 * Looks up what became of an entry; nothing is sent that changes anything.
 *
 * @throws ExchangeError when the exchange's lists cannot be read; RelayError `secrets_missing`, `store_unavailable`
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
    return { kind: 'inconclusive', finding: 'the entry names no order' };
  const place = await findOrder(client, { market: signal.market, clientOrderId }, options);
  switch (place.kind) {
    case 'found':
      return { kind: 'found', outcome: foundOutcome(place, signal) };
    case 'not_found':
      return { kind: 'not_found', finding: 'neither among the open nor the ended orders', outcome: noOrder };
    case 'not_listed':
      return { kind: 'inconclusive', finding: notListed };
  }
}

const notListed =
  'not among the orders that are listed, which are not all there are; look at the exchange itself';

const noOrder: Outcome = {
  status: 'not_placed',
  note: 'looked for again and again, and found neither among the open nor the ended orders: it was never placed',
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
          message: `the exchange shows ${others + 1} orders of client order id "${order.clientOrderId}": look at them at once`,
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
  return `${state} (${filled.toFixed()} of ${amount.toFixed()} executed)`;
}

/** How an order that was to be cancelled stands now. */
type TargetState = 'cancelled' | 'executed' | 'gone' | 'open' | 'not_found' | 'not_listed';

/** How an order can be known to be open no more. */
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

/** What is seen to have ended is closed in the ledger, so that later looks have fewer to see. */
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
  // Whether the service lists orders that were cancelled before anything was executed is not certain, and it forgets
  // after months: one that was there for long and is in no list is open no more.
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
      finding: 'the order to cancel is none of this ledger; look at the exchange',
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
          note: 'the order is open no more; no list tells how it ended',
          evidence,
        },
      };
    case 'executed':
      return { kind: 'found', outcome: refused('the order was executed before it could be cancelled') };
    case 'open':
      return missing('the order is still open', 'the order is still open: it was not cancelled');
    case 'not_found':
      return missing(
        'the order is in no list',
        'neither among the open nor the ended orders: nothing shows that it was cancelled',
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

/** The target by its client order id; null when neither the signal nor the ledger tells it. */
async function nameTarget(
  ledger: Ledger,
  { account, steps }: Entry,
  { market, target }: CancelSignal,
): Promise<NamedTarget | null> {
  if (target.by === 'clientOrderId') return { clientOrderId: target.clientOrderId, placedBy: null };
  // An order that is named by the exchange's id was looked up when the cancellation was sent.
  const signalId = target.by === 'signalId' ? target.signalId : placedByOf(steps);
  let placedBy: Entry | null = null;
  if (signalId !== null) placedBy = await ledger.read({ account, signalId });
  else if (target.by === 'orderId') placedBy = await ledger.findOrder(account, market, target.orderId);
  if (placedBy === null || placedBy.clientOrderId === null) return null;
  return { clientOrderId: placedBy.clientOrderId, placedBy };
}

/** A function's time is limited; what is found ended is closed in the ledger, so the next look has fewer. */
const mostTargets = 25;
const mostBelieved = 200;

/** It is done when none of the orders is open any more that the ledger believed open when it was sent. */
async function lookUpCancelAll(
  services: LookupServices,
  client: ExchangeClient,
  entry: Entry,
  { market }: CancelAllSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const open = await services.ledger.openOrders(entry.account, market, mostBelieved);
  const named = allPlacedByOf(entry.steps);
  // Times do not tell alone: the clock may have been set back in between.
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

/** @param unseen how many orders were not looked for yet */
function judgeTargets(targets: readonly LookedUpTarget[], unseen: number): LookupResult {
  const left = targets.filter(({ state }) => !endStates.has(state));
  const open = left.filter(({ state }) => state === 'open').length;
  const evidence = toJson({ targets });
  const done: Outcome = { status: 'cancelled', note: 'no order of it is open any more', evidence };
  if (left.some(({ state }) => state === 'not_listed')) return { kind: 'inconclusive', finding: notListed };
  if (open === 0 && unseen > 0)
    return {
      kind: 'inconclusive',
      finding: `of ${targets.length} orders none is open; ${unseen} more are to be looked for yet`,
    };
  if (left.length === 0) return { kind: 'found', outcome: done };
  return {
    kind: 'not_found',
    finding: `${left.length} of its orders are not seen to have ended, ${open} of them are open`,
    outcome:
      open === 0
        ? done
        : { status: 'rejected', note: `${open} of its orders are still open: send another cancel`, evidence },
  };
}
