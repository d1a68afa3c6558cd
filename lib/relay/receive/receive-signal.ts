import { type Issue, RelayError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { NewEntry, StoredSignal } from '../../ledger/ledger.ts';
import type { Account } from '../../model/account.ts';
import { findAccount } from '../../model/settings.ts';
import { placesOrder, type Signal } from '../../model/signal.ts';
import { checkToken } from '../../signals/authenticate.ts';
import { holdsSecret } from '../../signals/find-secret.ts';
import {
  arrivalFingerprintOf,
  clientOrderIdOf,
  fingerprintOf,
  reduceLegIdOf,
  signalIdOf,
} from '../../signals/identity.ts';
import { mayOpen } from '../../signals/may-open.ts';
import { type Alert, type AlertContext, parseAlert } from '../../signals/parse-alert.ts';
import { checkStaleness } from '../../signals/staleness.ts';
import { answerAlert } from '../../translate/answer-alert.ts';
import { arrivalOf, type ReceiveServices, type SecretAge } from '../services.ts';
import { OverLimit } from './overload.ts';
import { keepSearched, maximumBodyBytes } from './received-message.ts';
import { type Arrived, recordRefusal } from './record-refusal.ts';
import { marketsOfRefusedCloses, refusedCloseAlarm } from './refused-closes.ts';
import { RepeatedAlert } from './repeated-alert.ts';

/** One delivery of an alert, as bytes. */
export interface AlertDelivery {
  readonly account: string;
  readonly token: string;
  readonly body: Buffer;
  /** How many more bytes were sent than `body` has, whose beginning is then larger than any alert may be; absent: none. */
  readonly omittedBytes?: number;
}

/** The response to the sender. */
export interface Receipt {
  /** 202 when at least one signal is new, 200 when all of them were stored before. */
  readonly httpStatus: 200 | 202;
  readonly body: Json;
}

/** How far an alert's time may lie in the future: TradingView's clock and the relay's may differ. */
const futureAllowanceMs = 5_000;

/**
 * Receives one alert: authenticates it, parses it, gives its signals their ids, stores them and puts them in line.
 *
 * Sending the same bytes again as a resend does completes what is missing and never creates a second signal. What may be
 * another alert with a known id or known bytes is recorded, and an alarm tells it.
 *
 * @throws RelayError `unauthorized`; an error with HTTP status 4xx for an alert that can never succeed, or
 * `rate_limited` for one that should be sent again, both after the alert was recorded as `invalid`;
 * `store_unavailable` when a signal was not stored or not put in line
 */
export async function receiveSignal(services: ReceiveServices, delivery: AlertDelivery): Promise<Receipt> {
  const account = await authenticate(services, delivery);
  const { body, token, omittedBytes = 0 } = delivery;
  const arrived: Arrived = { account, body, secrets: [token, ...(await services.heldSecrets())] };
  try {
    checkBodySize(body.byteLength + omittedBytes);
    const alert = readAlert(services, arrived);
    const identified = identify(alert, arrived, services.clock.nowMs());
    await refuseStale(services, identified);
    const stored = await accept(services, account, identified);
    logAccepted(services, stored);
    if (alert.isByArrival) await tellRepeat(services, arrived, identified, stored);
    return receiptOf(alert, stored);
  } catch (error) {
    throw await recordRefusal(services, arrived, error);
  }
}

/**
 * An unknown account gets the same response as a wrong token, after the same secret reads and comparisons.
 */
async function authenticate(services: ReceiveServices, delivery: AlertDelivery): Promise<Account> {
  const account = findAccount(services.settings, delivery.account);
  const isLive = async (age: SecretAge): Promise<boolean> =>
    checkToken(
      delivery.token,
      account === null
        ? await readDecoyTokens(services, age)
        : await services.webhookTokens(account.name, age),
    );
  // A new token must work at once, although older ones are still cached.
  const isAuthentic = (await isLive('remembered')) || (await isLive('newest'));
  if (!isAuthentic || account === null)
    throw new RelayError('unauthorized', 'the account or the token in the URL is not known');
  return account;
}

/**
 * The tokens of another account, read for an equal response time only; so a failure to read them is ignored.
 */
async function readDecoyTokens(services: ReceiveServices, age: SecretAge): Promise<readonly string[]> {
  const [name = ''] = Object.keys(services.settings.accounts);
  return await services.webhookTokens(name, age).catch(() => []);
}

function checkBodySize(bytes: number): void {
  if (bytes > maximumBodyBytes)
    throw new RelayError(
      'body_too_large',
      `the alert has ${bytes} bytes; at most ${maximumBodyBytes} are taken`,
    );
}

function readAlert(services: ReceiveServices, { account, body, secrets }: Arrived): Alert {
  // The message is stored and shown, and validation issues quote it, so it must not contain a secret.
  if (holdsSecret(body.toString(), secrets))
    throw new RelayError('invalid_signal', 'the alert message contains a secret of the relay', {
      issues: [
        {
          path: '',
          message:
            'the message contains a webhook token, an exchange key or what opens a channel of the notices',
          hint: 'remove it, and replace that secret if others can read the alert; the token belongs only in the webhook URL',
        },
      ],
    });
  const context: AlertContext = {
    account,
    tickers: services.settings.tickers,
    defaultMaxLagMs: services.settings.defaultMaxLagMs,
    nowMs: services.clock.nowMs(),
    futureAllowanceMs,
  };
  try {
    return parseAlert(body, context);
  } catch (error) {
    for (const market of marketsOfRefusedCloses(body, context))
      services.alarms.raise(refusedCloseAlarm(market), { account: account.name, market });
    throw answerAlert(error, body, context);
  }
}

/** An alert whose signals have their ids. */
interface Identified {
  /** Of its bytes. */
  readonly fingerprint: string;
  readonly arrivedAtMs: number;
  /** Whether nothing of it can open or enlarge a position. */
  readonly reduces: boolean;
  /** The entries of each item of the alert: usually one. */
  readonly items: readonly (readonly NewEntry[])[];
}

/** @param alert of `readAlert`, which takes no message with a secret */
function identify(alert: Alert, { account, body }: Arrived, arrivedAtMs: number): Identified {
  const { isByArrival } = alert;
  const reduces = alert.items.every(({ signal }) => !mayOpen(signal, account));
  const fingerprint = fingerprintOf(body);
  const identity = isByArrival ? arrivalFingerprintOf(fingerprint, arrivedAtMs) : fingerprint;
  const message = keepSearched(body.toString());
  const entryOf = (signalId: string, signal: Signal): NewEntry => {
    const clientOrderId = placesOrder(signal) ? clientOrderIdOf(account.name, signalId) : null;
    const own = { account: account.name, signalId, signal, clientOrderId };
    return {
      ...own,
      fingerprint,
      atMs: arrivedAtMs,
      isByArrival,
      reduces,
      message,
    };
  };
  const items = alert.items.map(({ explicitId, signal, reduceLeg }, index) => {
    const signalId = signalIdOf(explicitId, identity, alert.isArray ? index : null);
    const entry = entryOf(signalId, signal);
    return reduceLeg === undefined ? [entry] : [entryOf(reduceLegIdOf(signalId), reduceLeg), entry];
  });
  return { fingerprint, arrivedAtMs, reduces, items: withOrdersBefore(items) };
}

/** A cancellation of a whole market must know the orders before it: what protects a position goes only if they have closed it. */
function withOrdersBefore(items: Identified['items']): Identified['items'] {
  return items.map((legs, index) =>
    legs.map((entry) => {
      const { signal } = entry;
      if (signal.action !== 'cancel_all' || (signal.scope ?? 'own') === 'own') return entry;
      const before = items
        .slice(0, index)
        .flat()
        .filter((other) => other.signal.market === signal.market && placesOrder(other.signal))
        .map(({ signalId }) => signalId);
      return before.length === 0 ? entry : { ...entry, signal: { ...signal, afterOrders: before } };
    }),
  );
}

/**
 * Refuses stale signals. A resend of a signal that is already stored is not stale, however late it arrives.
 */
async function refuseStale(services: ReceiveServices, { items }: Identified): Promise<void> {
  const issues: Issue[] = [];
  for (const [index, legs] of items.entries()) {
    // The legs of an item have the same age.
    const [entry] = legs;
    if (entry === undefined) continue;
    const denial = checkStaleness(entry.signal, arrivalOf(services, entry.atMs), entry.atMs);
    if (denial === null || (await services.ledger.read(entry)) !== null) continue;
    issues.push({
      path: items.length > 1 ? `[${index}].time` : 'time',
      message: denial.message,
      hint: '"maxLag" stands in the alert, for all alerts maxLagSeconds in relay.config.ts; both are in seconds',
    });
  }
  if (issues.length > 0) throw new RelayError('stale', 'the alert was too late', { issues });
}

/** Stores all signals of the alert, or none of them. */
async function accept(
  services: ReceiveServices,
  account: Account,
  identified: Identified,
): Promise<readonly StoredSignal[]> {
  const { maxSignalsPerMinute } = account;
  const limit = maxSignalsPerMinute === null ? null : { maxPerMinute: maxSignalsPerMinute };
  const accepted = await services.ledger.accept(identified.items.flat(), limit);
  switch (accepted.result) {
    case 'stored':
      return accepted.signals;
    case 'over_limit':
      throw new OverLimit(account, identified.reduces ? 'reductions' : 'openings', accepted.count);
    case 'id_taken':
      throw createRepeat(accepted.by, identified);
  }
}

/** @param first the stored signal that has used an id or the bytes of this alert */
function createRepeat(first: Entry, { fingerprint, arrivedAtMs, items }: Identified): RepeatedAlert {
  const index = items.findIndex((legs) => legs.some(({ signalId }) => signalId === first.signalId));
  const prefix = items.length > 1 && index >= 0 ? `[${index}].` : '';
  return new RepeatedAlert(first, { fingerprint, arrivedAtMs, prefix });
}

/** Nothing distinguishes a resend of an alert without id and time from the next alert, which is lost: so it is told. */
async function tellRepeat(
  services: ReceiveServices,
  arrived: Arrived,
  identified: Identified,
  stored: readonly StoredSignal[],
): Promise<void> {
  const known = stored.find(({ isNew }) => !isNew);
  if (known !== undefined) await recordRefusal(services, arrived, createRepeat(known.entry, identified));
}

function logAccepted({ log }: ReceiveServices, stored: readonly StoredSignal[]): void {
  for (const { entry, isNew } of stored)
    if (entry.status === 'accepted')
      log.info(isNew ? 'signal accepted' : 'signal came again and still waits', {
        account: entry.account,
        signalId: entry.signalId,
        market: entry.signal?.market ?? null,
        action: entry.signal?.action ?? null,
      });
}

function receiptOf(alert: Alert, stored: readonly StoredSignal[]): Receipt {
  const signals = stored.map(({ entry, isNew }) => ({
    signalId: entry.signalId,
    status: entry.status,
    ...(isNew ? {} : { duplicate: true }),
  }));
  const httpStatus = stored.some(({ isNew }) => isNew) ? 202 : 200;
  const [only] = signals;
  const isLone = !alert.isArray && only !== undefined && signals.length === 1;
  return { httpStatus, body: isLone ? only : { signals } };
}
