import { type Alarm, joinAlarms } from '../../base/alarms.ts';
import { parseDecimal } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { SendOptions } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import type { Entry } from '../../ledger/entry.ts';
import { orderRecordOf } from '../../ledger/order-record.ts';
import { orderSignalOf, reducesWhole } from '../../ledger/sent-order.ts';
import { isFurtherTry, isPositionSignal } from '../../model/signal.ts';
import type { Outcome } from '../execute/action.ts';
import { cancelExitsAfter } from '../position/close-exits.ts';
import { isTriedAgain } from '../position/close-rest.ts';
import { withFoundRest } from '../position/compare-position.ts';
import { lookUpCancel, lookUpCancelAll } from './look-up-cancel.ts';
import { lookUpOrder } from './look-up-order.ts';
import type { LookupResult, LookupServices } from './lookup-result.ts';

/**
 * Looks up the outcome of an entry. It only reads, but for two cases, in which it cancels: what rests of an order that must
 * not rest, and what protected a position that the order has closed.
 *
 * @throws ExchangeError when the exchange's lists cannot be read; RelayError `secrets_missing`,
 * `store_unavailable`
 */
export async function lookUp(
  services: LookupServices,
  entry: Entry,
  options: SendOptions,
): Promise<LookupResult> {
  const result = await lookUpOutcome(services, entry, options);
  if (result.kind !== 'found') return result;
  const outcome = withFoundRest(entry, untriggered(entry, result.outcome));
  return { kind: 'found', outcome: await withExitsEnded(services, entry, outcome, options) };
}

/** The relay looks at its own stop-losses again: nobody has to check in which direction one has waited that has ended by now. */
function untriggered({ signal }: Entry, { alarm, ...outcome }: Outcome): Outcome {
  const isOwn = signal?.action === 'protect' && alarm?.name === 'trigger_unexpected';
  return isOwn || alarm === undefined ? outcome : { ...outcome, alarm };
}

/**
 * Treats a failed lookup as inconclusive, whatever the reason: one account's missing key must not stop the lookups of other
 * accounts. A failure of the ledger shows when the result is written.
 */
export async function lookUpSafely(
  services: LookupServices,
  entry: Entry,
  options: SendOptions,
): Promise<LookupResult> {
  try {
    return await lookUp(services, entry, options);
  } catch (error) {
    const finding = `could not be looked up: ${describeSafely(error)}`;
    return {
      kind: 'inconclusive',
      finding,
      isUnread: error instanceof ExchangeError && error.failure.kind !== 'rejected',
    };
  }
}

/** Whoever sent the close has not come to cancel what protected the position. */
async function withExitsEnded(
  services: LookupServices,
  entry: Entry,
  outcome: Outcome,
  options: SendOptions,
): Promise<Outcome> {
  const { signal, account } = entry;
  if (outcome.status !== 'placed' || signal === null || !isPositionSignal(signal)) return outcome;
  const isWhole = reducesWhole(entry);
  const isFurther = isFurtherTry(signal);
  if (!isWhole && !isFurther) return outcome;
  const { plannedOn: position = null, asked } = orderRecordOf(entry) ?? {};
  const size = asked?.size;
  if (outcome.facts?.report !== undefined && position !== null && size?.unit === 'base') {
    const { amount, side = null } = position;
    const closed = {
      account,
      market: signal.market,
      position: { amount: parseDecimal(amount), side },
      modifiedAtMs: null,
      attached: position.attached ?? [],
      amount: parseDecimal(size.quantity),
      isFurtherTry: isFurther,
      isTriedAgain: isTriedAgain(entry),
    };
    const client = await services.exchangeFor(account);
    return await cancelExitsAfter(services, client, closed, outcome, options);
  }
  // What enlarged the position keeps its exits.
  if (!isWhole) return outcome;
  const alarm = joinAlarms([outcome.alarm, leftExitsAlarm]);
  return {
    ...outcome,
    note: `${outcome.note}; the orders that protected the position were not cancelled`,
    ...(alarm === undefined ? {} : { alarm }),
  };
}

const leftExitsAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'the response to a close was lost: its stop-loss and take-profit may still be open and could open a new position; check them, or send a cancel_all with scope "market"',
};

async function lookUpOutcome(
  services: LookupServices,
  entry: Entry,
  options: SendOptions,
): Promise<LookupResult> {
  const { signal, clientOrderId } = entry;
  const client = await services.exchangeFor(entry.account);
  if (signal?.action === 'cancel') return await lookUpCancel(services, client, entry, signal, options);
  if (signal?.action === 'cancel_all') return await lookUpCancelAll(services, client, entry, signal, options);
  const asked = orderSignalOf(entry);
  if (signal?.action === 'protect' && asked === null) return { kind: 'found', outcome: uncancelledOutcome };
  if (asked === null || clientOrderId === null)
    return { kind: 'inconclusive', finding: 'the ledger entry names no order' };
  return await lookUpOrder(client, { clientOrderId, orderId: entry.orderId, asked }, options);
}

/** What it was to cancel is looked at again as long as it is open. */
const uncancelledOutcome: Outcome = {
  status: 'cancelled',
  note: 'it placed no order; orders that protect nothing any more are looked for again',
  evidence: null,
  orderOpen: false,
};
