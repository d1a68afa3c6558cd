import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AgainOffer } from '../../dashboard/documents.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type OrderSignal, type OrderSize, placesOrder, type Signal } from '../../lib/model/signal.ts';
import { reconciler } from '../../lib/relay/settle/reconcile-signals.ts';
import { parseAlert } from '../../lib/signals/parse-alert.ts';
import { CommandFailure } from '../failure.ts';
import { findEntry } from '../read/find-entry.ts';
import { readReceipt, type SignalReceipt } from '../session/alert-receipt.ts';
import { chooseAccount, type Session } from '../session/session.ts';
import { checkMessage, contextOf } from './check-message.ts';

/** The statuses that prove that the exchange never had an order of the signal. None of them can change. */
const provenStatuses: readonly Status[] = ['denied', 'dry_run', 'rejected', 'not_sent', 'not_placed'];

/** What of a signal is not asked for again: when and by whom it was asked. */
type Asked = Readonly<Record<string, unknown>>;

interface Draft {
  readonly account: Account;
  readonly newId: string;
  readonly message: string;
}

type Drafted =
  | { readonly ok: true; readonly draft: Draft }
  | { readonly ok: false; readonly refusal: string };

/** Shows what would go if a signal that never became an order were sent again. Sends nothing. */
export async function offerAgain(
  session: Session,
  accountName: string,
  signalId: string,
): Promise<AgainOffer> {
  const drafted = await draftAgain(session, accountName, signalId);
  if (!drafted.ok) return { refusal: drafted.refusal, message: null, newId: null, check: null };
  const { account, message, newId } = drafted.draft;
  return { refusal: null, message, newId, check: await checkMessage(session, account, message) };
}

/**
 * Sends it as a new signal whose id follows from the old one. So a second press, another window or a repeated request finds
 * the signal that the first one made, and places nothing.
 *
 * @throws CommandFailure `not_sent_again` when it may have become an order, or cannot be asked for in the same words
 */
export async function placeAgain(
  session: Session,
  accountName: string,
  signalId: string,
): Promise<readonly SignalReceipt[]> {
  const drafted = await draftAgain(session, accountName, signalId);
  if (!drafted.ok)
    throw new CommandFailure('not_sent_again', drafted.refusal, 'Write a new alert with the alert builder.');
  const { account, message } = drafted.draft;
  return readReceipt(await session.sendAlert(account, Buffer.from(message)), session.relayName);
}

async function draftAgain(session: Session, accountName: string, signalId: string): Promise<Drafted> {
  const account = chooseAccount(session.settings, accountName);
  const ledger = session.openLedger();
  const { entry } = await findEntry(ledger, signalId, [account.name], true);
  const refusal = refuseAgain(entry);
  if (refusal !== null) return { ok: false, refusal };
  const newId = againIdOf(entry);
  const earlier = await ledger.read({ account: account.name, signalId: newId });
  if (earlier !== null)
    return { ok: false, refusal: `it was sent again already, as ${newId}, which is ${earlier.status}` };
  const signal = entry.signal as Signal;
  const alert = alertOf(signal);
  const message = JSON.stringify(
    { ...alert, id: newId, comment: `sent again in place of ${entry.signalId}` },
    null,
    2,
  );
  return saysTheSame(session, account, message, signal)
    ? { ok: true, draft: { account, newId, message } }
    : { ok: false, refusal: 'what it asked for cannot be asked for again in the same words' };
}

/** Why a signal must not be sent again; null when it may. */
function refuseAgain({ status, signal, signalId, steps }: Entry): string | null {
  if (signal === null)
    return 'the alert was refused, and its message would be refused again: correct it and send it anew';
  if (!provenStatuses.includes(status)) return `it is ${status}, which does not prove that there is no order`;
  if (status === 'not_placed' && steps.at(-1)?.by !== reconciler)
    return 'a person said that there is no order; only a lookup of the relay proves it';
  if (signal.action === 'protect')
    return 'the relay itself keeps what protects a position, and asks for it again';
  if (signal.action === 'reverse' || signalId.includes(':'))
    return 'it is one leg of an alert with two: the other leg may have been carried out';
  if (!placesOrder(signal) && signal.action !== 'protect_position')
    return 'a cancellation is given anew with the button of its order';
  return null;
}

/** Follows from the old id alone; fits every rule of an id. */
function againIdOf({ account, signalId }: Pick<Entry, 'account' | 'signalId'>): string {
  return `again-${hash('sha256', `${account}\n${signalId}`, 'hex').slice(0, 24)}`;
}

/** The fields of the alert that asks for the same. */
function alertOf(signal: Signal): Asked {
  const { ticker, strategy, interval, extras } = signal;
  return withoutAbsent({ ticker, ...ownFieldsOf(signal), strategy, interval, extras });
}

function ownFieldsOf(signal: Signal): Asked {
  switch (signal.action) {
    case 'order':
      return orderFieldsOf(signal);
    case 'close': {
      const { part, only, positionSide, maxSlippage, stp, referencePrice, keepEntries } = signal;
      const action = only === undefined ? 'close' : `close_${only}`;
      return { action, quantityPercent: part, positionSide, maxSlippage, stp, referencePrice, keepEntries };
    }
    case 'protect_position': {
      const { stopLoss, takeProfits, trailing, positionSide } = signal;
      return { action: 'protect', stopLoss, takeProfits, trailing, positionSide };
    }
    default:
      return { action: signal.action };
  }
}

function orderFieldsOf({
  side,
  size,
  action: _,
  orderType,
  told: _told,
  onMismatch: _rule,
  ...signal
}: OrderSignal): Asked {
  const {
    ticker: _ticker,
    market: _market,
    timeMs: _time,
    maxLagMs: _lag,
    info: _info,
    comment: _comment,
    ...own
  } = signal;
  return { action: side, orderType, ...sizeFieldsOf(size), ...own };
}

function sizeFieldsOf(size: OrderSize): Asked {
  switch (size.unit) {
    case 'base':
      return { quantity: size.quantity };
    case 'quote':
      return { quoteQuantity: size.quoteQuantity };
    case 'percent':
      return { quantityPercent: size.quantityPercent, of: size.of };
  }
}

function withoutAbsent(fields: Asked): Asked {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** Whether the relay's own reader takes the new message for the same wish. */
function saysTheSame(session: Session, account: Account, message: string, signal: Signal): boolean {
  try {
    const { items } = parseAlert(Buffer.from(message), contextOf(session, account));
    const [item] = items;
    return (
      items.length === 1 &&
      item?.reduceLeg === undefined &&
      item !== undefined &&
      isDeepStrictEqual(wishOf(item.signal), wishOf(signal))
    );
  } catch (error) {
    if (error instanceof RelayError) return false;
    throw error;
  }
}

/** What decides about the order. */
function wishOf(signal: Signal): unknown {
  const { timeMs: _time, maxLagMs: _lag, comment: _comment, info: _info, ...wish } = signal;
  const {
    told: _told,
    onMismatch: _rule,
    ...own
  } = wish as typeof wish & { told?: unknown; onMismatch?: unknown };
  // Stored signals went through JSON.
  return JSON.parse(JSON.stringify(own));
}
