import { zero } from '../../lib/base/decimal.ts';
import type { Json } from '../../lib/base/json.ts';
import { cancelConditional } from '../../lib/exchange/endpoints/cancel-conditional.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isFinal } from '../../lib/model/outcome.ts';
import {
  isCancellation,
  isReduction,
  placesOrder,
  type Signal,
  wantsNoPosition,
} from '../../lib/model/signal.ts';
import type { ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { isCancel, isCreate, keyText } from './history.ts';
import type { Facts, Harm, Violation } from './invariants.ts';
import { longestListLagMs } from './network.ts';
import { isTarget } from './outcome-invariants.ts';
import { truePositions } from './true-positions.ts';

/** Finds cancellations that did not do what their owner relies on. */
export function findBrokenCancels(facts: Facts): readonly Violation[] {
  const cancels = facts.entries.filter(({ signal }) => signal !== null && isCancellation(signal));
  return cancels.flatMap((cancel) => [
    ...findOvertaken(facts, cancel),
    ...findSilence(facts, cancel),
    ...findStopped(cancel),
    ...findWithdrawnExits(facts, cancel),
    ...findStripped(facts, cancel),
  ]);
}

function broken(harm: Harm, text: string): Violation {
  return { invariant: 'I11', harm, text };
}

function harmed(text: string): Violation {
  return { invariant: 'I48', harm: 'other', text };
}

/** Finds orders that were sent after their cancellation had been settled. */
function findOvertaken({ history, entries }: Facts, cancel: Entry): readonly Violation[] {
  const seen = history.statuses.get(keyText(cancel)) ?? [];
  const over = seen.find(({ status }) => isFinal(status));
  if (over === undefined || ruleOf(cancel) === 'stale' || ruleOf(cancel) === 'market_not_allowed') return [];
  const isBefore = (order: Entry) =>
    (history.stored.get(keyText(order)) ?? Number.POSITIVE_INFINITY) <
    (history.stored.get(keyText(cancel)) ?? -1);
  const about = new Set(entries.filter((order) => isAbout(cancel, order) && isBefore(order)).map(keyText));
  return history.sends
    .filter(
      ({ path, key, atMs }) => isCreate(path) && key !== null && about.has(keyText(key)) && atMs > over.atMs,
    )
    .map(({ key }) =>
      broken(
        'other',
        `the order of ${key === null ? '' : keyText(key)} was sent after ${keyText(cancel)}, its cancellation, had ended`,
      ),
    );
}

function isAbout({ account, signal }: Entry, order: Entry): boolean {
  if (order.account !== account || order.signal === null || signal === null) return false;
  if (!placesOrder(order.signal) || order.signal.market !== signal.market) return false;
  // What keeps the protection of a position looks itself at what is left to protect.
  if (order.signal.action === 'protect') return false;
  if (signal.action === 'cancel_all') return true;
  // An order that was not sent has no exchange id yet.
  return signal.action === 'cancel' && signal.target.by !== 'orderId' && isTarget(signal.target, order);
}

function ruleOf({ status, steps }: Entry): Json {
  return status === 'denied' ? memberOf(steps.at(-1)?.evidence, 'rule') : null;
}

function memberOf(evidence: Json | undefined, name: string): Json {
  const isObject = typeof evidence === 'object' && evidence !== null && !Array.isArray(evidence);
  return isObject ? ((evidence as Readonly<Record<string, Json>>)[name] ?? null) : null;
}

const cancelsNothing: ReadonlySet<string> = new Set(['denied', 'not_sent']);

/**
 * Finds cancellations without effect and without alarm: their owner would believe that the orders are
 * cancelled.
 */
function findSilence({ history }: Facts, cancel: Entry): readonly Violation[] {
  if (!cancelsNothing.has(cancel.status) || history.hasAlarm(cancel)) return [];
  return [broken('silent', `${keyText(cancel)} is ${cancel.status}, and no alarm was raised`)];
}

/** Finds cancellations that the kill switch stopped: it must stop orders only. */
function findStopped(cancel: Entry): readonly Violation[] {
  if (ruleOf(cancel) !== 'paused') return [];
  return [broken('other', `${keyText(cancel)} was denied because its account is paused`)];
}

/** Finds exits that a cancellation of all orders has withdrawn: the position that they were to reduce stays open. */
function findWithdrawnExits({ entries }: Facts, cancel: Entry): readonly Violation[] {
  if (cancel.signal?.action !== 'cancel_all') return [];
  return entries
    .filter(
      ({ account, signal, steps }) =>
        account === cancel.account &&
        signal !== null &&
        (signal.action === 'order' ? isReduction(signal) : wantsNoPosition(signal)) &&
        memberOf(steps.at(-1)?.evidence, 'withdrawnBy') === cancel.signalId,
    )
    .map((exit) => harmed(`${keyText(exit)} reduces a position, and ${keyText(cancel)} withdrew it`));
}

const pairPath = cancelConditional.path.live;

/** Finds cancellations of what protects a position in one-way mode that orders before them in their alert should have closed. */
function findStripped({ entries, exchange, history }: Facts, cancel: Entry): readonly Violation[] {
  const { signal, account } = cancel;
  if (signal?.action !== 'cancel_all' || signal.afterOrders === undefined) return [];
  const { market, afterOrders } = signal;
  const left = entries.filter(
    (entry) =>
      entry.account === account && afterOrders.includes(entry.signalId) && hasLeftUndone(exchange, entry),
  );
  if (left.length === 0) return [];
  const position = truePositions(exchange)(account, market);
  const sends = history.sends.filter(({ key }) => key !== null && keyText(key) === keyText(cancel));
  return sends.flatMap(({ path, body, atMs }) => {
    if (!isCancel(path) && path !== pairPath) return [];
    const { orderId, id } = JSON.parse(body) as { readonly orderId?: number; readonly id?: number };
    const order = exchange.orders.get(
      (path === pairPath ? exchange.pairs.get(id ?? 0)?.stopLossId : orderId) ?? 0,
    );
    if (order === undefined || !(order.reduceOnly || order.parentId !== null)) return [];
    // A list may show it flat from before it was opened.
    const held = position.within(atMs - longestListLagMs, atMs);
    const text = `${keyText(cancel)} cancels ${order.orderId}, and ${left.map(keyText).join(', ')} left the position`;
    return held.some((amount) => amount.eq(zero)) ? [] : [harmed(text)];
  });
}

/** Whether an order was surely not sent, has not filled all that it was for, or was to reduce the position alone. */
function hasLeftUndone({ orders }: ExchangeState, { status, orderId, signal }: Entry): boolean {
  if (status === 'denied' || status === 'not_sent') return true;
  const order = orderId === null ? undefined : orders.get(orderId);
  if (status !== 'placed' || order === undefined || signal === null) return false;
  return order.filled.lt(order.amount) || (isReduction(signal) && !closesAll(signal));
}

function closesAll(signal: Signal): boolean {
  if (wantsNoPosition(signal)) return true;
  return (
    signal.action === 'order' && signal.size.unit === 'percent' && signal.size.quantityPercent === '100%'
  );
}
